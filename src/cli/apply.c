/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply - stores the documents of files: the verb apply, and the first half of mount
 *
 * The documents of one file are checked together before the first is stored. A file that fails does
 * not keep the next ones from being applied; the exit status is that of the first failure.
 */
#include "cli/cli.h"

#include "cli/output/screen.h"

#include "base/cleanup.h"

#include <string.h>

static void print_lower(FILE *out, const char *text)
{
	for (; *text; text++)
		(void) fputc(*text >= 'A' && *text <= 'Z' ? *text - 'A' + 'a' : *text, out);
}

/* "pod/web created", as kubectl says it. */
static void print_applied(struct cli *cli, const struct podvol_table *table)
{
	size_t kind = podvol_table_find(table, "Kind"), name = podvol_table_find(table, "Name");
	size_t name_space = podvol_table_find(table, "Namespace");
	size_t result = podvol_table_find(table, "Result");
	size_t warning = podvol_table_find(table, "Warning");

	for (size_t row = 0; row < podvol_table_rows(table); row++) {
		const char *space = podvol_table_cell(table, row, name_space);

		print_lower(cli->out, podvol_table_cell(table, row, kind));
		(void) fprintf(cli->out, "/%s %s\n", podvol_table_cell(table, row, name),
			       podvol_table_cell(table, row, result));
		if (*podvol_table_cell(table, row, warning) != '\0' &&
		    strcmp(podvol_table_cell(table, row, warning), "-") != 0)
			cli_complain(cli, "warning: %s '%s%s%s': %s",
				     podvol_table_cell(table, row, kind), space, *space ? "/" : "",
				     podvol_table_cell(table, row, name),
				     podvol_table_cell(table, row, warning));
	}
	(void) fflush(cli->out);
}

int apply_file(struct cli *cli, const char *name, struct podvol_table **ret)
{
	cleanup_free char *bytes = NULL;
	size_t length;
	int r, status = EXIT_DONE;

	if (!name)
		return cli_end(cli, EXIT_USAGE, "must specify -f FILE, or -f - for standard input");
	if (file_read(cli, name, &bytes, &length) < 0)
		return EXIT_FAILED;
	cli->about[0] = '\0'; /* the daemon names the document */
	cli->where = file_where(name);
	r = podvol_apply(cli->podvol, bytes, length, ret);
	progress_end(cli);
	if (r < 0)
		status = cli_failed(cli, r);
	else
		print_applied(cli, *ret);
	cli->where = NULL;
	return status;
}

int verb_apply(struct cli *cli)
{
	cleanup(file_list_done) struct file_list files = { 0 };
	int status = file_list_read(cli, &files);

	for (size_t i = 0; i < files.count && status != EXIT_UNREACHABLE; i++) {
		struct podvol_table *applied = NULL;
		char text[512];
		int one;

		(void) snprintf(text, sizeof(text), "apply %zu of %zu: %s", i + 1, files.count,
				files.names[i]);
		progress_show(cli, text);
		one = apply_file(cli, files.names[i], &applied);
		podvol_table_free(applied);
		if (status == EXIT_DONE)
			status = one;
	}
	progress_end(cli);
	return status;
}
