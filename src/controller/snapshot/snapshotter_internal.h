/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshotter_internal - what the files of the snapshotter share; no other file includes it
 *
 * snapshotter.c watches and writes, snapshot_sync.c decides for a VolumeSnapshot,
 * content_sync.c for a content; group_members.c knows what a group consists of.
 */
#pragma once

#include "controller/controller_class.h"
#include "controller/snapshot/snapshot_plan.h"
#include "controller/snapshot/snapshotter.h"

enum { SNAPSHOTS, CONTENTS }; /* its queues, by "namespace/name" and by name */

struct snapshotter {
	struct controller base;
	struct snapshotter_options options;
	const struct snapshot_words *words;
	bool is_stopped, was_complete;
};

struct snapshot_item {
	struct work_item work;
	enum snapshot_deed deed;
	bool waits; /* for claims, volumes or classes */
};

/* Both: return false when nothing of the name is there any more. */
bool snapshot_sync(struct work_item *work);
bool content_sync(struct work_item *work);

/* ---- snapshot_sync.c ---- */

const struct persistent_volume *snapshot_find_volume(const struct snapshot_item *item,
						     const struct object *claim);

/* ---- group_members.c ---- */

/* The volumes of the claims that a group is to be taken of, by claim names. @ret: freed with
 * free(). Return: 0; -ENOENT, -EAGAIN, -EINVAL; -ENOMEM. */
int group_find_volumes(const struct snapshot_item *item, const struct volume_snapshot *group,
		       const struct persistent_volume ***ret, size_t *ret_count,
		       struct failure *reterr);
/* Return: true: a VolumeSnapshot or its content was missing and is being made. */
bool group_make_members(struct snapshot_item *item, const struct volume_snapshot *group,
			const struct volume_snapshot_content *content);
/* Of @content, the group's; NULL: then there are none. Return: true: there are still some; those
 * that were not are being deleted. */
bool group_delete_members(struct snapshot_item *item, const struct volume_snapshot *group,
			  const struct volume_snapshot_content *content);
/* The group that a VolumeSnapshot is one of, while that stays; NULL: there is none. */
const struct object *group_that_holds(const struct snapshot_item *item,
				      const struct volume_snapshot *snapshot);

/* ---- snapshotter.c ---- */

struct snapshotter *snapshotter_of(const struct snapshot_item *item);
struct store *snapshot_store(const struct snapshot_item *item);
/* An event, once for each text. */
void snapshot_report(struct snapshot_item *item, const struct object *about, const char *type,
		     const char *reason, const char *text);
