/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printed - see printed.h
 */
#include "object/printed.h"

#include "object/json/json_tree.h"

#include <string.h>

void printed_init(struct printed *printed)
{
	printed->text = (struct text_buffer){ .bytes = printed->array,
					      .size = sizeof(printed->array),
					      .is_lent = true };
	printed->metadata = printed->spec = (struct object_span){ 0 };
}

void printed_done(struct printed *printed)
{
	text_buffer_done(&printed->text);
}

static void note_member(const char *key, size_t at, size_t length, void *userdata)
{
	struct printed *printed = userdata;
	const struct object_span span = { (uint32_t) at, (uint32_t) length };

	if (strcmp(key, "metadata") == 0)
		printed->metadata = span;
	else if (strcmp(key, "spec") == 0)
		printed->spec = span;
}

void printed_object(struct printed *printed, const struct cJSON *tree)
{
	json_print_members(&printed->text, tree, note_member, printed);
}

void printed_note_metadata(struct printed *printed, const struct object *from)
{
	uint32_t grown = (uint32_t) (printed->text.used - from->json_length);

	printed->metadata = from->metadata;
	printed->metadata.length += grown;
	printed->spec = from->spec;
	if (from->spec.at > from->metadata.at)
		printed->spec.at += grown;
}

int printed_parse(struct printed *printed, struct cJSON **ret, struct failure *reterr)
{
	const struct json_limits limits = { .bytes = OBJECT_BYTES_MAX,
					    .depth = OBJECT_DEPTH_MAX,
					    .is_own = true,
					    .note = note_member,
					    .userdata = printed };

	return json_parse(printed->text.bytes, printed->text.used, &limits, ret, reterr);
}

void object_find_members(struct object *object)
{
	struct json_text_walk walk;

	json_text_begin(&walk, object->json);
	while ((object->metadata.length == 0 || object->spec.length == 0) &&
	       json_text_next(&walk)) {
		const struct object_span span = { (uint32_t) (walk.value.start - object->json),
						  (uint32_t) walk.value.length };

		if (json_bytes_are(&walk.key, "metadata"))
			object->metadata = span;
		else if (json_bytes_are(&walk.key, "spec"))
			object->spec = span;
	}
}
