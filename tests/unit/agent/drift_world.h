/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drift_world - an agent whose kernel is made up: what happens to mounts, what a look at them finds
 *
 * Jobs wait until run_jobs(); every one that runs is written down in drift_world.diary.
 */
#pragma once

#include "agent_world.h"
#include "fake_events.h"

#include "drift/drift_internal.h"

#define PATH       "/pods/uid-1/data"
#define OTHER_PATH "/pods/uid-2/data"

enum { ROOT_ID = 1, MANAGED = 100, FOREIGN_VOLUMES = 200, SOMEBODY = 4711, OTHERS_MAX = 4 };

struct drift_world {
	struct agent_world *world;
	struct drift *drift;
	char diary[1024];
	struct mount_watch_options watch; /* whom to tell */
	bool reports_ids;
	unsigned int rearmed; /* times that changes of the table were asked for again */
	int look_error, set_back_error, root_error, root_anew_id;
	enum mount_fate fate; /* of every known mount but the root's */
	enum mount_fate root_fate;
	uint64_t attributes; /* of every known mount */
	size_t returned;     /* known mounts that the loop had to look at after the last check */
	struct mount_entry others[OTHERS_MAX];
	size_t other_count;
	uint64_t top[OTHERS_MAX]; /* ids on the target, from the top, as mounts are taken away */
	size_t top_at;
};

extern struct drift_world drift_world;

/* cmocka fixtures: a pod whose volume is mounted, after the first look; and one before that
 * look, with the volume known from before a restart. */
int set_up_mounted(void **state);
int set_up_restarted(void **state);
int tear_down_drift(void **state);

/* Every job that waits, and those that follow from it. */
void run_jobs(void);
/* The pod's volume was mounted by podvold. */
void mounted_as(uint64_t mount_id);
/* And that of another pod, at OTHER_PATH. */
void other_mounted_as(uint64_t mount_id);

/* The kernel reports: this was done to a mount. */
void attached(uint64_t mount_id);
void detached(uint64_t mount_id);
void moved(uint64_t mount_id);
/* Both are read at once. */
void attached_and_detached(uint64_t mount_id);

/* A mount that is found by looks from now on. */
void add_other(uint64_t mount_id, const char *mount_point, const char *root);

/* The last event: its reason, and a word of its text. */
void expect_event(const char *reason, const char *word);
