/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen - see screen.h: the terminal, and text that is safe on it
 */
#include "cli/output/screen.h"

#include "base/cleanup.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <wchar.h>

#define ELLIPSIS "\xe2\x80\xa6"

enum { LINES_BELOW_MAX = 6 }; /* of one text; describe shows all of it */

/* Of the pager: there is one standard output. */
static FILE *stand_in, *stood_for;

void screen_stands_for(FILE *out, FILE *terminal)
{
	stand_in = out;
	stood_for = terminal;
}

/* The descriptor of the terminal that shows it; -1: none does. */
static int terminal_of(FILE *out)
{
	int fd = fileno(out == stand_in && stood_for ? stood_for : out);

	return fd >= 0 && isatty(fd) ? fd : -1;
}

unsigned int screen_width(FILE *out)
{
	struct winsize size = { 0 };
	int fd = terminal_of(out);

	if (fd < 0 || ioctl(fd, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

bool screen_has_colour(FILE *out)
{
	const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
	if (terminal_of(out) < 0 || (no_colour && *no_colour))
		return false;
	return terminal && strcmp(terminal, "dumb") != 0;
}

/* ---- text ---- */

/* Marks that turn the direction of what follows: a name could show as another. */
static bool turns_direction(wchar_t c)
{
	return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
	       c == 0x200f || c == 0x061c;
}

/* The next character: its bytes, and the columns it takes; 1 with *@ret_bad for one that is not
 * printed as it is. Needs LC_CTYPE to be UTF-8. */
static size_t next_character(const char *text, size_t length, size_t *ret_columns, bool *ret_bad)
{
	mbstate_t state = { 0 };
	wchar_t c;
	size_t bytes = mbrtowc(&c, text, length, &state);
	int columns;

	*ret_columns = 1;
	*ret_bad = true;
	if (bytes == 0 || bytes > length)
		return 1;
	columns = wcwidth(c);
	if (columns < 0 || turns_direction(c))
		return bytes;
	*ret_columns = (size_t) columns;
	*ret_bad = false;
	return bytes;
}

size_t text_width(const char *text)
{
	size_t length = strlen(text), width = 0, columns;
	bool bad;

	while (length > 0) {
		size_t bytes = next_character(text, length, &columns, &bad);

		width += columns;
		text += bytes;
		length -= bytes;
	}
	return width;
}

/* As many characters as fit. Return: the columns that they took. */
static size_t print_some(FILE *out, const char *text, size_t length, size_t width)
{
	size_t used = 0, columns;
	bool bad;

	while (length > 0) {
		size_t bytes = next_character(text, length, &columns, &bad);

		if (used + columns > width)
			break;
		if (bad)
			(void) fputc('?', out);
		else
			(void) fwrite(text, 1, bytes, out);
		used += columns;
		text += bytes;
		length -= bytes;
	}
	return used;
}

/* Where the part of @text begins that takes no more than @width columns at its end. */
static const char *tail_of(const char *text, size_t width)
{
	size_t length = strlen(text), left = text_width(text), columns;
	bool bad;

	while (left > width) {
		size_t bytes = next_character(text, length, &columns, &bad);

		left -= columns;
		text += bytes;
		length -= bytes;
	}
	return text;
}

/* A path, a unique name: what tells two of them apart is at both ends. */
bool text_is_path(const char *text)
{
	return strchr(text, '/') && !strchr(text, ' ');
}

size_t text_print_cut(FILE *out, const char *text, size_t width, size_t tail_width)
{
	const char *tail;
	size_t used;

	if (width == 0 || text_width(text) <= width)
		return print_some(out, text, strlen(text), SIZE_MAX);
	tail = tail_of(text, tail_width);
	used = print_some(out, text, strlen(text), width - 1 - text_width(tail));
	(void) fputs(ELLIPSIS, out);
	return used + 1 + print_some(out, tail, strlen(tail), SIZE_MAX);
}

size_t text_print(FILE *out, const char *text, size_t width)
{
	size_t rest = width > 0 ? width - 1 : 0;

	return text_print_cut(out, text, width, text_is_path(text) ? rest * 2 / 3 : 0);
}

/* Bytes of @text that fit one line: up to a blank; of a word that is longer than that up to a
 * slash.
 */
static size_t line_bytes(const char *text, size_t width)
{
	size_t length = strlen(text), used = 0, at = 0, blank = 0, slash = 0, columns;
	bool bad;

	while (at < length) {
		size_t bytes = next_character(text + at, length - at, &columns, &bad);

		if (text[at] == ' ')
			blank = at;
		if (used + columns > width)
			return blank > 0 ? blank : slash > 0 ? slash : at;
		if (text[at] == '/')
			slash = at + 1;
		used += columns;
		at += bytes;
	}
	return length;
}

size_t text_print_broken(FILE *out, const char *word, struct text_wrap wrap)
{
	size_t column = wrap.column, room;

	for (; wrap.width > 0; column = wrap.indent) {
		size_t bytes;

		room = wrap.width > column + WIDTH_BELOW_MIN ? wrap.width - column
							     : WIDTH_BELOW_MIN;
		bytes = line_bytes(word, room);
		if (word[bytes] == '\0')
			break;
		(void) print_some(out, word, bytes, SIZE_MAX);
		(void) fprintf(out, "\n%*s", (int) wrap.indent, "");
		word += bytes;
	}
	return column + print_some(out, word, strlen(word), SIZE_MAX);
}

void text_print_below(FILE *out, const char *text, const char *prefix, size_t screen)
{
	size_t before = text_width(prefix);
	size_t width = screen > before + WIDTH_BELOW_MIN ? screen - before : WIDTH_BELOW_MIN;

	text += strspn(text, " ");
	for (size_t line = 1; *text; line++) {
		size_t bytes = line_bytes(text, width);

		(void) fprintf(out, "\n%s", prefix);
		if (line == LINES_BELOW_MAX) {
			(void) text_print(out, text, width);
			return;
		}
		(void) print_some(out, text, bytes, SIZE_MAX);
		text += bytes;
		text += strspn(text, " ");
	}
}

void text_print_markup(FILE *out, const char *text)
{
	static const char special[] = "<>&\"'";

	for (; *text; text++) {
		if ((unsigned char) *text < ' ' && *text != '\n' && *text != '\t')
			(void) fputc('?', out);
		else if (strchr(special, *text))
			(void) fprintf(out, "&#%d;", *text);
		else
			(void) fputc(*text, out);
	}
}

void text_print_lines(FILE *out, const char *text, size_t length)
{
	size_t columns;
	bool bad;

	if (terminal_of(out) < 0) {
		(void) fwrite(text, 1, length, out);
		return;
	}
	while (length > 0) {
		size_t bytes = next_character(text, length, &columns, &bad);

		if (bad && *text != '\n' && *text != '\t')
			(void) fputc('?', out);
		else
			(void) fwrite(text, 1, bytes, out);
		text += bytes;
		length -= bytes;
	}
}

void cli_print_text(FILE *out, const char *text)
{
	(void) text_print(out, text, 0);
}

/* ---- colour ---- */

const char *state_colour(const char *state)
{
	static const struct {
		const char *state, *colour;
	} rows[] = {
		{ "mounted", "\033[32m" },  { "Bound", "\033[32m" },
		{ "Running", "\033[32m" },  { "Available", "\033[32m" },
		{ "Ready", "\033[32m" },    { "Active", "\033[32m" },
		{ "pending", "\033[33m" },  { "Pending", "\033[33m" },
		{ "wanted", "\033[33m" },   { "waiting", "\033[33m" },
		{ "mounting", "\033[33m" }, { "unmounting", "\033[33m" },
		{ "Released", "\033[33m" }, { "Terminating", "\033[33m" },
		{ "Warning", "\033[33m" },  { "uncertain", "\033[31m" },
		{ "failed", "\033[31m" },   { "Failed", "\033[31m" },
		{ "Lost", "\033[31m" },     { "NotReady", "\033[31m" },
		{ "absent", "\033[33m" },   { "faulty", "\033[31m" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].state, state) == 0)
			return rows[i].colour;
	return "";
}
