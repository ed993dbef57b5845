/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_match - does a volume fit a claim, and which of the free ones fits best; pure
 *
 * Best is the volume with the fewest access modes, then the smallest, then the first by name: a
 * larger one of fewer modes is taken before a smaller one of more, as Kubernetes does. Where a
 * volume lies (its node affinity) is asked only when the node is given: else that is left to what
 * mounts it.
 */
#pragma once

#include "object/kinds/persistent_volume.h"

/* How the two came together; who chose has asked some questions already. */
enum volume_relation {
	RELATION_MADE,  /* the volume names the claim: its class and labels do not matter */
	RELATION_NAMED, /* the claim names the volume: its labels do not matter */
	RELATION_FREE,  /* neither names the other */
	RELATION_COUNT
};

/* NULL: they fit; else why not, in Kubernetes' words where it has some. */
const char *volume_misfit(const struct persistent_volume_claim *claim,
			  const struct persistent_volume *volume, enum volume_relation relation);

bool volume_mode_matches(const struct persistent_volume_claim *claim,
			 const struct persistent_volume *volume);

/* Unclaimed, and nothing stands in the way of binding it. One that was never looked at counts:
 * it would be Available a moment later. */
bool volume_is_free(const struct persistent_volume *volume);

enum { VOLUME_WHY_BYTES = 768 };

/**
 * volume_match - the best volume for a claim
 * @free:    in the order of free_volumes
 * @ret_why: without a match: the volume that comes nearest, and what it lacks; NULL: not asked
 *
 * Return: one of @free; NULL: none fits.
 */
const struct persistent_volume *volume_match(const struct persistent_volume_claim *claim,
					     const struct persistent_volume *const *free,
					     size_t count, char ret_why[VOLUME_WHY_BYTES]);

/* The same for a claim whose first consumer is on a node: only volumes that can be used there. */
const struct persistent_volume *volume_match_on_node(const struct persistent_volume_claim *claim,
						     const struct persistent_volume *const *free,
						     size_t count, const struct labels *node,
						     char ret_why[VOLUME_WHY_BYTES]);

/* The volumes that are free, the best ones first; holds references. All zero is none. */
struct free_volumes {
	const struct persistent_volume **volumes;
	size_t count, room;
};

void free_volumes_done(struct free_volumes *free_volumes);

/* One of this name and order that is there already is replaced. Return: 0 or -ENOMEM. */
int free_volumes_put(struct free_volumes *free_volumes, const struct persistent_volume *volume);

/* @volume: as it was put, or of the same name, size and number of access modes. */
void free_volumes_remove(struct free_volumes *free_volumes, const struct persistent_volume *volume);
