/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold - verbs for who starts containers: hold a pod while one lives, release it
 *
 * Decides nothing: the daemon knows what can be held, and ends a hold with its process by itself.
 */
#include "cli/cli.h"

#include "base/cleanup.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>

/* False after a complaint. */
static bool read_pid(struct cli *cli, int *ret)
{
	const char *text = cli_value(cli, "pid");
	char *end;
	long pid;

	if (!text)
		return true;
	errno = 0;
	pid = strtol(text, &end, 10);
	if (errno == 0 && end != text && *end == '\0' && pid > 0 && pid <= INT_MAX) {
		*ret = (int) pid;
		return true;
	}
	cli_complain(cli, "--pid: '%s' is not a process id", text);
	return false;
}

int verb_hold(struct cli *cli)
{
	struct podvol_hold hold = { .container = cli_value(cli, "container"),
				    .cgroup = cli_value(cli, "cgroup") };
	cleanup_free char *pod = NULL, *id = NULL;
	int status, r;

	if (!hold.container)
		return cli_end(cli, EXIT_USAGE, "must specify --container NAME");
	if (!read_pid(cli, &hold.pid))
		return EXIT_USAGE;
	if (hold.pid && hold.cgroup)
		return cli_end(cli, EXIT_USAGE, "--pid cannot be combined with --cgroup");
	status = cli_pod(cli, cli->arguments[0], &pod);
	if (status != EXIT_DONE)
		return status;
	(void) signal(SIGPIPE, SIG_IGN);
	r = podvol_hold_add(cli->podvol, pod, &hold, &id);
	if (r < 0)
		return cli_failed(cli, r);
	(void) fprintf(cli->out, "%s\n", id);
	if (fflush(cli->out) == 0)
		return EXIT_DONE;
	/* A caller without its id cannot end it. */
	(void) podvol_hold_remove(cli->podvol, pod, id);
	return EXIT_FAILED;
}

int verb_release(struct cli *cli)
{
	cleanup_free char *pod = NULL;
	int status = cli_pod(cli, cli->arguments[0], &pod), r;

	if (status != EXIT_DONE)
		return status;
	r = podvol_hold_remove(cli->podvol, pod, cli->arguments[1]);
	if (r < 0)
		return cli_failed(cli, r);
	(void) fprintf(cli->out, "hold '%s' released\n", cli->arguments[1]);
	return EXIT_DONE;
}
