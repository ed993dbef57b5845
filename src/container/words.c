/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words - see words.h
 */
#include "container/words.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

int words_add(struct words *words, struct failure *reterr, const char *format, ...)
{
	cleanup_free char *word = NULL;
	char *grown;
	size_t length;
	va_list arguments;
	int r;

	assert(words && format);
	va_start(arguments, format);
	r = vasprintf(&word, format, arguments);
	va_end(arguments);
	if (r < 0) {
		word = NULL;
		return failed(reterr, -ENOMEM, "cannot write a word");
	}
	if (strchr(word, '\n'))
		return failed_plain(reterr, -EOPNOTSUPP,
				    "a path with a line break in it cannot be a word of its own "
				    "line; the format json has it");
	length = strlen(word);
	grown = realloc(words->text, words->length + length + 2);
	if (!grown)
		return failed(reterr, -ENOMEM, "cannot write a word");
	memcpy(grown + words->length, word, length);
	memcpy(grown + words->length + length, "\n", 2);
	words->text = grown;
	words->length += length + 1;
	return 0;
}

void words_done(struct words *words)
{
	free(words->text);
	*words = (struct words){ 0 };
}

/* RFC 4180, and what Go's encoding/csv reads: a field that begins with a quote ends with one. */
char *word_field(const char *key, const char *value)
{
	size_t length = strlen(key) + strlen(value) * 2 + strlen("=\"\"");
	bool quoted = strpbrk(value, ",\"\r\n") != NULL;
	char *word = malloc(length + 1), *to = word;

	assert(key && value);
	if (!word)
		return NULL;
	if (quoted)
		*to++ = '"';
	to = mempcpy(to, key, strlen(key));
	*to++ = '=';
	for (; *value; value++) {
		if (*value == '"')
			*to++ = '"';
		*to++ = *value;
	}
	if (quoted)
		*to++ = '"';
	*to = '\0';
	return word;
}

char *word_escaped(const char *text, const char *special)
{
	char *word, *to;

	assert(text && special);
	word = to = malloc(strlen(text) * 2 + 1);
	if (!word)
		return NULL;
	for (; *text; text++) {
		if (*text == '\\' || strchr(special, *text))
			*to++ = '\\';
		*to++ = *text;
	}
	*to = '\0';
	return word;
}
