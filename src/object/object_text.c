/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_text - see object_text.h
 */
#include "object/object_text.h"

#include "object/build.h"
#include "object/json/json_tree.h"

#include <assert.h>
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

int object_copy_member(const struct object *object, const char *member, const char *key,
		       struct cJSON **ret)
{
	const struct cJSON *item;
	struct json_bytes text;

	*ret = NULL;
	if (object->tree) {
		item = json_get(json_get(object->tree, member), key);
		*ret = json_copy(item);
		return item && !*ret ? -ENOMEM : 0;
	}
	text = member_text(object, member);
	if (text.length > 0)
		text = json_text_member(text.start, key);
	return text.length > 0 ? parse_own(text.start, text.length, ret) : 0;
}
