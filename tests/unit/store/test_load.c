/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_load - rows are checked in full unless this very program had them all when it ended
 *
 * object_parse_json() and object_parse_own() are interposed to be counted, stat() to be of another
 * program.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_world.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static unsigned int checked, unchecked;
static bool is_other_program;

/* ld --wrap */
// NOLINTBEGIN(bugprone-reserved-identifier)
int __real_object_parse_json(const char *text, size_t length, const struct object **ret,
			     struct failure *reterr);
int __wrap_object_parse_json(const char *text, size_t length, const struct object **ret,
			     struct failure *reterr);
int __real_object_parse_own(const char *text, size_t length, const struct object **ret,
			    struct failure *reterr);
int __wrap_object_parse_own(const char *text, size_t length, const struct object **ret,
			    struct failure *reterr);
int __real_stat(const char *path, struct stat *status);
int __wrap_stat(const char *path, struct stat *status);

int __wrap_object_parse_json(const char *text, size_t length, const struct object **ret,
			     struct failure *reterr)
{
	checked++;
	return __real_object_parse_json(text, length, ret, reterr);
}

int __wrap_object_parse_own(const char *text, size_t length, const struct object **ret,
			    struct failure *reterr)
{
	unchecked++;
	return __real_object_parse_own(text, length, ret, reterr);
}

int __wrap_stat(const char *path, struct stat *status)
{
	int r = __real_stat(path, status);

	status->st_mtim.tv_nsec += is_other_program;
	return r;
}
// NOLINTEND(bugprone-reserved-identifier)

static void create(struct store_world *world, const char *name)
{
	const struct object *volume = make_volume(name, "a");

	assert_int_equal(world_create(world, volume), 0);
	(void) object_unref(volume);
}

static void run_sql(struct store_world *world, const char *sql)
{
	char path[96];
	sqlite3 *connection;

	(void) snprintf(path, sizeof(path), "%s/store.db", world->directory);
	assert_int_equal(sqlite3_open(path, &connection), SQLITE_OK);
	assert_int_equal(sqlite3_exec(connection, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(connection), SQLITE_OK);
}

/* How many rows are checked, and how many are not, by a start after @sql. */
static void restart(struct store_world *world, const char *sql, unsigned int want_checked,
		    unsigned int want_unchecked)
{
	world->store = store_free(world->store);
	if (sql)
		run_sql(world, sql);
	checked = unchecked = 0;
	store_world_reopen(world);
	assert_int_equal(checked, want_checked);
	assert_int_equal(unchecked, want_unchecked);
}

static void rows_of_this_program_are_kept_as_they_are(void **state)
{
	struct store_world *world = *state;
	const struct object *before, *after;

	create(world, "one");
	create(world, "two");
	before = object_ref(store_get(world->store, KIND_PERSISTENT_VOLUME, "", "two"));
	restart(world, NULL, 0, 2);
	after = store_get(world->store, KIND_PERSISTENT_VOLUME, "", "two");
	assert_string_equal(after->json, before->json);
	assert_string_equal(after->meta.uid, before->meta.uid);
	assert_int_equal(after->meta.resource_version, before->meta.resource_version);
	(void) object_unref(before);

	assert_int_equal(world_delete(world, KIND_PERSISTENT_VOLUME, "", "one"), 0);
	create(world, "three");
	restart(world, NULL, 0, 3); /* the finalizer holds "one" back */
}

static void rows_of_another_program_are_checked(void **state)
{
	struct store_world *world = *state;

	create(world, "one");
	is_other_program = true;
	restart(world, NULL, 1, 0);
	restart(world, NULL, 0, 1);
	is_other_program = false;
	restart(world, NULL, 1, 0);
}

static void changed_rows_are_checked_and_refused(void **state)
{
	struct store_world *world = *state;

	create(world, "one");
	create(world, "two");
	restart(world, "UPDATE objects SET json=replace(json, 'capacity', 'capacitY')", 2, 0);
	assert_null(store_get(world->store, KIND_PERSISTENT_VOLUME, "", "one"));
	create(world, "three");
	/* What cannot be read is never taken for checked. */
	restart(world, NULL, 3, 0);
	assert_null(store_get(world->store, KIND_PERSISTENT_VOLUME, "", "one"));
	restart(world, "UPDATE objects SET json=replace(json, 'capacitY', 'capacity')", 3, 0);
	assert_non_null(store_get(world->store, KIND_PERSISTENT_VOLUME, "", "one"));
	restart(world, NULL, 0, 3);
}

static void rows_that_are_lost_renamed_or_torn_are_noticed(void **state)
{
	struct store_world *world = *state;

	create(world, "one");
	create(world, "two");
	restart(world, "DELETE FROM objects WHERE name='one'", 1, 0);
	create(world, "one");
	restart(world, "UPDATE objects SET name='other' WHERE name='one'", 2, 0);
	assert_null(store_get(world->store, KIND_PERSISTENT_VOLUME, "", "other"));
	restart(world, "UPDATE objects SET name='one' WHERE name='other'", 2, 0);
	restart(world, "UPDATE objects SET json=substr(json, 1, 99) WHERE name='one'", 2, 0);
	assert_null(store_get(world->store, KIND_PERSISTENT_VOLUME, "", "one"));
}

static void wrong_sum_is_no_check(void **state)
{
	struct store_world *world = *state;

	create(world, "one");
	restart(world, "UPDATE checked SET sum=sum+1", 1, 0);
	restart(world, "DROP TABLE checked", 1, 0);
	restart(world, NULL, 0, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, store_world_setup, store_world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(rows_of_this_program_are_kept_as_they_are),
		TEST(rows_of_another_program_are_checked),
		TEST(changed_rows_are_checked_and_refused),
		TEST(rows_that_are_lost_renamed_or_torn_are_noticed),
		TEST(wrong_sum_is_no_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
