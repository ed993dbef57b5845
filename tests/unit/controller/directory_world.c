/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_world - a local provisioner on a real store; see directory_world.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "directory_world.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void on_event(void *userdata, const struct object *about, const char *type,
		     const char *reason, const char *text)
{
	struct world *world = userdata;
	size_t used = strlen(world->events);

	(void) snprintf(world->events + used, sizeof(world->events) - used, "%s ", reason);
}

static void keep_source(struct order *kept, const struct directory_source *source)
{
	(void) snprintf(kept->source.base, sizeof(kept->source.base), "%s", source->base_path);
	(void) snprintf(kept->source.name, sizeof(kept->source.name), "%s", source->name);
	(void) snprintf(kept->source.mark, sizeof(kept->source.mark), "%s", source->mark);
	kept->source.is_snapshot = source->is_snapshot;
}

static int start_order(void *userdata, const struct directory_order *order, directory_done_fn *done,
		       void *done_userdata)
{
	struct world *world = userdata;
	struct order *kept = &world->orders[world->count++];

	assert_true(world->count <= ARRAY_SIZE(world->orders));
	*kept = (struct order){ .deed = order->deed, .done = done, .userdata = done_userdata };
	kept->base_count = order->base_count;
	(void) snprintf(kept->base, sizeof(kept->base), "%s", order->base_paths[0]);
	(void) snprintf(kept->name, sizeof(kept->name), "%s", order->name);
	(void) snprintf(kept->capacity, sizeof(kept->capacity), "%s", order->capacity);
	kept->bytes = order->bytes;
	(void) snprintf(kept->mark, sizeof(kept->mark), "%s", order->mark ? order->mark : "");
	kept->is_named = order->is_named;
	kept->is_unused = order->is_unused;
	kept->is_filled = order->source != NULL;
	if (kept->is_filled)
		keep_source(kept, order->source);
	return 0;
}

static bool is_in_use(void *userdata, const struct persistent_volume *volume)
{
	return ((struct world *) userdata)->in_use;
}

static bool is_wanted(void *userdata, const struct persistent_volume *volume)
{
	return ((struct world *) userdata)->wanted;
}

static bool is_complete(void *userdata)
{
	return !((struct world *) userdata)->incomplete;
}

void start(struct world *world)
{
	const struct local_provisioner_options options = {
		.common = { .event = world->store.event,
			    .store = world->store.store,
			    .node_name = "n",
			    .event_fn = on_event,
			    .is_in_use = is_in_use,
			    .is_complete = is_complete,
			    .userdata = world },
		.start = start_order,
		.is_wanted = is_wanted,
		.start_userdata = world,
	};

	assert_int_equal(local_provisioner_new(&options, &world->provisioner), 0);
}

int directory_world_setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	store_world_open(&world->store);
	*state = world;
	return 0;
}

int directory_world_teardown(void **state)
{
	struct world *world = *state;

	world->provisioner = local_provisioner_free(world->provisioner);
	/* An order that is still out is answered without effect. */
	for (; world->answered < world->count; world->answered++)
		world->orders[world->answered].done(world->orders[world->answered].userdata,
						    -ECANCELED, NULL, NULL);
	store_world_close(&world->store);
	free(world);
	return 0;
}

/* ---- steps ---- */

void put(struct world *world, const char *text)
{
	cleanup_object const struct object *object = object_of(text);

	world_put(&world->store, object);
}

void settle(struct world *world)
{
	for (unsigned int i = 0; i < 16; i++)
		(void) world_delete(&world->store, KIND_POD, "ns", "nobody");
}

void answer(struct world *world, int error)
{
	struct order *order = &world->orders[world->answered++];
	const struct directory_choice choice = { .base_index = order->base_count - 1,
						 .capacity = order->capacity };
	struct failure why = { .error = error };

	assert_true(world->answered <= world->count);
	(void) snprintf(why.text, sizeof(why.text), "error %d", error);
	order->done(order->userdata, error, error < 0 ? NULL : &choice, &why);
	settle(world);
}

const struct order *assert_ordered(struct world *world, enum directory_deed deed)
{
	assert_int_equal(world->count, world->answered + 1);
	assert_int_equal(world->orders[world->answered].deed, deed);
	return &world->orders[world->answered];
}

const struct persistent_volume *volume(struct world *world)
{
	const struct object *object = store_get(world->store.store, KIND_PERSISTENT_VOLUME, "", PV);

	return object ? object->persistent_volume : NULL;
}

int remove_finalizers(struct cJSON *tree, void *userdata)
{
	json_remove(json_ensure_object(tree, "metadata"), "finalizers");
	return 0;
}

void unprotect(struct world *world)
{
	cleanup_object const struct object *free = NULL;

	assert_true(volume(world)->object->meta.deletes);
	assert_int_equal(object_edit(volume(world)->object, remove_finalizers, NULL, &free, NULL),
			 0);
	assert_int_equal(world_update(&world->store, free), 0);
	settle(world);
}

void begin(struct world *world)
{
	put(world, NODE);
	put(world, CLASS(""));
	put(world, CLAIM(ASKS, ""));
	start(world);
	settle(world);
}
