/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json - reading, building and comparing trees; see json.h and json_tree.h
 *
 * null counts as absent everywhere, as in the Kubernetes API. What a program puts into a string is
 * made valid UTF-8 here, because file names and messages of others need not be.
 */
#include "object/json/json_tree.h"

#include "object/json/json_index.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

void json_free(struct cJSON *tree)
{
	cJSON_Delete(tree);
}

void json_free_pointer(struct cJSON **tree)
{
	cJSON_Delete(*tree);
}

static void wipe(struct cJSON *item)
{
	for (; item; item = item->next) {
		if (item->valuestring)
			explicit_bzero(item->valuestring, strlen(item->valuestring));
		wipe(item->child);
	}
}

void json_free_secret(struct cJSON *tree)
{
	wipe(tree);
	cJSON_Delete(tree);
}

void json_free_secret_pointer(struct cJSON **tree)
{
	json_free_secret(*tree);
}

/* ---- reading ---- */

/* Linear: objects have few members, and their order is kept. */
struct cJSON *json_member(struct cJSON *object, const char *key)
{
	assert(key);
	if (!json_has_type(cJSON_Object, object))
		return NULL;
	for (struct cJSON *item = object->child; item; item = item->next) {
		if (item->string && json_is_key(item->string, key))
			return item;
	}
	return NULL;
}

const struct cJSON *json_get(const struct cJSON *object, const char *key)
{
	return json_member((struct cJSON *) object, key);
}

/* The member whose key is so many bytes of a path. */
static const struct cJSON *member_of_path(const struct cJSON *object, const char *path,
					  size_t length)
{
	if (!json_has_type(cJSON_Object, object))
		return NULL;
	for (const struct cJSON *item = object->child; item; item = item->next)
		if (item->string && item->string[0] == path[0] &&
		    strncmp(item->string, path, length) == 0 && item->string[length] == '\0')
			return item;
	return NULL;
}

const struct cJSON *json_get_path(const struct cJSON *object, const char *path)
{
	for (;;) {
		size_t length = strcspn(path, ".");

		object = member_of_path(object, path, length);
		if (path[length] == '\0')
			return object;
		path += length + 1;
	}
}

const struct cJSON *json_at(const struct cJSON *array, size_t index)
{
	const struct cJSON *item = json_first(array);

	while (item && index-- > 0)
		item = item->next;
	return item;
}

size_t json_count(const struct cJSON *array_or_object)
{
	size_t count = 0;

	for (const struct cJSON *item = json_first(array_or_object); item; item = item->next)
		count++;
	return count;
}

size_t json_node_count(const struct cJSON *tree)
{
	size_t count = tree ? 1 : 0;

	for (const struct cJSON *item = json_first(tree); item; item = item->next)
		count += json_node_count(item);
	return count;
}

const char *json_key(const struct cJSON *item)
{
	return item && item->string ? item->string : "";
}

const char *json_string(const struct cJSON *item, const char *fallback)
{
	return json_has_type(cJSON_String, item) && item->valuestring ? item->valuestring
								      : fallback;
}

bool json_bool(const struct cJSON *item, bool fallback)
{
	return cJSON_IsBool(item) ? cJSON_IsTrue(item) : fallback;
}

bool json_is_string(const struct cJSON *item)
{
	return json_has_type(cJSON_String, item);
}

bool json_is_object(const struct cJSON *item)
{
	return json_has_type(cJSON_Object, item);
}

bool json_is_array(const struct cJSON *item)
{
	return json_has_type(cJSON_Array, item);
}

bool json_is_bool(const struct cJSON *item)
{
	return cJSON_IsBool(item);
}

bool json_is_null(const struct cJSON *item)
{
	return json_has_type(cJSON_NULL, item);
}

bool json_is_number(const struct cJSON *item)
{
	return json_has_type(cJSON_Raw, item);
}

/* By the text of the number: a double would lose what is beyond 2^53. */
bool json_int64(const struct cJSON *item, int64_t *ret)
{
	const char *text = json_has_type(cJSON_Raw, item) ? item->valuestring : NULL;
	intmax_t value;
	char *end;

	if (!text || text[strspn(text, "-0123456789")] != '\0')
		return false;
	errno = 0;
	value = strtoimax(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0')
		return false;
	*ret = (int64_t) value;
	return true;
}

const struct cJSON *json_first(const struct cJSON *array_or_object)
{
	if (!json_has_type(cJSON_Array, array_or_object) &&
	    !json_has_type(cJSON_Object, array_or_object))
		return NULL;
	return array_or_object->child;
}

const struct cJSON *json_next(const struct cJSON *item)
{
	return item ? item->next : NULL;
}

const struct cJSON *json_find(const struct cJSON *list, const char *key, const char *text)
{
	JSON_FOREACH (item, list)
		if (json_text_is(item, key, text))
			return item;
	return NULL;
}

bool json_has_string(const struct cJSON *list, const char *text)
{
	JSON_FOREACH (item, list)
		if (text && strcmp(json_string(item, ""), text) == 0)
			return true;
	return false;
}

/* ---- building ---- */

static char *put_text(char *to, const char *text, size_t length)
{
	memcpy(to, text, length);
	to[length] = '\0';
	return to;
}

/* By cJSON's own allocator, because cJSON frees it. */
char *json_copy_text(const char *text, size_t length)
{
	char *copy = cJSON_malloc(length + 1);

	return copy ? put_text(copy, text, length) : NULL;
}

/* The line rides in valueint, which is otherwise unused: numbers are raw text. */
struct cJSON *json_new_member(struct json_bytes key, int type, struct json_bytes text,
			      unsigned int line)
{
	size_t key_bytes = key.start ? key.length + 1 : 0;
	size_t text_bytes = text.start ? text.length + 1 : 0;
	struct cJSON *item = cJSON_malloc(sizeof(*item) + key_bytes + text_bytes);
	char *behind;

	if (!item)
		return NULL;
	behind = (char *) (item + 1);
	*item = (struct cJSON){ .type = type, .valueint = line > INT_MAX ? INT_MAX : (int) line };
	if (key.start) {
		item->type |= cJSON_StringIsConst;
		item->string = put_text(behind, key.start, key.length);
	}
	if (text.start) {
		item->type |= cJSON_IsReference;
		item->valuestring = put_text(behind + key_bytes, text.start, text.length);
	}
	return item;
}

struct cJSON *json_new_item(int type, unsigned int line)
{
	return json_new_member(NO_BYTES, type, NO_BYTES, line);
}

static void drop_key(struct cJSON *item)
{
	if (!(item->type & cJSON_StringIsConst))
		cJSON_free(item->string);
	item->type &= ~cJSON_StringIsConst;
	item->string = NULL;
}

/* Copied first: @key may be the item's own. */
int json_set_key(struct cJSON *item, const char *key)
{
	char *copy = key ? json_copy_text(key, strlen(key)) : NULL;

	drop_key(item);
	item->string = copy;
	return key && !copy ? -ENOMEM : 0;
}

/* As cJSON links them: the first one's previous one is the last. */
void json_append(struct cJSON *parent, struct cJSON *item)
{
	struct cJSON *first = parent->child;

	assert(item && !item->next && !item->prev);
	if (!first) {
		parent->child = item->prev = item;
		return;
	}
	item->prev = first->prev;
	first->prev->next = item;
	first->prev = item;
}

/* What is lost for want of memory must not go unnoticed: json_print() refuses the tree. */
static int lost(struct cJSON *parent)
{
	if (parent)
		json_set_type(parent, cJSON_Invalid);
	return -ENOMEM;
}

/* Takes @value, which has its key, or NULL for want of memory. */
static int put(struct cJSON *parent, struct cJSON *value)
{
	const char *key = value ? value->string : NULL;
	struct cJSON *present = key ? json_member(parent, key) : NULL;

	if (!value || !parent || json_is_lost(parent)) {
		json_free(value);
		return lost(parent);
	}
	assert(json_has_type(key ? cJSON_Object : cJSON_Array, parent));
	if (present)
		(void) cJSON_ReplaceItemViaPointer(parent, present, value);
	else
		json_append(parent, value);
	return 0;
}

int json_set(struct cJSON *parent, const char *key, struct cJSON *value)
{
	if (value && json_set_key(value, key) < 0) {
		json_free(value);
		value = NULL;
	}
	return put(parent, value);
}

struct cJSON *json_new_object(void)
{
	return json_new_item(cJSON_Object, 0);
}

struct cJSON *json_new_array(void)
{
	return json_new_item(cJSON_Array, 0);
}

struct cJSON *json_copy(const struct cJSON *tree)
{
	struct cJSON *copy = tree ? json_new_member(bytes_of(tree->string), tree->type & 0xff,
						    bytes_of(tree->valuestring), json_line(tree))
				  : NULL;

	for (const struct cJSON *child = copy ? tree->child : NULL; child; child = child->next) {
		struct cJSON *item = json_copy(child);

		if (!item) {
			json_free(copy);
			return NULL;
		}
		json_append(copy, item);
	}
	return copy;
}

static struct cJSON *add_container(struct cJSON *parent, const char *key, int type)
{
	struct cJSON *item = json_new_member(bytes_of(key), type, NO_BYTES, 0);

	return put(parent, item) == 0 ? item : NULL;
}

struct cJSON *json_add_object(struct cJSON *parent, const char *key)
{
	return add_container(parent, key, cJSON_Object);
}

struct cJSON *json_add_array(struct cJSON *parent, const char *key)
{
	return add_container(parent, key, cJSON_Array);
}

/* Each byte that is no UTF-8 becomes U+FFFD, as Go's encoder does. */
static char *valid_utf8(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t length = strlen(text), used = 0;
	char *copy = cJSON_malloc(length * (sizeof(replacement) - 1) + 1);

	for (size_t i = 0; copy && i < length;) {
		size_t size = utf8_sequence((const unsigned char *) text + i, length - i);

		memcpy(copy + used, size ? text + i : replacement,
		       size ? size : sizeof(replacement) - 1);
		used += size ? size : sizeof(replacement) - 1;
		i += size ? size : 1;
	}
	if (copy)
		copy[used] = '\0';
	return copy;
}

static bool is_utf8(const char *text)
{
	for (size_t length = strlen(text), size; length > 0; text += size, length -= size) {
		size = (unsigned char) *text < 0x80
			       ? 1
			       : utf8_sequence((const unsigned char *) text, length);
		if (size == 0)
			return false;
	}
	return true;
}

static struct cJSON *new_text(const char *key, const char *value)
{
	struct cJSON *item;
	char *valid;

	assert(value);
	if (is_utf8(value))
		return json_new_member(bytes_of(key), cJSON_String, bytes_of(value), 0);
	valid = valid_utf8(value);
	item = valid ? json_new_member(bytes_of(key), cJSON_String, bytes_of(valid), 0) : NULL;
	cJSON_free(valid);
	return item;
}

int json_set_string(struct cJSON *parent, const char *key, const char *value)
{
	return put(parent, new_text(key, value));
}

int json_append_string(struct cJSON *parent, const char *key, const char *value)
{
	struct cJSON *item = new_text(key, value);

	if (!parent || json_is_lost(parent) || !item) {
		json_free(item);
		return lost(parent);
	}
	json_append(parent, item);
	return 0;
}

int json_set_int(struct cJSON *parent, const char *key, int64_t value)
{
	char text[24], *at = text + sizeof(text);
	uint64_t left = value < 0 ? -(uint64_t) value : (uint64_t) value;

	do {
		*--at = (char) ('0' + left % 10);
		left /= 10;
	} while (left > 0);
	if (value < 0)
		*--at = '-';
	return put(parent,
		   json_new_member(bytes_of(key), cJSON_Raw,
				   (struct json_bytes){ at, (size_t) (text + sizeof(text) - at) },
				   0));
}

int json_set_bool(struct cJSON *parent, const char *key, bool value)
{
	return put(parent,
		   json_new_member(bytes_of(key), value ? cJSON_True : cJSON_False, NO_BYTES, 0));
}

int json_set_null(struct cJSON *parent, const char *key)
{
	return put(parent, json_new_member(bytes_of(key), cJSON_NULL, NO_BYTES, 0));
}

void json_remove(struct cJSON *parent, const char *key)
{
	struct cJSON *item = json_member(parent, key);

	if (item)
		json_free(cJSON_DetachItemViaPointer(parent, item));
}

struct cJSON *json_ensure_object(struct cJSON *parent, const char *key)
{
	struct cJSON *item = json_member(parent, key);

	if (item && !json_has_type(cJSON_NULL, item))
		return json_has_type(cJSON_Object, item) ? item : NULL;
	return json_add_object(parent, key);
}

/* ---- comparing ---- */

/* Of as many members. Return: 1, 0; -ENOMEM. */
static int equal_by_index(const struct cJSON *a, const struct cJSON *b)
{
	cleanup_json_index struct json_index index = { 0 };
	int r = json_index_make(b, NULL, &index);

	if (r < 0)
		return r;
	for (const struct cJSON *item = a->child; item; item = item->next) {
		const struct json_index_entry *other = json_index_find(&index, item->string);

		if (!other || !json_equal(item, other->item))
			return 0;
	}
	return 1;
}

/* Members are mostly in the same order; where many are not, looking each up would be quadratic. */
static bool equal_members(const struct cJSON *a, const struct cJSON *b)
{
	enum { LOOK_UPS_MAX = 16 };
	const struct cJSON *same_place = b->child;
	size_t count = json_count(a);
	int look_ups = 0, result;

	if (count != json_count(b))
		return false;
	for (const struct cJSON *item = a->child; item; item = item->next) {
		const struct cJSON *other = same_place;

		if (!other || strcmp(json_key(other), json_key(item)) != 0) {
			if (look_ups++ == LOOK_UPS_MAX) {
				result = equal_by_index(a, b);
				if (result >= 0)
					return result > 0;
			}
			other = json_get(b, json_key(item));
		}
		if (!other || !json_equal(item, other))
			return false;
		same_place = same_place ? same_place->next : NULL;
	}
	return true;
}

static bool equal_elements(const struct cJSON *a, const struct cJSON *b)
{
	const struct cJSON *other = b->child;

	for (const struct cJSON *item = a->child; item; item = item->next, other = other->next) {
		if (!other || !json_equal(item, other))
			return false;
	}
	return !other;
}

bool json_equal(const struct cJSON *a, const struct cJSON *b)
{
	if (!a || !b)
		return a == b;
	if ((a->type & 0xff) != (b->type & 0xff))
		return false;
	switch (a->type & 0xff) {
	case cJSON_String:
	case cJSON_Raw:
		return strcmp(a->valuestring, b->valuestring) == 0;
	case cJSON_Object:
		return equal_members(a, b);
	case cJSON_Array:
		return equal_elements(a, b);
	default:
		return true;
	}
}

/* ---- duplicate keys ---- */

static const struct cJSON *duplicate_of_few(const struct cJSON *object)
{
	for (const struct cJSON *item = object->child; item; item = item->next) {
		for (const struct cJSON *other = object->child; other != item;
		     other = other->next) {
			if (item->string[0] == other->string[0] &&
			    strcmp(item->string, other->string) == 0)
				return item;
		}
	}
	return NULL;
}

const struct cJSON *json_find_duplicate(const struct cJSON *object, int *ret_error)
{
	enum { FEW = 12 };
	cleanup_json_index struct json_index index = { 0 };
	int r;

	assert(json_has_type(cJSON_Object, object));
	if (json_count(object) <= FEW)
		return duplicate_of_few(object);
	r = json_index_make(object, NULL, &index);
	if (r < 0) {
		*ret_error = r;
		return NULL;
	}
	return json_index_duplicate(&index);
}
