/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_index - see json_index.h
 */
#include "object/json/json_index.h"

#include "base/fnv1a.h"
#include "object/json/json_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* By text within one sum, so that those of one text stand together in their order. */
static int by_sum(const void *a, const void *b, void *compared)
{
	const struct json_index_entry *left = a, *right = b;
	int order;

	++*(size_t *) compared;
	if (left->sum != right->sum)
		return left->sum < right->sum ? -1 : 1;
	order = strcmp(left->text, right->text);
	return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

static const char *text_of(const struct cJSON *item, const char *key)
{
	if (!key)
		return item->string;
	if (*key)
		item = json_get(item, key);
	return json_is_string(item) || json_is_number(item) ? item->valuestring : NULL;
}

int json_index_make(const struct cJSON *container, const char *key, struct json_index *ret)
{
	size_t count = json_count(container), i = 0;
	struct json_index_entry *entries = calloc(count + 1, sizeof(*entries));

	*ret = (struct json_index){ 0 };
	if (!entries)
		return -ENOMEM;
	for (const struct cJSON *item = json_first(container); item; item = item->next, i++) {
		const char *text = text_of(item, key);

		if (!text) {
			free(entries);
			return -ENOENT;
		}
		entries[i] = (struct json_index_entry){
			.sum = fnv1a_add_text(FNV1A_FIRST, text),
			.text = text,
			.item = item,
			.place = i,
		};
	}
	*ret = (struct json_index){ .entries = entries, .count = count };
	qsort_r(entries, count, sizeof(*entries), by_sum, &ret->compared);
	return 0;
}

void json_index_done(struct json_index *index)
{
	free(index->entries);
	*index = (struct json_index){ 0 };
}

/* The first whose sum is not below. */
static size_t lower_bound(struct json_index *index, uint64_t sum)
{
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		index->compared++;
		if (index->entries[middle].sum < sum)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct json_index_entry *json_index_find(struct json_index *index, const char *text)
{
	uint64_t sum = fnv1a_add_text(FNV1A_FIRST, text);

	for (size_t i = lower_bound(index, sum); i < index->count; i++) {
		struct json_index_entry *entry = &index->entries[i];

		index->compared++;
		if (entry->sum != sum)
			return NULL;
		if (entry->text && strcmp(entry->text, text) == 0)
			return entry;
	}
	return NULL;
}

const struct cJSON *json_index_duplicate(const struct json_index *index)
{
	for (size_t i = 1; i < index->count; i++)
		if (index->entries[i - 1].sum == index->entries[i].sum &&
		    strcmp(index->entries[i - 1].text, index->entries[i].text) == 0)
			return index->entries[i].item;
	return NULL;
}
