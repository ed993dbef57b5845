/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounts - the verb that says what the containers of a pod are to be given
 *
 * As a table for people, or as the daemon wrote it for the runtime that was named: words for a
 * command line come one on each line, ready for "mapfile -t".
 */
#include "cli/verb.h"

#include "base/cleanup.h"
#include "cli/screen.h"

#include <assert.h>
#include <string.h>

/* One of the words that the option's row offers, so that help and completion cannot differ. */
static bool is_format(const struct cli *cli, const char *word)
{
	const char *choices = verb_option(cli->verb, "format")->choices;
	size_t length = strlen(word);

	assert(choices);
	while (*choices) {
		size_t choice = strcspn(choices, " ");

		if (choice == length && strncmp(choices, word, length) == 0)
			return true;
		choices += choice;
		choices += strspn(choices, " ");
	}
	return false;
}

static int show_table(struct cli *cli, const char *pod, unsigned int timeout_msec, int priority)
{
	struct podvol_table *table = NULL;
	int r = podvol_container_mounts(cli->podvol, pod, cli_value(cli, "container"), timeout_msec,
					&table);

	if (r < 0)
		return cli_failed(cli, r);
	if (podvol_table_rows(table) == 0)
		(void) fprintf(cli->err, "Nothing found.\n");
	else
		cli_print_table(cli, table, priority, false);
	podvol_table_free(table);
	return EXIT_DONE;
}

static int show_as(struct cli *cli, const char *pod, unsigned int timeout_msec, const char *format)
{
	struct podvol_reply reply = { 0 };
	int r = podvol_container_mounts_as(cli->podvol, pod, cli_value(cli, "container"), format,
					   timeout_msec, &reply);

	if (r < 0) {
		podvol_reply_done(&reply);
		return cli_failed(cli, r);
	}
	text_print_lines(cli->out, reply.body, reply.length); /* exact, but for a terminal */
	if (reply.length > 0 && reply.body[reply.length - 1] != '\n')
		(void) fputc('\n', cli->out);
	podvol_reply_done(&reply);
	return EXIT_DONE;
}

int verb_mounts(struct cli *cli)
{
	const char *format = cli_value(cli, "format") ?: "table";
	cleanup_free char *pod = NULL;
	bool waits = cli_flag(cli, "wait") || cli_flag(cli, "timeout");
	unsigned int timeout_msec = waits ? cli->timeout_msec : 0;

	if (!is_format(cli, format)) {
		cli_complain(cli, "--format '%s' is none of %s", format,
			     verb_option(cli->verb, "format")->choices);
		return EXIT_USAGE;
	}
	pod = cli_pod(cli, cli->arguments[0]);
	if (!pod) {
		cli_complain(cli, "out of memory");
		return EXIT_FAILED;
	}
	if (waits)
		(void) cli_warn_of_unused(cli, pod);
	if (strcmp(format, "table") == 0)
		return show_table(cli, pod, timeout_msec, 0);
	if (strcmp(format, "wide") == 0)
		return show_table(cli, pod, timeout_msec, 1);
	return show_as(cli, pod, timeout_msec, format);
}
