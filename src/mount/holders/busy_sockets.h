/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy_sockets - unix sockets that are bound to a name in a volume, by the names the kernel tells
 *
 * A part of busy_holders.h; nobody else includes it. Of our network namespace, and where the name
 * was given as an absolute path: what else is bound is not found.
 */
#pragma once

#include "mount/holders/busy_mounts.h"

struct busy_socket {
	uint64_t inode;
	const struct busy_mount *mount;
	char *path;
};

struct busy_sockets {
	struct busy_socket *list; /* by inode */
	size_t count, capacity;
};

/* Those in one of @mounts, which must live as long. Return: 0 or -ENOMEM. */
int busy_sockets_read(const struct busy_mounts *mounts, struct busy_sockets *ret);
void busy_sockets_free(struct busy_sockets *sockets);

/* The one that a descriptor leads to, by its link "socket:[4711]". NULL: none of them. */
const struct busy_socket *busy_sockets_find(const struct busy_sockets *sockets, const char *link);
