/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap - a text behind a label, on as many lines as the terminal needs
 *
 * Broken at blanks. A word that does not fit beside the label goes below it; one that is longer
 * than a line, mostly a path, goes on in the next. Nothing is cut.
 */
#include "cli/output/screen.h"

#include "base/cleanup.h"

#include <string.h>

enum { BELOW_INDENT = 4 /* of a word that does not fit beside its label */ };

size_t screen_wrap_width(const struct cli *cli)
{
	return cli->format == OUTPUT_WIDE ? 0 : screen_width(cli->out);
}

static size_t begin_line(FILE *out, size_t indent)
{
	(void) fprintf(out, "\n%*s", (int) indent, "");
	return indent;
}

void text_print_wrapped(FILE *out, const char *text, struct text_wrap wrap)
{
	size_t column = wrap.column;
	bool is_first = true;

	while (wrap.width > 0 && *text) {
		size_t length = strcspn(text, " ");
		cleanup_free char *word = strndup(text, length);
		size_t width = text_width(word ?: "");

		if (!is_first && column + 1 + width > wrap.width)
			column = begin_line(out, wrap.indent);
		else if (!is_first)
			column += text_print(out, " ", 0);
		if (column + width > wrap.width && column > BELOW_INDENT)
			column = begin_line(out, BELOW_INDENT);
		column = text_print_broken(out, word ?: "",
					   (struct text_wrap){ column, BELOW_INDENT, wrap.width });
		is_first = false;
		text += length + (text[length] == ' ');
	}
	(void) text_print(out, text, 0);
}
