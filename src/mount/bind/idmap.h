/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idmap - two groups exchanged in one mount, so that no file has to be given to a group
 *
 * A mount with such a map shows files of the one group as the other's, and writes new files of the
 * other to the disk as the one's. Every other group and every user stays what it is, and none is
 * without a counterpart. Exchanged and not joined, because the kernel takes only maps that can be
 * read backwards: files that have the other group on the disk appear as the one's.
 */
#pragma once

#include "base/failure.h"

#include <sys/types.h>

/* What the kernel takes as a map is a user namespace; a pair of groups is likely to come again. */
struct idmap_cache;

enum { IDMAP_NAMESPACES_MAX = 32 }; /* kept open for pairs to come; mounts keep their own */

/* Return: 0 or -ENOMEM. Freeing accepts NULL and returns it; mounts that were made stay. */
int idmap_cache_new(struct idmap_cache **ret);
struct idmap_cache *idmap_cache_free(struct idmap_cache *cache);

/**
 * idmap_exchange - the map that exchanges two groups [worker: starts a process when it is new]
 * @one, @other: in any order; not equal
 *
 * Group 0 is never exchanged: what a pod writes would go to the disk as root's group, or files of
 * root's group would appear as one that a pod is in.
 *
 * Any thread. Return: a descriptor the caller owns, for struct mount_attributes; -EINVAL group 0,
 * or no group; -EPERM no CAP_SETUID, CAP_SETGID and CAP_SETFCAP, or no such namespaces here; else
 * as clone(2).
 */
int idmap_exchange(struct idmap_cache *cache, gid_t one, gid_t other, struct failure *reterr);
