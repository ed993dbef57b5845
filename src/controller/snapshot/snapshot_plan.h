/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_plan - the content of a VolumeSnapshot and the snapshot's status; pure
 *
 * As external-snapshotter has it, so that what podvold made can be read by it and the other way
 * round.
 */
#pragma once

#include "object/kinds/volume_snapshot.h"

#define LOCAL_SNAPSHOT_DRIVER "podvol/local"

/* Which driver takes snapshots of it: a CSI driver, or "podvol/local" for a directory that podvold
 * made; "" none can be taken. */
const char *snapshot_driver_of(const struct persistent_volume *volume);
/* What that one calls the volume. */
const char *snapshot_handle_of(const struct persistent_volume *volume);

/* Of one: "snapcontent-" and the snapshot's uid; "snapshot-" and the uid that a content refers to.
 */
#define SNAPSHOT_NAME_BYTES 64
const char *snapshot_content_name(const struct object *snapshot, char buffer[SNAPSHOT_NAME_BYTES]);
const char *snapshot_name(const struct volume_snapshot_content *content,
			  char buffer[SNAPSHOT_NAME_BYTES]);

struct snapshot_sources {
	const struct volume_snapshot *snapshot;
	const struct volume_snapshot_class *class;
	const struct persistent_volume *volume;
	const struct persistent_volume *const *volumes; /* of a group, instead */
	size_t volume_count;
	const char *managed_by; /* as in snapshotter_options */
};

/**
 * snapshot_plan_content - the content of a snapshot that is to be taken
 *
 * Return: 0; -EINVAL the class names a secret that cannot be one; -ENOMEM.
 */
int snapshot_plan_content(const struct snapshot_sources *sources, const struct object **ret,
			  struct failure *reterr);

enum { GROUP_VOLUMES_MAX = 100 }; /* as external-snapshotter's schema has it */

/**
 * snapshot_check_members - has each volume of a group one snapshot, and are there no others?
 * @content: the group's, with the request
 * @members: the driver's reply
 *
 * Return: 0; -EBADMSG: they are others; -E2BIG: too many requested.
 */
int snapshot_check_members(const struct volume_snapshot_content *content,
			   const struct snapshot_member *members, size_t count,
			   struct failure *reterr);

/* Is it a parameter of snapshotters, and none of the driver's? */
bool snapshot_is_own_parameter(const char *key);

/* Does the content name this snapshot (its uid is compared only when it has one)? */
bool snapshot_is_named_by(const struct volume_snapshot_content *content,
			  const struct object *snapshot);

/* The same of one that has the uid. */
bool snapshot_is_bound(const struct volume_snapshot_content *content,
		       const struct object *snapshot);

/* Can a volume be made from it, by @driver? @content: NULL: there is none. Return: 0; -EAGAIN the
 * two are not bound; -EINVAL another driver's. */
int snapshot_check_content(const struct volume_snapshot_content *content,
			   const struct object *snapshot, const char *driver,
			   struct failure *reterr);

/* The snapshot with its content's status. @ret: NULL: unchanged. Return: 0; -ENOMEM. */
int snapshot_plan_status(const struct volume_snapshot *snapshot,
			 const struct volume_snapshot_content *content, const struct object **ret);
/* With an error instead, not ready; the same. */
int snapshot_plan_error(const struct object *object, const char *text, uint64_t now_usec,
			const struct object **ret);

/* Changed metadata. Return: as object_edit(). */
int snapshot_with_finalizer(const struct object *object, const char *finalizer,
			    const struct object **ret);
int snapshot_without_finalizer(const struct object *object, const char *finalizer,
			       const struct object **ret);
