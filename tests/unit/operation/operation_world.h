/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_world - operations on real threads and a real loop with a fake plugin, for their tests
 *
 * Back-offs are a few milliseconds; the plugin's stage does what the world says.
 */
#pragma once

#include "operation/operation.h"

#include <semaphore.h>

enum { RETRIES_MAX = 8 };

enum {
	FIRST_USEC = 250 * 1000, /* the first back-off; what is asked meanwhile must be in time */
	SLOW_USEC = 10 * 1000,
	LIMIT_USEC = 250 * 1000,
};

/* What was reported of an operation that takes long. */
struct slow {
	enum operation_pace pace;
	char pod_uid[16], stage[16];
	int thread_id, tool_pid;
	bool waits_for_thread, has_pod;
};

struct seen {
	struct step_result result;
	char name[32], text[FAILURE_TEXT_BYTES], pod_uid[16], device_mount_path[16];
	unsigned int attempt;
	uint64_t retry_usec;
	bool waits;
};

struct world {
	sd_event *event;
	struct worker_return *to_loop;
	struct dirty_set *dirty;
	struct actual *actual;
	struct operations_options options;
	struct operations *operations;
	const struct object *pod;
	struct desired_pod want_pod;
	struct desired_volume want;
	struct actual_volume have;

	struct seen ended[8];
	unsigned int ended_count, retry_count, slots, frees;
	char retries[RETRIES_MAX][16];
	const struct step *submit_when_ended, *submit_when_retried;
	/* what the fake plugin does */
	int slot_error, stage_result;
	bool hold, has_second, has_last; /* a stage after the one: of the plugin, of podvold */
	unsigned int seconds;            /* that ran */
	sem_t began, go;
	int tool_pid;       /* shown while it holds */
	const char *driver; /* that it calls; NULL: none */

	struct slow slow[8];
	unsigned int slow_count;
};
extern struct world world;

int world_set_up(void **state);
int world_tear_down(void **state);
/* Pools and the way back: what is finished is reported. Done by world_tear_down() when not before.
 */
void world_close_pools(void);

struct step publish(const char *unique_name, const char *pod_uid);
struct step unpublish(const char *unique_name, const char *pod_uid);
struct step stage_step(void);

/* operation_submit(), after operation_may_start() said the same. */
int submit(struct step step);
const struct seen *run_until_ended(unsigned int count);
void run_until_retried(unsigned int count);
/* Submit with a stage that fails, and wait for the end. */
const struct seen *fail_once(struct step step);
/* operation_find() of volume "v". */
bool look(const char *pod_uid, struct operation_view *ret);

#define WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)
