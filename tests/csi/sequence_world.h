/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence_world - a podvold without store, API and threads, for random sequences of CSI volumes
 *
 * Real are the turn, the intents and results, who waits for a driver, the reconciler, the
 * operations with their back-off (of microseconds), the rebuild after a kill, the plugin and every
 * file it writes. A ledger in memory keeps what a real one keeps: what was committed. Stages run on
 * this thread. The driver is driver_model. Raw devices are nodes that nothing is behind: their loop
 * devices are passed over. A kill drops everything but ledger, files and driver, between two turns
 * or before a call that changes the file system.
 */
#pragma once

#include "driver_model.h"

#include <setjmp.h>

enum { WORLD_PODS = 3, WORLD_VOLUMES = 5 };

/* What the volumes are, by number. */
enum world_volume {
	VOLUME_SHARED,
	VOLUME_SINGLE,
	VOLUME_REPUBLISHED,
	VOLUME_INLINE,
	VOLUME_RAW, /* a device; not to be had where device nodes cannot be made */
};

struct sequence_world {
	unsigned int volumes; /* bits: those that can be had */
	bool wants[WORLD_PODS][WORLD_VOLUMES];
	unsigned int calls_left; /* until a kill before a call that changes files; 0 never */
	sigjmp_buf killed;       /* where that goes */
	bool fail_commits;       /* of the ledger */
};
extern struct sequence_world world;

/* Once a process: a tmpfs, the objects. */
void world_open(void);

/* An empty node, a daemon that runs on it. */
void world_begin(void);
/* The daemon is no more; what it was doing is not gone on with. */
void world_kill(void);
/* Another one, that finds what is there. */
void world_start(void);
/* One turn of its loop, with all that is due. */
void world_turn(void);
/* The pod wants the volume from now on, or no more. */
void world_want(unsigned int pod, enum world_volume volume, bool wanted);
/* Mount again what is mounted: as for a change of what it is made from. */
void world_remount(unsigned int pod, enum world_volume volume);
/* The driver is registered again. */
void world_driver_returns(void);

/* Is everything wanted mounted, and nothing else known? */
bool world_is_settled(void);
/* Is every wanted volume really where the pod looks for it? */
bool world_shows_all(void);
/* Tells model.violated() when the ledger has forgotten something the driver has. */
void world_check_ledger(void);
/* Nothing of the node may be left: no mounts; files of users are whole. */
void world_check_end(void);
/* For people: what is known. */
void world_print(void);
