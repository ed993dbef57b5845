/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin - what an executable plugin does wrong: its volume's life, call by call, without a daemon
 */
#include "cli/cli.h"
#include "cli/direct/direct.h"

#include <string.h>

static void print_row(void *userdata, bool is_wrong, const char *call, const char *text)
{
	struct cli *cli = userdata;

	(void) fprintf(cli->out, "%-6s %-10s ", is_wrong ? "wrong" : "ok", call);
	cli_print_text(cli->out, text);
	(void) fputc('\n', cli->out);
}

int verb_plugin(struct cli *cli)
{
	const struct plugin_test test = {
		.name = cli->arguments[1],
		.directory = cli->arguments[2],
		.file = cli_value(cli, "filename"),
		.fn = print_row,
		.userdata = cli,
	};
	struct failure why = { .error = 0 };
	int wrong;

	if (strcmp(cli->arguments[0], "test") != 0)
		return cli_end(cli, EXIT_USAGE,
			       "plugin '%s': must be 'test': podvolctl plugin test NAME DIRECTORY",
			       cli->arguments[0]);
	wrong = plugin_direct_test(&test, &why);
	if (wrong < 0)
		return cli_end(cli, EXIT_FAILED, "%s", why.text);
	if (wrong > 0)
		cli_complain(cli, "plugin '%s' does %d things wrong; see podvol-plugins(8)",
			     test.name, wrong);
	return wrong > 0 ? EXIT_FAILED : EXIT_DONE;
}
