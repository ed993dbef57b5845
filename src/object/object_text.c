/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_text - see object_text.h
 */
#include "object/object_text.h"

#include "object/build.h"
#include "object/json/json_tree.h"
#include "object/json/text_buffer.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* Of an object that was checked when it was made. */
static int parse_own(const char *text, size_t length, struct cJSON **ret)
{
	const struct json_limits limits = { .bytes = OBJECT_BYTES_MAX,
					    .depth = OBJECT_DEPTH_MAX,
					    .is_own = true };

	return json_parse(text, length, &limits, ret, NULL);
}

struct cJSON *object_tree(const struct object *object)
{
	struct cJSON *tree = NULL;

	assert(object);
	if (object->tree)
		return json_copy(object->tree);
	(void) parse_own(object->json, object->json_length, &tree);
	return tree; /* our own bytes: only memory can be missing */
}

static struct json_bytes member_text(const struct object *object, const char *key)
{
	if (strcmp(key, "metadata") == 0)
		return object_metadata_text(object);
	return strcmp(key, "spec") == 0 ? object_spec_text(object)
					: json_text_member(object->json, key);
}

int object_member(const struct object *object, const char *key, struct cJSON **own,
		  const struct cJSON **ret)
{
	struct json_bytes text;
	int r = 0;

	assert(!*own);
	if (object->tree) {
		*ret = key ? json_get(object->tree, key) : object->tree;
		return 0;
	}
	text = key ? member_text(object, key)
		   : (struct json_bytes){ object->json, object->json_length };
	if (text.length > 0)
		r = parse_own(text.start, text.length, own);
	*ret = *own;
	return r;
}

static bool is_among(const char *const keys[], const struct json_bytes *key)
{
	while (*keys && !json_bytes_are(key, *keys))
		keys++;
	return *keys != NULL;
}

static void put_members(struct text_buffer *text, const char *json, const char *const keys[])
{
	struct json_text_walk walk;
	const char *separator = "{";

	json_text_begin(&walk, json);
	while (json_text_next(&walk)) {
		const char *start = walk.key.start - 1;

		if (!is_among(keys, &walk.key))
			continue;
		text_buffer_put(text, separator, 1);
		text_buffer_put(text, start,
				(size_t) (walk.value.start - start) + walk.value.length);
		separator = ",";
	}
	if (*separator == '{')
		text_buffer_put(text, "{", 1);
	text_buffer_put(text, "}", 1);
}

int object_copy_members(const struct object *object, const char *member, const char *const keys[],
			struct cJSON **ret)
{
	const struct json_bytes within = member_text(object, member);
	char array[512];
	struct text_buffer text = { .bytes = array, .size = sizeof(array), .is_lent = true };
	int r;

	put_members(&text, within.length > 0 ? within.start : "", keys);
	r = text.failed ? -ENOMEM : parse_own(text.bytes, text.used, ret);
	text_buffer_done(&text);
	return r;
}
