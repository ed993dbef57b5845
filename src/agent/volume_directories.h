/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_directories - the local provisioner of this node: its orders become jobs of threads
 *
 * A pool of its own, so that a base path on a dead server keeps no volume from being mounted, and
 * lanes in it, so that it keeps no other base path's from being made, nor does a large volume that
 * is being removed. The loop thread only.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>

struct agent;
struct persistent_volume;
struct volume_directories;
struct worker_pool;

/* After the store and the binder. Return: 0 or negative errno. */
int volume_directories_open(struct agent *agent, struct failure *reterr);
/* A step of a volume (inner name) ended, or the sources were read (NULL): it may have become free,
 * or any. Accepts NULL for @directories. Cheap. */
void volume_directories_changed(struct volume_directories *directories, const char *volume);
/* Its threads, for who shows them; NULL: none. Accepts NULL. */
struct worker_pool *volume_directories_pool(const struct volume_directories *directories);
struct worker_pool *volume_directories_copy_pool(const struct volume_directories *directories);
/* By which name to speak of a volume of the actual state whose entry may go; freed with free().
 * NULL: it is not there, or no memory. */
char *volume_directories_name(const struct agent *agent, const char *unique_name);
/* Before worker_return_free(): no order any more, and the threads end. Accepts NULL. */
void volume_directories_stop(struct volume_directories *directories);
/* After it, before the store. Accepts NULL. Return: NULL. */
struct volume_directories *volume_directories_free(struct volume_directories *directories);
