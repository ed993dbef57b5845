/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show - what a path answers, for verbs that show one thing: version
 */
#include "cli/output/screen.h"

#include "build-config.h"

static int show_raw(struct cli *cli, const char *path, const char *type)
{
	struct podvol_request request = { .method = "GET", .path = path, .accept = type };
	struct podvol_reply reply = { 0 };
	int r;

	r = podvol_request(cli->podvol, &request, &reply);
	if (r == 0 && cli->format == OUTPUT_JSON)
		json_show(cli->out, reply.body, reply.length);
	else if (r == 0)
		text_print_lines(cli->out, reply.body, reply.length);
	if (r == 0 && reply.length > 0 &&
	    (cli->format == OUTPUT_JSON || reply.body[reply.length - 1] != '\n'))
		(void) fputc('\n', cli->out);
	podvol_reply_done(&reply);
	return r < 0 ? cli_get_failed(cli, r) : EXIT_DONE;
}

void cli_print_names(struct cli *cli, const struct podvol_table *table, const char *singular)
{
	size_t unique = podvol_table_find(table, "Unique Name");

	if (unique == podvol_table_columns(table))
		unique = 0;
	for (size_t row = 0; row < podvol_table_rows(table); row++) {
		const char *name = podvol_table_row_name(table, row);

		(void) fprintf(cli->out, "%s/", singular);
		cli_print_text(cli->out, *name ? name : podvol_table_cell(table, row, unique));
		(void) fputc('\n', cli->out);
	}
}

int cli_show_path(struct cli *cli, const char *path, const char *singular, bool with_namespace)
{
	struct podvol_table *table = NULL;
	int r;

	if (cli->format == OUTPUT_JSON)
		return show_raw(cli, path, "application/json");
	if (cli->format == OUTPUT_YAML)
		return show_raw(cli, path, "application/yaml");

	r = podvol_table_get(cli->podvol, path, &table);
	if (r < 0)
		return cli_get_failed(cli, r);
	if (cli->format == OUTPUT_NAME)
		cli_print_names(cli, table, singular);
	else if (podvol_table_rows(table) == 0)
		(void) fprintf(cli->err, "No %ss found.\n", singular);
	else
		cli_print_table(cli, table, cli->format == OUTPUT_WIDE ? 1 : 0, with_namespace);
	podvol_table_free(table);
	return EXIT_DONE;
}

/* The command's own version is printed also when no daemon answers. */
int verb_version(struct cli *cli)
{
	if (cli->format != OUTPUT_JSON && cli->format != OUTPUT_YAML) {
		(void) fprintf(cli->out, "podvolctl %s\n", PACKAGE_VERSION);
		(void) fflush(cli->out);
	}
	return cli_show_path(cli, "/podvol/v1/version", "version", false);
}
