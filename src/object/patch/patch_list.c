/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch_list - lists whose elements are distinguished by a key; see patch_work.h
 */
#include "object/patch/patch_work.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What tells an element apart; NULL: it has no such member. */
static const struct cJSON *key_of(const struct cJSON *element, const char *merge_key)
{
	return *merge_key ? json_get(element, merge_key) : element;
}

/* ---- cursors ---- */

enum { FEW = 8 };

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Of a string or a number; NULL: neither. */
static const char *text_of(const struct cJSON *key)
{
	return json_is_string(key) || json_is_number(key) ? key->valuestring : NULL;
}

/* A number and a string of the same text count as the same. */
static bool has_distinct_keys(const struct cJSON *list, const char *merge_key, size_t count)
{
	cleanup_free const char **texts = calloc(count, sizeof(*texts));
	size_t used = 0;

	for (const struct cJSON *item = json_first(list); texts && item; item = item->next) {
		texts[used] = text_of(key_of(item, merge_key));
		if (!texts[used++])
			return false;
	}
	if (!texts)
		return false;
	qsort(texts, used, sizeof(*texts), by_text);
	for (size_t i = 1; i < used; i++)
		if (strcmp(texts[i - 1], texts[i]) == 0)
			return false;
	return true;
}

struct patch_cursor patch_cursor_of(const struct cJSON *list, const char *merge_key)
{
	size_t count = json_count(list);

	return (struct patch_cursor){ .off = count <= FEW ||
					     !has_distinct_keys(list, merge_key, count) };
}

/* ---- searches ---- */

/* From @from up to @end; NULL: to the end of the list. */
static struct cJSON *find_between(struct cJSON *from, const struct cJSON *end,
				  const struct cJSON *key, const char *merge_key, size_t *steps)
{
	for (struct cJSON *item = from; item != end; item = item->next) {
		*steps += 1;
		if (json_equal(key_of(item, merge_key), key))
			return item;
	}
	return NULL;
}

int patch_list_find(struct patch_work *work, struct cJSON *list, const struct cJSON *like,
		    const char *merge_key, struct patch_cursor *cursor, struct cJSON **ret)
{
	const struct cJSON *key = key_of(like, merge_key);
	struct cJSON *first = (struct cJSON *) json_first(list);
	struct cJSON *start = cursor && !cursor->off && cursor->next ? cursor->next : first;
	size_t steps = 1;

	*ret = NULL;
	if (!key)
		return failed_plain(work->reterr, -EINVAL,
				    "an element of a list does not contain the declared merge key "
				    "'%s'",
				    merge_key);
	*ret = find_between(start, NULL, key, merge_key, &steps);
	if (!*ret)
		*ret = find_between(first, start, key, merge_key, &steps);
	if (cursor && *ret)
		cursor->next = (*ret)->next;
	return patch_charge(work, steps);
}

static void move_first(struct cJSON *from, struct cJSON *to)
{
	json_append(to, NULL, cJSON_DetachItemViaPointer(from, from->child));
}

/* What @wanted names leaves @list for @named, in the order of @wanted. */
static int take_named(struct patch_work *work, struct cJSON *list, const struct cJSON *wanted,
		      const char *merge_key, struct cJSON *named)
{
	struct patch_cursor cursor = patch_cursor_of(list, merge_key);

	for (const struct cJSON *item = json_first(wanted); item; item = item->next) {
		struct cJSON *element;
		int r = patch_list_find(work, list, item, merge_key, &cursor, &element);

		if (r < 0)
			return r;
		if (element)
			json_append(named, NULL, cJSON_DetachItemViaPointer(list, element));
	}
	return 0;
}

/* The place of each element of the old list: its index rides in valueint, which only a message
 * about a line of a text would read. */
static void number(struct cJSON *list)
{
	int index = 0;

	for (struct cJSON *item = list->child; item; item = item->next)
		item->valueint = ++index;
}

/* Its place in the old list; 0: it was not there. */
static int place_of(struct patch_work *work, const struct cJSON *element,
		    const struct cJSON *before, const char *merge_key, struct patch_cursor *cursor,
		    int *ret)
{
	struct cJSON *old;
	int r = patch_list_find(work, (struct cJSON *) before, element, merge_key, cursor, &old);

	*ret = r == 0 && old ? old->valueint : 0;
	return r;
}

/* Puts the first of @left or of @right at the end of @ordered until one of them is empty. */
static int join(struct patch_work *work, struct cJSON *left, struct cJSON *right,
		const struct cJSON *before, const char *merge_key, struct cJSON *ordered)
{
	struct patch_cursor of_left = patch_cursor_of(before, merge_key), of_right = of_left;
	struct cJSON *placed_left = NULL, *placed_right = NULL;
	int left_at = 0, right_at = 0, r = 0;

	while (left->child && right->child) {
		/* An element without the key has no place of its own: it stays in front. */
		if (!key_of(left->child, merge_key)) {
			move_first(left, ordered);
			continue;
		}
		if (left->child != placed_left)
			r = place_of(work, left->child, before, merge_key, &of_left, &left_at);
		if (r == 0 && right->child != placed_right)
			r = place_of(work, right->child, before, merge_key, &of_right, &right_at);
		if (r < 0)
			return r;
		placed_left = left->child;
		placed_right = right->child;
		move_first(left_at > 0 && right_at > 0 && left_at < right_at ? left : right,
			   ordered);
	}
	return 0;
}

int patch_list_order(struct patch_work *work, struct cJSON *list, const struct cJSON *wanted,
		     struct cJSON *before, const char *merge_key)
{
	cleanup_json struct cJSON *named = json_new_array(), *ordered = json_new_array();
	int r;

	if (!named || !ordered)
		return failed(work->reterr, -ENOMEM, "cannot order a list");
	number(before);
	r = take_named(work, list, wanted, merge_key, named);
	if (r == 0)
		r = join(work, list, named, before, merge_key, ordered);
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
