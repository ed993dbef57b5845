/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_directories - the local provisioner of this node: its orders become jobs of threads
 *
 * A pool of its own, so that a base path on a dead server keeps no volume from being mounted, and
 * IO slots of it, so that it keeps no other base path's from being made, nor does a large volume
 * that is being removed. The loop thread only.
 */
#pragma once

#include "base/failure.h"
#include "base/worker.h"
#include "controller/controller.h"

#include <stdbool.h>

struct copies;
struct own_directories;
struct persistent_volume;
struct plugin_host;
struct volume_directories;

/* All is borrowed. */
struct volume_directories_options {
	struct controller_options common;
	struct worker_return *to_loop;
	bool in_cluster; /* as local_provisioner_options has it, and is_wanted() */
	bool (*is_wanted)(void *userdata, const struct persistent_volume *volume);
	const struct own_directories *own; /* where no volume is made */
	struct copies *copies;             /* those under way are in it */
	const struct plugin_host *host;    /* for executable plugins */
	/* In a cluster: have the CSIStorageCapacity of this name read from the server. */
	void (*uses_capacity)(void *userdata, const char *name, bool is_used);
};

/* After the store and the binder. @options is copied. Return: 0 or negative errno. */
int volume_directories_new(const struct volume_directories_options *options,
			   struct volume_directories **ret);
/* A step of a volume (inner name) ended, or the sources were read (NULL): it may have become free,
 * or any. Accepts NULL for @directories. Cheap. */
void volume_directories_changed(struct volume_directories *directories, const char *volume);
/* Its threads, for who shows them; NULL: none. Accepts NULL. */
struct worker_pool *volume_directories_pool(const struct volume_directories *directories);
struct worker_pool *volume_directories_copy_pool(const struct volume_directories *directories);
/* Before worker_return_free(): no order any more, and the threads end. Accepts NULL. */
void volume_directories_stop(struct volume_directories *directories);
/* After it, before the store. Accepts NULL. Return: NULL. */
struct volume_directories *volume_directories_free(struct volume_directories *directories);
