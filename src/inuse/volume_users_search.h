/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_users_search - who uses a volume that is mounted, searched for when a client asks
 *
 * Two searches on a worker: processes that have the volume's mounts (mount/holders/busy_holders.h),
 * then mounts of it in other namespaces (mount/holders/mount_holders.h). "no users" is answered
 * only when both saw everything; what they never see is said in their headers. One search at a
 * time. The loop thread only; the search alone runs on a worker.
 */
#pragma once

#include "inuse/inuse.h"

struct actual_pod;
struct actual_volume;
struct busy_holder;
struct volume_users_search;

/* Once, on the loop, never before volume_users_search() returned. @tree as docs/api.md describes
 * it; taken; NULL: no memory. */
typedef void volume_users_search_fn(void *userdata, struct cJSON *tree);

enum { USERS_ASK_MOUNTS_MAX = 64 }; /* searched for; with more the answer is cut short */

/**
 * volume_users_search - begin a search for the users of a volume
 * @volume: unique name, name of the PV, or path of a mount; copied
 *
 * Return: 0; -ENOENT no such volume; -EBUSY another search runs; -ENOMEM.
 */
int volume_users_search(struct inuse *inuse, const char *volume, volume_users_search_fn *done,
			void *userdata, struct volume_users_search **ret);
/* The caller left: done is not called any more, and the search ends soon. Not after it was called.
 */
void volume_users_search_cancel(struct volume_users_search *ask);

/* ---- volume_users.c ---- */

/* Where the volume (@pod NULL: its device) is mounted; NULL: nowhere that can be looked at, or no
 * memory. Free with free(). */
char *volume_users_mount_point(const struct actual_volume *volume, const struct actual_pod *pod);
/* Below which its sub-paths are; NULL: none, or no memory. Free with free(). */
char *volume_users_subpaths(const struct inuse *inuse, const struct actual_volume *volume,
			    const struct actual_pod *pod);
/* An item of member "users" of views. */
void volume_users_add(struct cJSON *items, const struct busy_holder *holder);
