/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_index - see name_index.h
 */
#include "object/select/name_index.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
	const struct name_entry *left = a, *right = b;
	int order = strcmp(left->name, right->name);

	if (order != 0)
		return order;
	return left->position < right->position ? -1 : left->position > right->position;
}

int name_index_init(struct name_index *index, const struct cJSON *list, const char *key)
{
	size_t count = json_count(list), position = 0;

	assert(index && key);
	*index = (struct name_index){ 0 };
	if (count == 0)
		return 0;
	index->entries = calloc(count, sizeof(*index->entries));
	if (!index->entries)
		return -ENOMEM;
	JSON_FOREACH (item, list) {
		index->entries[position] = (struct name_entry){
			.name = json_text(item, key),
			.item = item,
			.position = position,
		};
		position++;
	}
	index->count = count;
	qsort(index->entries, count, sizeof(*index->entries), by_name);
	return 0;
}

void name_index_done(struct name_index *index)
{
	free(index->entries);
	*index = (struct name_index){ 0 };
}

const struct name_entry *name_index_find(const struct name_index *index, const char *name)
{
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(index->entries[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == index->count || strcmp(index->entries[low].name, name) != 0)
		return NULL;
	return &index->entries[low];
}

const struct name_entry *name_index_duplicate(const struct name_index *index)
{
	for (size_t i = 1; i < index->count; i++) {
		const struct name_entry *entry = &index->entries[i];

		if (*entry->name != '\0' && strcmp(entry[-1].name, entry->name) == 0)
			return entry;
	}
	return NULL;
}
