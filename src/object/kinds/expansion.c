/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expansion - "$(NAME)" in a text; see environment.h
 */
#include "object/kinds/environment.h"

#include "object/json/text_buffer.h"

#include <assert.h>
#include <string.h>

static void put(struct text_buffer *buffer, const char *text, size_t length)
{
	if (length > 0)
		text_buffer_put(buffer, text, length);
}

/* @at is a dollar sign with something after it. Return: what comes after it was dealt with. */
static const char *expand_one(struct text_buffer *buffer, const char *at, expansion_fn *map,
			      void *userdata)
{
	const char *close;

	if (at[1] == '(') {
		close = strchr(at + 2, ')');
		if (close) {
			const char *value = map(userdata, at + 2, (size_t) (close - at) - 2);

			put(buffer, value, strlen(value));
			return close + 1;
		}
	}
	/* "$$" is one dollar sign; anything else stays both. */
	put(buffer, at, at[1] == '$' ? 1 : 2);
	return at + 2;
}

char *expansion_expand(const char *text, expansion_fn *map, void *userdata)
{
	struct text_buffer buffer = { .bytes = NULL };

	assert(text && map);
	while (*text) {
		size_t plain = strcspn(text, "$");

		if (text[plain] == '$' && text[plain + 1] == '\0')
			plain++;
		put(&buffer, text, plain);
		text += plain;
		if (*text)
			text = expand_one(&buffer, text, map, userdata);
	}
	return text_buffer_take(&buffer);
}
