/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_world - a store in a directory of its own with a loop, for the tests of boxes that use a
 * store
 *
 * Waiting means running the loop until a condition holds, bounded; nothing here sleeps.
 */
#pragma once

#include "store/store.h"

#include <stdbool.h>

struct store_world {
	char directory[64];
	sd_event *event;
	struct store *store;
};

void store_world_open(struct store_world *world);
void store_world_close(struct store_world *world);
/* The same for cmocka: the test's *state is the world. */
int store_world_setup(void **state);
int store_world_teardown(void **state);
/* Close the store and open the same directory again. */
void store_world_reopen(struct store_world *world);

/* Run the loop until @is_done says so; fails the test after a hundred seconds. */
void store_world_run(struct store_world *world, bool (*is_done)(void *userdata), void *userdata);

/* An object from JSON with ' for ". The test fails when it is not valid. */
const struct object *object_of(const char *text);

/* A small valid object: of the kinds used in tests of the store. */
const struct object *make_volume(const char *name, const char *label);
const struct object *make_class(const char *name);
const struct object *make_claim(const char *name_space, const char *name, const char *finalizer);

/* How a write ended. */
struct answer {
	bool came;
	int error;
	unsigned int order;        /* of all answers in this process */
	uint64_t resource_version; /* of the result */
	char uid[64], text[FAILURE_TEXT_BYTES];
};
void answer_take(void *userdata, int error, const struct object *result, const struct failure *why);
/* Run the loop until it came. Return: its error. */
int answer_wait(struct store_world *world, struct answer *answer);

/* One write and its answer. */
int world_create(struct store_world *world, const struct object *object);
int world_update(struct store_world *world, const struct object *object);
int world_delete(struct store_world *world, enum object_kind kind, const char *name_space,
		 const char *name);
/* Create the object, or update what is there. The test fails when it is refused. */
void world_put(struct store_world *world, const struct object *object);

/* Until what is tested writes no more: a write of the test is answered after those before it. */
void store_world_settle(struct store_world *world);
