/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holds - which containers of which pods are known to live: evidence that their volumes are in use
 *
 * A starter of containers posts a hold; while a pod has one, none of its volumes is taken down,
 * whatever the store says. EBUSY is no such evidence: a container has mounts of its own, so that
 * the host's unmount succeeds and takes the device from under it.
 *
 * A hold ends with its process (pid with start time, so that a reused pid is not taken for it),
 * with the last process of its cgroup (path with the cgroup's id), or, where it names neither, when
 * it is deleted or its container's status is reported as terminated. Only the table: it watches
 * nothing and writes nothing. The loop thread only.
 */
#pragma once

#include "base/failure.h"
#include "base/hash_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum hold_kind {
	HOLD_EXPLICIT, /* until deleted, or until its container is reported as terminated */
	HOLD_PROCESS,
	HOLD_CGROUP,
	HOLD_KIND_COUNT
};
/* "explicit", "process" or "cgroup": static text. */
const char *hold_kind_name(enum hold_kind kind);

enum {
	HOLD_ID_BYTES = 11,        /* ten hexadecimal digits and NUL */
	HOLDS_OF_WRITER_SHARE = 4, /* one writer's: the limit of all divided by this */
	HOLDS_PER_POD_MAX = 64,    /* one pod cannot use up what all pods share */
	HOLD_CGROUP_BYTES_MAX = 1024,
	HOLD_POD_UID_BYTES = 128, /* and no longer one is held */
};

/* Everything that is kept of a hold; strings are copied by the table. */
struct hold {
	char id[HOLD_ID_BYTES]; /* "" before holds_add() chose one */
	enum hold_kind kind;
	const char *pod_uid, *pod_namespace, *pod_name, *container;
	pid_t pid;           /* HOLD_PROCESS */
	uint64_t start_time; /* of that process, in clock ticks since the boot; see hold_watch.h */
	const char *cgroup;  /* HOLD_CGROUP: absolute path; else "" */
	/* Who posted it, for the limit of one client; NULL: root, role admin, or one of before the
	 * start. */
	const char *writer;
	uint64_t cgroup_id;  /* its inode: a cgroup made again under the path is another one */
	uint64_t since_usec; /* real time */
	/* HOLD_EXPLICIT: what the container's status said of its end when the hold was posted, as a
	 * checksum; 0: nothing. Only another end than this one ends the hold. */
	uint64_t ended_before;
};

struct holds;

/* An empty table for at most @max holds. Return: 0 or -ENOMEM. */
int holds_new(size_t max, struct holds **ret);
/* Accepts NULL. Return: NULL. */
struct holds *holds_free(struct holds *holds);

/**
 * holds_add - keep a hold
 * @fields: copied; an empty id is chosen here; with one (from the ledger) it is kept, and kept
 *          whatever the limits are now
 * @ret:    borrowed until it is removed
 *
 * Return: 0; -ENOSPC too many, of the pod, of its writer or in all, which @reterr says; -EEXIST the
 * id is taken; -ENOMEM.
 */
int holds_add(struct holds *holds, const struct hold *fields, const struct hold **ret,
	      struct failure *reterr);

/* It ended. Unknown ids are passed over; @id may be the hold's own. */
void holds_remove(struct holds *holds, const char *id);

/* Borrowed until it is removed; NULL: there is none. */
const struct hold *holds_find(const struct holds *holds, const char *id);

/* Does anything of the pod live, as far as is known? Constant cost. */
bool holds_has_pod(const struct holds *holds, const char *pod_uid);

/* The @position-th hold of a pod, oldest first; NULL past the last. */
const struct hold *holds_of_pod(const struct holds *holds, const char *pod_uid, size_t position);

/* A hold of a pod of this name that has another uid: what a pod made again may have to wait for.
 * NULL: none. Cost: all pods with holds. */
const struct hold *holds_of_earlier_pod(const struct holds *holds, const char *name_space,
					const char *name, const char *uid);

/* Any hold, to walk with holds_next() in no order; NULL: none is left. The next may be asked for
 * before the present one is removed. */
const struct hold *holds_first(const struct holds *holds);
const struct hold *holds_next(const struct hold *hold);

/* How many; constant cost. */
size_t holds_count(const struct holds *holds);
