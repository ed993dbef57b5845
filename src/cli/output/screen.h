/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen - what is printed for people: columns, colours, widths, and what takes longer
 *
 * Colour, cutting and progress are for a terminal only; a reader of a pipe gets every
 * character and nothing else. What comes from objects is never trusted with the terminal: control
 * characters become '?'.
 */
#pragma once

#include "cli/cli.h"

/* ---- screen.c ---- */

enum { WIDTH_BELOW_MIN = 20 }; /* columns of text on a line of text_print_below() */

/* What is written to @out will be shown on @terminal: widths and colours are the terminal's. NULL:
 * no longer. */
void screen_stands_for(FILE *out, FILE *terminal);

/* Columns of the terminal behind @out; 0: it is none, or unknown. */
unsigned int screen_width(FILE *out);

/* A terminal whose user did not set NO_COLOR, and that knows colours. */
bool screen_has_colour(FILE *out);

/* Columns that a text takes once it is printed. */
size_t text_width(const char *text);

/* One text without its control characters, newlines included, cut to @width columns with an
 * ellipsis at its end, or within a path; 0: not cut. Return: the columns that it took. */
size_t text_print(FILE *out, const char *text, size_t width);

/* The same, with @tail_width columns of its end behind the ellipsis; less than @width, or 0. */
size_t text_print_cut(FILE *out, const char *text, size_t width, size_t tail_width);

struct text_wrap {
	size_t column; /* where the text begins */
	size_t indent; /* of the lines that follow */
	size_t width;  /* of the terminal; 0: one line, as it is */
};

/* A word, all of it: on as many lines as it needs, broken behind slashes. Return: the column behind
 * it. */
size_t text_print_broken(FILE *out, const char *word, struct text_wrap wrap);

/* Has it a slash and no blank? */
bool text_is_path(const char *text);

/* The same on lines of their own, each with a newline and @prefix before it: at blanks, and no
 * wider than @screen, which counts as some more than the prefix when it is too small. After some
 * lines an ellipsis. */
void text_print_below(FILE *out, const char *text, const char *prefix, size_t screen);

/* The same for HTML and XML: what would be markup is escaped, newlines and tabs stay. */
void text_print_markup(FILE *out, const char *text);

/* Many lines: only newlines and tabs stay of the control characters, and these all when @out is no
 * terminal. */
void text_print_lines(FILE *out, const char *text, size_t length);

/* JSON, indented by four blanks, without a newline at its end; else as text_print_lines(). */
void json_show(FILE *out, const char *text, size_t length);

/* The escape sequence that a state is shown in; "" when it says nothing. */
const char *state_colour(const char *state);

/* ---- cut.c ---- */

/* How many columns of the end each of these texts keeps when it is cut to @width, so that no two
 * of them look alike, as far as that can be. @stride: from one to the next. */
size_t cut_choose(char *const *texts, size_t count, size_t stride, size_t width);

/* ---- wrap.c ---- */

/* The width of a terminal; 0 elsewhere, and with --output wide. */
size_t screen_wrap_width(const struct cli *cli);
/* Without a newline at its end. */
void text_print_wrapped(FILE *out, const char *text, struct text_wrap wrap);

/* ---- sheet.c ---- */

/* Rows under named columns. Lack of memory shows as rows that are missing and a complaint by
 * sheet_print(). All functions accept NULL. */
struct sheet *sheet_new(const char *const *columns, size_t count);
void sheet_free(struct sheet *sheet);
/* Copies as many cells as there are columns. */
void sheet_add(struct sheet *sheet, const char *const *cells);
size_t sheet_rows(const struct sheet *sheet);
/* Prints and drops the rows. The heading comes before the first row ever; later rows keep its
 * widths as far as they can, so that a watch stays in line. */
void sheet_print(struct cli *cli, struct sheet *sheet);
/* From now on a row takes one line on a terminal, too. Else a sentence in the last column (why, a
 * message) that would be cut goes below its row. */
void sheet_keep_lines(struct sheet *sheet);

/* ---- pager.c ---- */

/* Keeps what is written to cli->out until pager_end(), when that is a terminal. */
void pager_begin(struct cli *cli);
/* Shows it: by a pager when it is longer than the terminal. Also without pager_begin(). Return:
 * whether all was written. */
bool pager_end(struct cli *cli);

/* ---- progress.c ---- */

/* Shows on a terminal what is waited for, and since when, once that took a second. Nothing
 * otherwise. @text may change from call to call. */
void progress_show(struct cli *cli, const char *text);
/* Takes the line away. */
void progress_end(struct cli *cli);
/* Is there anybody to show progress to? */
bool progress_is_seen(const struct cli *cli);
