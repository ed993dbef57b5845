/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podvolctl - asks podvold and tells people: reads the command line and runs one verb of verbs.c
 *
 * Usage is printed only when asked for; a wrong call gets one sentence.
 */
#include "cli/kinds.h"
#include "cli/output/screen.h"
#include "cli/verb.h"

#include "base/cleanup.h"
#include "build-config.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

enum { WAIT_DEFAULT_MSEC = 30000 };

static bool needs_daemon(const struct cli *cli)
{
	const char *flag = cli->verb->without_daemon;

	return !flag || (*flag && !cli_flag(cli, flag));
}

/* What never ends is shown as it comes. */
static bool is_paged(const struct cli *cli)
{
	static const char *const endless[] = { "watch", "watch-only" };

	if (!cli->verb->is_paged || cli_flag(cli, "no-pager"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(endless); i++)
		if (verb_option(cli->verb, endless[i]) && cli_flag(cli, endless[i]))
			return false;
	return true;
}

static int run_verb(struct cli *cli)
{
	int status, r;

	if (needs_daemon(cli)) {
		r = podvol_connect(cli->socket_path, &cli->podvol);
		if (r < 0)
			return cli_end(cli, EXIT_USAGE, "cannot use the socket '%s': %s",
				       cli->socket_path ? cli->socket_path : "$PODVOL_SOCKET",
				       r == -EINVAL ? "an absolute path is needed" : strerror(-r));
	}
	if (is_paged(cli))
		pager_begin(cli);
	status = cli->verb->run(cli);
	podvol_free(cli->podvol);
	return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
	int status;

	if (argc > 1 && strcmp(argv[1], "--complete") == 0)
		return complete(cli, argc - 2, argv + 2);
	status = command_line_read(cli, argc, argv, &cli->verb);
	if (status != EXIT_DONE)
		return status;
	if (cli_flag(cli, "list-verbs")) {
		help_list_verbs(cli->out);
		return EXIT_DONE;
	}
	if (cli_flag(cli, "help")) {
		if (!cli_flag(cli, "no-pager"))
			pager_begin(cli);
		if (cli->verb)
			help_print_verb(cli->out, cli->verb);
		else
			help_print(cli->out);
		return EXIT_DONE;
	}
	if (cli_flag(cli, "version")) {
		(void) fprintf(cli->out, "podvolctl %s\n", PACKAGE_VERSION);
		return EXIT_DONE;
	}
	if (!cli->verb)
		return cli_end(cli, EXIT_USAGE, "must specify a verb: see 'podvolctl --help'");
	if (!command_line_check(cli, cli->verb) || !command_line_take(cli, cli->verb))
		return EXIT_USAGE;
	return run_verb(cli);
}

/* A full disk or closed pipe must not look like success. */
static int finish(struct cli *cli, int status)
{
	errno = 0;
	if (pager_end(cli))
		return status;
	cli_complain(cli, "cannot write to standard output%s%s", errno ? ": " : "",
		     errno ? strerror(errno) : "");
	return status == EXIT_DONE ? EXIT_FAILED : status;
}

int main(int argc, char **argv)
{
	struct cli cli = { .out = stdout, .err = stderr, .timeout_msec = WAIT_DEFAULT_MSEC };
	int status;

	/* What the daemon tells is UTF-8, whatever the user's language. */
	(void) setlocale(LC_CTYPE, "C.UTF-8");
	status = finish(&cli, run(&cli, argc, argv));

	kinds_free(cli.kinds);
	free(cli.given);
	return status;
}
