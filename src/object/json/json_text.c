/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_text - see json_text.h
 */
#include "object/json/json_text.h"

#include <assert.h>
#include <string.h>

/* Behind the closing quote of the string that begins at @at: the first one behind an even number
 * of backslashes. */
static inline const char *string_end(const char *at)
{
	for (at++;;) {
		const char *quote = strchr(at, '"'), *first = quote;

		assert(quote);
		while (first[-1] == '\\')
			first--;
		if ((quote - first) % 2 == 0)
			return quote + 1;
		at = quote + 1;
	}
}

/* Behind the value that begins at @at: at the ',' or '}' of the object around it. */
static const char *value_end(const char *at)
{
	int depth = 0;

	for (;; at++) {
		switch (*at) {
		case '"':
			at = string_end(at) - 1;
			break;
		case '{':
		case '[':
			depth++;
			break;
		case '}':
		case ']':
			if (depth-- == 0)
				return at;
			break;
		case ',':
			if (depth == 0)
				return at;
			break;
		default:
			assert(*at != '\0');
		}
	}
}

void json_text_begin(struct json_text_walk *walk, const char *json)
{
	*walk = (struct json_text_walk){ .at = *json == '{' && json[1] != '}' ? json + 1 : "" };
}

bool json_text_key(struct json_text_walk *walk)
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

void json_text_pass(struct json_text_walk *walk, size_t length)
{
	walk->value.length = length;
	walk->at = walk->value.start + length;
	if (*walk->at == ',')
		walk->at++;
}

void json_text_pass_value(struct json_text_walk *walk)
{
	json_text_pass(walk, (size_t) (value_end(walk->value.start) - walk->value.start));
}

bool json_text_next(struct json_text_walk *walk)
{
	if (!json_text_key(walk))
		return false;
	json_text_pass_value(walk);
	return true;
}

static bool next_that_counts(struct json_text_walk *walk,
			     bool (*counts)(const struct json_bytes *key))
{
	while (json_text_next(walk))
		if (counts(&walk->key))
			return true;
	return false;
}

/* Is the next member of @other the very one that @walk has just passed? Then nothing of it has to
 * be looked for. */
static bool pass_same(const struct json_text_walk *walk, struct json_text_walk *other)
{
	const char *member = walk->key.start - 1;
	size_t length = (size_t) (walk->value.start + walk->value.length - member);

	if (strncmp(other->at, member, length) != 0 ||
	    (other->at[length] != ',' && other->at[length] != '}'))
		return false;
	other->at += length + (other->at[length] == ',');
	return true;
}

bool json_text_same_members(const char *a, const char *b,
			    bool (*counts)(const struct json_bytes *key))
{
	struct json_text_walk left, right;

	json_text_begin(&left, a);
	json_text_begin(&right, b);
	while (json_text_next(&left)) {
		if (pass_same(&left, &right) || !counts(&left.key))
			continue;
		if (!next_that_counts(&right, counts) || !json_bytes_equal(&left.key, &right.key) ||
		    !json_bytes_equal(&left.value, &right.value))
			return false;
	}
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
	for (; json_text_key(&walk); json_text_pass_value(&walk))
		if (json_bytes_are(&walk.key, key))
			return walk.value.start;
	return "";
}
