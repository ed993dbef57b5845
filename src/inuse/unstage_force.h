/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unstage_force - an operator's word that one unstage may go past holders outside of containers
 *
 * It counts for one search, and for the unstage that follows that: see mount/holders/mount_force.h
 * for whom it goes past. The loop thread only, but for unstage_force_begin() and
 * unstage_force_searched().
 */
#pragma once

#include "mount/holders/mount_force.h"
#include "state/holds.h"

/* Once, on the loop. 0: the unstage goes on past @passed; -EBUSY a holder is never
 * passed, and @why says who; -ECANCELED podvold stops; else why the holders are unknown. */
typedef void unstage_force_fn(void *userdata, int error, const struct mount_passed *passed,
			      const struct failure *why);

struct unstage_force {
	struct mount_container *list; /* its texts are owned */
	size_t count;
	const struct mount_container *refused_for; /* of @list; NULL: no container keeps it */
	struct mount_containers containers;
	struct mount_passed passed;
	struct failure failure; /* error 0: none */
	unstage_force_fn *done;
	void *userdata;
};

/* With the containers that are held now. NULL: no memory. */
struct unstage_force *unstage_force_new(const struct holds *holds, unstage_force_fn *done,
					void *userdata);
/* Says nothing. Accepts NULL. Return: NULL. */
struct unstage_force *unstage_force_free(struct unstage_force *force);

/* On the worker, right before the search: makes @holder's a forced one, or says why not. */
void unstage_force_begin(struct unstage_force *force, struct mount_holder *holder);
/* On the worker, right after it: of which container the holder is. */
void unstage_force_searched(struct unstage_force *force, const struct mount_holder *holder);
/* What came of the search; frees @force. */
void unstage_force_end(struct unstage_force *force, const struct failure *search,
		       const struct mount_holder *holder);
/* There is no search. Frees @force; accepts NULL. */
void unstage_force_cancel(struct unstage_force *force);
