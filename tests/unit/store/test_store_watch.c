/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_watch - cursors into the ring of changes: order, wake-ups, falling off
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_world.h"

#include "base/cleanup.h"
#include "store/touch.h"
#include "store/watch.h"

#include <stdio.h>
#include <string.h>

enum { VOLUMES = 1 << KIND_PERSISTENT_VOLUME, CLASSES = 1 << KIND_STORAGE_CLASS };

struct listener {
	struct store_world *world;
	struct store_watch *watch;
	struct store_watch *victim; /* freed by the wake-up */
	unsigned int wakes;
	bool was_cached; /* the cache had the change when we were woken */
};

static void on_wake(void *userdata)
{
	struct listener *listener = userdata;

	listener->wakes++;
	listener->was_cached =
		store_get(listener->world->store, KIND_STORAGE_CLASS, "", "seen") != NULL;
	listener->victim = store_watch_free(listener->victim);
}

static void listen(struct listener *listener, unsigned int kinds, uint64_t since)
{
	assert_int_equal(store_watch_new(listener->world->store, kinds, since, on_wake, listener,
					 &listener->watch),
			 0);
}

static void add_class(struct store_world *world, const char *name)
{
	cleanup_object const struct object *object = make_class(name);

	assert_int_equal(world_create(world, object), 0);
}

static void assert_next(struct listener *listener, enum store_change_type type, const char *name,
			uint64_t version)
{
	const struct store_change *change = NULL;

	assert_int_equal(store_watch_next(listener->watch, &change), 1);
	assert_int_equal(change->type, type);
	assert_string_equal(change->object->meta.name, name);
	assert_int_equal(change->resource_version, version);
	assert_int_equal(change->previous == NULL, type == STORE_ADDED);
}

static void assert_end(struct listener *listener)
{
	const struct store_change *change;

	assert_int_equal(store_watch_next(listener->watch, &change), 0);
}

static void changes_come_in_order_with_what_was_before(void **state)
{
	cleanup_object const struct object *a = make_volume("v", "a");
	cleanup_object const struct object *b = make_volume("v", "b");
	struct listener listener = { .world = *state };

	listen(&listener, VOLUMES | CLASSES, 0);
	add_class(listener.world, "one");
	assert_int_equal(world_create(listener.world, a), 0);
	assert_int_equal(world_update(listener.world, b), 0);
	assert_int_equal(world_delete(listener.world, KIND_STORAGE_CLASS, "", "one"), 0);

	assert_next(&listener, STORE_ADDED, "one", 1);
	assert_next(&listener, STORE_ADDED, "v", 2);
	assert_next(&listener, STORE_MODIFIED, "v", 3);
	assert_next(&listener, STORE_DELETED, "one", 4);
	assert_end(&listener);
	assert_end(&listener);
	listener.watch = store_watch_free(listener.watch);
}

static void a_watch_begins_where_it_is_told(void **state)
{
	struct listener listener = { .world = *state };

	add_class(listener.world, "one");
	add_class(listener.world, "two");
	listen(&listener, CLASSES, 1);
	assert_next(&listener, STORE_ADDED, "two", 2);
	assert_end(&listener);
	listener.watch = store_watch_free(listener.watch);

	listen(&listener, CLASSES, store_resource_version(listener.world->store));
	assert_end(&listener);
	listener.watch = store_watch_free(listener.watch);
	assert_int_equal(store_watch_new(listener.world->store, CLASSES, 3, on_wake, &listener,
					 &listener.watch),
			 -ESTALE);
}

static void wake_comes_once_and_after_the_cache(void **state)
{
	struct listener listener = { .world = *state };

	listen(&listener, CLASSES, 0);
	add_class(listener.world, "seen");
	assert_int_equal(listener.wakes, 1);
	assert_true(listener.was_cached);
	add_class(listener.world, "two");
	assert_int_equal(listener.wakes, 1); /* it has not read to the end yet */
	assert_next(&listener, STORE_ADDED, "seen", 1);
	assert_next(&listener, STORE_ADDED, "two", 2);
	assert_end(&listener);
	add_class(listener.world, "three");
	assert_int_equal(listener.wakes, 2);
	listener.watch = store_watch_free(listener.watch);
}

static void other_kinds_do_not_wake(void **state)
{
	struct listener listener = { .world = *state };

	listen(&listener, VOLUMES, 0);
	add_class(listener.world, "one");
	assert_int_equal(listener.wakes, 0);
	assert_end(&listener);
	listener.watch = store_watch_free(listener.watch);
}

static void a_wake_may_free_its_own_and_the_next_watch(void **state)
{
	struct listener a = { .world = *state }, b = { .world = *state }, c = { .world = *state };

	/* Woken newest first: c, b, a. */
	listen(&a, CLASSES, 0);
	listen(&b, CLASSES, 0);
	listen(&c, CLASSES, 0);
	c.victim = b.watch;
	a.victim = a.watch;
	add_class(*state, "one");
	assert_int_equal(c.wakes, 1);
	assert_int_equal(b.wakes, 0);
	assert_int_equal(a.wakes, 1);
	c.watch = store_watch_free(c.watch);
}

/* Both labels make a change each. */
static void flood(struct store_world *world, unsigned int changes)
{
	cleanup_object const struct object *a = make_volume("v", "a");
	cleanup_object const struct object *b = make_volume("v", "b");
	struct answer last = { .came = false };

	assert_int_equal(store_create(world->store, a, NULL, NULL), 0);
	for (unsigned int i = 1; i < changes; i++)
		assert_int_equal(store_update(world->store, i % 2 ? b : a, NULL, NULL, NULL), 0);
	assert_int_equal(store_delete(world->store, &(struct store_key){ KIND_POD, "ns", "nobody" },
				      NULL, answer_take, &last),
			 0);
	assert_int_equal(answer_wait(world, &last), -ENOENT);
	assert_int_equal(store_resource_version(world->store), changes);
}

static void reader_that_lags_too_far_must_list_again(void **state)
{
	struct listener slow = { .world = *state }, quiet = { .world = *state };
	const struct store_change *change;

	listen(&slow, VOLUMES, 0);
	listen(&quiet, CLASSES, 0);
	flood(*state, STORE_RING_CHANGES + 1);
	assert_int_equal(store_watch_next(slow.watch, &change), -ESTALE);
	assert_int_equal(store_watch_next(slow.watch, &change), -ESTALE);
	/* Nothing of its kinds was lost, so a quiet one stays. */
	assert_end(&quiet);
	slow.watch = store_watch_free(slow.watch);
	quiet.watch = store_watch_free(quiet.watch);

	assert_int_equal(store_watch_new(((struct store_world *) *state)->store, VOLUMES, 0,
					 on_wake, &slow, &slow.watch),
			 -ESTALE);
	listen(&slow, VOLUMES, 1);
	assert_next(&slow, STORE_MODIFIED, "v", 2);
	slow.watch = store_watch_free(slow.watch);
}

/* One of a mebibyte; the ring of the test counts it each time. */
static const struct object *make_large(void)
{
	enum { LARGE = 1024 * 1024 };
	cleanup_free char *text = NULL, *filling = calloc(LARGE + 1, 1);

	assert_non_null(filling);
	memset(filling, 'x', LARGE);
	assert_true(asprintf(&text,
			     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m',"
			     "'namespace':'ns'},'data':{'text':'%s'}}",
			     filling) > 0);
	return object_of(text);
}

static void no_wake(void *userdata)
{
}

static void a_trim_keeps_the_last_and_what_is_unread(void **state)
{
	cleanup_object const struct object *object =
		object_of("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m',"
			  "'namespace':'ns'}}");
	enum { CHANGES = 3 * STORE_RING_QUIET_CHANGES };
	struct store_change change = { .type = STORE_MODIFIED, .object = object };
	const struct store_change *next;
	static struct change_ring ring;
	struct store_watch *watch, *late;

	ring_init(&ring, 0);
	assert_int_equal(ring_watch_new(&ring, 1U << KIND_CONFIG_MAP, 0, no_wake, NULL, &watch), 0);
	while (change.resource_version++ < CHANGES)
		ring_append(&ring, &change);
	ring_trim(&ring); /* not reported yet */
	assert_int_equal(ring.next - ring.first, CHANGES);
	ring_wake(&ring);
	assert_int_equal(store_watch_next(watch, &next), 1);
	ring_trim(&ring);
	assert_int_equal(ring.next - ring.first, CHANGES - 1);
	while (store_watch_next(watch, &next) > 0)
		;
	ring_trim(&ring);
	assert_int_equal(ring.next - ring.first, STORE_RING_QUIET_CHANGES);
	assert_int_equal(ring_watch_new(&ring, 1U << KIND_CONFIG_MAP, 1, no_wake, NULL, &late),
			 -ESTALE);
	assert_int_equal(ring_watch_new(&ring, 1U << KIND_CONFIG_MAP,
					CHANGES - STORE_RING_QUIET_CHANGES, no_wake, NULL, &late),
			 0);
	assert_int_equal(store_watch_next(late, &next), 1);
	assert_int_equal(next->resource_version, CHANGES - STORE_RING_QUIET_CHANGES + 1);
	late = store_watch_free(late);
	watch = store_watch_free(watch);
	ring_done(&ring);
}

/* The ring holds so many bytes of them, whatever its places; but what was not reported yet stays.
 */
static void large_changes_leave_early(void **state)
{
	enum { HOLDS = STORE_RING_BYTES_MAX / (1024 * 1024) - 1 };
	cleanup_object const struct object *object = make_large();
	struct store_change change = { .type = STORE_ADDED, .object = object };
	const struct store_change *next;
	static struct change_ring ring;
	struct store_watch *watch;

	ring_init(&ring, 0);
	assert_int_equal(ring_watch_new(&ring, 1U << KIND_CONFIG_MAP, 0, no_wake, NULL, &watch), 0);
	while (change.resource_version++ < 2 * HOLDS)
		ring_append(&ring, &change);
	assert_int_equal(ring.next - ring.first, 2 * HOLDS);
	assert_int_equal(store_watch_next(watch, &next), 1);
	ring_wake(&ring);
	ring_append(&ring, &change);
	assert_int_equal(ring.next - ring.first, HOLDS);
	assert_int_equal(store_watch_next(watch, &next), -ESTALE);
	watch = store_watch_free(watch);
	ring_done(&ring);
	assert_int_equal(ring.bytes, 0);
}

static void changes_before_a_restart_are_gone(void **state)
{
	struct listener listener = { .world = *state };

	add_class(listener.world, "one");
	store_world_reopen(listener.world);
	assert_int_equal(store_watch_new(listener.world->store, CLASSES, 0, on_wake, &listener,
					 &listener.watch),
			 -ESTALE);
	listen(&listener, CLASSES, 1);
	add_class(listener.world, "two");
	assert_next(&listener, STORE_ADDED, "two", 2);
	listener.watch = store_watch_free(listener.watch);
}

static bool version_is(void *userdata)
{
	const struct listener *expected = userdata;

	return store_resource_version(expected->world->store) == expected->wakes;
}

/* @wakes: the version that the store has then. */
static void touch(struct store_world *world, const char *uid, unsigned int version)
{
	const struct store_key key = { KIND_STORAGE_CLASS, "", "one" };
	struct listener until = { .world = world, .wakes = version };

	assert_int_equal(store_touch(world->store, &key, uid), 0);
	store_world_run(world, version_is, &until);
}

static void a_touch_is_a_change_for_those_who_ask(void **state)
{
	struct store_world *world = *state;
	struct listener asks = { .world = world }, other = { .world = world };
	const struct object *object;

	add_class(world, "one");
	object = store_get(world->store, KIND_STORAGE_CLASS, "", "one");
	listen(&asks, CLASSES | STORE_TOUCHES, 1);
	listen(&other, CLASSES, 1);
	assert_end(&asks);
	assert_end(&other);
	touch(world, object->meta.uid, 2);
	assert_int_equal(asks.wakes, 1);
	assert_int_equal(other.wakes, 0);
	assert_next(&asks, STORE_MODIFIED, "one", 2);
	assert_end(&asks);
	assert_end(&other);
	assert_ptr_equal(store_get(world->store, KIND_STORAGE_CLASS, "", "one"), object);
	assert_int_equal(object->meta.resource_version, 1);
	/* Another's uid is none of the object's: nothing comes of it before the next write. */
	assert_int_equal(store_touch(world->store,
				     &(struct store_key){ KIND_STORAGE_CLASS, "", "one" },
				     "another"),
			 0);
	add_class(world, "two");
	assert_next(&asks, STORE_ADDED, "two", 3);
	asks.watch = store_watch_free(asks.watch);
	other.watch = store_watch_free(other.watch);
}

static void versions_of_touches_do_not_come_again(void **state)
{
	struct store_world *world = *state;

	add_class(world, "one");
	touch(world, store_get(world->store, KIND_STORAGE_CLASS, "", "one")->meta.uid, 2);
	store_world_reopen(world);
	assert_true(store_resource_version(world->store) > 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, store_world_setup, store_world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(changes_come_in_order_with_what_was_before),
		TEST(a_watch_begins_where_it_is_told),
		TEST(wake_comes_once_and_after_the_cache),
		TEST(other_kinds_do_not_wake),
		TEST(a_wake_may_free_its_own_and_the_next_watch),
		TEST(reader_that_lags_too_far_must_list_again),
		TEST(a_trim_keeps_the_last_and_what_is_unread),
		TEST(large_changes_leave_early),
		TEST(a_touch_is_a_change_for_those_who_ask),
		TEST(versions_of_touches_do_not_come_again),
		TEST(changes_before_a_restart_are_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
