/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_quota - all objects together have a budget: what grows is refused, what shrinks goes
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_world.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 20000, PADDING_MAX = 12000 };

static void limit(struct store_world *world)
{
	const struct store_quota quota = {
		.bytes = { [STORE_ON_DISK] = MOST, [STORE_IN_MEMORY] = MOST },
		.names = { [STORE_ON_DISK] = "on-disk-max", [STORE_IN_MEMORY] = "in-memory-max" },
	};

	store_set_quota(world->store, &quota);
}

/* A lease or a ConfigMap of about so many bytes. */
static const struct object *padded(enum object_kind kind, const char *name, size_t bytes)
{
	char padding[PADDING_MAX + 1], text[PADDING_MAX + 400];

	assert_true(bytes <= PADDING_MAX);
	memset(padding, 'x', bytes);
	padding[bytes] = '\0';
	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'%s','kind':'%s','metadata':{'name':'%s','namespace':"
			"'default','annotations':{'a':'%s'}}}",
			kind == KIND_LEASE ? "coordination.k8s.io/v1" : "v1",
			kind == KIND_LEASE ? "Lease" : "ConfigMap", name, padding);
	return object_of(text);
}

static int create(struct store_world *world, enum object_kind kind, const char *name, size_t bytes)
{
	cleanup_object const struct object *object = padded(kind, name, bytes);

	return world_create(world, object);
}

static int update(struct store_world *world, enum object_kind kind, const char *name, size_t bytes)
{
	cleanup_object const struct object *object = padded(kind, name, bytes);

	return world_update(world, object);
}

static void fill(struct store_world *world, enum object_kind kind)
{
	assert_int_equal(create(world, kind, "a", 9000), 0);
	assert_int_equal(create(world, kind, "b", 9000), 0);
	assert_int_equal(create(world, kind, "c", 9000), -EDQUOT);
}

static void each_place_has_its_own(void **state)
{
	struct store_world *world = *state;

	limit(world);
	fill(world, KIND_CONFIG_MAP);
	fill(world, KIND_LEASE);
}

static void the_refusal_names_the_limit(void **state)
{
	struct store_world *world = *state;
	cleanup_object const struct object *object = padded(KIND_LEASE, "c", 9000);
	struct answer answer = { .came = false };

	limit(world);
	fill(world, KIND_LEASE);
	assert_int_equal(store_create(world->store, object, answer_take, &answer), 0);
	assert_int_equal(answer_wait(world, &answer), -EDQUOT);
	assert_non_null(strstr(answer.text, "in-memory-max"));
}

static void growth_has_more_room_than_creation(void **state)
{
	struct store_world *world = *state;

	limit(world);
	fill(world, KIND_CONFIG_MAP);
	assert_int_equal(update(world, KIND_CONFIG_MAP, "a", 12000), 0);
	assert_int_equal(update(world, KIND_CONFIG_MAP, "b", 12000), 0);
	assert_int_equal(create(world, KIND_CONFIG_MAP, "c", 1), -EDQUOT);
	/* Still over it: whatever shrinks goes. */
	assert_int_equal(update(world, KIND_CONFIG_MAP, "a", 11000), 0);
	assert_int_equal(world_delete(world, KIND_CONFIG_MAP, "default", "b"), 0);
	assert_int_equal(create(world, KIND_CONFIG_MAP, "c", 5000), 0);
	assert_int_equal(update(world, KIND_CONFIG_MAP, "c", 12000), 0);
	assert_int_equal(create(world, KIND_CONFIG_MAP, "d", 1), -EDQUOT);
}

/* In one group none sees the others committed. */
static void a_group_counts_its_own_members(void **state)
{
	struct store_world *world = *state;
	struct answer answers[3] = { { .came = false } };
	char name[] = "a";

	limit(world);
	for (int i = 0; i < 3; i++, name[0]++) {
		cleanup_object const struct object *object = padded(KIND_CONFIG_MAP, name, 9000);

		assert_int_equal(store_create(world->store, object, answer_take, &answers[i]), 0);
	}
	assert_int_equal(answer_wait(world, &answers[2]), -EDQUOT);
	assert_int_equal(answers[0].error, 0);
	assert_int_equal(answers[1].error, 0);
}

static void what_was_stored_before_stays(void **state)
{
	struct store_world *world = *state;

	assert_int_equal(create(world, KIND_CONFIG_MAP, "a", 12000), 0);
	assert_int_equal(create(world, KIND_CONFIG_MAP, "b", 12000), 0);
	store_world_reopen(world);
	limit(world);
	assert_non_null(store_get(world->store, KIND_CONFIG_MAP, "default", "b"));
	assert_int_equal(create(world, KIND_CONFIG_MAP, "c", 1), -EDQUOT);
	assert_int_equal(world_delete(world, KIND_CONFIG_MAP, "default", "a"), 0);
	assert_int_equal(create(world, KIND_CONFIG_MAP, "c", 1), 0);
}

int main(void)
{
#define WORLD(test) cmocka_unit_test_setup_teardown(test, store_world_setup, store_world_teardown)
	const struct CMUnitTest tests[] = {
		WORLD(each_place_has_its_own),
		WORLD(the_refusal_names_the_limit),
		WORLD(growth_has_more_room_than_creation),
		WORLD(a_group_counts_its_own_members),
		WORLD(what_was_stored_before_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
