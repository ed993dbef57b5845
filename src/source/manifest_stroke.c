/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_stroke - files that vanish together; see manifest_stroke.h
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "source/manifest_stroke.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A directory where files come and go all the time is never quiet. */
enum { SETTLE_TIMES_MAX = 10 };

struct manifest_gone {
	UT_hash_handle hh;
	bool lost_pod; /* one of its pods is in no file now */
	char name[];
};

static void free_gone(struct manifest_stroke *stroke)
{
	struct manifest_gone *gone, *next;

	HASH_ITER (hh, stroke->gone, gone, next) {
		HASH_DEL(stroke->gone, gone);
		free(gone);
	}
}

void manifest_stroke_done(struct manifest_stroke *stroke)
{
	free_gone(stroke);
}

void manifest_stroke_touch(struct manifest_stroke *stroke, const struct manifest_catalog *catalog,
			   uint64_t now_usec)
{
	if (!stroke->is_active) {
		stroke->is_active = true;
		stroke->number++;
		stroke->first_usec = now_usec;
		stroke->files_before = HASH_COUNT(catalog->entries);
		stroke->pod_files_before = catalog->pod_entry_count;
	}
	stroke->last_usec = now_usec;
}

static struct manifest_gone *find_gone(const struct manifest_stroke *stroke, const char *name)
{
	struct manifest_gone *gone;

	HASH_FIND(hh, stroke->gone, name, strlen(name), gone);
	return gone;
}

int manifest_stroke_lose(struct manifest_stroke *stroke, const struct manifest_entry *entry)
{
	struct manifest_gone *gone = find_gone(stroke, entry->name);
	size_t length = strlen(entry->name);

	assert(stroke->is_active);
	if (!gone && entry->stroke != stroke->number) {
		gone = calloc(1, sizeof(*gone) + length + 1);
		if (!gone)
			return -ENOMEM;
		memcpy(gone->name, entry->name, length);
		HASH_ADD(hh, stroke->gone, name, length, gone);
		if (!gone->hh.tbl) {
			free(gone);
			return -ENOMEM;
		}
	}
	for (struct manifest_definition *d = entry->definitions; d; d = d->next_in_entry)
		d->key->gone = gone;
	return 0;
}

void manifest_stroke_gain(const struct manifest_stroke *stroke, struct manifest_entry *entry)
{
	if (stroke->is_active && !find_gone(stroke, entry->name))
		entry->stroke = stroke->number;
}

void manifest_stroke_add_orphan(struct manifest_stroke *stroke, struct manifest_key *key)
{
	assert(stroke->is_active);
	if (key->is_orphan)
		return;
	key->is_orphan = true;
	key->next_orphan = stroke->orphans;
	stroke->orphans = key;
}

uint64_t manifest_stroke_due_usec(const struct manifest_stroke *stroke, uint64_t settle_usec)
{
	uint64_t quiet = stroke->last_usec + settle_usec;
	uint64_t latest = stroke->first_usec + SETTLE_TIMES_MAX * settle_usec;

	return quiet < latest ? quiet : latest;
}

void manifest_stroke_count(struct manifest_stroke *stroke, const struct manifest_catalog *catalog,
			   struct manifest_stroke_facts *ret)
{
	struct manifest_gone *gone, *next;

	for (struct manifest_key *key = stroke->orphans; key; key = key->next_orphan)
		if (key->kind == KIND_POD && !key->definitions && key->lost_file && key->gone)
			key->gone->lost_pod = true;
	ret->files_before = stroke->files_before;
	ret->pod_files_before = stroke->pod_files_before;
	ret->files_gone = 0;
	ret->pod_files_gone = 0;
	HASH_ITER (hh, stroke->gone, gone, next) {
		if (manifest_catalog_entry(catalog, gone->name))
			continue;
		ret->files_gone++;
		ret->pod_files_gone += gone->lost_pod;
	}
}

struct manifest_key *manifest_stroke_end(struct manifest_stroke *stroke)
{
	struct manifest_key *orphans = stroke->orphans;

	for (struct manifest_key *key = orphans; key; key = key->next_orphan) {
		key->is_orphan = false;
		key->gone = NULL;
	}
	free_gone(stroke);
	stroke->orphans = NULL;
	stroke->is_active = false;
	stroke->is_start = false;
	stroke->is_replaced = false;
	return orphans;
}
