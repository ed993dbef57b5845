/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ownership - the walk behind ownership_apply(), one entry at a time
 *
 * For ownership_crew.c, where several threads walk parts of one tree, and for tests, which look
 * between the steps.
 */
#pragma once

#include "mount/mount.h"
#include "mount/ownership/tree_walk.h"
#include "mount/bind/attributes.h"

struct ownership_walk;

/* @root_fd is borrowed until the end; @ownership is copied. Return: 0 or a negative errno. */
int ownership_walk_new(int root_fd, const struct ownership *ownership, struct ownership_walk **ret);
struct ownership_walk *ownership_walk_free(struct ownership_walk *walk);

/* Directories below the root may go to another thread; see tree_walk_offer(). */
void ownership_walk_offer(struct ownership_walk *walk, tree_offer_fn *offer, void *userdata);
/* Before the root's own entry, the last: @wait returns when all that was offered is done, or an
 * error, which ends the walk with the root as it was. */
void ownership_walk_root_last(struct ownership_walk *walk, int (*wait)(void *userdata),
			      void *userdata);

enum { OWNERSHIP_REFUSALS_LOGGED = 10 }; /* lines of one thread in one walk; all are counted */

/* One entry. Return: 1 more to do, 0 done, or the error that ended the walk. [worker] */
int ownership_step(struct ownership_walk *walk, struct ownership_counts *counts);

/* Does the root match, so that OnRootMismatch skips the walk? False too when that is unknown. */
bool ownership_root_matches(int root_fd, const struct ownership *ownership);

/* ---- posix_acl.c ---- */

/* Access lists between the kernel's extended attribute and an archive's entry. */

struct archive_entry;

#define POSIX_ACL_ACCESS  "system.posix_acl_access"
#define POSIX_ACL_DEFAULT "system.posix_acl_default"

/* Into the entry. Return: 0; -EINVAL no such list. */
int posix_acl_to_entry(const struct extended_attribute *attribute, struct archive_entry *entry);

/* Both lists of the entry, where it has them. A user or group that stands there by name alone is
 * looked up here. Return: 0; -EINVAL no POSIX list, or no user of that name; -ENOMEM. */
int posix_acl_from_entry(struct archive_entry *entry, struct attributes *attributes,
			 struct failure *reterr);
