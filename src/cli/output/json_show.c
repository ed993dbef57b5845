/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_show - JSON with a member on each line, as kubectl prints it
 *
 * Works on the text: numbers and strings stay as the daemon wrote them, to the last digit.
 */
#include "cli/output/screen.h"

#include "base/cleanup.h"

#include <string.h>

static void break_line(FILE *out, size_t depth)
{
	(void) fprintf(out, "\n%*s", (int) (depth * 4), "");
}

/* From its first quote. Return: its bytes with both quotes. */
static size_t string_length(const char *text, size_t length)
{
	size_t i = 1;

	while (i < length && text[i] != '"')
		i += text[i] == '\\' ? 2 : 1;
	return i < length ? i + 1 : length;
}

static void indent(FILE *out, const char *text, size_t length)
{
	size_t depth = 0, bytes;

	for (size_t i = 0; i < length; i += bytes) {
		char c = text[i];
		bool ends = c == '}' || c == ']';

		bytes = c == '"' ? string_length(text + i, length - i) : 1;
		if (strchr(" \t\r\n", c))
			continue;
		if (ends && depth > 0)
			depth--;
		if (ends && !strchr("{[", text[i - (i > 0)]))
			break_line(out, depth);
		(void) fwrite(text + i, 1, bytes, out);
		if (c == ':')
			(void) fputc(' ', out);
		if (c == '{' || c == '[')
			depth++;
		if (c == ',' ||
		    ((c == '{' || c == '[') && i + 1 < length && !strchr("}]", text[i + 1])))
			break_line(out, depth);
	}
}

void json_show(FILE *out, const char *text, size_t length)
{
	cleanup_free char *shown = NULL;
	size_t shown_length = 0;
	FILE *memory = open_memstream(&shown, &shown_length);

	if (!memory) {
		text_print_lines(out, text, length);
		return;
	}
	indent(memory, text, length);
	if (fclose(memory) == 0)
		text_print_lines(out, shown, shown_length);
}
