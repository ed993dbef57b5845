/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch_list - lists whose elements are told apart by a key; see patch_work.h
 */
#include "object/patch_work.h"

#include "base/cleanup.h"

#include <errno.h>

/* What tells an element apart; NULL: it has no such member. */
static const struct cJSON *key_of(const struct cJSON *element, const char *merge_key)
{
	return *merge_key ? json_get(element, merge_key) : element;
}

/* @ret_index: of the element; only with @ret. */
static int find(struct patch_work *work, struct cJSON *list, const struct cJSON *like,
		const char *merge_key, struct cJSON **ret, size_t *ret_index)
{
	const struct cJSON *key = key_of(like, merge_key);
	size_t index = 0;

	*ret = NULL;
	if (!key)
		return failed_plain(work->reterr, -EINVAL,
				    "an element of a list does not contain the declared merge key "
				    "'%s'",
				    merge_key);
	for (struct cJSON *item = json_is_array(list) ? list->child : NULL; item;
	     item = item->next, index++) {
		if (!json_equal(key_of(item, merge_key), key))
			continue;
		*ret = item;
		*ret_index = index;
		break;
	}
	return patch_charge(work, index + 1);
}

int patch_list_find(struct patch_work *work, struct cJSON *list, const struct cJSON *like,
		    const char *merge_key, struct cJSON **ret)
{
	size_t index;

	return find(work, list, like, merge_key, ret, &index);
}

static void move_first(struct cJSON *from, struct cJSON *to)
{
	json_append(to, NULL, cJSON_DetachItemViaPointer(from, from->child));
}

/* What @wanted names leaves @list for @named, in the order of @wanted. */
static int take_named(struct patch_work *work, struct cJSON *list, const struct cJSON *wanted,
		      const char *merge_key, struct cJSON *named)
{
	for (const struct cJSON *item = json_first(wanted); item; item = item->next) {
		struct cJSON *element;
		int r = patch_list_find(work, list, item, merge_key, &element);

		if (r < 0)
			return r;
		if (element)
			json_append(named, NULL, cJSON_DetachItemViaPointer(list, element));
	}
	return 0;
}

/* Is the first of @left before the first of @right in the old list, which has both? */
static int goes_first(struct patch_work *work, const struct cJSON *left, const struct cJSON *right,
		      const struct cJSON *before, const char *merge_key)
{
	size_t left_at = 0, right_at = 0;
	struct cJSON *left_old, *right_old;
	int r = find(work, (struct cJSON *) before, left->child, merge_key, &left_old, &left_at);

	if (r == 0)
		r = find(work, (struct cJSON *) before, right->child, merge_key, &right_old,
			 &right_at);
	return r < 0 ? r : left_old && right_old && left_at < right_at;
}

int patch_list_order(struct patch_work *work, struct cJSON *list, const struct cJSON *wanted,
		     const struct cJSON *before, const char *merge_key)
{
	cleanup_json struct cJSON *named = json_new_array(), *ordered = json_new_array();
	int r;

	if (!named || !ordered)
		return failed(work->reterr, -ENOMEM, "cannot order a list");
	r = take_named(work, list, wanted, merge_key, named);
	while (r >= 0 && list->child && named->child) {
		/* An element without the key has no place of its own: it stays in front. */
		if (!key_of(list->child, merge_key))
			r = 1;
		else
			r = goes_first(work, list, named, before, merge_key);
		if (r >= 0)
			move_first(r > 0 ? list : named, ordered);
	}
	if (r < 0)
		return r;
	while (list->child)
		move_first(list, ordered);
	while (named->child)
		move_first(named, ordered);
	while (ordered->child)
		move_first(ordered, list);
	return 0;
}
