/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch - merge patch, three-way apply, and what all patches share; see patch.h
 */
#include "object/patch/patch_work.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* ---- the budget ---- */

int patch_charge(struct patch_work *work, size_t steps)
{
	work->steps += steps;
	if (work->steps > PATCH_STEPS_MAX)
		return failed_plain(work->reterr, -E2BIG,
				    "the patch is too large for this object: more than %d members "
				    "and elements would have to be looked at",
				    PATCH_STEPS_MAX);
	return 0;
}

static void measure(const struct cJSON *tree, size_t *nodes, size_t *bytes)
{
	*nodes += 1;
	*bytes += 4;
	if (tree->string)
		*bytes += strlen(tree->string);
	if (tree->valuestring)
		*bytes += strlen(tree->valuestring);
	for (const struct cJSON *item = tree->child; item; item = item->next)
		measure(item, nodes, bytes);
}

int patch_charge_tree(struct patch_work *work, const struct cJSON *tree, size_t *bytes)
{
	size_t nodes = 0, length = 0;

	measure(tree, &nodes, &length);
	*bytes += length;
	return patch_charge(work, nodes * CHARGE_NODE + length / CHARGE_BYTES);
}

int patch_put(struct patch_work *work, struct cJSON *object, const char *key, struct cJSON *present,
	      struct cJSON *value)
{
	if (!value || json_set_key(value, key) < 0) {
		json_free(value);
		return failed(work->reterr, -ENOMEM, "cannot apply the patch");
	}
	if (present)
		(void) cJSON_ReplaceItemViaPointer(object, present, value);
	else
		json_append(object, value);
	return 0;
}

size_t patch_depth(const struct cJSON *tree, size_t *nodes)
{
	size_t deepest = 0;

	*nodes += 1;
	for (const struct cJSON *item = tree->child; item; item = item->next) {
		size_t depth = patch_depth(item, nodes);

		if (depth > deepest)
			deepest = depth;
	}
	return deepest + 1;
}

struct patch_field patch_field(const struct schema *schema, const char *name)
{
	for (const struct schema_field *field = schema ? schema->fields : NULL;
	     field && field->name; field++)
		if (strcmp(field->name, name) == 0)
			return (struct patch_field){ field->of, field->merge_key };
	return (struct patch_field){ 0 };
}

/* ---- RFC 7386 ---- */

/* What is added keeps none of its nulls: they remove what is not there. */
static void drop_nulls(struct cJSON *tree)
{
	struct cJSON *next;

	if (!json_is_object(tree))
		return;
	for (struct cJSON *item = tree->child; item; item = next) {
		next = item->next;
		if (json_is_null(item))
			json_free(cJSON_DetachItemViaPointer(tree, item));
		else
			drop_nulls(item);
	}
}

static int merge_members(struct patch_work *work, struct cJSON *tree, const struct cJSON *patch)
{
	cleanup_search struct patch_search search = patch_search_of(work, tree, patch, NULL);

	for (const struct cJSON *item = patch->child; item; item = item->next) {
		struct cJSON *present, *value;
		int r = patch_member(work, tree, item->string, &search, &present);

		if (r < 0)
			return r;
		if (json_is_null(item)) {
			if (present)
				json_free(cJSON_DetachItemViaPointer(tree, present));
			continue;
		}
		if (json_is_object(item) && json_is_object(present)) {
			r = merge_members(work, present, item);
		} else {
			value = json_copy(item);
			drop_nulls(value);
			r = patch_put(work, tree, item->string, present, value);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* Any value is a merge patch; only that of an object makes an object of one. */
static int merge(struct patch_work *work, struct cJSON *tree, const struct cJSON *patch)
{
	if (!json_is_object(patch))
		return failed_plain(work->reterr, -EBADMSG, "a merge patch must be a map");
	return merge_members(work, tree, patch);
}

/* ---- three ways ---- */

static int three_way_map(struct patch_work *work, struct cJSON *tree, const struct cJSON *modified,
			 const struct cJSON *original, const struct schema *schema);

/* Elements that were in the document and are there no more. */
static int remove_dropped(struct patch_work *work, struct cJSON *list, const struct cJSON *modified,
			  const struct cJSON *original, const char *merge_key)
{
	cleanup_search struct patch_search in_modified =
		patch_search_of(work, modified, original, merge_key);
	cleanup_search struct patch_search in_list =
		patch_search_of(work, list, original, merge_key);

	for (const struct cJSON *item = json_first(original); item; item = item->next) {
		struct cJSON *still, *present;
		int r = patch_list_find(work, (struct cJSON *) modified, item, merge_key,
					&in_modified, &still);

		if (r == 0 && !still)
			r = patch_list_find(work, list, item, merge_key, &in_list, &present);
		if (r < 0)
			return r;
		if (!still && present)
			json_free(cJSON_DetachItemViaPointer(list, present));
	}
	return 0;
}

/* What the elements of one list are merged with. */
struct three_way_lists {
	struct cJSON *list;
	const struct cJSON *original;
	struct patch_search *in_list, *in_original;
};

static int three_way_element(struct patch_work *work, const struct three_way_lists *lists,
			     const struct cJSON *item, const struct patch_field *field)
{
	struct cJSON *list = lists->list, *present, *before = NULL, *copy;
	const struct cJSON *original = lists->original;
	int r = patch_list_find(work, list, item, field->merge_key, lists->in_list, &present);

	if (r == 0 && present && json_is_object(item) && json_is_array(original))
		r = patch_list_find(work, (struct cJSON *) original, item, field->merge_key,
				    lists->in_original, &before);
	if (r < 0)
		return r;
	if (present)
		return json_is_object(item) ? three_way_map(work, present, item, before, field->of)
					    : 0;
	copy = json_copy(item);
	if (!copy)
		return failed(work->reterr, -ENOMEM, "cannot apply the document");
	drop_nulls(copy);
	json_append(list, copy);
	return 0;
}

static int three_way_list(struct patch_work *work, struct cJSON *list, const struct cJSON *modified,
			  const struct cJSON *original, const struct patch_field *field)
{
	cleanup_json struct cJSON *before = json_copy(list);
	cleanup_search struct patch_search in_list = { .index.entries = NULL };
	cleanup_search struct patch_search in_original = { .index.entries = NULL };
	const struct three_way_lists lists = { list, original, &in_list, &in_original };
	int r;

	if (!before)
		return failed(work->reterr, -ENOMEM, "cannot apply the document");
	r = remove_dropped(work, list, modified, json_is_array(original) ? original : NULL,
			   field->merge_key);
	in_list = patch_search_of(work, list, modified, field->merge_key);
	in_original = patch_search_of(work, original, modified, field->merge_key);
	for (const struct cJSON *item = modified->child; item && r == 0; item = item->next)
		r = three_way_element(work, &lists, item, field);
	return r < 0 ? r : patch_list_order(work, list, modified, before, field->merge_key);
}

/* One member that the document has; NULL in @present: the object has it not. */
static int three_way_member(struct patch_work *work, struct cJSON *tree, struct cJSON *present,
			    const struct cJSON *item, const struct cJSON *original,
			    const struct schema *schema)
{
	const struct patch_field field = patch_field(schema, item->string);
	struct cJSON *copy;

	if (json_is_null(item)) {
		if (present)
			json_free(cJSON_DetachItemViaPointer(tree, present));
		return 0;
	}
	if (json_is_object(item) && json_is_object(present))
		return three_way_map(work, present, item, original, field.of);
	if (json_is_array(item) && json_is_array(present) && field.merge_key)
		return three_way_list(work, present, item, original, &field);
	copy = json_copy(item);
	drop_nulls(copy);
	return patch_put(work, tree, item->string, present, copy);
}

static int three_way_map(struct patch_work *work, struct cJSON *tree, const struct cJSON *modified,
			 const struct cJSON *original, const struct schema *schema)
{
	struct cJSON *before = json_is_object(original) ? (struct cJSON *) original : NULL;
	cleanup_search struct patch_search in_modified =
		patch_search_of(work, modified, before, NULL);
	cleanup_search struct patch_search in_before =
		patch_search_of(work, before, modified, NULL);
	cleanup_search struct patch_search in_tree = patch_search_of(work, tree, before, NULL);
	struct cJSON *present, *other;
	int r = 0;

	for (const struct cJSON *item = json_first(before); item && r == 0; item = item->next) {
		r = patch_member(work, (struct cJSON *) modified, item->string, &in_modified,
				 &other);
		if (r == 0 && !other)
			r = patch_member(work, tree, item->string, &in_tree, &present);
		if (r == 0 && !other && present)
			json_free(cJSON_DetachItemViaPointer(tree, present));
	}
	patch_search_done(&in_tree);
	in_tree = patch_search_of(work, tree, modified, NULL);
	for (const struct cJSON *item = modified->child; item && r == 0; item = item->next) {
		other = NULL;
		r = patch_member(work, tree, item->string, &in_tree, &present);
		if (r == 0 && before)
			r = patch_member(work, before, item->string, &in_before, &other);
		if (r == 0)
			r = three_way_member(work, tree, present, item, other, schema);
	}
	return r;
}

/* ---- the two entries ---- */

int patch_apply(enum patch_type type, const struct kind_row *row, struct cJSON **tree,
		const struct cJSON *patch, struct failure *reterr)
{
	struct patch_work work = { .reterr = reterr };

	assert(tree && json_is_object(*tree) && patch);
	switch (type) {
	case PATCH_JSON:
		return patch_json(&work, tree, patch);
	case PATCH_MERGE:
		return merge(&work, *tree, patch);
	case PATCH_STRATEGIC:
		assert(row);
		if (!json_is_object(patch))
			return failed_plain(reterr, -EBADMSG,
					    "a strategic merge patch must be a map");
		return patch_strategic(&work, *tree, patch, row->schema);
	}
	assert(!"a patch has an unknown type");
	return -EBADMSG;
}

int patch_three_way(const struct kind_row *row, struct cJSON *tree, const struct cJSON *modified,
		    const struct cJSON *original, struct failure *reterr)
{
	struct patch_work work = { .reterr = reterr };

	assert(row && json_is_object(tree) && json_is_object(modified));
	return three_way_map(&work, tree, modified, original, row->schema);
}
