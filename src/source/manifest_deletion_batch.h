/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_deletion_batch - what vanished together, until it was quiet long enough to judge it
 *
 * Collects; the judgement itself is manifest_judge_deletion_batch(). Touches neither disk nor
 * store.
 */
#pragma once

#include "source/manifest_catalog.h"

struct manifest_deletion_batch {
	bool is_active;
	bool is_start;    /* what the store remembers from before this process */
	bool is_replaced; /* the directory is another one than before */
	unsigned int number;
	size_t files_before, pod_files_before;
	uint64_t first_usec, last_usec; /* monotonic */
	struct manifest_gone *gone;     /* files that vanished, by name */
	struct manifest_key *orphans;   /* objects that lost their last manifest */
};

/* Frees the names; the orphans are the catalog's. An empty batch is fine. */
void manifest_deletion_batch_done(struct manifest_deletion_batch *deletion_batch);

/* Something vanished now, or is about to be taken out of the catalog. */
void manifest_deletion_batch_touch(struct manifest_deletion_batch *deletion_batch,
				   const struct manifest_catalog *catalog, uint64_t now_usec);

/* This file is about to be taken out of the catalog. Return: 0; -ENOMEM: it must stay there, and be
 * lost again. */
int manifest_deletion_batch_lose(struct manifest_deletion_batch *deletion_batch,
				 const struct manifest_entry *entry);

/* A file came; it counts for this batch only if it was there before. */
void manifest_deletion_batch_gain(const struct manifest_deletion_batch *deletion_batch,
				  struct manifest_entry *entry);

/* An object that lost its last manifest: judged when the batch is over. Twice is once. */
void manifest_deletion_batch_add_orphan(struct manifest_deletion_batch *deletion_batch,
					struct manifest_key *key);

/* When to judge: quiet for @settle_usec, but not put off for ever. */
uint64_t manifest_deletion_batch_due_usec(const struct manifest_deletion_batch *deletion_batch,
					  uint64_t settle_usec);

/* Count what is gone by now; @catalog as it is. The other facts are the caller's. */
void manifest_deletion_batch_count(struct manifest_deletion_batch *deletion_batch,
				   const struct manifest_catalog *catalog,
				   struct manifest_deletion_batch_facts *ret);

/* The batch is over. Return: its orphans, linked by next_orphan, no longer marked as such. */
struct manifest_key *manifest_deletion_batch_end(struct manifest_deletion_batch *deletion_batch);
