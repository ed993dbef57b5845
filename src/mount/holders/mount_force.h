/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_force - which holders of a volume a forced unstage may go past
 *
 * Any local user can keep a copy of a mount in a namespace of his own ("unshare -Um"), for as long
 * as he likes, be it detached, by a descriptor, or behind more namespaces and open files than are
 * searched. An operator may go past such holders, and past no others: the mount namespace belongs
 * to a user namespace that is not podvold's own, and so does the process, or it runs as another
 * uid than root among the host's mounts; the owner is not root, and both are outside of every held
 * container. What cannot be found out of these counts as a reason not to pass.
 */
#pragma once

#include "mount/holders/mount_holders.h"
#include "mount/holders/mount_namespace.h"

/* A held container, by one of both. */
struct mount_container {
	pid_t pid;          /* its first process; 0: none */
	const char *cgroup; /* absolute path, with all cgroups below it; NULL: none */
	const char *name;   /* for messages */
};

/* Its processes, and the mount namespaces that they are in. */
struct mount_containers {
	struct namespace_set pids, namespaces;
};

/**
 * mount_containers_read - all processes of the containers [worker]
 * @ret: for mount_containers_done(), also after a failure
 *
 * One that ended meanwhile is no container any more. Return: 0; -ELOOP cgroups nested deeper than
 * CONTAINER_CGROUPS_DEEP_MAX; else what could not be read: nothing may be forced then.
 */
int mount_containers_read(const struct mount_container *list, size_t count,
			  struct mount_containers *ret, struct failure *reterr);
void mount_containers_done(struct mount_containers *containers);
enum { CONTAINER_CGROUPS_DEEP_MAX = 64 };

/* The first container with the holder's process, a parent of it, or its mount namespace; NULL: none
 * is found [worker]. */
const struct mount_container *mount_container_of(const struct mount_container *list, size_t count,
						 const struct mount_holder *holder);

/* What a search with @past went past. */
enum { MOUNT_PASSED_TEXT_BYTES = 1024 };
struct mount_passed {
	const struct mount_containers *containers;
	size_t count;                       /* holders */
	char text[MOUNT_PASSED_TEXT_BYTES]; /* of the first: pid, uid, user namespace */
	bool is_cut;                        /* there was no room for all of them */
	pid_t named;                        /* the last process in @text, which may keep many */
};

/* May a forced unstage go past this holder? */
bool mount_force_passes(const struct mount_containers *containers,
			const struct mount_holder *holder);

/* Counts it, and says who it is while there is room. */
void mount_passed_note(struct mount_passed *passed, const struct mount_holder *holder);
