/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign_volumes - volumes and pod directories that were there at the start and are not in the
 * ledger
 *
 * What podvold must leave alone and may report; a pod that wants one of these finds it mounted. The
 * loop thread only.
 */
#pragma once

#include "state/found.h"

#include <stdio.h>

struct actual;
struct cJSON;
struct desired;
struct foreign_volumes;
struct mount_root;
struct operation_ended;
struct persistent_volume;
struct store;
struct worker_pool;

/* All is borrowed. What is a pointer to a pointer may be made later. */
struct foreign_volumes_options {
	const struct mount_root *root;
	struct worker_pool *const *workers;
	struct store *const *store; /* NULL in a drain: no pod is known */
	struct desired *desired;
	struct actual *actual;
	bool removes; /* directories of pods that no source lists, as --takeover=remove says */
	/* Is every pod known that there is? */
	bool (*is_complete)(void *userdata);
	void *userdata;
};

/* @options is copied, @found becomes its own. Return: 0 or -ENOMEM. */
int foreign_volumes_new(const struct foreign_volumes_options *options, struct found_list *found,
			struct foreign_volumes **ret);
/* After the pools: a directory that is being cleaned is left behind. Accepts NULL. Return: NULL. */
struct foreign_volumes *foreign_volumes_free(struct foreign_volumes *foreign_volumes);
/* What was found; lives as long. */
const struct found_list *foreign_volumes_found(const struct foreign_volumes *foreign_volumes);
/* One of these is not in the ledger; @why it could not be taken over, copied, or NULL. */
void foreign_volumes_add(struct foreign_volumes *foreign_volumes, const struct found_volume *volume,
			 const char *why);
/* Is one of these, staged or mounted, of this CSI volume? Until it was taken down by podvold, whose
 * pod wanted it after all, or to the end. Accepts NULL. */
bool foreign_volumes_have(const struct foreign_volumes *foreign_volumes,
			  const struct persistent_volume *pv);
/* A hook of an observer of steps: what a step took down, a pod's or what was staged, is none of
 * these any more. Accepts NULL. */
void foreign_volumes_step_ended(void *foreign_volumes, const struct operation_ended *ended);
/* A turn has taken in every change there was: reports foreign volumes once when all sources are
 * complete, and cleans what is to be cleaned and has nothing mounted. Cheap afterwards. Accepts
 * NULL. */
void foreign_volumes_settled(struct foreign_volumes *foreign_volumes);
/* Pod directories that belonged to no pod at the start, and how many of them are there still, in
 * Prometheus' form by kubelet's names; foreign volumes as foreign_volumes_view() has them. Accepts
 * NULL. */
void foreign_volumes_print_metrics(const struct foreign_volumes *foreign_volumes, FILE *file);
/* {"items": [...]} as docs/api.md has them; owned by the caller. Accepts NULL. Return: NULL: no
 * memory. */
struct cJSON *foreign_volumes_view(const struct foreign_volumes *foreign_volumes);
