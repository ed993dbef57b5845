/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_reflector - everything there is, then each change; everything again after one was lost
 *
 * What cannot be had at will is made by the linker: a ring that went on, a list without memory, and
 * the second until it is tried again.
 */
#include "store/reflector.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "tests/unit/store/store_world.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct told {
	char text[256]; /* "begin; +name" listed; "name" changed; "act;" */
	struct reflector *reflector;
	bool has_no_memory;
};

static struct told told;
static unsigned int lost, lists_without_memory;

int __real_store_watch_next(struct store_watch *watch, const struct store_change **ret);
int __real_store_list(struct store *store, enum object_kind kind, const char *name_space,
		      int (*visit)(const struct object *object, void *userdata), void *userdata);
int __real_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec);
int __wrap_store_watch_next(struct store_watch *watch, const struct store_change **ret);
int __wrap_store_list(struct store *store, enum object_kind kind, const char *name_space,
		      int (*visit)(const struct object *object, void *userdata), void *userdata);
int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec);

int __wrap_store_watch_next(struct store_watch *watch, const struct store_change **ret)
{
	if (lost == 0)
		return __real_store_watch_next(watch, ret);
	lost--;
	return -ESTALE;
}

int __wrap_store_list(struct store *store, enum object_kind kind, const char *name_space,
		      int (*visit)(const struct object *object, void *userdata), void *userdata)
{
	if (lists_without_memory == 0)
		return __real_store_list(store, kind, name_space, visit, userdata);
	lists_without_memory--;
	return -ENOMEM;
}

int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec)
{
	assert_int_equal(usec, USEC_PER_SEC);
	return __real_sd_event_source_set_time_relative(source, 0);
}

static void note(const char *sign, const char *text)
{
	size_t used = strlen(told.text);

	(void) snprintf(told.text + used, sizeof(told.text) - used, "%s%s ", sign, text);
}

static void begin(void *userdata)
{
	assert_ptr_equal(userdata, &told);
	note("begin", "");
}

static int take(const struct object *object, void *userdata)
{
	assert_ptr_equal(userdata, &told);
	note("+", object->meta.name);
	return 0;
}

static int take_change(const struct store_change *change, void *userdata)
{
	assert_ptr_equal(userdata, &told);
	note(change->type == STORE_DELETED ? "-" : "", change->object->meta.name);
	return told.has_no_memory ? -ENOMEM : 0;
}

static void act(void *userdata)
{
	assert_ptr_equal(userdata, &told);
	note("act", "");
}

static void create(struct store_world *world, const struct object *object)
{
	assert_int_equal(world_create(world, object), 0);
	(void) object_unref(object);
}

static bool has_acted(void *userdata)
{
	return strstr(told.text, "act") != NULL;
}

static int teardown(void **state)
{
	told.reflector = reflector_free(told.reflector);
	return store_world_teardown(state);
}

static void open_reflector(struct store_world *world)
{
	static const struct reflector_list lists[] = {
		{ KIND_STORAGE_CLASS, take },
		{ KIND_PERSISTENT_VOLUME, take },
	};
	const struct reflector_options options = {
		.event = world->event,
		.store = world->store,
		.kinds = 1U << KIND_STORAGE_CLASS | 1U << KIND_PERSISTENT_VOLUME,
		.lists = lists,
		.list_count = ARRAY_SIZE(lists),
		.what = "things",
		.begin = begin,
		.take_change = take_change,
		.act = act,
		.userdata = &told,
	};

	told = (struct told){ .reflector = NULL };
	create(world, make_volume("v", ""));
	create(world, make_class("c"));
	assert_int_equal(reflector_new(&options, &told.reflector), 0);
	assert_string_equal(told.text, "begin +c +v "); /* nothing happens before new returned */
	told.text[0] = '\0';
}

static void test_lists_then_changes(void **state)
{
	struct store_world *world = *state;

	open_reflector(world);
	create(world, make_volume("w", ""));
	assert_int_equal(world_delete(world, KIND_STORAGE_CLASS, "", "c"), 0);
	assert_string_equal(told.text, "w act -c act ");
	told.reflector = reflector_free(told.reflector);
	create(world, make_volume("x", ""));
	assert_string_equal(told.text, "w act -c act ");
}

/* A decision that must not be made on yesterday's objects. */
static void test_catches_up_at_once(void **state)
{
	const struct object *x = make_volume("x", "");
	struct store_world *world = *state;
	struct answer answer = { .came = false };

	open_reflector(world);
	create(world, make_volume("w", ""));
	told.text[0] = '\0';
	reflector_catch_up(told.reflector);
	assert_string_equal(told.text, "");
	assert_int_equal(store_create(world->store, x, answer_take, &answer), 0);
	(void) object_unref(x);
	assert_int_equal(answer_wait(world, &answer), 0);
	reflector_catch_up(told.reflector);
	assert_string_equal(told.text, "x act ");
}

static void test_lists_again_what_it_lost(void **state)
{
	struct store_world *world = *state;

	open_reflector(world);
	lost = 1;
	create(world, make_volume("w", ""));
	assert_string_equal(told.text, "begin +c +v +w act ");
	told.text[0] = '\0';
	create(world, make_volume("x", "")); /* and watches again */
	assert_string_equal(told.text, "x act ");
}

static void test_tries_again_without_memory(void **state)
{
	struct store_world *world = *state;

	open_reflector(world);
	lists_without_memory = 1;
	reflector_list_again(told.reflector);
	assert_string_equal(told.text, "begin ");
	assert_true(reflector_is_behind(told.reflector));
	store_world_run(world, has_acted, NULL);
	assert_string_equal(told.text, "begin begin +c +v act ");
	assert_false(reflector_is_behind(told.reflector));
}

/* One object that there was no memory for does not keep out the next. */
static void test_goes_on_after_a_change_without_memory(void **state)
{
	struct store_world *world = *state;

	open_reflector(world);
	told.has_no_memory = true;
	create(world, make_volume("w", ""));
	create(world, make_volume("x", ""));
	assert_string_equal(told.text, "w act x act ");
	assert_false(reflector_is_behind(told.reflector));
}

static void test_new_without_memory(void **state)
{
	const struct reflector_list list = { KIND_STORAGE_CLASS, take };
	struct store_world *world = *state;
	struct reflector_options options = {
		.event = world->event,
		.store = world->store,
		.kinds = 1U << KIND_STORAGE_CLASS,
		.lists = &list,
		.list_count = 1,
		.what = "things",
		.take_change = take_change,
		.act = act,
		.userdata = &told,
	};

	lists_without_memory = 1;
	assert_int_equal(reflector_new(&options, &told.reflector), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lists_then_changes, store_world_setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_catches_up_at_once, store_world_setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_lists_again_what_it_lost, store_world_setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_tries_again_without_memory, store_world_setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_goes_on_after_a_change_without_memory,
						store_world_setup, teardown),
		cmocka_unit_test_setup_teardown(test_new_without_memory, store_world_setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
