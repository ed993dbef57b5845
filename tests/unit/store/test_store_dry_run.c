/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_dry_run - writes that are admitted and not stored; lists from a key on
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "store_world.h"

#include <stdio.h>
#include <string.h>

static const struct store_precondition trial = { .dry_run = true };

static void nothing_is_created(void **state)
{
	cleanup_object const struct object *volume = make_volume("one", "a");
	struct store_world *world = *state;
	struct answer tried = { .came = false }, real = { .came = false };

	assert_int_equal(store_create_expecting(world->store, volume, &trial, answer_take, &tried),
			 0);
	assert_int_equal(store_create(world->store, volume, answer_take, &real), 0);
	assert_int_equal(answer_wait(world, &tried), 0);
	assert_int_equal(answer_wait(world, &real), 0);
	assert_string_not_equal(tried.uid, "");
	assert_string_not_equal(tried.uid, real.uid);
	assert_int_equal(tried.resource_version, 0);
	assert_int_equal(real.resource_version, 1);
	/* Once it is there, the trial says what the write would. */
	tried.came = false;
	assert_int_equal(store_create_expecting(world->store, volume, &trial, answer_take, &tried),
			 0);
	assert_int_equal(answer_wait(world, &tried), -EEXIST);
}

static void nothing_is_changed(void **state)
{
	cleanup_object const struct object *volume = make_volume("one", "a");
	cleanup_object const struct object *other = make_volume("one", "b");
	const struct store_key key = { KIND_PERSISTENT_VOLUME, "", "one" };
	struct store_world *world = *state;
	struct answer updated = { .came = false }, deleted = { .came = false };
	const struct object *stored;

	assert_int_equal(world_create(world, volume), 0);
	assert_int_equal(store_update(world->store, other, &trial, answer_take, &updated), 0);
	assert_int_equal(store_delete(world->store, &key, &trial, answer_take, &deleted), 0);
	assert_int_equal(answer_wait(world, &updated), 0);
	assert_int_equal(answer_wait(world, &deleted), 0);
	assert_int_equal(updated.resource_version, 1);
	assert_int_equal(store_resource_version(world->store), 1);
	stored = store_get(world->store, KIND_PERSISTENT_VOLUME, "", "one");
	assert_non_null(stored);
	assert_false(stored->meta.deletes);
	assert_non_null(strstr(stored->json, "\"a\""));
}

static int append_name(const struct object *object, void *userdata)
{
	char *text = userdata;
	size_t length = strlen(text);

	(void) snprintf(text + length, 128 - length, "%s/%s ", object->meta.name_space,
			object->meta.name);
	return 0;
}

static void assert_after(struct store_world *world, const char *name_space,
			 const char *after_name_space, const char *after, const char *expected)
{
	const struct store_key key = { KIND_PERSISTENT_VOLUME_CLAIM, after_name_space, after };
	char text[128] = "";

	assert_int_equal(store_list_after(world->store, name_space, &key, 0, append_name, text), 0);
	assert_string_equal(text, expected);
}

static void a_list_goes_on_behind_a_key(void **state)
{
	static const char *const keys[][2] = {
		{ "a", "1" }, { "a", "3" }, { "b", "2" }, { "c", "1" }
	};
	struct store_world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		cleanup_object const struct object *claim =
			make_claim(keys[i][0], keys[i][1], NULL);

		assert_int_equal(world_create(world, claim), 0);
	}
	assert_after(world, NULL, "a", "1", "a/3 b/2 c/1 ");
	assert_after(world, NULL, "a", "2", "a/3 b/2 c/1 "); /* one that is gone */
	assert_after(world, NULL, "c", "1", "");
	assert_after(world, "a", "a", "1", "a/3 ");
	assert_after(world, "b", "a", "3", "b/2 ");
	assert_after(world, "b", "b", "2", "");
	assert_after(world, "b", "c", "1", "");
}

static void the_oldest_version_is_where_watches_can_begin(void **state)
{
	cleanup_object const struct object *volume = make_volume("one", "a");
	struct store_world *world = *state;

	assert_int_equal(store_oldest_version(world->store), 0);
	assert_int_equal(world_create(world, volume), 0);
	assert_int_equal(store_oldest_version(world->store), 0);
	store_world_reopen(world);
	assert_true(store_oldest_version(world->store) >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_is_created, store_world_setup,
						store_world_teardown),
		cmocka_unit_test_setup_teardown(nothing_is_changed, store_world_setup,
						store_world_teardown),
		cmocka_unit_test_setup_teardown(a_list_goes_on_behind_a_key, store_world_setup,
						store_world_teardown),
		cmocka_unit_test_setup_teardown(the_oldest_version_is_where_watches_can_begin,
						store_world_setup, store_world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
