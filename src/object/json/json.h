/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json - cJSON behind strict wrappers, and the few ways everybody reads and writes trees
 *
 * cJSON alone accepts NUL, bad UTF-8, trailing bytes and duplicate keys and turns 64-bit integers
 * into doubles; json_parse() refuses all of these. Integers keep their text (they are cJSON raw
 * items inside) so that 9007199254740993 survives. Code that builds JSON for the API uses these
 * functions and never cJSON itself.
 */
#pragma once

#include "base/cleanup.h"
#include "base/failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cJSON; /* the library's own tree; only the functions below look into it */

struct json_limits {
	size_t bytes, depth;
	size_t nodes; /* values in all; 0: JSON_NODES_MAX */
	bool is_own;  /* json_print() made the text: no key comes twice, and none is looked for */
	/* Of each member of the outermost object, when it was read: where in the text its value
	 * stands. NULL: not noted. */
	void (*note)(const char *key, size_t at, size_t length, void *userdata);
	void *userdata;
};

/* Return: 0; -EINVAL with line and column; -E2BIG a limit; -ENOMEM. @ret is freed with json_free().
 */
int json_parse(const char *text, size_t length, const struct json_limits *limits,
	       struct cJSON **ret, struct failure *reterr);
/* The same for the first document of a YAML text, as in manifests (see object.h); none is -EINVAL.
 */
int json_parse_yaml(const char *text, size_t length, struct cJSON **ret, struct failure *reterr);
/* With everything below it. Accepts NULL. */
void json_free(struct cJSON *tree);
/* For cleanup_json: variables that own a tree. */
void json_free_pointer(struct cJSON **tree);
#define cleanup_json cleanup(json_free_pointer)
/* json_free() of a tree with secrets in it: every string is overwritten before. Accepts NULL. */
void json_free_secret(struct cJSON *tree);
void json_free_secret_pointer(struct cJSON **tree);
#define cleanup_json_secret cleanup(json_free_secret_pointer)

/* The same value; the order of an object's members does not matter. NULL equals NULL only. */
bool json_equal(const struct cJSON *a, const struct cJSON *b);

/* Canonical: keys in their order, no blanks. NULL: no memory. Freed with free(). */
char *json_print(const struct cJSON *tree);
/* The same tree as a YAML document. NULL: no memory. Freed with free(). */
char *json_print_yaml(const struct cJSON *tree);

/* Reading. Every function accepts NULL and answers "absent". Paths are fixed key names, outermost
 * first. */
const struct cJSON *json_get(const struct cJSON *object, const char *key);
/* The member at "spec.source.name", for names that hold no dots and fit 63 bytes. */
const struct cJSON *json_get_path(const struct cJSON *object, const char *path);
/* The element at @index; NULL past the end. Linear: walk with json_next() instead. */
const struct cJSON *json_at(const struct cJSON *array, size_t index);
/* With all below it. */
size_t json_node_count(const struct cJSON *tree);
/* Elements or members. */
size_t json_count(const struct cJSON *array_or_object);
/* The name of a member of an object; "" otherwise. */
const char *json_key(const struct cJSON *item);
/* The value, or @fallback when it is absent or of another type. */
const char *json_string(const struct cJSON *item, const char *fallback);
bool json_bool(const struct cJSON *item, bool fallback);
/* Of this type? An absent item is of none. */
bool json_is_string(const struct cJSON *item);
bool json_is_object(const struct cJSON *item);
bool json_is_array(const struct cJSON *item);
bool json_is_bool(const struct cJSON *item);
bool json_is_null(const struct cJSON *item);
/* False, and @ret as it was: absent, or no integer of 64 bits. */
bool json_int64(const struct cJSON *item, int64_t *ret);
const struct cJSON *json_first(const struct cJSON *array_or_object);
const struct cJSON *json_next(const struct cJSON *item);
/* The first element of a list whose member @key is the string @text; NULL: none. */
const struct cJSON *json_find(const struct cJSON *list, const char *key, const char *text);
/* A list of strings has this one; NULL is in none. */
bool json_has_string(const struct cJSON *list, const char *text);
/* Walks an array or object. */
#define JSON_FOREACH(item, array_or_object)                                                        \
	for (const struct cJSON *item = json_first(array_or_object); item; item = json_next(item))

/* The text of a member, of the member at a path; "" when it is absent or no string. */
static inline const char *json_text(const struct cJSON *object, const char *key)
{
	return json_string(json_get(object, key), "");
}

static inline bool json_text_is(const struct cJSON *object, const char *key, const char *text)
{
	return strcmp(json_text(object, key), text) == 0;
}

static inline const char *json_text_at(const struct cJSON *object, const char *path)
{
	return json_string(json_get_path(object, path), "");
}

/* Building. A member lost for want of memory makes json_print() of the tree NULL, so that one check
 * at the end does. A NULL parent is passed over, for the same reason. Strings that are no UTF-8 get
 * U+FFFD for each bad byte. @key NULL appends to an array. */
struct cJSON *json_new_object(void);
struct cJSON *json_new_array(void);
/* A tree of its own, with everything below; NULL: no memory. */
struct cJSON *json_copy(const struct cJSON *tree);
/* Adds an empty one and gives it for filling: borrowed, the parent owns it. */
struct cJSON *json_add_object(struct cJSON *parent, const char *key);
struct cJSON *json_add_array(struct cJSON *parent, const char *key);
/* Replaces the member of that name. Return: 0 or -ENOMEM, which need not be looked at: see above.
 */
int json_set_string(struct cJSON *parent, const char *key, const char *value);
/* The same without a look whether the key is there. */
int json_append_string(struct cJSON *parent, const char *key, const char *value);
int json_set_int(struct cJSON *parent, const char *key, int64_t value);
int json_set_bool(struct cJSON *parent, const char *key, bool value);
int json_set_null(struct cJSON *parent, const char *key);
/* Takes @value, also on failure. */
int json_set(struct cJSON *parent, const char *key, struct cJSON *value);
/* The member and its value; what is not there is passed over. */
void json_remove(struct cJSON *parent, const char *key);
/* The object at @key, made when absent; NULL: no memory, or something else is there. */
struct cJSON *json_ensure_object(struct cJSON *parent, const char *key);

/* ---- json_memory.c: small pieces of trees are kept by the thread that freed them ---- */

/* Of this whole process, whose cJSON must have no other user: for the daemon's main(), not for the
 * library. With an address sanitizer nothing changes: it would not see what is used after its end.
 */
void json_memory_begin(void);

/* This thread has nothing to do: keep some hundred pieces of each size. */
void json_memory_trim(void);
