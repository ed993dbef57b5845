/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_namespace - all mounts of a mount namespace, whatever its processes see of them
 *
 * /proc/PID/mountinfo shows what can be reached from that task's root: after chroot(2) that is a
 * part, and a chroot into a mount point looks like the whole. So a thread enters the namespace,
 * which gives it the namespace's own root, and reads the table there. Needs CAP_SYS_ADMIN and
 * CAP_SYS_CHROOT. Looks up no path in it and changes nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The namespace of a process or thread, by its directory in /proc. Return: a descriptor; -ENOENT,
 * -ESRCH the task ended; any other error says nothing about its mounts. */
int mount_namespace_open(int process_fd);

/**
 * mount_namespace_read - its table of mounts, in full [worker]
 * @ret: as /proc/PID/mountinfo, ended by NUL; free with free()
 *
 * Return: 0; -E2BIG more than @bytes_max; else as the calls. Never a part of the table.
 */
int mount_namespace_read(int namespace_fd, size_t bytes_max, char **ret);

/* The user namespace right below our own that a namespace belongs to, itself or through others
 * nested in it, and the uid, as our own names it, that made that: deeper ones are made with
 * other uids. @ret_user_namespace: 0 it is our own. Return: 0; -EPERM our own does not contain it;
 * else as the calls. */
int mount_namespace_owner(int namespace_fd, uint64_t *ret_user_namespace, uid_t *ret_uid);

/* The same of the user namespace that a process is in, by its directory in /proc. */
int process_namespace_owner(int process_fd, uint64_t *ret_user_namespace, uid_t *ret_uid);

/**
 * mount_namespace_walk - every mount namespace of the machine, also those that no process is in
 * @visit: with a descriptor of it that is borrowed; a negative errno ends the walk
 *
 * But for those of user namespaces that our own does not contain. Return: 0 all were visited;
 * -EOPNOTSUPP the kernel cannot list them (before Linux 6.12), or not for a process in a PID
 * namespace (since 6.18); else as the calls or @visit.
 */
int mount_namespace_walk(int (*visit)(int namespace_fd, uint64_t number, void *userdata),
			 void *userdata);

/* Numbers of namespaces, each once. Empty: all members 0. */
struct namespace_set {
	uint64_t *slots; /* 0: free */
	size_t capacity, count;
};
bool namespace_set_has(const struct namespace_set *set, uint64_t number);
/* Return: 0 or -ENOMEM. */
int namespace_set_add(struct namespace_set *set, uint64_t number);
void namespace_set_done(struct namespace_set *set);
