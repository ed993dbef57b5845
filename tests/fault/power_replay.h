/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_replay - the disks that a power loss may leave, one for each moment and for each fate of
 * what was not synced by then
 *
 * Harsher than page caches are: of two writes to the same bytes the later one may be there without
 * the earlier one, a name may be there without the one before it, and what was never written to may
 * hold anything.
 */
#pragma once

#include "power_disk.h"

enum power_fate {
	FATE_ALL_LANDED, /* as after a kill */
	FATE_ALL_LOST,
	FATE_ONE_MISSING, /* and all others landed */
	FATE_ONE_LANDED,
	FATE_TORN, /* each sector by chance */
	FATE_COUNT
};

struct power_replay {
	const struct power_disk *disk; /* borrowed */
	size_t at;                     /* changes before this one have been asked for */
	struct disk_content synced[DISK_CONTENTS_MAX];
	int names[DISK_NAMES]; /* that are synced */
	size_t *pending;       /* changes that are not, in their order */
	size_t pending_count, pending_room;
};

/* @before: the disk as it was before its first change; NULL: without any file. */
void power_replay_init(struct power_replay *replay, const struct power_disk *disk,
		       const struct power_disk *before);
void power_replay_done(struct power_replay *replay);

/* One change further. False: that was the last. */
bool power_replay_next(struct power_replay *replay);

struct power_cut {
	enum power_fate fate;
	size_t which;       /* of the pending ones; FATE_ONE_MISSING, FATE_ONE_LANDED */
	size_t sector_size; /* FATE_TORN */
	uint64_t seed;
};

/* The disk after a power loss at this moment; nothing is remembered of its past. The caller's. */
struct power_disk *power_replay_cut(const struct power_replay *replay, const struct power_cut *cut);

/* Disks that are equal have equal ones. */
uint64_t power_disk_checksum(const struct power_disk *disk);
