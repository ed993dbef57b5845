/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node - v1.Node: its rules; its fields are in shape_node.c
 */
#include "base/cleanup.h"
#include "object/field.h"
#include "object/kinds.h"
#include "object/update.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static int check_taint(const struct cJSON *list, const struct cJSON *taint,
		       const struct field *field, struct violations *found)
{
	static const char *const effects[] = { "NoExecute", "NoSchedule", "PreferNoSchedule",
					       NULL };
	const char *key = json_string(json_get(taint, "key"), "");
	const char *effect = json_string(json_get(taint, "effect"), "");
	int r;

	if (*key == '\0')
		return field_required(FIELD(field, "key"), "", found);
	r = field_check_one_of(FIELD(field, "effect"), effect, effects, false, found);
	for (const struct cJSON *item = json_first(list); item != taint && r == 0;
	     item = json_next(item)) {
		if (strcmp(json_string(json_get(item, "key"), ""), key) == 0 &&
		    strcmp(json_string(json_get(item, "effect"), ""), effect) == 0)
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

	if (*json_string(json_get_path(before, "spec.providerID"), "") == '\0')
		return 0;
	return update_check_fixed(old, new_object, fixed, found);
}
