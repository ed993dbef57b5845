/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenarios - what is done with a podvold in which one call fails, and what must become of it
 *
 * A scenario is a list of steps; each does something to the world and says what must be mounted
 * then. The last one must leave nothing wanted.
 */
#pragma once

#include "fault_world.h"

enum { SCENARIO_STEPS_MAX = 8, SCENARIO_WANTS_MAX = 8, SCENARIO_PASSED_OVER_MAX = 2 };

struct scenario_step {
	void (*act)(struct fault_world *world); /* NULL: after the last one */
	const char *wants[SCENARIO_WANTS_MAX];  /* see world_until() */
	unsigned int stays_msec;                /* and must still be so after that */
};

struct scenario {
	const char *name;
	unsigned int world; /* enum fault_world_kind */
	size_t armed_from;  /* the step with which calls begin to fail; earlier ones are as usual */
	struct scenario_step steps[SCENARIO_STEPS_MAX];
	/* Calls whose failure is reported and passed over on purpose, as kubelet does. */
	const char *passed_over[SCENARIO_PASSED_OVER_MAX];
};

extern const struct scenario scenarios[];
extern const size_t scenario_count;
