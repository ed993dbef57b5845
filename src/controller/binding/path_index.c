/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_index - an entry for each path and each directory above one; see binding.h
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "base/hash_table.h"
#include "controller/binding/binding.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct path_entry {
	UT_hash_handle hh;
	unsigned int here, below; /* how many paths are this one; lie below it */
	char path[];
};

/* One level after the other: "", "a", "a/b". */
struct levels {
	const char *rest;
	char path[PATH_MAX];
	size_t length;
	bool is_first, is_too_long;
};

static void levels_begin(struct levels *levels, const char *path)
{
	*levels = (struct levels){ .rest = path, .is_first = true };
	levels->rest += strspn(path, "/");
}

/* Return: false: that was the last one. */
static bool levels_next(struct levels *levels)
{
	size_t part = strcspn(levels->rest, "/");

	if (levels->is_first) {
		levels->is_first = false;
		return true;
	}
	if (part == 0)
		return false;
	if (levels->length + part + 2 > sizeof(levels->path)) {
		levels->is_too_long = true;
		return false;
	}
	if (levels->length > 0)
		levels->path[levels->length++] = '/';
	memcpy(levels->path + levels->length, levels->rest, part);
	levels->length += part;
	levels->path[levels->length] = '\0';
	levels->rest += part;
	levels->rest += strspn(levels->rest, "/");
	return true;
}

static bool levels_is_last(const struct levels *levels)
{
	return *levels->rest == '\0';
}

static struct path_entry *find(const struct path_index *index, const struct levels *levels)
{
	struct path_entry *entry;

	HASH_FIND(hh, index->table, levels->path, levels->length, entry);
	return entry;
}

static struct path_entry *make(struct path_index *index, const struct levels *levels)
{
	struct path_entry *entry = find(index, levels);

	if (entry)
		return entry;
	entry = calloc(1, sizeof(*entry) + levels->length + 1);
	if (!entry)
		return NULL;
	memcpy(entry->path, levels->path, levels->length);
	HASH_ADD_KEYPTR(hh, index->table, entry->path, levels->length, entry);
	if (!entry->hh.tbl) {
		free(entry);
		return NULL;
	}
	return entry;
}

void path_index_done(struct path_index *index)
{
	struct path_entry *entry, *next;

	HASH_ITER (hh, index->table, entry, next) {
		HASH_DEL(index->table, entry);
		free(entry);
	}
	*index = (struct path_index){ .table = NULL };
}

void path_index_add(struct path_index *index, const char *path)
{
	struct levels levels;

	assert(path);
	levels_begin(&levels, path);
	while (levels_next(&levels)) {
		struct path_entry *entry = make(index, &levels);

		if (!entry)
			index->is_incomplete = true;
		else if (levels_is_last(&levels))
			entry->here++;
		else
			entry->below++;
	}
	index->is_incomplete |= levels.is_too_long;
}

void path_index_remove(struct path_index *index, const char *path)
{
	struct levels levels;

	assert(path);
	levels_begin(&levels, path);
	while (levels_next(&levels)) {
		struct path_entry *entry = find(index, &levels);
		unsigned int *count =
			entry ? levels_is_last(&levels) ? &entry->here : &entry->below : NULL;

		if (!count || *count == 0) {
			index->is_incomplete = true;
			continue;
		}
		--*count;
		if (entry->here == 0 && entry->below == 0) {
			HASH_DEL(index->table, entry);
			free(entry);
		}
	}
}

bool path_index_is_alone(const struct path_index *index, const char *path)
{
	struct levels levels;

	assert(path);
	levels_begin(&levels, path);
	while (!index->is_incomplete && levels_next(&levels)) {
		const struct path_entry *entry = find(index, &levels);

		if (!entry)
			return false;
		if (levels_is_last(&levels))
			return entry->here == 1 && entry->below == 0;
		if (entry->here > 0)
			return false;
	}
	return false;
}
