/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_deletion_batch - files that vanish together; see manifest_deletion_batch.h
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "source/manifest_deletion_batch.h"

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

static void free_gone(struct manifest_deletion_batch *deletion_batch)
{
	struct manifest_gone *gone, *next;

	HASH_ITER (hh, deletion_batch->gone, gone, next) {
		HASH_DEL(deletion_batch->gone, gone);
		free(gone);
	}
}

void manifest_deletion_batch_done(struct manifest_deletion_batch *deletion_batch)
{
	free_gone(deletion_batch);
}

void manifest_deletion_batch_touch(struct manifest_deletion_batch *deletion_batch,
				   const struct manifest_catalog *catalog, uint64_t now_usec)
{
	if (!deletion_batch->is_active) {
		deletion_batch->is_active = true;
		deletion_batch->number++;
		deletion_batch->first_usec = now_usec;
		deletion_batch->files_before = HASH_COUNT(catalog->entries);
		deletion_batch->pod_files_before = catalog->pod_entry_count;
	}
	deletion_batch->last_usec = now_usec;
}

static struct manifest_gone *find_gone(const struct manifest_deletion_batch *deletion_batch,
				       const char *name)
{
	struct manifest_gone *gone;

	HASH_FIND(hh, deletion_batch->gone, name, strlen(name), gone);
	return gone;
}

int manifest_deletion_batch_lose(struct manifest_deletion_batch *deletion_batch,
				 const struct manifest_entry *entry)
{
	struct manifest_gone *gone = find_gone(deletion_batch, entry->name);
	size_t length = strlen(entry->name);

	assert(deletion_batch->is_active);
	if (!gone && entry->deletion_batch != deletion_batch->number) {
		gone = calloc(1, sizeof(*gone) + length + 1);
		if (!gone)
			return -ENOMEM;
		memcpy(gone->name, entry->name, length);
		HASH_ADD(hh, deletion_batch->gone, name, length, gone);
		if (!gone->hh.tbl) {
			free(gone);
			return -ENOMEM;
		}
	}
	for (struct manifest_definition *d = entry->definitions; d; d = d->next_in_entry)
		d->key->gone = gone;
	return 0;
}

void manifest_deletion_batch_gain(const struct manifest_deletion_batch *deletion_batch,
				  struct manifest_entry *entry)
{
	if (deletion_batch->is_active && !find_gone(deletion_batch, entry->name))
		entry->deletion_batch = deletion_batch->number;
}

void manifest_deletion_batch_add_orphan(struct manifest_deletion_batch *deletion_batch,
					struct manifest_key *key)
{
	assert(deletion_batch->is_active);
	if (key->is_orphan)
		return;
	key->is_orphan = true;
	key->next_orphan = deletion_batch->orphans;
	deletion_batch->orphans = key;
}

uint64_t manifest_deletion_batch_due_usec(const struct manifest_deletion_batch *deletion_batch,
					  uint64_t settle_usec)
{
	uint64_t quiet = deletion_batch->last_usec + settle_usec;
	uint64_t latest = deletion_batch->first_usec + SETTLE_TIMES_MAX * settle_usec;

	return quiet < latest ? quiet : latest;
}

void manifest_deletion_batch_count(struct manifest_deletion_batch *deletion_batch,
				   const struct manifest_catalog *catalog,
				   struct manifest_deletion_batch_facts *ret)
{
	struct manifest_gone *gone, *next;

	for (struct manifest_key *key = deletion_batch->orphans; key; key = key->next_orphan)
		if (key->kind == KIND_POD && !key->definitions && key->lost_file && key->gone)
			key->gone->lost_pod = true;
	ret->files_before = deletion_batch->files_before;
	ret->pod_files_before = deletion_batch->pod_files_before;
	ret->files_gone = 0;
	ret->pod_files_gone = 0;
	HASH_ITER (hh, deletion_batch->gone, gone, next) {
		if (manifest_catalog_entry(catalog, gone->name))
			continue;
		ret->files_gone++;
		ret->pod_files_gone += gone->lost_pod;
	}
}

struct manifest_key *manifest_deletion_batch_end(struct manifest_deletion_batch *deletion_batch)
{
	struct manifest_key *orphans = deletion_batch->orphans;

	for (struct manifest_key *key = orphans; key; key = key->next_orphan) {
		key->is_orphan = false;
		key->gone = NULL;
	}
	free_gone(deletion_batch);
	deletion_batch->orphans = NULL;
	deletion_batch->is_active = false;
	deletion_batch->is_start = false;
	deletion_batch->is_replaced = false;
	return orphans;
}
