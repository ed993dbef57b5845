/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_provisioner - makes directories for claims, and removes those whose claims were deleted
 *
 * Of a claim that asks for one of the provisioners of local_plan.h: a base path is chosen; then the
 * volume is stored, unfinished, so that nothing is bound to it; then its directory is made; then it
 * is finished. A kill between any two leaves an unfinished volume, whose directory is made again
 * (the same one), or taken back when no longer wanted: no orphan, no second directory. One
 * that was filled and settled before the kill is finished instead, and goes as volumes do whose
 * claim was deleted. No file of its own: the store has it all.
 *
 * Directories are looked at, made and removed by the provisioner's owner, on threads: an order
 * goes out, an answer comes back. What fails is tried again after a while that grows.
 */
#pragma once

#include "controller/controller.h"

#include <systemd/sd-event.h>

enum directory_deed {
	DIRECTORY_CHOOSE, /* one of the base paths */
	DIRECTORY_MAKE,
	DIRECTORY_SETTLE,         /* it was filled, and is to be used */
	DIRECTORY_GROW,           /* its size is enforced: allow more */
	DIRECTORY_UNMAKE,         /* it was never used; -EALREADY it is settled */
	DIRECTORY_REMOVE,         /* with all that is in it; a snapshot, too */
	DIRECTORY_SNAPSHOT,       /* of the source */
	DIRECTORY_SNAPSHOT_QUERY, /* of one that is there */
};

/* What a volume or a snapshot is filled from: a volume's directory, or a snapshot. */
struct directory_source {
	const char *base_path, *name, *mark;
	bool is_snapshot;
	bool is_unused;       /* to be proven before: nothing has it mounted */
	const char *capacity; /* of a volume: how its size is enforced; "" not at all */
};

/* Borrowed during the call only. */
struct directory_order {
	enum directory_deed deed;
	/* One, but for DIRECTORY_CHOOSE. LOCAL_PLUGIN_PREFIX and a name: the volumes of that
	 * executable plugin, and a name below it is one of them, or a snapshot. */
	const char *const *base_paths;
	size_t base_count;
	const char *name;
	const char *mark; /* uid of the volume; NULL for DIRECTORY_CHOOSE */
	mode_t mode;      /* DIRECTORY_MAKE */
	/* How its size is enforced: "none", "quota", "image"; "auto": DIRECTORY_CHOOSE says. */
	const char *capacity;
	const char *fs_type; /* of an image; "" or NULL the usual one */
	uint64_t bytes;      /* DIRECTORY_CHOOSE, DIRECTORY_MAKE, DIRECTORY_GROW */
	bool is_named;       /* DIRECTORY_CHOOSE: a user names this very path, see volume_order */
	bool is_unused;      /* DIRECTORY_UNMAKE: no claim ever had it, settled or not */
	/* DIRECTORY_SNAPSHOT; DIRECTORY_MAKE of a volume that is filled; NULL else. */
	const struct directory_source *source;
	struct store_key about; /* with a source: what it is made for, to tell how far it is */
	/* Of a plugin: NULL where not known. */
	const char *storage_class;
	const struct flex_source *flex;
};

/* Of DIRECTORY_CHOOSE, and of snapshots. */
struct directory_choice {
	size_t base_index;
	const char *capacity;  /* never "auto"; static */
	int64_t creation_nsec; /* of a snapshot; real time */
	bool is_atomic;        /* it is of one moment */
	uint64_t room_bytes;   /* that the base path has free */
};

/* On the loop, once, never before the order was taken. @choice: NULL after a failure. */
typedef void directory_done_fn(void *userdata, int error, const struct directory_choice *choice,
			       const struct failure *why);

struct local_provisioner_options {
	struct controller_options common;
	/* Others provision for other nodes: what no node was selected for is theirs as well, and
	 * only the scheduler chooses another one. */
	bool in_cluster;
	/* Does a pod want this volume mounted, whether it is or not? */
	bool (*is_wanted)(void *userdata, const struct persistent_volume *volume);
	/* Has it done on a thread. Return: 0; -ENOMEM. */
	int (*start)(void *start_userdata, const struct directory_order *order,
		     directory_done_fn *done, void *done_userdata);
	void *start_userdata;
};

struct local_provisioner;

/* @options: copied. Return: 0 or -ENOMEM, or as sd_event. */
int local_provisioner_new(const struct local_provisioner_options *options,
			  struct local_provisioner **ret);
/* What is_in_use() says of a volume may have changed; NULL: of all of them, or is_complete(). Cheap
 * when nothing waits for it. */
void local_provisioner_resync(struct local_provisioner *provisioner, const char *volume);
/* No order goes out any more. Before the threads end; accepts NULL. */
void local_provisioner_stop(struct local_provisioner *provisioner);
/* After they have. Accepts NULL. Return: NULL. */
struct local_provisioner *local_provisioner_free(struct local_provisioner *provisioner);
