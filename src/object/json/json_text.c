/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_text - see json_text.h
 */
#include "object/json/json_text.h"

#include <assert.h>
#include <string.h>

/* Behind the closing quote of the string that begins at @at: the first quote behind an even number
 * of backslashes. */
static const char *string_end(const char *at)
{
	for (;;) {
		const char *quote = strchr(at + 1, '"'), *first = quote;

		assert(quote); /* it was printed whole */
		while (first[-1] == '\\')
			first--;
		if ((quote - first) % 2 == 0)
			return quote + 1;
		at = quote;
	}
}

/* Behind the value that begins at @at: at the ',' or '}' of the object around it. */
static const char *value_end(const char *at)
{
	int depth = 0;

	while (depth > 0 || (*at != ',' && *at != '}')) {
		if (*at == '"') {
			at = string_end(at);
			continue;
		}
		assert(*at != '\0');
		depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
		at++;
	}
	return at;
}

void json_text_begin(struct json_text_walk *walk, const char *json)
{
	*walk = (struct json_text_walk){ .at = *json == '{' && json[1] != '}' ? json + 1 : "" };
}

/* Up to the value, of which only the beginning is known then. */
static bool next_key(struct json_text_walk *walk)
{
	const char *end;

	if (*walk->at != '"')
		return false;
	end = string_end(walk->at);
	walk->key = (struct json_bytes){ walk->at + 1, (size_t) (end - walk->at) - 2 };
	assert(*end == ':');
	walk->value = (struct json_bytes){ end + 1, 0 };
	return true;
}

static void pass_value(struct json_text_walk *walk)
{
	walk->at = value_end(walk->value.start);
	walk->value.length = (size_t) (walk->at - walk->value.start);
	if (*walk->at == ',')
		walk->at++;
}

bool json_text_next(struct json_text_walk *walk)
{
	if (!next_key(walk))
		return false;
	pass_value(walk);
	return true;
}

bool json_bytes_are(const struct json_bytes *bytes, const char *text)
{
	return strncmp(bytes->start, text, bytes->length) == 0 && text[bytes->length] == '\0';
}

bool json_bytes_equal(const struct json_bytes *a, const struct json_bytes *b)
{
	return a->length == b->length &&
	       (a->length == 0 || memcmp(a->start, b->start, a->length) == 0);
}

static bool next_that_counts(struct json_text_walk *walk,
			     bool (*counts)(const struct json_bytes *key))
{
	while (json_text_next(walk))
		if (counts(&walk->key))
			return true;
	return false;
}

bool json_text_same_members(const char *a, const char *b,
			    bool (*counts)(const struct json_bytes *key))
{
	struct json_text_walk left, right;

	json_text_begin(&left, a);
	json_text_begin(&right, b);
	while (next_that_counts(&left, counts))
		if (!next_that_counts(&right, counts) || !json_bytes_equal(&left.key, &right.key) ||
		    !json_bytes_equal(&left.value, &right.value))
			return false;
	return !next_that_counts(&right, counts);
}

struct json_bytes json_text_member(const char *json, const char *key)
{
	struct json_text_walk walk;

	json_text_begin(&walk, json);
	while (json_text_next(&walk))
		if (json_bytes_are(&walk.key, key))
			return walk.value;
	return (struct json_bytes){ 0 };
}

const char *json_text_within(const char *json, const char *key)
{
	struct json_text_walk walk;

	json_text_begin(&walk, json);
	for (; next_key(&walk); pass_value(&walk))
		if (json_bytes_are(&walk.key, key))
			return walk.value.start;
	return "";
}
