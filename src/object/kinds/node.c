/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node - v1.Node: its rules, and what of it concerns volumes; its fields are in schema_node.c
 */
#include "object/kinds/node.h"

#include "object/json/arena.h"
#include "object/kinds.h"
#include "object/metadata.h"
#include "object/schema/field.h"
#include "object/update.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool check_taint(const struct field *taint)
{
	static const char *const effects[] = { "NoExecute", "NoSchedule", "PreferNoSchedule",
					       NULL };
	const char *key = json_text(taint->item, "key");
	const char *effect = json_text(taint->item, "effect");

	if (*key == '\0')
		return field_required(FIELD(taint, "key"), "");
	if (!field_check_one_of(FIELD(taint, "effect"), effects, false))
		return false;
	for (const struct cJSON *item = json_first(taint->parent->item); item != taint->item;
	     item = json_next(item)) {
		if (json_text_is(item, "key", key) && json_text_is(item, "effect", effect))
			return field_duplicate(taint, key);
	}
	return true;
}

static bool check_resource(const struct field *quantity)
{
	return field_check_quantity(quantity, false);
}

/* Each is compared with all before it, so there are only so many. */
bool node_validate(const struct field *node)
{
	enum { TAINTS_MAX = 256 };
	const struct field *taints = FIELD(node, "spec.taints");

	if (json_count(taints->item) > TAINTS_MAX)
		return field_too_long(taints, "must have at most 256 elements");
	return field_check_each(taints, check_taint) &&
	       field_check_each(FIELD(node, "status.capacity"), check_resource) &&
	       field_check_each(FIELD(node, "status.allocatable"), check_resource);
}

/* The cloud's name for it may be learnt late, but is then who it is. */
bool node_validate_update(const struct object *old, const struct object *new_object,
			  struct violations *found)
{
	static const struct fixed_field fixed[] = {
		{ "spec.providerID", VIOLATION_FORBIDDEN,
		  "node updates may not change providerID except from \"\" to valid" },
		{ 0 },
	};
	cleanup_json struct cJSON *before = object_tree(old);

	return *json_text_at(before, "spec.providerID") == '\0' ||
	       update_check_fixed(old, new_object, fixed, found);
}

/* ---- decoded ---- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Of strings, or of objects with this member. */
static struct node_volumes decode_volumes(const struct cJSON *list, const char *member,
					  struct arena *arena)
{
	size_t count = json_count(list), i = 0;
	const char **names = count > 0 ? arena_array(arena, count, sizeof(*names)) : NULL;

	if (!names)
		return (struct node_volumes){ .count = 0 };
	JSON_FOREACH (item, list)
		names[i++] = arena_string(arena,
					  json_string(member ? json_get(item, member) : item, ""));
	qsort(names, count, sizeof(*names), compare_names);
	return (struct node_volumes){ names, count };
}

bool node_volumes_have(const struct node_volumes *volumes, const char *unique_name)
{
	assert(volumes && unique_name);
	return volumes->count > 0 && bsearch(&unique_name, volumes->names, volumes->count,
					     sizeof(*volumes->names), compare_names);
}

int node_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
		struct failure *reterr)
{
	const struct cJSON *status = json_get(tree, "status");
	const char *keeps = metadata_annotation(tree, ANNOTATION_KEEP_TERMINATED);
	struct node *node = arena_array(arena, 1, sizeof(*node));

	assert(tree && arena && object->kind == KIND_NODE);
	if (!node)
		return failed(reterr, -ENOMEM, "cannot decode a Node");
	node->object = object;
	node->is_ready = json_text_is(json_find(json_get(status, "conditions"), "type", "Ready"),
				      "status", "True");
	node->is_out_of_service =
		json_find(json_get_path(tree, "spec.taints"), "key", TAINT_OUT_OF_SERVICE) != NULL;
	node->is_managed = metadata_annotation(tree, ANNOTATION_MANAGED_ATTACH) != NULL;
	node->keeps_terminated = keeps && strcmp(keeps, "true") == 0;
	node->in_use = decode_volumes(json_get(status, "volumesInUse"), NULL, arena);
	node->attached = decode_volumes(json_get(status, "volumesAttached"), "name", arena);
	object->node = node;
	return 0;
}
