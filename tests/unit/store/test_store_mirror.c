/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_mirror - copies of a server's objects, and writes that are the server's to make
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "store/group.h"
#include "store_world.h"

#include <string.h>

#define CLAIM(uid, phase, finalizers)                                                              \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"                \
	"'namespace':'ns','uid':'" uid "','resourceVersion':'900',"                                \
	"'creationTimestamp':'2020-01-01T00:00:00Z'" finalizers "},"                               \
	"'spec':{'accessModes':['ReadOnlyMany'],'resources':{'requests':{'storage':'1Gi'}}},"      \
	"'status':{'phase':'" phase "'}}"

static int mirror(struct store_world *world, const char *text)
{
	cleanup_object const struct object *object = object_of(text);
	struct answer answer = { .came = false };

	assert_int_equal(store_mirror(world->store, object, answer_take, &answer), 0);
	return answer_wait(world, &answer);
}

static int mirror_delete(struct store_world *world, const char *uid)
{
	const struct store_key key = { KIND_PERSISTENT_VOLUME_CLAIM, "ns", "c" };
	struct answer answer = { .came = false };

	assert_int_equal(store_mirror_delete(world->store, &key, uid, answer_take, &answer), 0);
	return answer_wait(world, &answer);
}

static const struct object *claim(struct store_world *world)
{
	return store_get(world->store, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "c");
}

/* No uid, time, finalizer or status of the store's own, and a status that no update may bring. */
static void an_object_is_stored_as_the_server_has_it(void **state)
{
	struct store_world *world = *state;

	assert_int_equal(mirror(world, CLAIM("u1", "Bound", "")), 0);
	assert_string_equal(claim(world)->meta.uid, "u1");
	assert_int_equal(claim(world)->meta.resource_version, 1);
	assert_non_null(strstr(claim(world)->json, "2020-01-01T00:00:00Z"));
	assert_non_null(strstr(claim(world)->json, "\"phase\":\"Bound\""));
	assert_null(strstr(claim(world)->json, "finalizers"));
	store_world_reopen(world);
	assert_string_equal(claim(world)->meta.uid, "u1");
}

static void the_same_object_again_is_no_change(void **state)
{
	struct store_world *world = *state;

	assert_int_equal(mirror(world, CLAIM("u1", "Bound", "")), 0);
	assert_int_equal(mirror(world, CLAIM("u1", "Bound", "")), 0);
	assert_int_equal(store_resource_version(world->store), 1);
	assert_int_equal(mirror(world, CLAIM("u1", "Lost", "")), 0);
	assert_int_equal(store_resource_version(world->store), 2);
}

static void a_delete_is_of_one_uid_and_asks_no_finalizer(void **state)
{
	struct store_world *world = *state;

	assert_int_equal(mirror(world, CLAIM("u2", "Bound", ",'finalizers':['a/b']")), 0);
	assert_int_equal(mirror_delete(world, "u1"), -ESTALE);
	assert_non_null(claim(world));
	assert_int_equal(mirror_delete(world, "u2"), 0);
	assert_null(claim(world));
	assert_int_equal(mirror_delete(world, "u2"), -ENOENT);
}

static void kinds_that_are_kept_off_the_disk_go_with_a_restart(void **state)
{
	struct store_world *world = *state;

	store_keep_off_disk(world->store, 1U << KIND_PERSISTENT_VOLUME_CLAIM);
	assert_int_equal(mirror(world, CLAIM("u1", "Bound", "")), 0);
	assert_non_null(claim(world));
	store_world_reopen(world);
	assert_null(claim(world));
}

static int take_write(void *userdata, struct write *write)
{
	struct write **taken = userdata;

	if (*taken)
		return -ENOBUFS;
	*taken = write;
	return 0;
}

static void writes_of_the_server_s_kinds_are_given_away(void **state)
{
	cleanup_object const struct object *object = object_of(CLAIM("u1", "Bound", ""));
	cleanup_object const struct object *volume = make_volume("v", "l");
	struct store_world *world = *state;
	struct answer answer = { .came = false };
	struct write *taken = NULL;

	store_set_upstream(world->store, 1U << KIND_PERSISTENT_VOLUME_CLAIM, take_write, &taken);
	assert_int_equal(store_create(world->store, object, answer_take, &answer), 0);
	assert_non_null(taken);
	assert_int_equal(taken->verb, ADMIT_CREATE);
	assert_false(answer.came);
	assert_int_equal(store_create(world->store, object, answer_take, &answer), -ENOBUFS);
	assert_int_equal(world_create(world, volume), 0);
	assert_null(claim(world));
	/* What the server has is stored all the same. */
	assert_int_equal(mirror(world, CLAIM("u1", "Bound", "")), 0);
	assert_non_null(claim(world));
	taken->done(taken->userdata, 0, taken->object, NULL);
	assert_true(answer.came);
	(void) write_free(taken);
}

#define TEST(function)                                                                             \
	cmocka_unit_test_setup_teardown(function, store_world_setup, store_world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_object_is_stored_as_the_server_has_it),
		TEST(the_same_object_again_is_no_change),
		TEST(a_delete_is_of_one_uid_and_asks_no_finalizer),
		TEST(kinds_that_are_kept_off_the_disk_go_with_a_restart),
		TEST(writes_of_the_server_s_kinds_are_given_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
