/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit_new - see edit_new.h
 *
 * One walk over the text finds the members; what stands between them is copied as it is.
 */
#include "object/edit_new.h"

#include "object/build.h"
#include "object/json/json_tree.h"
#include "object/object_text.h"
#include "object/printed.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A member that an edit may change. */
struct part {
	const char *within, *key; /* within "": a member of the object itself */
	size_t at, length;        /* with its key; length 0: it would be added there */
	size_t grown;             /* by the edit; wraps around when it shrank */
};

enum { ANNOTATIONS, CLAIM_REF, VOLUME_NAME, STATUS, PARTS };

static const struct part no_parts[PARTS] = {
	[ANNOTATIONS] = { .within = "metadata", .key = "annotations" },
	[CLAIM_REF] = { .within = "spec", .key = "claimRef" },
	[VOLUME_NAME] = { .within = "spec", .key = "volumeName" },
	[STATUS] = { .within = "", .key = "status" },
};

static void put(struct text_buffer *buffer, const char *text)
{
	text_buffer_put(buffer, text, strlen(text));
}

/* ---- where they are ---- */

static void note_part(const char *json, const struct json_text_walk *member, struct part *part)
{
	const char *start = member->key.start - 1;

	if (!json_bytes_are(&member->key, part->key))
		return;
	part->at = (size_t) (start - json);
	part->length = (size_t) (member->value.start + member->value.length - start);
}

/* @parts: @count of them, which are members of what @text is. */
static void find_within(const struct object *object, struct json_bytes text, struct part *parts,
			size_t count)
{
	struct json_text_walk walk;

	for (size_t i = 0; i < count; i++)
		parts[i].at = (size_t) (text.start - object->json) + text.length - 1;
	json_text_begin(&walk, text.start);
	while (json_text_key(&walk)) {
		if (walk.value.start == object_metadata_text(object).start)
			json_text_pass(&walk, object->metadata.length);
		else if (walk.value.start == object_spec_text(object).start)
			json_text_pass(&walk, object->spec.length);
		else
			json_text_pass_value(&walk);
		for (size_t i = 0; i < count; i++)
			note_part(object->json, &walk, &parts[i]);
	}
}

static void find_parts(const struct object *object, struct part parts[PARTS])
{
	memcpy(parts, no_parts, sizeof(no_parts));
	find_within(object, object_metadata_text(object), &parts[ANNOTATIONS], 1);
	find_within(object, object_spec_text(object), &parts[CLAIM_REF], 2);
	find_within(object, (struct json_bytes){ object->json, object->json_length },
		    &parts[STATUS], 1);
}

/* ---- a tree of them alone ---- */

static void put_part(struct text_buffer *to, const char *json, const struct part *part)
{
	if (part->length > 0 && to->used > 0 && to->bytes[to->used - 1] != '{')
		put(to, ",");
	text_buffer_put(to, json + part->at, part->length);
}

static int parse_parts(const char *json, const struct part parts[PARTS], struct cJSON **ret)
{
	const struct json_limits limits = { .bytes = OBJECT_BYTES_MAX,
					    .depth = OBJECT_DEPTH_MAX,
					    .is_own = true };
	struct printed printed;
	int r = -ENOMEM;

	printed_init(&printed);
	put(&printed.text, "{\"metadata\":{");
	put_part(&printed.text, json, &parts[ANNOTATIONS]);
	put(&printed.text, "},\"spec\":{");
	put_part(&printed.text, json, &parts[CLAIM_REF]);
	put_part(&printed.text, json, &parts[VOLUME_NAME]);
	put(&printed.text, "}");
	put_part(&printed.text, json, &parts[STATUS]);
	put(&printed.text, "}");
	if (!printed.text.failed)
		r = json_parse(printed.text.bytes, printed.text.used, &limits, ret, NULL);
	printed_done(&printed);
	return r;
}

/* ---- the text with what an edit made of them ---- */

static int compare_places(const void *a, const void *b)
{
	const struct part *one = a, *other = b;

	return (one->at > other->at) - (one->at < other->at);
}

static void put_edited(struct text_buffer *to, const struct cJSON *tree, struct part *part)
{
	const struct cJSON *value =
		json_get(*part->within ? json_get(tree, part->within) : tree, part->key);
	size_t before = to->used;

	assert(value || part->length == 0); /* nothing is taken away */
	if (!value)
		return;
	if (part->length == 0 && to->used > 0 && to->bytes[to->used - 1] != '{')
		put(to, ",");
	put(to, "\"");
	put(to, part->key);
	put(to, "\":");
	json_print_into(to, value);
	part->grown = to->used - before - part->length;
}

static struct object_span moved(const struct part parts[PARTS], struct object_span span)
{
	size_t at = span.at, end = at + span.length, grown_before = 0, grown = 0;

	for (size_t i = 0; i < PARTS; i++) {
		grown_before += parts[i].at < at ? parts[i].grown : 0;
		grown += parts[i].at < end ? parts[i].grown : 0;
	}
	return (struct object_span){ (uint32_t) (at + grown_before),
				     (uint32_t) (span.length + grown - grown_before) };
}

static void print_edited(const struct object *object, const struct cJSON *tree,
			 struct part parts[PARTS], struct printed *ret)
{
	size_t from = 0;

	qsort(parts, PARTS, sizeof(parts[0]), compare_places);
	for (size_t i = 0; i < PARTS; i++) {
		text_buffer_put(&ret->text, object->json + from, parts[i].at - from);
		from = parts[i].at + parts[i].length;
		put_edited(&ret->text, tree, &parts[i]);
	}
	text_buffer_put(&ret->text, object->json + from, object->json_length - from);
	ret->metadata = moved(parts, object->metadata);
	ret->spec = moved(parts, object->spec);
}

/* ---- editing ---- */

/* Did a map lose a member for want of memory? Printing tells of those below. */
static bool has_lost(const struct cJSON *tree)
{
	return json_is_lost(tree) || json_is_lost(json_get(tree, "metadata")) ||
	       json_is_lost(json_get(tree, "spec"));
}

static char *copy_text(const char *text, size_t length)
{
	char *copy = malloc(length + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

static int put_binding(const struct object *object, const struct printed *printed,
		       const struct cJSON *tree, char **ret_before)
{
	cleanup_free char *before = copy_text(object->json, object->json_length);
	int r = before ? object_text_room(object, printed->text.used) : -ENOMEM;

	if (r == 0)
		r = object_decode_binding(object, tree);
	if (r < 0)
		return r;
	object_put_text(object, printed);
	*ret_before = TAKE_PTR(before);
	return 0;
}

int object_edit_new(const struct object *object, int (*edit)(struct cJSON *tree, void *userdata),
		    void *userdata, char **ret_before)
{
	cleanup_json struct cJSON *tree = NULL;
	struct part parts[PARTS];
	struct printed printed;
	int r;

	assert(object->metadata.length > 0 && !object->tree);
	if (object->json_length > EDIT_NEW_BYTES_MAX || object->spec.length == 0)
		return -E2BIG;
	find_parts(object, parts);
	r = parse_parts(object->json, parts, &tree);
	if (r == 0)
		r = edit(tree, userdata);
	if (r == 0 && has_lost(tree))
		r = -ENOMEM;
	if (r < 0)
		return r;
	printed_init(&printed);
	print_edited(object, tree, parts, &printed);
	r = printed.text.failed ? -ENOMEM : put_binding(object, &printed, tree, ret_before);
	printed_done(&printed);
	return r;
}

/* What was decoded is without a binding where there is no memory to read it again: the text
 * counts. */
void object_restore_new(const struct object *object, char *before)
{
	cleanup_json struct cJSON *tree = NULL;
	struct object was = *object;
	struct part parts[PARTS];
	struct printed printed;

	was.json = before;
	was.json_length = strlen(before);
	was.metadata = was.spec = (struct object_span){ 0 };
	object_find_members(&was);
	find_parts(&was, parts);
	(void) parse_parts(before, parts, &tree);
	(void) object_decode_binding(object, tree);
	printed_init(&printed);
	printed.text = (struct text_buffer){ .bytes = before, .used = was.json_length };
	printed.metadata = was.metadata;
	printed.spec = was.spec;
	object_put_text(object, &printed); /* no longer than what it was made for */
	free(before);
}
