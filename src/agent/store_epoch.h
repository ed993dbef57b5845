/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_epoch - is the store the one that the mounts were made from?
 *
 * When it was emptied, or an older copy was put in its place, it does not know pods that were never
 * deleted. Their volumes may be in use, so each of them is held until somebody releases it, or the
 * right store is back. The same is done for pods that are mounted here and belong to a node of
 * another name: this one was renamed, by a new host name perhaps; and for pods that --takeover
 * found and the store does not list, since another agent's containers may use them (takeover.h).
 * The loop thread only.
 *
 * A store says how far it is by its resourceVersion, which never goes back by itself. A copy is
 * noticed when it was made before podvold was started last; one of the same life of podvold may be
 * as far as the store was, because versions are set aside in advance.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>

struct agent;
struct hold;
struct object;

/* At start, when ledger, holds and store are open and nothing is wanted yet. Return: 0, also when
 * pods are held now; negative errno. */
int store_epoch_check(struct agent *agent, struct failure *reterr);

/* Is this the hold of a pod that was taken over and not listed? */
bool store_epoch_is_unlisted(const struct hold *hold);
/* Is this one of the holds made here, and does @pod, which has its uid, make it needless? */
bool store_epoch_knows_again(const struct agent *agent, const struct hold *hold,
			     const struct object *pod);

/* At the end: how far the store is now. Nothing when there is none. */
void store_epoch_note(struct agent *agent);
