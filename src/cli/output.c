/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output - what every verb prints alike: complaints and aligned tables
 */
#include "cli/screen.h"

#include "base/cleanup.h"

#include <stdarg.h>
#include <string.h>

void cli_complain(struct cli *cli, const char *format, ...)
{
	va_list arguments;
	char text[2048];

	va_start(arguments, format);
	(void) vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	(void) fputs("podvolctl: ", cli->err);
	cli_print_text(cli->err, text);
	(void) fputc('\n', cli->err);
}

/* One exit status per thing that a script may want to tell apart; see podvolctl(1). */
int cli_failed(struct cli *cli, int error)
{
	const char *why = podvol_error(cli->podvol);

	cli_complain(cli, "%s", *why ? why : strerror(-error));
	return cli_exit_status(error, podvol_status(cli->podvol));
}

int cli_exit_status(int error, int status)
{
	/* A refusal that has a status came from the daemon, so it was reached. */
	if (status == 0 && error != -ENOMEM && error != -EINVAL && error != -EOPNOTSUPP)
		return error == -ETIMEDOUT ? EXIT_TIMED_OUT : EXIT_UNREACHABLE;
	if (error == -ENOENT)
		return EXIT_NOT_FOUND;
	return error == -ETIMEDOUT ? EXIT_TIMED_OUT : EXIT_FAILED;
}

/* ---- tables ---- */

struct sheet *cli_table_sheet(const struct podvol_table *table, int priority, bool with_namespace)
{
	size_t count = podvol_table_columns(table), shown = 0;
	cleanup_free const char **names = calloc(count + 1, sizeof(*names));

	if (!names)
		return NULL;
	if (with_namespace)
		names[shown++] = "Namespace";
	for (size_t i = 0; i < count; i++)
		if (podvol_table_priority(table, i) <= priority)
			names[shown++] = podvol_table_name(table, i);
	return sheet_new(names, shown);
}

void cli_table_row(struct sheet *sheet, const struct podvol_table *table, size_t row, int priority,
		   bool with_namespace, const char *prefix)
{
	size_t count = podvol_table_columns(table), shown = 0;
	cleanup_free const char **cells = calloc(count + 1, sizeof(*cells));
	cleanup_free char *name = NULL;

	if (!cells)
		return;
	if (with_namespace)
		cells[shown++] = podvol_table_row_namespace(table, row);
	for (size_t i = 0; i < count; i++)
		if (podvol_table_priority(table, i) <= priority)
			cells[shown++] = podvol_table_cell(table, row, i);
	/* Events and the like begin with something else. */
	if (*prefix && strcmp(podvol_table_name(table, 0), "Name") == 0 &&
	    asprintf(&name, "%s%s", prefix, cells[with_namespace]) >= 0)
		cells[with_namespace] = name;
	sheet_add(sheet, cells);
}

void cli_table_rows(struct sheet *sheet, const struct podvol_table *table, int priority,
		    bool with_namespace, const char *prefix)
{
	for (size_t row = 0; row < podvol_table_rows(table); row++)
		cli_table_row(sheet, table, row, priority, with_namespace, prefix);
}

void cli_print_table(struct cli *cli, const struct podvol_table *table, int priority,
		     bool with_namespace)
{
	struct sheet *sheet = cli_table_sheet(table, priority, with_namespace);

	cli_table_rows(sheet, table, priority, with_namespace, "");
	sheet_print(cli, sheet);
	sheet_free(sheet);
}
