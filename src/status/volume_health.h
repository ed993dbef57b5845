/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_health - how many volumes are not as pods want them, in numbers for /metrics
 *
 * Each volume of a pod is counted in at most one state, the gravest. Reads all tables once; the
 * loop thread only.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct volume_tables;

enum volume_trouble {
	TROUBLE_STUCK,   /* an operation hangs beyond its time limit */
	TROUBLE_FAILING, /* the last attempt failed; it is tried again */
	TROUBLE_HELD,    /* no longer wanted, and kept by a hold, by users or by a check */
	TROUBLE_PENDING, /* wanted, not mounted, and none of these */
	TROUBLES
};

struct volume_health {
	size_t count[TROUBLES];
	uint64_t oldest_usec; /* for how long the longest of those not mounted has been wanted */
};

/* @now_usec: monotonic clock. Cost: all volumes of all pods. */
void volume_health_count(const struct volume_tables *tables, uint64_t now_usec,
			 struct volume_health *ret);
void volume_health_print(const struct volume_health *health, FILE *file);
