/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshotter_internal - what the three files of the snapshotter share; no other file includes it
 *
 * snapshotter.c watches and writes, snapshot_look.c decides for a VolumeSnapshot,
 * content_look.c for a content.
 */
#pragma once

#include "controller/controller_class.h"
#include "controller/snapshot/snapshot_plan.h"
#include "controller/snapshot/snapshotter.h"

enum { SNAPSHOTS, CONTENTS }; /* its queues, by "namespace/name" and by name */

struct snapshotter {
	struct controller base;
	struct snapshotter_options options;
	bool is_stopped, was_complete;
};

struct snapshot_item {
	struct work_item work;
	enum snapshot_deed deed;
	bool waits; /* for claims, volumes or classes */
};

/* Both: return false when nothing of the name is there any more. */
bool snapshot_look(struct work_item *work);
bool content_look(struct work_item *work);

/* ---- snapshotter.c ---- */

struct snapshotter *snapshotter_of(const struct snapshot_item *item);
/* An event, once for each text. */
void snapshot_report(struct snapshot_item *item, const struct object *about, const char *type,
		     const char *reason, const char *text);
