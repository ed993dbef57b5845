/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch_work - what the files of patch.h share: the budget of one patch and searches that are
 * charged to it
 *
 * Only src/object/patch*.c use it. Trees are linked lists: a search costs what it walks past.
 */
#pragma once

#include "object/json/json_tree.h"
#include "object/patch/patch.h"
#include "object/schema/schema.h"

struct patch_work {
	size_t steps, copied_bytes;
	struct failure *reterr;
};

/* Return: 0, or -E2BIG when the budget is spent. */
int patch_charge(struct patch_work *work, size_t steps);

/*
 * Where the next search of a list or map begins: behind what the last one found. A patch mostly
 * names its elements in the order that they have, so each search takes one step. What was found may
 * be removed meanwhile, nothing else. Zeroed it is at the beginning; no two elements of the list
 * may have the same key, see patch_cursor_of().
 */
struct patch_cursor {
	struct cJSON *next;
	bool off; /* every search begins at the beginning */
};

/* The member of an object; NULL in @ret when it has none. @cursor: of this object; NULL: none.
 * Return: 0 or -E2BIG. */
int patch_member(struct patch_work *work, struct cJSON *object, const char *key,
		 struct patch_cursor *cursor, struct cJSON **ret);

/* Puts @value (taken) at @key of an object, in the place of @present, which may be NULL. */
int patch_put(struct patch_work *work, struct cJSON *object, const char *key, struct cJSON *present,
	      struct cJSON *value);

/* Bytes of a tree, roughly as printed. */
size_t patch_bytes(const struct cJSON *tree);
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

/* For searches of @list; off where two elements have the same key: then the first of them counts.
 */
struct patch_cursor patch_cursor_of(const struct cJSON *list, const char *merge_key);

/**
 * patch_list_find - the element with the same merge key
 * @merge_key: "" compares the elements themselves
 * @cursor:    of patch_cursor_of() for this list; NULL: none
 *
 * Return: 0; -EINVAL @like has no such key; -E2BIG. NULL in @ret: none.
 */
int patch_list_find(struct patch_work *work, struct cJSON *list, const struct cJSON *like,
		    const char *merge_key, struct patch_cursor *cursor, struct cJSON **ret);

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
