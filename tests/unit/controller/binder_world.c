/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binder_world - see binder_world.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "binder_world.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void on_event(void *userdata, const struct object *about, const char *type,
		     const char *reason, const char *text)
{
	struct world *world = userdata;
	size_t used = strlen(world->events);

	assert_string_not_equal(text, "");
	(void) snprintf(world->events + used, sizeof(world->events) - used, "%s/%s ",
			about->meta.name, reason);
}

void start(struct world *world)
{
	const struct controller_options options = { .event = world->store.event,
						    .store = world->store.store,
						    .node_name = "here",
						    .event_fn = on_event,
						    .userdata = world };

	assert_int_equal(pv_binder_new(&options, &world->binder), 0);
}

int binder_world_setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	store_world_open(&world->store);
	*state = world;
	return 0;
}

int binder_world_teardown(void **state)
{
	struct world *world = *state;

	world->binder = pv_binder_free(world->binder);
	store_world_close(&world->store);
	free(world);
	return 0;
}

void put(struct world *world, const char *text)
{
	cleanup_object const struct object *object = object_of(text);

	world_put(&world->store, object);
}

void run(struct world *world)
{
	store_world_settle(&world->store);
}

void start_and_run(struct world *world)
{
	start(world);
	run(world);
}

const struct object *get(struct world *world, enum object_kind kind, const char *name)
{
	return store_get(world->store.store, kind, kind == KIND_PERSISTENT_VOLUME ? "" : "ns",
			 name);
}

const struct persistent_volume_claim *claim(struct world *world)
{
	const struct object *object = get(world, KIND_PERSISTENT_VOLUME_CLAIM, "c");

	assert_non_null(object);
	return object->claim;
}

const struct persistent_volume *volume(struct world *world, const char *name)
{
	const struct object *object = get(world, KIND_PERSISTENT_VOLUME, name);

	assert_non_null(object);
	return object->persistent_volume;
}

bool has(const struct object *object, const char *text)
{
	return strstr(object->json, text) != NULL;
}

void assert_bound(struct world *world, const char *name)
{
	const struct persistent_volume *bound = volume(world, name);

	assert_int_equal(claim(world)->phase, CLAIM_BOUND);
	assert_true(claim(world)->bind_completed);
	assert_string_equal(claim(world)->volume_name, name);
	assert_int_equal(bound->phase, VOLUME_BOUND);
	assert_string_equal(bound->claim_uid, UID);
	assert_true(
		has(claim(world)->object, "\"accessModes\":[\"ReadWriteOnce\",\"ReadOnlyMany\"]"));
	assert_int_equal(quantity_value(&claim(world)->status_capacity), 2LL << 30);
}
