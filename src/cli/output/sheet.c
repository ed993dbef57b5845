/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sheet - see screen.h: aligned columns, cut to the terminal's width where there is one
 */
#include "cli/output/screen.h"

#include "base/cleanup.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

enum { COLUMN_GAP = 3, COLUMN_WIDTH_MIN = 6 };

struct column {
	char *name;
	size_t width;  /* of the widest text so far */
	bool is_state; /* its texts may have a colour */
};

struct sheet {
	struct column *columns;
	size_t column_count;
	char **cells; /* row by row */
	size_t row_count, allocated;
	bool has_heading, is_incomplete;
};

struct sheet *sheet_new(const char *const *columns, size_t count)
{
	struct sheet *sheet = calloc(1, sizeof(*sheet));

	assert(columns);
	if (!sheet)
		return NULL;
	sheet->columns = calloc(count + 1, sizeof(*sheet->columns));
	if (!sheet->columns) {
		free(sheet);
		return NULL;
	}
	sheet->column_count = count;
	for (size_t i = 0; i < count; i++) {
		struct column *column = &sheet->columns[i];

		column->name = strdup(columns[i]);
		if (!column->name) {
			sheet_free(sheet);
			return NULL;
		}
		column->is_state = strcasecmp(columns[i], "State") == 0 ||
				   strcasecmp(columns[i], "Status") == 0 ||
				   strcasecmp(columns[i], "Type") == 0;
		for (char *at = column->name; *at; at++)
			*at = (char) toupper((unsigned char) *at);
		column->width = text_width(column->name);
	}
	return sheet;
}

static void drop_rows(struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->row_count * sheet->column_count; i++)
		free(sheet->cells[i]);
	sheet->row_count = 0;
}

void sheet_free(struct sheet *sheet)
{
	if (!sheet)
		return;
	drop_rows(sheet);
	for (size_t i = 0; i < sheet->column_count; i++)
		free(sheet->columns[i].name);
	free(sheet->cells);
	free(sheet->columns);
	free(sheet);
}

static bool make_room(struct sheet *sheet)
{
	size_t allocated = sheet->allocated ? sheet->allocated * 2 : 16;
	char **grown;

	if (sheet->row_count < sheet->allocated)
		return true;
	grown = reallocarray(sheet->cells, allocated * (sheet->column_count + 1), sizeof(*grown));
	if (!grown)
		return false;
	sheet->cells = grown;
	sheet->allocated = allocated;
	return true;
}

void sheet_add(struct sheet *sheet, const char *const *cells)
{
	char **row;

	if (!sheet)
		return;
	if (!make_room(sheet)) {
		sheet->is_incomplete = true;
		return;
	}
	row = sheet->cells + sheet->row_count * sheet->column_count;
	for (size_t i = 0; i < sheet->column_count; i++) {
		size_t width = text_width(cells[i]);

		row[i] = strdup(cells[i]);
		sheet->is_incomplete |= !row[i];
		if (width > sheet->columns[i].width)
			sheet->columns[i].width = width;
	}
	sheet->row_count++;
}

size_t sheet_rows(const struct sheet *sheet)
{
	return sheet ? sheet->row_count : 0;
}

/* ---- printing ---- */

/* Takes from the widest, column by column, until all fit; short ones stay whole. */
static void fit(const struct sheet *sheet, size_t *widths, size_t screen)
{
	size_t total = 0;

	for (size_t i = 0; i < sheet->column_count; i++) {
		widths[i] = sheet->columns[i].width;
		total += widths[i] + (i > 0 ? COLUMN_GAP : 0);
	}
	while (screen > 0 && total > screen) {
		size_t widest = 0;

		for (size_t i = 1; i < sheet->column_count; i++)
			if (widths[i] > widths[widest])
				widest = i;
		if (widths[widest] <= COLUMN_WIDTH_MIN)
			return;
		widths[widest]--;
		total--;
	}
}

/* The last column is not padded: no line ends in blanks. */
static void print_cell(FILE *out, const char *text, const char *colour, size_t width, bool is_last)
{
	size_t used;

	(void) fputs(colour, out);
	used = text_print(out, text, width);
	if (*colour)
		(void) fputs("\033[0m", out);
	if (!is_last)
		(void) fprintf(out, "%*s", (int) (width - used + COLUMN_GAP), "");
}

static void print_heading(struct cli *cli, const struct sheet *sheet, const size_t *widths)
{
	for (size_t i = 0; i < sheet->column_count; i++)
		print_cell(cli->out, sheet->columns[i].name, "", widths[i],
			   i + 1 == sheet->column_count);
	(void) fputc('\n', cli->out);
}

void sheet_print(struct cli *cli, struct sheet *sheet)
{
	cleanup_free size_t *widths =
		sheet ? calloc(sheet->column_count + 1, sizeof(size_t)) : NULL;
	bool colour = screen_has_colour(cli->out);
	size_t count = sheet ? sheet->column_count : 0; /* none, when a server says so */

	if (!widths || sheet->is_incomplete) {
		cli_complain(cli, "out of memory");
		return;
	}
	fit(sheet, widths, screen_width(cli->out));
	if (!sheet->has_heading && !cli->no_headers)
		print_heading(cli, sheet, widths);
	sheet->has_heading = true;
	for (size_t row = 0; row < sheet->row_count; row++) {
		for (size_t i = 0; i < count; i++) {
			const char *text = sheet->cells[row * count + i];
			bool shown = colour && sheet->columns[i].is_state;

			print_cell(cli->out, text, shown ? state_colour(text) : "", widths[i],
				   i + 1 == count);
		}
		(void) fputc('\n', cli->out);
	}
	drop_rows(sheet);
}
