/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report - one HTML file for a ticket: what other verbs show, side by side, without what is secret
 *
 * Self-contained: no script, no reference to anything outside. No Secret, ConfigMap or pod is
 * printed as an object, only tables and sentences, and all of them pass redact.c.
 */
#include "cli/report/report.h"

#include "cli/doctor/doctor.h"
#include "cli/output/screen.h"
#include "cli/verb.h"

#include "base/cleanup.h"

#include <string.h>
#include <time.h>

enum { WORDS_MAX = 8, LINE_BYTES = 1024, COMMAND_LINE_BYTES = 65536 };

struct report {
	struct cli *cli;
	struct redactor *redactor;
	const char *pod;    /* "namespace/name" or uid; NULL: none was asked for */
	bool is_incomplete; /* no memory */
};

/* ---- another verb ---- */

/* What is printed by "VERB WORD...", also when it fails; NULL: no memory. */
static char *output_of(struct report *report, const char *line)
{
	char copy[LINE_BYTES], *rest = copy, *words[WORDS_MAX + 1] = { (char *) "podvolctl" };
	struct cli sub = { .podvol = report->cli->podvol, .kinds = report->cli->kinds };
	char *text = NULL;
	size_t length;
	int count = 1;

	(void) snprintf(copy, sizeof(copy), "%s", line);
	while (count < WORDS_MAX && (words[count] = strsep(&rest, " ")))
		count++;
	words[count] = NULL;
	sub.out = sub.err = open_memstream(&text, &length);
	if (!sub.out)
		return NULL;
	if (command_line_read(&sub, count, words, &sub.verb) == EXIT_DONE &&
	    command_line_check(&sub, sub.verb) && command_line_take(&sub, sub.verb))
		(void) sub.verb->run(&sub);
	report->cli->kinds = sub.kinds;
	free(sub.given);
	if (fclose(sub.out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* ---- sections ---- */

/* Takes @text; NULL: no memory. */
static void print_section(struct report *report, const char *title, char *text)
{
	cleanup_free char *given = text, *shown = NULL;
	FILE *out = report->cli->out;

	shown = given ? redact(report->redactor, given) : NULL;
	report->is_incomplete |= !shown;
	(void) fprintf(out, "<h2>%s</h2>\n<pre>", title);
	text_print_markup(out, shown ? shown : "out of memory");
	(void) fputs("</pre>\n", out);
}

static void print_verbs(struct report *report)
{
	static const struct {
		const char *title, *line;
	} rows[] = {
		{ "Checks", "doctor" },
		{ "Versions", "version" },
		{ "Volumes", "get volumes -o wide" },
		{ "What lies on what", "tree" },
		{ "Operations", "get operations -o wide" },
		{ "Steps, the longest first", "analyze blame" },
		{ "Holds", "get holds -o wide" },
		{ "Usage", "get statistics -o wide" },
		{ "Drivers", "drivers -o wide" },
		{ "Refused manifests", "get manifests" },
		{ "Pods", "get pods -A" },
		{ "Claims", "get persistentvolumeclaims -A -o wide" },
		{ "PersistentVolumes", "get persistentvolumes -o wide" },
		{ "StorageClasses", "get storageclasses -o wide" },
		{ "CSIDrivers", "get csidrivers -o wide" },
		{ "Nodes", "get nodes -o wide" },
		{ "Events, newest last", "events" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		print_section(report, rows[i].title, output_of(report, rows[i].line));
}

/* The SVG is markup already; its names are text in it. */
static void print_plot(struct report *report)
{
	cleanup_free char *text = NULL, *shown = NULL;
	char line[LINE_BYTES];
	const char *begin;

	(void) snprintf(line, sizeof(line), "analyze plot %s", report->pod);
	text = output_of(report, line);
	begin = text ? strstr(text, "<svg") : NULL;
	if (!begin) {
		print_section(report, "Timeline", TAKE_PTR(text));
		return;
	}
	shown = redact(report->redactor, begin);
	report->is_incomplete |= !shown;
	(void) fprintf(report->cli->out, "<h2>Timeline</h2>\n%s", shown ? shown : "out of memory");
}

static void print_pod(struct report *report)
{
	static const struct {
		const char *title, *verb;
	} rows[] = {
		{ "State of the pod", "explain-state" },
		{ "History of the pod", "history" },
		{ "What the pod waited for", "analyze critical-chain" },
	};
	char line[LINE_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		(void) snprintf(line, sizeof(line), "%s %s", rows[i].verb, report->pod);
		print_section(report, rows[i].title, output_of(report, line));
	}
	print_plot(report);
}

/* ---- configuration ---- */

/* A file without NULs; NULL: it cannot be read. */
static char *read_text(const char *path)
{
	cleanup_free char *text = malloc(COMMAND_LINE_BYTES + 1);
	FILE *file = fopen(path, "re");
	size_t length;

	if (!file || !text) {
		if (file)
			(void) fclose(file);
		return NULL;
	}
	length = fread(text, 1, COMMAND_LINE_BYTES, file);
	(void) fclose(file);
	text[length] = '\0';
	for (size_t i = 0; i < length; i++)
		if (text[i] == '\0')
			text[i] = '\n';
	return TAKE_PTR(text);
}

static void print_configuration(struct report *report)
{
	static const char option[] = "\n--config=";
	char path[LINE_BYTES];
	cleanup_free char *words = NULL, *file = NULL;
	const char *given;

	(void) snprintf(path, sizeof(path), "/proc/%d/cmdline",
			(int) doctor_daemon(podvol_socket(report->cli->podvol)));
	words = read_text(path);
	(void) snprintf(path, sizeof(path), "/etc/podvol/podvold.conf");
	given = words ? strstr(words, option) : NULL;
	if (given)
		(void) snprintf(path, sizeof(path), "%.*s",
				(int) strcspn(given + strlen(option), "\n"),
				given + strlen(option));
	file = read_text(path);
	print_section(report, "Command line of podvold",
		      words ? TAKE_PTR(words) : strdup("cannot be read\n"));
	print_section(report, "Configuration file",
		      file ? TAKE_PTR(file) : strdup("cannot be read, or is not there\n"));
}

/* ---- the verb ---- */

static void print_head(struct report *report, const char *why)
{
	FILE *out = report->cli->out;
	time_t now = time(NULL);
	char when[64] = "", host[256] = "";
	struct tm parts;

	if (gmtime_r(&now, &parts))
		(void) strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &parts);
	(void) gethostname(host, sizeof(host) - 1);
	(void) fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		     "<title>podvol report</title>\n"
		     "<style>body{font-family:sans-serif;margin:2em}"
		     "pre{background:#f4f4f4;padding:1em;overflow:auto}</style>\n"
		     "</head><body>\n<h1>podvol on ",
		     out);
	text_print_markup(out, host);
	(void) fprintf(out, ", %s</h1>\n<p>", when);
	if (*why) {
		(void) fputs("Values of Secrets were not looked for: ", out);
		text_print_markup(out, why);
	} else {
		(void) fprintf(out,
			       "Values of Secrets of %d bytes and more, passwords and tokens are "
			       "left out.",
			       REDACT_BYTES_MIN);
	}
	(void) fputs(" Read it before you pass it on.</p>\n", out);
}

static int print_report(struct report *report)
{
	char why[LINE_BYTES];
	bool is_reached;

	if (redactor_new(report->cli, &report->redactor, why, sizeof(why)) < 0)
		return cli_end(report->cli, EXIT_FAILED, "out of memory");
	is_reached = !*why || podvol_status(report->cli->podvol) != 0;
	print_head(report, why);
	if (report->pod)
		print_pod(report);
	print_verbs(report);
	print_configuration(report);
	(void) fputs("</body></html>\n", report->cli->out);
	redactor_free(report->redactor);
	if (!report->is_incomplete)
		return is_reached ? EXIT_DONE : EXIT_UNREACHABLE;
	return cli_end(report->cli, EXIT_FAILED, "out of memory: the report is not complete");
}

/* One that is gone has a history all the same; a name that was mistyped has not. */
static int find_pod(struct cli *cli, const char *pod)
{
	struct podvol_table *volumes = NULL;
	int r = podvol_volumes(cli->podvol, pod, &volumes);

	podvol_table_free(volumes);
	cli_about_pod(cli, pod);
	return r < 0 ? cli_failed(cli, r) : EXIT_DONE;
}

int verb_report(struct cli *cli)
{
	cleanup_free char *pod = NULL;
	struct report report = { .cli = cli };
	int status = EXIT_DONE;

	if (isatty(fileno(cli->out)))
		return cli_end(cli, EXIT_USAGE,
			       "report prints HTML: redirect it, 'podvolctl report "
			       ">report.html'");
	if (cli->argument_count > 0) {
		status = cli_pod(cli, cli->arguments[0], &pod);
		cli->about[0] = '\0';
		if (status != EXIT_DONE)
			return status;
		if (strchr(pod, ' '))
			return cli_end(cli, EXIT_USAGE, "'%s' is not a pod's name",
				       cli->arguments[0]);
	}
	report.pod = pod;
	status = print_report(&report);
	return status == EXIT_DONE && pod ? find_pod(cli, pod) : status;
}
