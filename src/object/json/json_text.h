/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_text - members of an object in canonical text, found without a tree
 *
 * For texts of json_print() alone: nothing is checked, and nothing is decoded. Comparing two texts
 * costs a look at each byte; a tree costs three allocations for each member.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Borrowed bytes, not ended by NUL. */
struct json_bytes {
	const char *start;
	size_t length;
};

/* Of an object's text: its members, one after the other. */
struct json_text_walk {
	const char *at;
	struct json_bytes key, value; /* the key without its quotes, escapes as they are written */
};

/* @json: the text of an object, ended by NUL; else there are no members. */
void json_text_begin(struct json_text_walk *walk, const char *json);
/* The next member. Return: false at the end. */
bool json_text_next(struct json_text_walk *walk);
/* The same in two steps, where the length of the value may be known: up to the value, of which only
 * the beginning is known then; and past it. */
bool json_text_key(struct json_text_walk *walk);
void json_text_pass(struct json_text_walk *walk, size_t length);
void json_text_pass_value(struct json_text_walk *walk); /* which finds its end */

static inline bool json_bytes_equal(const struct json_bytes *a, const struct json_bytes *b)
{
	return a->length == b->length &&
	       (a->length == 0 || memcmp(a->start, b->start, a->length) == 0);
}

static inline bool json_bytes_are(const struct json_bytes *bytes, const char *text)
{
	return json_bytes_equal(bytes, &(struct json_bytes){ text, strlen(text) });
}

/* Are the members that count the same, in the same order and to the byte? False does not say that
 * they differ: members may stand in another order. Both are texts of objects. */
bool json_text_same_members(const char *a, const char *b,
			    bool (*counts)(const struct json_bytes *key));

/* The value of the member @key; no bytes when there is none. */
struct json_bytes json_text_member(const char *json, const char *key);
/* The same where its end does not matter: from its first byte on; "" when there is none. */
const char *json_text_within(const char *json, const char *key);
