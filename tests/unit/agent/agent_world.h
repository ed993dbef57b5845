/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_world - an agent with real tables and a real ledger, whose operations are made up
 *
 * Link with agent_world_ldflags: every call to the operations and every commit is written down in
 * world->calls, and answers what the test says. Asserts by itself: for tests alone.
 */
#pragma once

#include "agent/parts.h"
#include "tests/unit/state/fake_objects.h"

/* The one volume of most tests, of the one pod "default/web", as "data". */
#define VOLUME "fake/data"
#define POD    "uid-1"

struct agent_world {
	struct agent agent;
	struct config config;
	char *directory; /* of the ledger */
	struct fake_pod pod;
	struct fake_pv pv;
	struct volume_plugin plugin;
	char calls[512]; /* "commit submit:publish cancel later "; with each, see agent_world.c */
	int may_start, submitted;             /* what the operations answer */
	int commit_error;                     /* the ledger cannot be written */
	const struct unstage_view *held_back; /* what the gate holds back; NULL: nothing */
	const struct busy_view *users;        /* what is known of the volume that is busy */
	struct busy_watch_options users_options;
	const struct operation_view *views;
	size_t view_count;
};

/* cmocka fixtures. */
int new_agent_world(void **state);
int free_agent_world(void **state);

/* The pod wants the volume, under these names. */
void want(struct agent_world *world, const char *const *names, size_t count);
void want_data(struct agent_world *world);
void want_no_more(struct agent_world *world);

/* One turn of the agent; then nothing is left in world->calls but what this one called. */
void turn(struct agent_world *world);
void expect_calls(const struct agent_world *world, const char *calls);

/* A step of VOLUME has ended in this way. */
void end_step(struct agent_world *world, enum step_kind kind, const char *name, int error,
	      enum error_class error_class);

/* All rows of the ledger once it is committed, as expect_names(). */
void expect_ledger(struct agent_world *world, const char *rows);

/* The state of the pod's entry; -1: there is none. */
int state_of_pod(const struct agent_world *world);
