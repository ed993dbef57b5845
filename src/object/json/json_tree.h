/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_tree - what the files of src/object/ know about trees beyond json.h
 *
 * How cJSON's items are used here: numbers are cJSON_Raw with their text in valuestring; valueint
 * holds the line on which the item began (0: not from a text); a container that lost a member for
 * want of memory is cJSON_Invalid, which makes json_print() of the whole tree fail. An item has its
 * key and its text in its own allocation where it can: cJSON_Duplicate() would share such a key, so
 * json_copy() copies.
 */
#pragma once

#include "object/json/json.h"
#include "object/json/json_text.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <string.h>

/* As cJSON_IsObject() and its like, which are calls into a library. */
static inline bool json_has_type(int type, const struct cJSON *item)
{
	return item && (item->type & 0xff) == type;
}

#define NO_BYTES ((struct json_bytes){ NULL, 0 })

/* NULL: none. */
static inline struct json_bytes bytes_of(const char *text)
{
	return (struct json_bytes){ text, text ? strlen(text) : 0 };
}

/* What else is known of the item, as who owns its key, stays. */
static inline void json_set_type(struct cJSON *item, int type)
{
	item->type = (item->type & ~0xff) | type;
}

/* Most keys differ in the first two bytes. */
static inline bool json_is_key(const char *key, const char *wanted)
{
	return key[0] == wanted[0] &&
	       (key[0] == '\0' || (key[1] == wanted[1] && strcmp(key + 1, wanted + 1) == 0));
}

/* A value at the beginning of a text. */
struct json_piece {
	struct cJSON *tree; /* also on failure: what had been read until then, or NULL */
	size_t used;        /* bytes up to the end of the value */
	size_t nodes;       /* values that were read */
	unsigned int line;  /* on which it ended */
	bool complete;      /* its end was found; false with a failure: the syntax is broken */
};

/**
 * json_parse_piece - one value from the beginning of @text, with whatever follows left alone
 * @first_line: line of the first byte, for messages
 *
 * Return: 0; -EINVAL (with complete set when only a rule was broken, as by a duplicate key, and the
 * text after the value can still be read); -ENOMEM.
 */
int json_parse_piece(const char *text, size_t length, const struct json_limits *limits,
		     unsigned int first_line, struct json_piece *ret, struct failure *reterr);

struct text_buffer;
/* json_print() behind what the buffer has; it has failed when that would be NULL. */
void json_print_into(struct text_buffer *buffer, const struct cJSON *tree);
/* The same of an object, telling where in the buffer the value of each member stands. */
void json_print_members(struct text_buffer *buffer, const struct cJSON *object,
			void (*note)(const char *key, size_t at, size_t length, void *userdata),
			void *userdata);

/* An empty item of @type that began on @line; NULL: no memory. */
struct cJSON *json_new_item(int type, unsigned int line);
/* The same with copies of key and text, where these have a start, in the same allocation: to cJSON
 * the key is constant and the text a reference, which are not freed by themselves. */
struct cJSON *json_new_member(struct json_bytes key, int type, struct json_bytes text,
			      unsigned int line);
/* A copy of bytes as cJSON wants strings; NULL: no memory. */
char *json_copy_text(const char *text, size_t length);
/* Takes @item, which has its key, or none in an array. */
void json_append(struct cJSON *parent, struct cJSON *item);
/* Another key, or none. Return: 0; -ENOMEM and it has none. */
int json_set_key(struct cJSON *item, const char *key);
/* A member whose key came before in the same object, or NULL. Costs n log n. -ENOMEM in @ret_error.
 */
const struct cJSON *json_find_duplicate(const struct cJSON *object, int *ret_error);

static inline unsigned int json_line(const struct cJSON *item)
{
	return item && item->valueint > 0 ? (unsigned int) item->valueint : 0;
}

/* Length of the UTF-8 sequence at @text, or 0 when it is none. */
size_t utf8_sequence(const unsigned char *text, size_t length);

/* For raw numbers. */
bool json_is_number(const struct cJSON *item);

/* A container that lost a member for want of memory. */
static inline bool json_is_lost(const struct cJSON *item)
{
	return json_has_type(cJSON_Invalid, item);
}

/* A mutable member; NULL when absent. */
struct cJSON *json_member(struct cJSON *object, const char *key);

enum { JSON_NODES_MAX = 2000000 }; /* of any tree: a node costs some hundred bytes */
