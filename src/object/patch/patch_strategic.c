/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch_strategic - Kubernetes' strategic merge patch; see patch.h
 *
 * Fields that no schema knows merge as in RFC 7386: maps are joined, lists replaced.
 */
#include "object/patch/patch_work.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DIRECTIVE     "$patch"
#define RETAIN_KEYS   "$retainKeys"
#define DELETE_PREFIX "$deleteFromPrimitiveList/"
#define ORDER_PREFIX  "$setElementOrder/"

enum directive { DIRECTIVE_MERGE, DIRECTIVE_REPLACE, DIRECTIVE_DELETE };

static bool has_prefix(const char *key, const char *prefix)
{
	return strncmp(key, prefix, strlen(prefix)) == 0;
}

static bool is_directive(const char *key)
{
	return strcmp(key, DIRECTIVE) == 0 || strcmp(key, RETAIN_KEYS) == 0 ||
	       has_prefix(key, DELETE_PREFIX) || has_prefix(key, ORDER_PREFIX);
}

static int no_memory(struct patch_work *work)
{
	return failed(work->reterr, -ENOMEM, "cannot apply the patch");
}

static int read_directive(struct patch_work *work, const struct cJSON *patch, enum directive *ret)
{
	const struct cJSON *item = json_get(patch, DIRECTIVE);
	const char *name = json_string(item, "");

	*ret = DIRECTIVE_MERGE;
	if (!item || strcmp(name, "merge") == 0)
		return 0;
	if (strcmp(name, "replace") == 0)
		*ret = DIRECTIVE_REPLACE;
	else if (strcmp(name, "delete") == 0)
		*ret = DIRECTIVE_DELETE;
	else
		return failed_plain(work->reterr, -EBADMSG, "unknown patch type found: '%.64s'",
				    name);
	return 0;
}

/* ---- what is new: a copy without directives and without nulls ---- */

static void clean(struct cJSON *tree)
{
	struct cJSON *next;

	for (struct cJSON *item = tree->child; item; item = next) {
		const struct cJSON *directive = json_get(item, DIRECTIVE);

		next = item->next;
		/* In a list a directive speaks of its element or of the whole list. */
		if (json_is_object(tree) ? json_is_null(item) || is_directive(item->string)
					 : directive && strcmp(json_string(directive, ""), "merge"))
			json_free(cJSON_DetachItemViaPointer(tree, item));
		else
			clean(item);
	}
}

/* NULL: no memory. */
static struct cJSON *clean_copy(const struct cJSON *item)
{
	struct cJSON *copy = json_copy(item);

	if (copy)
		clean(copy);
	return copy;
}

static void drop_children(struct cJSON *tree)
{
	while (tree->child)
		json_free(cJSON_DetachItemViaPointer(tree, tree->child));
}

static int append_copy(struct patch_work *work, struct cJSON *list, const struct cJSON *item)
{
	struct cJSON *copy = clean_copy(item);

	if (!copy)
		return no_memory(work);
	json_append(list, copy);
	return 0;
}

/* ---- lists ---- */

static int merge_map(struct patch_work *work, struct cJSON *tree, const struct cJSON *patch,
		     const struct schema *schema);

static int merge_value(struct patch_work *work, struct cJSON *list, const struct cJSON *item,
		       struct patch_search *search)
{
	struct cJSON *present;
	int r = patch_list_find(work, list, item, "", search, &present);

	return r < 0 || present ? r : append_copy(work, list, item);
}

static int merge_element(struct patch_work *work, struct cJSON *list, const struct cJSON *item,
			 const struct patch_field *field, struct patch_search *search)
{
	enum directive directive;
	struct cJSON *present;
	int r;

	if (!json_is_object(item))
		return failed_plain(work->reterr, -EINVAL,
				    "an element of a list that is merged by '%s' must be a map",
				    field->merge_key);
	r = read_directive(work, item, &directive);
	if (r == 0)
		r = patch_list_find(work, list, item, field->merge_key, search, &present);
	if (r < 0)
		return r;
	if (directive == DIRECTIVE_DELETE) {
		if (present)
			json_free(cJSON_DetachItemViaPointer(list, present));
		return 0;
	}
	return present ? merge_map(work, present, item, field->of) : append_copy(work, list, item);
}

/* One element {"$patch": "replace"} anywhere replaces the list by the others of the patch. */
static bool replaces_list(const struct cJSON *patch)
{
	for (const struct cJSON *item = patch->child; item; item = item->next)
		if (json_text_is(item, DIRECTIVE, "replace"))
			return true;
	return false;
}

/* @order: what $setElementOrder says, or NULL. */
static int merge_list(struct patch_work *work, struct cJSON *list, const struct cJSON *patch,
		      const struct patch_field *field, const struct cJSON *order)
{
	bool plain = *field->merge_key == '\0';
	cleanup_json struct cJSON *before = NULL;
	cleanup_search struct patch_search search = { .index.entries = NULL };
	int r = 0;

	if (!plain && replaces_list(patch)) {
		drop_children(list);
		for (const struct cJSON *item = patch->child; item && r == 0; item = item->next)
			if (!json_get(item, DIRECTIVE))
				r = append_copy(work, list, item);
		return r;
	}
	before = json_copy(list);
	if (!before)
		return no_memory(work);
	search = patch_search_of(work, list, patch, field->merge_key);
	for (const struct cJSON *item = patch->child; item && r == 0; item = item->next)
		r = plain ? merge_value(work, list, item, &search)
			  : merge_element(work, list, item, field, &search);
	return r < 0 ? r
		     : patch_list_order(work, list, order ? order : patch, before,
					field->merge_key);
}

/* ---- directives of a map ---- */

static int bad_list(struct patch_work *work, const char *key)
{
	return failed_plain(work->reterr, -EBADMSG, "'%.128s' must be a list%s", key,
			    strcmp(key, RETAIN_KEYS) == 0 ? " of keys" : "");
}

/* Other members of the object go; one that the patch sets must be listed. */
static int retain_keys(struct patch_work *work, struct cJSON *tree, const struct cJSON *patch)
{
	cleanup_json_index struct json_index listed = { .entries = NULL };
	const struct cJSON *keys = json_get(patch, RETAIN_KEYS);
	struct cJSON *next;
	int r;

	if (!keys)
		return 0;
	if (!json_is_array(keys))
		return bad_list(work, RETAIN_KEYS);
	r = json_index_make(keys, "", &listed);
	if (r < 0)
		return r == -ENOMEM ? no_memory(work) : bad_list(work, RETAIN_KEYS);
	for (const struct cJSON *item = patch->child; item; item = item->next)
		if (!json_is_null(item) && !is_directive(item->string) &&
		    !json_index_find(&listed, item->string))
			return failed_plain(work->reterr, -EBADMSG,
					    "'%.64s' is set by the patch and not in its "
					    "$retainKeys",
					    item->string);
	for (struct cJSON *item = tree->child; item; item = next) {
		next = item->next;
		if (!json_index_find(&listed, item->string))
			json_free(cJSON_DetachItemViaPointer(tree, item));
	}
	return 0;
}

static int delete_from_list(struct patch_work *work, struct cJSON *tree, const struct cJSON *item)
{
	struct cJSON *list;
	int r = patch_member(work, tree, item->string + strlen(DELETE_PREFIX), NULL, &list);

	if (r < 0 || !list)
		return r;
	if (!json_is_array(item) || !json_is_array(list))
		return bad_list(work, item->string);
	for (const struct cJSON *value = item->child; value && r == 0; value = value->next) {
		struct cJSON *present = NULL;

		do {
			r = patch_list_find(work, list, value, "", NULL, &present);
			if (r == 0 && present)
				json_free(cJSON_DetachItemViaPointer(list, present));
		} while (r == 0 && present);
	}
	return r;
}

/* Where the patch changes the list too, merging it has looked at the order. */
static int set_order(struct patch_work *work, struct cJSON *tree, const struct cJSON *patch,
		     const struct cJSON *item, const struct schema *schema)
{
	const char *name = item->string + strlen(ORDER_PREFIX);
	const struct patch_field field = patch_field(schema, name);
	cleanup_json struct cJSON *before = NULL;
	struct cJSON *list;
	int r = patch_member(work, tree, name, NULL, &list);

	if (!json_is_array(item))
		return bad_list(work, item->string);
	if (!field.merge_key)
		return failed_plain(work->reterr, -EBADMSG,
				    "'%.64s' is not a list that is merged: it has no order to set",
				    name);
	if (r < 0 || !list || !json_is_array(list) || json_get(patch, name))
		return r;
	before = json_copy(list);
	if (!before)
		return no_memory(work);
	return patch_list_order(work, list, item, before, field.merge_key);
}

/* What the patch sets must have a place in the order that it sets. */
static int find_order(struct patch_work *work, const struct cJSON *patch, const struct cJSON *item,
		      const char *merge_key, const struct cJSON **ret)
{
	cleanup_search struct patch_search search = { .index.entries = NULL };
	char key[256];
	int r = 0;

	(void) snprintf(key, sizeof(key), ORDER_PREFIX "%s", item->string);
	*ret = json_get(patch, key);
	if (!*ret)
		return 0;
	if (!json_is_array(*ret))
		return bad_list(work, key);
	search = patch_search_of(work, *ret, item, merge_key);
	for (const struct cJSON *element = item->child; element && r == 0;
	     element = element->next) {
		struct cJSON *place;

		if (json_get(element, DIRECTIVE))
			continue;
		r = patch_list_find(work, (struct cJSON *) *ret, element, merge_key, &search,
				    &place);
		if (r == 0 && !place)
			r = failed_plain(work->reterr, -EBADMSG,
					 "an element of '%.64s' is missing in its $setElementOrder",
					 item->string);
	}
	return r;
}

/* ---- maps ---- */

static int merge_member(struct patch_work *work, struct cJSON *tree, const struct cJSON *patch,
			const struct cJSON *item, const struct schema *schema,
			struct patch_search *search)
{
	const struct patch_field field = patch_field(schema, item->string);
	const struct cJSON *order = NULL;
	struct cJSON *present;
	int r = patch_member(work, tree, item->string, search, &present);

	if (r == 0 && json_is_array(item) && field.merge_key)
		r = find_order(work, patch, item, field.merge_key, &order);
	if (r < 0)
		return r;
	if (json_is_null(item)) {
		if (present)
			json_free(cJSON_DetachItemViaPointer(tree, present));
		return 0;
	}
	if (json_is_object(item) && json_is_object(present))
		return merge_map(work, present, item, field.of);
	if (json_is_array(item) && json_is_array(present) && field.merge_key)
		return merge_list(work, present, item, &field, order);
	return patch_put(work, tree, item->string, present, clean_copy(item));
}

static int replace_map(struct patch_work *work, struct cJSON *tree, const struct cJSON *patch)
{
	cleanup_json struct cJSON *copy = clean_copy(patch);

	if (!copy)
		return no_memory(work);
	drop_children(tree);
	tree->child = copy->child;
	copy->child = NULL;
	return 0;
}

static int merge_map(struct patch_work *work, struct cJSON *tree, const struct cJSON *patch,
		     const struct schema *schema)
{
	cleanup_search struct patch_search search = { .index.entries = NULL };
	enum directive directive;
	int r = read_directive(work, patch, &directive);

	if (r < 0)
		return r;
	if (directive == DIRECTIVE_DELETE) {
		drop_children(tree);
		return 0;
	}
	if (directive == DIRECTIVE_REPLACE)
		return replace_map(work, tree, patch);
	r = retain_keys(work, tree, patch);
	search = patch_search_of(work, tree, patch, NULL);
	for (const struct cJSON *item = patch->child; item && r == 0; item = item->next) {
		if (has_prefix(item->string, DELETE_PREFIX))
			r = delete_from_list(work, tree, item);
		else if (has_prefix(item->string, ORDER_PREFIX))
			r = set_order(work, tree, patch, item, schema);
		else if (!is_directive(item->string))
			r = merge_member(work, tree, patch, item, schema, &search);
	}
	return r;
}

int patch_strategic(struct patch_work *work, struct cJSON *tree, const struct cJSON *patch,
		    const struct schema *schema)
{
	return merge_map(work, tree, patch, schema);
}
