/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_schedule - VolumeSnapshots made at due times, and deleted when they are surplus
 *
 * For each claim that names a VolumeSnapshotClass by annotation; the class's parameters say how
 * often, how many and how old (snapshot_schedule_plan.h). Decided from the stored objects alone: a
 * due time that passed while podvold was down is made up for once. A snapshot is not made before
 * the one before is ready, and none is deleted that a user made, that is held, or that is the last
 * good one of its claim. It is the snapshotter that takes and removes.
 */
#pragma once

#include "controller/controller.h"

#include <systemd/sd-event.h>

struct snapshot_schedules;

/* @options: copied. Return: 0 or -ENOMEM, or as sd_event. */
int snapshot_schedules_new(const struct controller_options *options,
			   struct snapshot_schedules **ret);
/* is_complete() may have changed. Accepts NULL. Cheap when it was true before. */
void snapshot_schedules_resync(struct snapshot_schedules *schedules);
/* Leaves objects as they are. Accepts NULL. Return: NULL. */
struct snapshot_schedules *snapshot_schedules_free(struct snapshot_schedules *schedules);
