/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch_list - lists whose elements are distinguished by a key; see patch_work.h
 */
#include "object/patch/patch_work.h"

#include <errno.h>
#include <string.h>

/* What tells an element apart; NULL: it has no such member. */
static struct cJSON *key_of(struct cJSON *element, const char *merge_key, size_t *steps)
{
	if (!*merge_key || !json_is_object(element))
		return *merge_key ? NULL : element;
	for (struct cJSON *item = element->child; item; item = item->next) {
		*steps += 1;
		if (strcmp(item->string, merge_key) == 0)
			return item;
	}
	return NULL;
}

/* Of a string or a number; NULL: neither. */
static const char *text_of(const struct cJSON *key)
{
	return json_is_string(key) || json_is_number(key) ? key->valuestring : NULL;
}

/* ---- searches ---- */

/* A number and a string of the same text count as the same. */
static bool make_index(struct patch_work *work, const struct cJSON *container,
		       const char *merge_key, struct json_index *ret)
{
	if (json_index_make(container, merge_key, ret) < 0)
		return false;
	work->steps += ret->count * CHARGE_LOOK_UP;
	if (!json_index_duplicate(ret))
		return true;
	json_index_done(ret);
	return false;
}

struct patch_search patch_search_of(struct patch_work *work, const struct cJSON *container,
				    const struct cJSON *asked, const char *merge_key)
{
	enum { FEW = 8 };
	struct patch_search search = { .index.entries = NULL };
	cleanup_json_index struct json_index texts = { .entries = NULL };

	if (json_count(container) <= FEW || json_count(asked) <= FEW)
		return search;
	/* No key of a map comes twice. */
	if (!merge_key || asked == container || make_index(work, asked, merge_key, &texts))
		(void) make_index(work, container, merge_key, &search.index);
	return search;
}

void patch_search_done(struct patch_search *search)
{
	json_index_done(&search->index);
}

/* Found once and no more: it may be removed meanwhile. */
static struct cJSON *take(struct json_index *index, const char *text)
{
	struct json_index_entry *entry = text ? json_index_find(index, text) : NULL;

	if (!entry)
		return NULL;
	entry->text = NULL;
	return (struct cJSON *) entry->item;
}

static struct cJSON *walk(struct cJSON *list, const struct cJSON *key, const char *merge_key,
			  size_t *steps)
{
	const char *text = text_of(key);
	size_t each = 1 + (text ? strlen(text) / CHARGE_BYTES : 0);

	for (struct cJSON *item = (struct cJSON *) json_first(list); item; item = item->next) {
		const struct cJSON *other = key_of(item, merge_key, steps);

		*steps += each;
		if (other && json_equal(other, key))
			return item;
	}
	return NULL;
}

int patch_member(struct patch_work *work, struct cJSON *object, const char *key,
		 struct patch_search *search, struct cJSON **ret)
{
	size_t steps = 1, each = 1 + strlen(key) / CHARGE_BYTES;

	if (search && search->index.entries) {
		*ret = take(&search->index, key);
		return patch_charge(work, CHARGE_LOOK_UP + each);
	}
	*ret = NULL;
	for (struct cJSON *item = object->child; item && !*ret; item = item->next, steps += each)
		if (strcmp(item->string, key) == 0)
			*ret = item;
	return patch_charge(work, steps);
}

int patch_list_find(struct patch_work *work, struct cJSON *list, const struct cJSON *like,
		    const char *merge_key, struct patch_search *search, struct cJSON **ret)
{
	size_t steps = CHARGE_LOOK_UP;
	const struct cJSON *key = key_of((struct cJSON *) like, merge_key, &steps);

	*ret = NULL;
	if (!key)
		return failed_plain(work->reterr, -EINVAL,
				    "an element of a list does not contain the declared merge key "
				    "'%s'",
				    merge_key);
	if (search && search->index.entries) {
		*ret = take(&search->index, text_of(key));
		if (*ret && !json_equal(key_of(*ret, merge_key, &steps), key))
			*ret = NULL;
	} else {
		*ret = walk(list, key, merge_key, &steps);
	}
	return patch_charge(work, steps);
}

static void move_first(struct cJSON *from, struct cJSON *to)
{
	json_append(to, cJSON_DetachItemViaPointer(from, from->child));
}

/* What @wanted names leaves @list for @named, in the order of @wanted. */
static int take_named(struct patch_work *work, struct cJSON *list, const struct cJSON *wanted,
		      const char *merge_key, struct cJSON *named)
{
	cleanup_search struct patch_search search = patch_search_of(work, list, wanted, merge_key);

	for (const struct cJSON *item = json_first(wanted); item; item = item->next) {
		struct cJSON *element;
		int r = patch_list_find(work, list, item, merge_key, &search, &element);

		if (r < 0)
			return r;
		if (element)
			json_append(named, cJSON_DetachItemViaPointer(list, element));
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
		    const struct cJSON *before, const char *merge_key, struct patch_search *search,
		    int *ret)
{
	struct cJSON *old;
	int r = patch_list_find(work, (struct cJSON *) before, element, merge_key, search, &old);

	*ret = r == 0 && old ? old->valueint : 0;
	return r;
}

/* Puts the first of @left or of @right at the end of @ordered until one of them is empty. */
static int join(struct patch_work *work, struct cJSON *left, struct cJSON *right,
		const struct cJSON *before, const char *merge_key, struct cJSON *ordered)
{
	cleanup_search struct patch_search search =
		patch_search_of(work, before, before, merge_key);
	struct cJSON *placed_left = NULL, *placed_right = NULL;
	int left_at = 0, right_at = 0, r = 0;
	size_t steps = 0;

	while (left->child && right->child) {
		/* An element without the key has no place of its own: it stays in front. */
		if (!key_of(left->child, merge_key, &steps)) {
			move_first(left, ordered);
			continue;
		}
		if (left->child != placed_left)
			r = place_of(work, left->child, before, merge_key, &search, &left_at);
		if (r == 0 && right->child != placed_right)
			r = place_of(work, right->child, before, merge_key, &search, &right_at);
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
