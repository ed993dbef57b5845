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

static int check_taint(const struct cJSON *list, const struct cJSON *taint,
		       const struct field *field, struct violations *found)
{
	static const char *const effects[] = { "NoExecute", "NoSchedule", "PreferNoSchedule",
					       NULL };
	const char *key = json_text(taint, "key");
	const char *effect = json_text(taint, "effect");
	int r;

	if (*key == '\0')
		return field_required(FIELD(field, "key"), "", found);
	r = field_check_one_of(FIELD(field, "effect"), effect, effects, false, found);
	for (const struct cJSON *item = json_first(list); item != taint && r == 0;
	     item = json_next(item)) {
		if (json_text_is(item, "key", key) && json_text_is(item, "effect", effect))
			return field_duplicate(field, key, found);
	}
	return r;
}

static int check_resources(const struct cJSON *map, const struct field *field,
			   struct violations *found)
{
	int r = 0;

	for (const struct cJSON *item = json_first(map); item && r == 0; item = json_next(item))
		r = field_check_quantity(FIELD_KEY(field, json_key(item)), item, false, found);
	return r;
}

/* Each is compared with all before it, so there are only so many. */
int node_validate(const struct cJSON *tree, struct violations *found)
{
	enum { TAINTS_MAX = 256 };
	const struct cJSON *taints = json_get_path(tree, "spec.taints");
	const struct field *field = FIELD(FIELD(NULL, "spec"), "taints");
	const struct field *status = FIELD(NULL, "status");
	size_t index = 0;
	int r = 0;

	assert(tree);
	if (json_count(taints) > TAINTS_MAX)
		return field_too_long(field, "must have at most 256 elements", found);
	for (const struct cJSON *item = json_first(taints); item && r == 0; item = json_next(item))
		r = check_taint(taints, item, FIELD_AT(field, index++), found);
	if (r == 0)
		r = check_resources(json_get_path(tree, "status.capacity"),
				    FIELD(status, "capacity"), found);
	if (r == 0)
		r = check_resources(json_get_path(tree, "status.allocatable"),
				    FIELD(status, "allocatable"), found);
	return r;
}

/* The cloud's name for it may be learnt late, but is then who it is. */
int node_validate_update(const struct object *old, const struct object *new_object,
			 struct violations *found)
{
	static const struct fixed_field fixed[] = {
		{ "spec.providerID", VIOLATION_FORBIDDEN,
		  "node updates may not change providerID except from \"\" to valid" },
		{ 0 },
	};
	cleanup_json struct cJSON *before = object_tree(old);

	if (*json_text_at(before, "spec.providerID") == '\0')
		return 0;
	return update_check_fixed(old, new_object, fixed, found);
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
