/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_stroke - what vanished together, until it was quiet long enough to judge it
 *
 * Collects; the judgement itself is manifest_judge_stroke(). Touches neither disk nor store.
 */
#ifndef PODVOL_SOURCE_MANIFEST_STROKE_H
#define PODVOL_SOURCE_MANIFEST_STROKE_H

#include "source/manifest_catalog.h"

struct manifest_stroke {
	bool is_active;
	bool is_start;    /* what the store remembers from before this process */
	bool is_replaced; /* the directory is another one than before */
	unsigned int number;
	size_t files_before, pod_files_before;
	uint64_t first_usec, last_usec; /* monotonic */
	struct manifest_gone *gone;     /* files that vanished, by name */
	struct manifest_key *orphans;   /* objects that lost their last manifest */
};

/* Frees the names; the orphans are the catalog's. An empty stroke is fine. */
void manifest_stroke_done(struct manifest_stroke *stroke);

/* Something vanished now, or is about to be taken out of the catalog. */
void manifest_stroke_touch(struct manifest_stroke *stroke, const struct manifest_catalog *catalog,
			   uint64_t now_usec);

/* This file is about to be taken out of the catalog. Return: 0; -ENOMEM: it must stay there, and be
 * lost again. */
int manifest_stroke_lose(struct manifest_stroke *stroke, const struct manifest_entry *entry);

/* A file came; it counts for this stroke only if it was there before. */
void manifest_stroke_gain(const struct manifest_stroke *stroke, struct manifest_entry *entry);

/* An object that lost its last manifest: judged when the stroke is over. Twice is once. */
void manifest_stroke_add_orphan(struct manifest_stroke *stroke, struct manifest_key *key);

/* When to judge: quiet for @settle_usec, but not put off for ever. */
uint64_t manifest_stroke_due_usec(const struct manifest_stroke *stroke, uint64_t settle_usec);

/* Count what is gone by now; @catalog as it is. The other facts are the caller's. */
void manifest_stroke_count(struct manifest_stroke *stroke, const struct manifest_catalog *catalog,
			   struct manifest_stroke_facts *ret);

/* The stroke is over. Return: its orphans, linked by next_orphan, no longer marked as such. */
struct manifest_key *manifest_stroke_end(struct manifest_stroke *stroke);

#endif
