/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentence - see cli.h
 */
#include "cli/cli.h"

#include "cli/output/screen.h"

#include "base/clock.h"

#include <stdarg.h>
#include <string.h>

enum { LINE_COLUMNS = 80, SENTENCE_BYTES = 8192 };

/* Lines break at the terminal's width, elsewhere at 80 columns. A word that is wider than the
 * terminal is broken there; with --output wide it is in one piece, as it is elsewhere. */
static void say_word(struct cli *cli, const char *word)
{
	size_t screen = screen_width(cli->out);
	size_t whole = screen_wrap_width(cli);
	size_t limit = screen > 0 ? screen : LINE_COLUMNS, width = text_width(word);

	/* An empty line between paragraphs. */
	if (cli->said_columns == 0 && cli->said_paragraph)
		(void) fputc('\n', cli->out);
	cli->said_paragraph = false;
	if (cli->said_columns > 0 && cli->said_columns + 1 + width > limit) {
		(void) fputc('\n', cli->out);
		cli->said_columns = 0;
	} else if (cli->said_columns > 0) {
		(void) fputc(' ', cli->out);
		cli->said_columns++;
	}
	cli->said_columns = text_print_broken(cli->out, word,
					      (struct text_wrap){ cli->said_columns, 0, whole });
}

/* A text of the daemon may end in a full stop of its own. */
static void drop_doubled_stop(char *text)
{
	size_t length = strlen(text);

	if (length >= 2 && text[length - 1] == '.' && text[length - 2] == '.')
		text[length - 1] = '\0';
}

void say(struct cli *cli, const char *format, ...)
{
	char text[SENTENCE_BYTES];
	char *rest = text, *word;
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	drop_doubled_stop(text);
	while ((word = strsep(&rest, " ")))
		if (*word)
			say_word(cli, word);
}

void say_end(struct cli *cli)
{
	if (cli->said_columns > 0)
		(void) fputc('\n', cli->out);
	cli->said_paragraph |= cli->said_columns > 0;
	cli->said_columns = 0;
}

/* ---- times ---- */

/* "2026-11-21T08:15:30.123Z"; false: no time. */
static bool parse_time(const char *text, uint64_t *ret_usec)
{
	struct tm parts = { 0 };
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
	time_t seconds;

	if (!end || (*end != 'Z' && *end != '.'))
		return false;
	seconds = timegm(&parts);
	if (seconds < 0)
		return false;
	*ret_usec = (uint64_t) seconds * USEC_PER_SEC;
	return true;
}

static void print_length(uint64_t usec, char *text, size_t size)
{
	unsigned long long seconds = usec / USEC_PER_SEC;

	if (seconds < 100)
		(void) snprintf(text, size, "%llu s", seconds);
	else if (seconds < 100 * 60)
		(void) snprintf(text, size, "%llu min", seconds / 60);
	else if (seconds < 48 * 3600)
		(void) snprintf(text, size, "%llu h %llu min", seconds / 3600, seconds / 60 % 60);
	else
		(void) snprintf(text, size, "%llu days", seconds / 86400);
}

void sentence_since(const char *time, char text[SENTENCE_TIME_BYTES])
{
	uint64_t now = realtime_usec(), then;

	text[0] = '\0';
	if (parse_time(time, &then))
		print_length(then < now ? now - then : 0, text, SENTENCE_TIME_BYTES);
}

void sentence_until(const char *time, char text[SENTENCE_TIME_BYTES])
{
	uint64_t now = realtime_usec(), then;

	text[0] = '\0';
	if (!parse_time(time, &then))
		return;
	if (then < now + USEC_PER_SEC) {
		(void) snprintf(text, SENTENCE_TIME_BYTES, "now");
		return;
	}
	memcpy(text, "in ", 3);
	print_length(then - now, text + 3, SENTENCE_TIME_BYTES - 3);
}
