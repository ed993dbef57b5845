/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_failure - a commit that fails takes back its group and nothing else
 *
 * database_commit() is interposed: it fails when set to, without touching the file.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_world.h"
#include "tests/unit/store/failing_commit.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void on_wake(void *userdata)
{
	++*(unsigned int *) userdata;
}

static void failed_group_leaves_everything_as_it_was(void **state)
{
	static const int errors[] = { -ENOSPC, -EIO };
	cleanup_object const struct object *a = make_volume("v", "a");
	cleanup_object const struct object *b = make_volume("v", "b");
	struct store_world *world = *state;
	struct store_watch *watch;
	unsigned int wakes = 0;

	assert_int_equal(world_create(world, a), 0);
	assert_int_equal(store_watch_new(world->store, ~0U, 1, on_wake, &wakes, &watch), 0);
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		struct answer answer = { .came = false };

		next_error = errors[i];
		assert_int_equal(store_update(world->store, b, NULL, answer_take, &answer), 0);
		assert_int_equal(answer_wait(world, &answer), errors[i]);
		assert_non_null(strstr(answer.text, strerror(-errors[i])));
		assert_int_equal(store_resource_version(world->store), 1);
		assert_non_null(
			strstr(store_get(world->store, a->kind, "", "v")->json, "\"test\":\"a\""));
	}
	assert_int_equal(wakes, 0);
	assert_int_equal(world_update(world, b), 0);
	assert_int_equal(store_resource_version(world->store), 2);
	assert_int_equal(wakes, 1);
	watch = store_watch_free(watch);
	store_world_reopen(world);
	assert_non_null(strstr(store_get(world->store, a->kind, "", "v")->json, "\"test\":\"b\""));
}

static void answers_that_relied_on_the_group_are_taken_back(void **state)
{
	cleanup_object const struct object *one = make_class("one");
	cleanup_object const struct object *two = make_class("two");
	struct store_world *world = *state;
	struct answer answers[4] = { { .came = false } };

	assert_int_equal(world_create(world, two), 0);
	next_error = -ENOSPC;
	assert_int_equal(store_create(world->store, one, answer_take, &answers[0]), 0);
	/* It would exist already, had it been stored. */
	assert_int_equal(store_create(world->store, one, answer_take, &answers[1]), 0);
	assert_int_equal(store_update(world->store, one, NULL, answer_take, &answers[2]), 0);
	/* This one was refused because of what is committed. */
	assert_int_equal(store_create(world->store, two, answer_take, &answers[3]), 0);
	assert_int_equal(answer_wait(world, &answers[3]), -EEXIST);
	assert_int_equal(answers[0].error, -ENOSPC);
	assert_int_equal(answers[1].error, -ENOSPC);
	assert_int_equal(answers[2].error, -ENOSPC);
	assert_null(store_get(world->store, KIND_STORAGE_CLASS, "", "one"));
	assert_int_equal(world_create(world, one), 0);
}

static void write_falls_with_the_group_it_follows(void **state)
{
	static const struct store_precondition follows = { .follows = true };
	cleanup_object const struct object *one = make_class("one");
	struct store_world *world = *state;
	struct answer answers[2] = { { .came = false } };
	cleanup_object const struct object *volume = make_volume("v", "a");

	/* The last of a group that is not stored, and the first of the next one. */
	assert_int_equal(world_create(world, volume), 0);
	next_error = -ENOSPC;
	for (unsigned int i = 1; i < STORE_GROUP_MAX; i++)
		assert_int_equal(store_update(world->store, volume, NULL, NULL, NULL), 0);
	assert_int_equal(store_create(world->store, one, answer_take, &answers[0]), 0);
	assert_int_equal(store_update(world->store, volume, &follows, answer_take, &answers[1]), 0);
	assert_int_equal(answer_wait(world, &answers[1]), -ESTALE);
	assert_int_equal(answers[0].error, -ENOSPC);
}

/* What is wrong with the disk is what they say. The version that is set aside is no event's. */
static void events_are_shown_though_the_disk_is_full(void **state)
{
	cleanup_object const struct object *first =
		object_of("{'apiVersion':'v1','kind':'Event','metadata':{'name':'first','namespace'"
			  ":'n'},'involvedObject':{'kind':'Pod','name':'a','namespace':'n'}}");
	cleanup_object const struct object *other =
		object_of("{'apiVersion':'v1','kind':'Event','metadata':{'name':'other','namespace'"
			  ":'n'},'involvedObject':{'kind':'Pod','name':'a','namespace':'n'}}");
	struct store_world *world = *state;

	next_error = -ENOSPC;
	assert_int_equal(world_create(world, first), -ENOSPC);
	assert_int_equal(world_create(world, first), 0);
	next_error = -ENOSPC;
	assert_int_equal(world_create(world, other), 0);
	assert_non_null(store_get(world->store, KIND_EVENT, "n", "other"));
	store_world_reopen(world);
	assert_non_null(store_get(world->store, KIND_EVENT, "n", "first"));
	assert_null(store_get(world->store, KIND_EVENT, "n", "other"));
}

static void refused_writes_cost_no_commit(void **state)
{
	cleanup_object const struct object *one = make_class("one");
	struct store_world *world = *state;

	assert_int_equal(world_create(world, one), 0);
	commits = 0;
	assert_int_equal(world_create(world, one), -EEXIST);
	assert_int_equal(world_update(world, one), 0);
	assert_int_equal(commits, 0);
}

static void writes_gather_into_groups(void **state)
{
	enum { WRITES = 4 * STORE_GROUP_MAX };
	struct store_world *world = *state;
	struct answer last = { .came = false };

	commits = 0;
	for (unsigned int i = 0; i <= WRITES; i++) {
		char name[16];

		(void) snprintf(name, sizeof(name), "c%u", i);
		cleanup_object const struct object *object = make_class(name);

		assert_int_equal(
			store_create(world->store, object, i == WRITES ? answer_take : NULL, &last),
			0);
	}
	assert_int_equal(answer_wait(world, &last), 0);
	assert_int_equal(commits, 5);
}

/* Each commit admits its writes in one turn of the loop: few large ones are as many as it takes. */
static void large_writes_make_more_groups(void **state)
{
	enum { WRITES = 9, BYTES = 50000 };
	struct store_world *world = *state;
	struct answer last = { .came = false };
	cleanup_free char *value = malloc(BYTES + 1), *text = NULL;

	assert_non_null(value);
	memset(value, 'x', BYTES);
	value[BYTES] = '\0';
	commits = 0;
	for (int i = 0; i < WRITES; i++) {
		cleanup_object const struct object *object = NULL;

		free(text);
		assert_true(asprintf(&text,
				     "{'apiVersion':'v1','kind':'ConfigMap',"
				     "'metadata':{'name':'m%d'},'data':{'a':'%s'}}",
				     i, value) > 0);
		object = object_of(text);
		assert_int_equal(store_create(world->store, object,
					      i == WRITES - 1 ? answer_take : NULL, &last),
				 0);
	}
	assert_int_equal(answer_wait(world, &last), 0);
	assert_int_equal(commits, WRITES / 3); /* the third is above STORE_GROUP_BYTES_MAX */
}

static void count_answer(void *userdata, int error, const struct object *result,
			 const struct failure *why)
{
	assert_int_equal(error, -ENOENT);
	++*(unsigned int *) userdata;
}

static void full_queue_refuses_and_answers_the_rest(void **state)
{
	cleanup_object const struct object *one = make_class("one");
	struct store_world *world = *state;
	unsigned int count = 0;

	for (unsigned int i = 0; i < STORE_QUEUE_MAX; i++)
		assert_int_equal(store_delete(world->store,
					      &(struct store_key){ KIND_STORAGE_CLASS, "", "none" },
					      NULL, count_answer, &count),
				 0);
	assert_int_equal(store_create(world->store, one, NULL, NULL), -ENOBUFS);
	store_world_reopen(world);
	assert_int_equal(count, STORE_QUEUE_MAX);
	assert_int_equal(world_create(world, one), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, store_world_setup, store_world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(failed_group_leaves_everything_as_it_was),
		TEST(answers_that_relied_on_the_group_are_taken_back),
		TEST(write_falls_with_the_group_it_follows),
		TEST(events_are_shown_though_the_disk_is_full),
		TEST(refused_writes_cost_no_commit),
		TEST(large_writes_make_more_groups),
		TEST(writes_gather_into_groups),
		TEST(full_queue_refuses_and_answers_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
