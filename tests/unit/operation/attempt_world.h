/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt_world - an attempt with an event loop and a thread, for tests
 */
#pragma once

#include "operation/attempt.h"

#include <stdbool.h>
#include <systemd/sd-event.h>

struct attempt_world {
	sd_event *event;
	struct worker_return *to_loop;
	struct attempt attempt; /* its report is brief */
	bool ended;
};

/* For cmocka; the world is the state. */
int attempt_world_begin(void **state);
int attempt_world_end(void **state);

/* Starts the attempt, and waits until it is over. */
void attempt_world_run(struct attempt_world *world);
