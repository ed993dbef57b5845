/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sheet - see screen.h: aligned columns, cut to the terminal's width where there is one
 *
 * Sentences in the last column are not cut: those too long for their line go below it. A table that
 * is too wide stands closer and leaves out columns that are empty in every row.
 */
#include "cli/output/screen.h"

#include "base/cleanup.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

enum { COLUMN_GAP = 3, COLUMN_GAP_CLOSE = 2, COLUMN_WIDTH_MIN = 6 };

#define BELOW "    "

struct column {
	char *name;
	size_t width;   /* of the widest text so far */
	size_t tail;    /* what texts that are cut keep of their end */
	bool is_state;  /* its texts may have a colour */
	bool is_filled; /* some row has a text, of those that were printed, too */
	bool is_hidden;
};

struct sheet {
	struct column *columns;
	size_t column_count;
	char **cells; /* row by row */
	size_t row_count, allocated;
	size_t gap;
	bool has_heading, is_incomplete, keeps_lines;
};

/* Where a sheet goes, and how. */
struct layout {
	FILE *out;
	size_t *shown;  /* which columns */
	size_t *widths; /* of these */
	size_t *tails;  /* what their texts keep of the end when they are cut */
	size_t count;
	size_t gap;
	size_t screen; /* 0: no terminal */
	bool colour;
	bool is_whole; /* texts, also those that are too wide */
	bool is_below; /* sentences, where they do not fit */
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
	sheet->gap = COLUMN_GAP;
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

/* In the words of views and of objects. */
static bool is_empty(const char *cell)
{
	return *cell == '\0' || strcmp(cell, "-") == 0 || strcmp(cell, "<unset>") == 0;
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
		sheet->columns[i].is_filled |= !is_empty(cells[i]);
		if (width > sheet->columns[i].width)
			sheet->columns[i].width = width;
	}
	sheet->row_count++;
}

size_t sheet_rows(const struct sheet *sheet)
{
	return sheet ? sheet->row_count : 0;
}

void sheet_keep_lines(struct sheet *sheet)
{
	if (sheet)
		sheet->keeps_lines = true;
}

/* ---- widths ---- */

static size_t whole_width(const size_t *widths, size_t count, size_t gap)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += widths[i] + (i > 0 ? gap : 0);
	return total;
}

/* Takes from the widest, column by column, until all fit; short ones stay whole. */
static void narrow(struct layout *layout)
{
	size_t *widths = layout->widths;
	size_t total = whole_width(widths, layout->count, layout->gap);

	while (!layout->is_whole && total > layout->screen) {
		size_t widest = 0;

		for (size_t i = 1; i < layout->count; i++)
			if (widths[i] > widths[widest])
				widest = i;
		if (widths[widest] <= COLUMN_WIDTH_MIN)
			return;
		widths[widest]--;
		total--;
	}
}

static bool has_sentences(const struct sheet *sheet, size_t last)
{
	static const char *const names[] = { "WHY", "MESSAGE", "ERROR", "PROBLEM", "WARNING" };

	for (size_t i = 0; i < ARRAY_SIZE(names) && sheet->column_count > 1; i++)
		if (strcmp(sheet->columns[last].name, names[i]) == 0)
			return true;
	return false;
}

static void show_columns(const struct sheet *sheet, struct layout *layout)
{
	layout->count = 0;
	layout->gap = sheet->gap;
	for (size_t i = 0; i < sheet->column_count; i++) {
		if (sheet->columns[i].is_hidden)
			continue;
		layout->shown[layout->count] = i;
		layout->widths[layout->count++] = sheet->columns[i].width;
	}
}

/* Once, with the heading; a later row that fills a hidden column brings it back under a new one. */
static void choose_columns(struct sheet *sheet, struct layout *layout)
{
	bool is_wide;

	show_columns(sheet, layout);
	is_wide = !sheet->has_heading && layout->screen > 0 &&
		  whole_width(layout->widths, layout->count, layout->gap) > layout->screen;
	if (is_wide)
		sheet->gap = COLUMN_GAP_CLOSE;
	for (size_t i = 0; i < sheet->column_count; i++) {
		struct column *column = &sheet->columns[i];

		if (is_wide)
			column->is_hidden = i > 0 && !column->is_filled;
		if (!column->is_hidden || !column->is_filled)
			continue;
		column->is_hidden = false;
		sheet->has_heading = false;
	}
	show_columns(sheet, layout);
}

static void fit(struct sheet *sheet, struct layout *layout)
{
	size_t last, whole;

	choose_columns(sheet, layout);
	whole = whole_width(layout->widths, layout->count, layout->gap);
	if (layout->count == 0 || layout->screen == 0 || whole <= layout->screen)
		return;
	last = layout->count - 1;
	whole = layout->widths[last];
	narrow(layout);
	if (sheet->keeps_lines || !has_sentences(sheet, layout->shown[last]) ||
	    (layout->widths[last] == whole && !layout->is_whole))
		return;
	layout->is_below = true;
	show_columns(sheet, layout);
	layout->widths[last] = text_width(sheet->columns[layout->shown[last]].name);
	narrow(layout);
	/* What is left of the line. */
	whole = whole_width(layout->widths, layout->count, layout->gap);
	if (layout->screen > whole)
		layout->widths[last] += layout->screen - whole;
}

/* ---- printing ---- */

/* The last one is not padded: no line ends in blanks. */
static void print_cell(const struct layout *layout, const char *text, const char *colour, size_t i,
		       bool is_last)
{
	size_t width = layout->widths[i], used;

	(void) fputs(colour, layout->out);
	used = text_print_cut(layout->out, text, width, *colour ? 0 : layout->tails[i]);
	if (*colour)
		(void) fputs("\033[0m", layout->out);
	if (!is_last)
		(void) fprintf(layout->out, "%*s", (int) (width - used + layout->gap), "");
}

static void print_heading(const struct layout *layout, const struct sheet *sheet)
{
	for (size_t i = 0; i < layout->count; i++)
		print_cell(layout, sheet->columns[layout->shown[i]].name, "", i,
			   i + 1 == layout->count);
	(void) fputc('\n', layout->out);
}

/* Of the columns that are cut. After the heading, which is cut at its end. A single row of a watch
 * is cut as the rows before it, which are to look different still. */
static void choose_tails(const struct sheet *sheet, struct layout *layout)
{
	for (size_t i = 0; i < layout->count; i++) {
		struct column *column = &sheet->columns[layout->shown[i]];

		if (layout->widths[i] >= column->width)
			continue;
		if (sheet->row_count > 1 || column->tail == 0 || column->tail >= layout->widths[i])
			column->tail = cut_choose(sheet->cells + layout->shown[i], sheet->row_count,
						  sheet->column_count, layout->widths[i]);
		layout->tails[i] = column->tail;
	}
}

static void print_row(const struct layout *layout, const struct sheet *sheet, char *const *cells)
{
	size_t in_line = layout->count, last = layout->count - 1;

	if (layout->is_below && text_width(cells[layout->shown[last]]) > layout->widths[last])
		in_line--;
	for (size_t i = 0; i < in_line; i++) {
		size_t column = layout->shown[i];
		bool has_colour = layout->colour && sheet->columns[column].is_state;

		print_cell(layout, cells[column], has_colour ? state_colour(cells[column]) : "", i,
			   i + 1 == in_line);
	}
	if (in_line < layout->count)
		text_print_below(layout->out, cells[layout->shown[last]], BELOW, layout->screen);
	(void) fputc('\n', layout->out);
}

void sheet_print(struct cli *cli, struct sheet *sheet)
{
	cleanup_free size_t *widths =
		sheet ? calloc(3 * (sheet->column_count + 1), sizeof(size_t)) : NULL;
	struct layout layout = {
		.out = cli->out,
		.widths = widths,
		.screen = screen_width(cli->out),
		.colour = screen_has_colour(cli->out),
		.is_whole = cli->format == OUTPUT_WIDE,
	};

	if (!widths || sheet->is_incomplete) {
		cli_complain(cli, "out of memory");
		return;
	}
	layout.shown = widths + sheet->column_count + 1;
	layout.tails = layout.shown + sheet->column_count + 1;
	fit(sheet, &layout);
	if (!sheet->has_heading && !cli->no_headers)
		print_heading(&layout, sheet);
	sheet->has_heading = true;
	choose_tails(sheet, &layout);
	for (size_t row = 0; row < sheet->row_count; row++)
		print_row(&layout, sheet, sheet->cells + row * sheet->column_count);
	drop_rows(sheet);
}
