/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_checkpoint - a checkpoint of the store's log delays no answer
 *
 * sqlite3_wal_checkpoint_v2() is interposed: it blocks until the test lets it go.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_world.h"

#include "base/cleanup.h"

#include <semaphore.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 700000, LARGE_COUNT = 6 }; /* together more than 1000 pages of 4 KiB */

static atomic_uint begun, ended;
static sem_t may_end;

int __real_sqlite3_wal_checkpoint_v2(sqlite3 *connection, const char *name, int mode,
				     int *ret_pages, int *ret_copied);
int __wrap_sqlite3_wal_checkpoint_v2(sqlite3 *connection, const char *name, int mode,
				     int *ret_pages, int *ret_copied);

int __wrap_sqlite3_wal_checkpoint_v2(sqlite3 *connection, const char *name, int mode,
				     int *ret_pages, int *ret_copied)
{
	int result, pages = 0, copied = -1;

	atomic_fetch_add(&begun, 1);
	(void) sem_wait(&may_end);
	result = __real_sqlite3_wal_checkpoint_v2(connection, name, mode, &pages, &copied);
	assert_int_equal(result, SQLITE_OK);
	assert_int_equal(copied, pages);
	atomic_fetch_add(&ended, 1);
	return result;
}

static const struct object *make_large(unsigned int number)
{
	cleanup_free char *value = malloc(TEXT_BYTES), *text = NULL;

	memset(value, 'x', TEXT_BYTES - 1);
	value[TEXT_BYTES - 1] = '\0';
	assert_return_code(asprintf(&text,
				    "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':"
				    "'m%u','namespace':'n'},'data':{'k':'%s'}}",
				    number, value),
			   0);
	return object_of(text);
}

static bool has_begun(void *userdata)
{
	return atomic_load(&begun) > 0;
}

static void answer_comes_before_the_checkpoint(void **state)
{
	struct store_world *world = *state;
	cleanup_object const struct object *next = make_class("next");
	struct answer answer = { .came = false };

	for (unsigned int i = 0; i < LARGE_COUNT; i++) {
		cleanup_object const struct object *large = make_large(i);

		assert_int_equal(world_create(world, large), 0);
	}
	store_world_run(world, has_begun, NULL);
	assert_int_equal(atomic_load(&ended), 0);

	/* What comes meanwhile is written after it. */
	assert_int_equal(store_create(world->store, next, answer_take, &answer), 0);
	assert_true(sd_event_run(world->event, 0) >= 0);
	assert_false(answer.came);
	assert_int_equal(sem_post(&may_end), 0);
	assert_int_equal(answer_wait(world, &answer), 0);
	assert_int_equal(atomic_load(&ended), 1);
	/* The log begins again: the next one is far. */
	assert_int_equal(world_delete(world, next->kind, "", "next"), 0);
	assert_int_equal(atomic_load(&begun), 1);
	store_world_reopen(world);
	assert_null(store_get(world->store, next->kind, "", "next"));
	assert_non_null(store_get(world->store, KIND_CONFIG_MAP, "n", "m0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(answer_comes_before_the_checkpoint,
						store_world_setup, store_world_teardown),
	};

	(void) sem_init(&may_end, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
