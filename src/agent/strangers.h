/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strangers - volumes and pod directories that were there at the start and are not in the ledger
 *
 * Only this folder uses it, by parts.h. The loop thread only.
 */
#ifndef PODVOL_AGENT_STRANGERS_H
#define PODVOL_AGENT_STRANGERS_H

#include "state/found.h"

struct agent;
struct persistent_volume;
struct strangers;

/* @found becomes its own; makes and frees the agent's takeover, too. Return: 0 or -ENOMEM. */
int strangers_new(struct agent *agent, struct found_list *found, struct strangers **ret);
/* After the pools: a directory that is being cleaned is left behind. Accepts NULL. Return: NULL. */
struct strangers *strangers_free(struct strangers *strangers);
/* What was found; lives as long. */
const struct found_list *strangers_found(const struct strangers *strangers);
/* One of these is not in the ledger; @why it could not be taken over, copied, or NULL. */
void strangers_add(struct strangers *strangers, const struct found_volume *volume, const char *why);
/* Is one of these, staged or mounted, of this CSI volume? Until it was taken down by podvold, whose
 * pod wanted it after all, or to the end. Accepts NULL. */
bool strangers_have(const struct strangers *strangers, const struct persistent_volume *pv);
/* It was taken down: a pod's, or with @pod_uid NULL what was staged. Accepts NULL. */
void strangers_forget(struct strangers *strangers, const char *unique_name, const char *pod_uid);
/* A turn has taken in every change there was: tells of strangers once when all sources are
 * complete, and cleans what is to be cleaned and has nothing mounted. Cheap afterwards. Accepts
 * NULL. */
void strangers_settled(struct strangers *strangers);
/* Pod directories that belonged to no pod at the start, and how many of them are there still. */
void strangers_count(const struct strangers *strangers, size_t *ret_orphans, size_t *ret_kept);

#endif
