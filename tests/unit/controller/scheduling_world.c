/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling_world - see scheduling_world.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduling_world.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

static void check_one(check_fn *check, const struct expectation *row, size_t number)
{
	cleanup_object const struct object *pod = object_of(row->pod);
	cleanup_object const struct object *node = object_of(row->node);
	struct store_world world;
	struct scheduling_verdict verdict = { .count = 0 };
	struct scheduling_query question = { .pod = pod->pod, .node = node };
	char got[1024] = "";
	size_t used = 0;

	store_world_open(&world);
	for (size_t i = 0; i < WORLD_OBJECTS_MAX && row->objects[i]; i++) {
		cleanup_object const struct object *object = object_of(row->objects[i]);

		assert_int_equal(world_create(&world, object), 0);
	}
	question.store = world.store;
	check(&question, &verdict);
	for (size_t i = 0; i < verdict.count; i++)
		used += (size_t) snprintf(got + used, sizeof(got) - used, "%s%s", i ? "; " : "",
					  verdict.reasons[i].text);
	store_world_close(&world);
	if (strcmp(got, row->reasons) != 0)
		fail_msg("row %zu: '%s', not '%s'", number, got, row->reasons);
}

void check_all(check_fn *check, const struct expectation *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_one(check, &rows[i], i);
}
