/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unstage_search - one pass over all processes for many volumes that are to be taken down
 *
 * A part of unstage_gate.h; no other box includes it. Filled on the loop thread, run on a worker,
 * read on the loop thread again: it owns all that it touches.
 */
#pragma once

#include "inuse/unstage_force.h"
#include "mount/holders/mount_holders.h"

enum { UNSTAGE_SEARCH_MAX = 256 }; /* volumes in one pass */

/* What a teardown takes away; the first that is not NULL counts. */
struct unstage_target {
	char *directory;   /* with its content, */
	char *pod_uid;     /* of this pod, whose sub-paths of it go with it */
	char *mount_point; /* of a device or a remote file system */
	char *device_path;
};
/* Return: 0 or -ENOMEM. */
int unstage_target_copy(const struct unstage_target *target, struct unstage_target *ret);
void unstage_target_done(struct unstage_target *target);

/* One volume that is asked about, and the answer. */
struct unstage_query {
	struct unstage_target target;
	struct unstage_force *force; /* NULL: the search is not forced */
	struct directory_query directory;
	struct mount_holder holder; /* the answer; pid_fd is closed with the question */
	struct failure failure;     /* why this one cannot be answered; error 0: it can */
};

/**
 * unstage_search_run - who has what is asked about [worker]
 *
 * What is not mounted, or not there, no process has: it costs one statx and no pass.
 *
 * Return: as mount_holders_search().
 */
int unstage_search_run(struct unstage_query *questions, size_t count, struct failure *reterr);
void unstage_query_done(struct unstage_query *question);
