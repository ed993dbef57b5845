/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drivers - podvolctl drivers, and describe of one: what is known of CSI drivers and volume plugins
 *
 * A driver whose registrar came twice, under two sockets, is listed twice.
 */
#include "cli/describe.h"

#include "base/cleanup.h"

#include <assert.h>
#include <stdio.h>

int verb_drivers(struct cli *cli)
{
	const char *name = cli->argument_count > 0 ? cli->arguments[0] : NULL;
	cleanup_free char *path = NULL;

	if (!name)
		return cli_show_path(cli, "/podvol/v1/drivers", "driver", false);
	cli_about(cli, "driver", "", name);
	path = cli_path("/podvol/v1/drivers/%s", name);
	return path ? cli_show_path(cli, path, "driver", false) : cli_failed(cli, -ENOMEM);
}

int describe_driver(struct cli *cli, const char *name)
{
	cleanup_free char *path = cli_path("/podvol/v1/drivers/%s", name);
	struct podvol_table *table = NULL;
	int r;

	assert(cli && name);
	cli_about(cli, "driver", "", name);
	r = path ? podvol_table_get(cli->podvol, path, &table) : -ENOMEM;
	if (r < 0)
		return cli_failed(cli, r);
	for (size_t row = 0; row < podvol_table_rows(table); row++) {
		if (row > 0)
			(void) fputc('\n', cli->out);
		describe_row(cli, table, row);
	}
	podvol_table_free(table);
	return EXIT_DONE;
}
