/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output - what every verb prints alike: complaints and aligned tables
 */
#include "cli/cli.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

enum { COLUMN_GAP = 3 };

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
	/* A refusal that has a status came from the daemon, so it was reached. */
	if (podvol_status(cli->podvol) == 0 && error != -ENOMEM && error != -EINVAL)
		return error == -ETIMEDOUT ? EXIT_TIMED_OUT : EXIT_UNREACHABLE;
	if (error == -ENOENT)
		return EXIT_NOT_FOUND;
	return error == -ETIMEDOUT ? EXIT_TIMED_OUT : EXIT_FAILED;
}

/* Bytes below 0x80 that are no text become '?'; UTF-8 stays. */
void cli_print_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char) *text;

		(void) fputc(byte < 0x20 || byte == 0x7f ? '?' : *text, out);
	}
}

/* Characters, not bytes: continuation bytes of UTF-8 do not count. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		if (((unsigned char) *text & 0xc0) != 0x80)
			width++;
	return width;
}

struct shown {
	size_t column; /* of the table; SIZE_MAX: the namespace */
	size_t width;
};

static const char *cell_of(const struct podvol_table *table, size_t row, size_t column)
{
	if (column == SIZE_MAX)
		return podvol_table_row_namespace(table, row);
	return podvol_table_cell(table, row, column);
}

static const char *name_of(const struct podvol_table *table, size_t column)
{
	return column == SIZE_MAX ? "Namespace" : podvol_table_name(table, column);
}

static size_t choose_columns(const struct podvol_table *table, int priority, bool with_namespace,
			     struct shown *shown)
{
	size_t count = 0;

	if (with_namespace)
		shown[count++].column = SIZE_MAX;
	for (size_t i = 0; i < podvol_table_columns(table); i++)
		if (podvol_table_priority(table, i) <= priority)
			shown[count++].column = i;
	for (size_t i = 0; i < count; i++) {
		shown[i].width = width_of(name_of(table, shown[i].column));
		for (size_t row = 0; row < podvol_table_rows(table); row++) {
			size_t width = width_of(cell_of(table, row, shown[i].column));

			if (width > shown[i].width)
				shown[i].width = width;
		}
	}
	return count;
}

/* The last column is not padded: no line ends in blanks. */
static void print_padded(FILE *out, const char *text, const struct shown *shown, bool is_last)
{
	cli_print_text(out, text);
	if (!is_last)
		(void) fprintf(out, "%*s", (int) (shown->width - width_of(text) + COLUMN_GAP), "");
}

void cli_print_table(FILE *out, const struct podvol_table *table, int priority, bool with_namespace)
{
	cleanup_free struct shown *shown = calloc(podvol_table_columns(table) + 1, sizeof(*shown));
	size_t count;

	if (!shown)
		return;
	count = choose_columns(table, priority, with_namespace, shown);
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *name = strdup(name_of(table, shown[i].column));

		for (char *at = name; at && *at; at++)
			*at = (char) toupper((unsigned char) *at);
		print_padded(out, name ? name : "", &shown[i], i + 1 == count);
	}
	(void) fputc('\n', out);
	for (size_t row = 0; row < podvol_table_rows(table); row++) {
		for (size_t i = 0; i < count; i++)
			print_padded(out, cell_of(table, row, shown[i].column), &shown[i],
				     i + 1 == count);
		(void) fputc('\n', out);
	}
}
