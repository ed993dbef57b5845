/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounts - the verb that says what the containers of a pod are to be given
 *
 * As a table for people, or as the daemon wrote it for the runtime that was named: words for a
 * command line come one on each line, ready for "mapfile -t".
 */
#include "cli/pod_wait.h"
#include "cli/verb.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/output/screen.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MSEC = 10000 }; /* for the daemon to answer after its own limit */

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
		(void) fprintf(cli->err, "No container of %s mounts a volume.\n", cli->about);
	else
		cli_print_table(cli, table, priority, false);
	podvol_table_free(table);
	return EXIT_DONE;
}

/* "&KEY=VALUE" of an option that was given, else "". NULL: no memory. */
static char *parameter(const struct cli *cli, const char *option, const char *key)
{
	const char *value = cli_value(cli, option);

	return value ? cli_path("&%s=%s", key, value) : strdup("");
}

static int mounts_path(const struct cli *cli, const char *pod, unsigned int timeout_msec,
		       const char *format, char **ret)
{
	cleanup_free char *container = parameter(cli, "container", "container");
	cleanup_free char *range = parameter(cli, "user-namespace", "userNamespace"), *tail = NULL;

	if (container && range)
		tail = new_text("/mounts?timeout=%ums&format=%s%s%s", timeout_msec, format,
				container, range);
	*ret = tail ? cli_pod_path(pod, tail) : NULL;
	return *ret ? 0 : -ENOMEM;
}

static int show_as(struct cli *cli, const char *pod, unsigned int timeout_msec, const char *format)
{
	struct podvol_request request = { .method = "POST",
					  .accept = "*/*",
					  .timeout_msec = timeout_msec < INT_MAX - ANSWER_MSEC
								  ? timeout_msec + ANSWER_MSEC
								  : INT_MAX };
	struct podvol_reply reply = { 0 };
	cleanup_free char *path = NULL;
	int r = mounts_path(cli, pod, timeout_msec, format, &path);

	if (r == 0) {
		request.path = path;
		r = podvol_request(cli->podvol, &request, &reply);
	}
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

static void go_on(struct cli *cli, const char *pod)
{
	(void) cli;
	(void) pod;
}

/* What follows finds the pod's volumes mounted, or waits for what changed since. */
static int wait_for(struct cli *cli, char *pod)
{
	static const struct pod_waits waits = { .what = PODVOL_MOUNTED, .done = go_on };
	int status = EXIT_DONE;

	return pod_wait(cli, &(struct pod_list){ &pod, &status, 1 }, &waits);
}

int verb_mounts(struct cli *cli)
{
	const char *format = cli_value(cli, "format") ?: "table";
	cleanup_free char *pod = NULL;
	bool waits = cli_flag(cli, "wait") || cli_flag(cli, "timeout");
	unsigned int timeout_msec = waits ? cli->timeout_msec : 0;
	int status;

	if (!is_format(cli, format))
		return cli_end(cli, EXIT_USAGE, "--format '%s' is none of %s", format,
			       verb_option(cli->verb, "format")->choices);
	if (cli_flag(cli, "user-namespace") && strcmp(format, "cri") != 0)
		return cli_end(cli, EXIT_USAGE, "--user-namespace is for --format cri");
	status = cli_pod(cli, cli->arguments[0], &pod);
	if (status == EXIT_DONE && waits)
		status = wait_for(cli, pod);
	if (status != EXIT_DONE)
		return status;
	if (strcmp(format, "table") == 0)
		return show_table(cli, pod, timeout_msec, 0);
	if (strcmp(format, "wide") == 0)
		return show_table(cli, pod, timeout_msec, 1);
	return show_as(cli, pod, timeout_msec, format);
}
