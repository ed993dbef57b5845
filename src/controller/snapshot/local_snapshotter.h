/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_snapshotter - snapshots of the volumes that the local provisioner made: directories beside
 * them
 *
 * The snapshotter's backend for driver "podvol/local". A snapshot's handle is its path,
 * BASE/snapshot-UID, and its last component is also its mark: a handle that leads anywhere else
 * leads to nothing. Refused are volumes in an image, which only their file system can tell the
 * state of.
 */
#pragma once

#include "controller/local/local_provisioner.h"
#include "object/kinds/volume_snapshot.h"

struct local_snapshotter;

/* @options: those of the provisioner, copied. Return: 0 or -ENOMEM, or as sd_event. */
int local_snapshotter_new(const struct local_provisioner_options *options,
			  struct local_snapshotter **ret);
/* is_complete() may have changed. Accepts NULL. Cheap when it was true before. */
void local_snapshotter_resync(struct local_snapshotter *snapshotter);
/* As of the provisioner. */
void local_snapshotter_stop(struct local_snapshotter *snapshotter);
struct local_snapshotter *local_snapshotter_free(struct local_snapshotter *snapshotter);

/* Where a snapshot is, by its handle. @ret borrows from the handle, but for base_path: freed with
 * free(). Return: 0; -EINVAL it is none of podvol's; -ENOMEM. */
struct local_snapshot_place {
	char *base_path;
	const char *name; /* its mark, too */
};
int local_snapshot_place(const char *handle, struct local_snapshot_place *ret,
			 struct failure *reterr);
