/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_schedule_plan - when a claim's next snapshot is due, and which one goes; pure
 *
 * Due times are the multiples of the interval since 1970, in UTC: so a restart, or a clock that was
 * set, changes none of them. What is kept is decided by the snapshots that are ready alone: one
 * that failed or is being taken replaces none, and the newest good one always stays. One whose due
 * time is to come, made while the clock was ahead, counts for nothing until then, and stays.
 */
#pragma once

#include "object/kinds/volume_snapshot.h"

/* Of a claim: the name of a VolumeSnapshotClass. */
#define ANNOTATION_SNAPSHOT_SCHEDULE "podvol.io/snapshot-schedule"
/* Of a VolumeSnapshot that a schedule made: the claim's uid, and the due time. */
#define ANNOTATION_SCHEDULED_OF "podvol.io/scheduled-of"
#define ANNOTATION_SCHEDULED_AT "podvol.io/scheduled-at"
/* Of a VolumeSnapshotClass. */
#define PARAMETER_SCHEDULE "podvol.io/schedule"
#define PARAMETER_KEEP     "podvol.io/keep"
#define PARAMETER_KEEP_AGE "podvol.io/keep-age"

enum {
	SCHEDULE_KEEP_DEFAULT = 7, /* where the class says neither count nor age */
	SCHEDULE_KEEP_MAX = 1000,
	SCHEDULED_NAME_MAX = 253, /* bytes */
};

struct snapshot_schedule {
	uint64_t every_usec;
	size_t keep;            /* 0: any number */
	uint64_t keep_age_usec; /* 0: any age */
};

/* Return: 0; -EINVAL, @reterr names the parameter. */
int snapshot_schedule_parse(const struct volume_snapshot_class *class,
			    struct snapshot_schedule *ret, struct failure *reterr);

/* The last due time that is not in the future. */
uint64_t snapshot_schedule_due(const struct snapshot_schedule *schedule, uint64_t now_usec);

/* The claim's snapshot of a due time. Return: 0; -ENAMETOOLONG; -ENOMEM. */
int snapshot_schedule_make(const struct object *claim, const char *class_name, uint64_t due_usec,
			   const struct object **ret, struct failure *reterr);

struct scheduled_snapshot {
	const struct volume_snapshot *snapshot;
	uint64_t due_usec;
	bool is_held; /* a claim is made from it, or another program's finalizer holds it */
};

/* Did a schedule make it, of this claim? What a user made, copied or renamed is none. */
bool snapshot_schedule_made(const struct volume_snapshot *snapshot, const struct object *claim,
			    uint64_t *ret_due_usec);

/* Does a finalizer hold it that is not the snapshotter's? What cannot be read counts as one. */
bool snapshot_schedule_holds(const struct object *snapshot);

/**
 * snapshot_schedule_surplus - the oldest one that goes, or NULL
 * @list:          all of a claim; sorted by this call, newest first
 * @ret_next_usec: when the next one is too old; UINT64_MAX: none will be
 */
const struct volume_snapshot *snapshot_schedule_surplus(const struct snapshot_schedule *schedule,
							struct scheduled_snapshot *list,
							size_t count, uint64_t now_usec,
							uint64_t *ret_next_usec);
