/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch_work - what the files of patch.h share: the budget of one patch and searches that are
 * charged to it
 *
 * Only src/object/patch*.c use it. Trees are linked lists: a search costs what it walks past.
 */
#pragma once

#include "base/cleanup.h"
#include "object/json/json_index.h"
#include "object/json/json_tree.h"
#include "object/patch/patch.h"
#include "object/schema/schema.h"

struct patch_work {
	size_t steps, copied_bytes;
	struct failure *reterr;
};

/* Steps of what is not one: of a value that is copied, of a look-up in an index; and the bytes that
 * one step passes. */
enum { CHARGE_NODE = 16, CHARGE_LOOK_UP = 6, CHARGE_BYTES = 16 };

/* Return: 0, or -E2BIG when the budget is spent. */
int patch_charge(struct patch_work *work, size_t steps);

/*
 * Many searches of one list or map, each for another key: by an index. Without one, as it is zeroed
 * and for a few elements, each search walks from the beginning. What was found may be removed
 * meanwhile, nothing else.
 */
struct patch_search {
	struct json_index index;
};

/**
 * patch_search_of - before looking each of @asked up in @container
 * @merge_key: as patch_list_find() takes it; NULL: members of two maps by their keys
 *
 * Where two elements of either have the same key there is no index: then the first of them counts.
 */
struct patch_search patch_search_of(struct patch_work *work, const struct cJSON *container,
				    const struct cJSON *asked, const char *merge_key);
void patch_search_done(struct patch_search *search);
#define cleanup_search cleanup(patch_search_done)

/* The member of an object; NULL in @ret when it has none. @search: of this object; NULL: none.
 * Return: 0 or -E2BIG. */
int patch_member(struct patch_work *work, struct cJSON *object, const char *key,
		 struct patch_search *search, struct cJSON **ret);

/* Puts @value (taken) at @key of an object, in the place of @present, which may be NULL. */
int patch_put(struct patch_work *work, struct cJSON *object, const char *key, struct cJSON *present,
	      struct cJSON *value);

/* Charges what it takes to copy, compare and free a tree. Its bytes, roughly as printed, are added
 * to @bytes. */
int patch_charge_tree(struct patch_work *work, const struct cJSON *tree, size_t *bytes);
/* How deep a tree is: 1 for a plain value. Its nodes are added to @nodes. */
size_t patch_depth(const struct cJSON *tree, size_t *nodes);

/* What a schema says of a field: how it merges. Both NULL for unknown ones. */
struct patch_field {
	const struct schema *of;
	const char *merge_key;
};
struct patch_field patch_field(const struct schema *schema, const char *name);

int patch_json(struct patch_work *work, struct cJSON **tree, const struct cJSON *patch);
int patch_strategic(struct patch_work *work, struct cJSON *tree, const struct cJSON *patch,
		    const struct schema *schema);

/* ---- patch_list.c: lists whose elements are distinguished by a key ---- */

/**
 * patch_list_find - the element with the same merge key
 * @merge_key: "" compares the elements themselves
 * @search:    of patch_search_of() for this list; NULL: none
 *
 * Return: 0; -EINVAL @like has no such key; -E2BIG. NULL in @ret: none.
 */
int patch_list_find(struct patch_work *work, struct cJSON *list, const struct cJSON *like,
		    const char *merge_key, struct patch_search *search, struct cJSON **ret);

/**
 * patch_list_order - put the elements of a merged list in order
 * @list:   what was merged
 * @wanted: elements (or only their merge keys) in the order that the patch wants
 * @before: the list as it was, in its order; a copy that is of no other use: its elements are
 *          numbered
 *
 * Elements that @wanted names stand in its order; the others keep theirs; where the two meet, the
 * old order decides, else the wanted ones come first (Kubernetes' normalizeElementOrder()).
 */
int patch_list_order(struct patch_work *work, struct cJSON *list, const struct cJSON *wanted,
		     struct cJSON *before, const char *merge_key);
