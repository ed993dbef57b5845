/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_open - files that are no store, are damaged, newer, taken or partly unreadable: what
 * is refused is left as it is
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_world.h"

#include "base/cleanup.h"
#include "store/embedded.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *path_of(struct store_world *world)
{
	static char path[96];

	(void) snprintf(path, sizeof(path), "%s/store.db", world->directory);
	return path;
}

static char *read_file(const char *path, size_t *ret_length)
{
	struct stat status;
	FILE *file = fopen(path, "re");
	char *bytes;

	assert_non_null(file);
	assert_return_code(fstat(fileno(file), &status), 0);
	bytes = malloc((size_t) status.st_size + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, (size_t) status.st_size, file), status.st_size);
	assert_int_equal(fclose(file), 0);
	*ret_length = (size_t) status.st_size;
	return bytes;
}

/* The file is refused with this error and this word, and not one byte of it changed. */
static void assert_refused(struct store_world *world, int error, const char *word)
{
	struct failure failure = { .error = 0 };
	cleanup_free char *before = NULL, *after = NULL;
	size_t length_before, length_after;

	before = read_file(path_of(world), &length_before);
	assert_int_equal(store_open_embedded(world->event, store_open_begin(world->directory),
					     &world->store, &failure),
			 error);
	assert_null(world->store);
	assert_non_null(strstr(failure.text, word));
	assert_non_null(strstr(failure.text, path_of(world)));
	after = read_file(path_of(world), &length_after);
	assert_int_equal(length_before, length_after);
	assert_memory_equal(before, after, length_before);
}

static void overwrite(const char *path, off_t at, const char *bytes, size_t length)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, length, at), length);
	assert_return_code(close(fd), 0);
}

static void run_sql(const char *path, const char *sql)
{
	sqlite3 *connection;

	assert_int_equal(sqlite3_open(path, &connection), SQLITE_OK);
	assert_int_equal(sqlite3_exec(connection, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(connection), SQLITE_OK);
}

static void close_store(struct store_world *world)
{
	world->store = store_free(world->store);
}

static void new_store_is_private(void **state)
{
	struct stat status;

	assert_return_code(stat(path_of(*state), &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
}

static void text_file_is_refused(void **state)
{
	static const char text[] = "this is somebody's letter, longer than a header of SQLite and "
				   "of no other use to us, but it is theirs and it stays theirs";
	struct store_world *world = *state;

	close_store(world);
	assert_return_code(unlink(path_of(world)), 0);
	overwrite(path_of(world), 0, text, sizeof(text));
	assert_refused(world, -EUCLEAN, "damaged");
}

static void database_of_somebody_else_is_refused(void **state)
{
	struct store_world *world = *state;

	close_store(world);
	assert_return_code(unlink(path_of(world)), 0);
	run_sql(path_of(world), "CREATE TABLE theirs(x)");
	assert_refused(world, -EUCLEAN, "not a store of podvol");
}

static void newer_store_is_refused(void **state)
{
	struct store_world *world = *state;

	close_store(world);
	run_sql(path_of(world), "PRAGMA user_version=2");
	assert_refused(world, -EPROTO, "newer podvol");
}

static void damaged_pages_are_refused(void **state)
{
	struct store_world *world = *state;
	char junk[4096];

	for (unsigned int i = 0; i < 50; i++) {
		char name[16];

		(void) snprintf(name, sizeof(name), "v%u", i);
		cleanup_object const struct object *volume = make_volume(name, "a");

		assert_int_equal(world_create(world, volume), 0);
	}
	close_store(world);
	memset(junk, 0x5a, sizeof(junk));
	overwrite(path_of(world), 4096, junk, sizeof(junk));
	assert_refused(world, -EUCLEAN, "damaged");
}

enum { PAGE_BYTES = 4096 };

/* Where the index is, which is one page. */
static off_t index_of(const char *path)
{
	sqlite3_stmt *statement;
	sqlite3 *connection;
	off_t page;

	assert_int_equal(sqlite3_open(path, &connection), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(connection,
					    "SELECT rootpage FROM sqlite_schema WHERE "
					    "name='sqlite_autoindex_objects_1'",
					    -1, &statement, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	page = sqlite3_column_int64(statement, 0) - 1;
	assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
	assert_int_equal(sqlite3_close(connection), SQLITE_OK);
	return page * PAGE_BYTES;
}

/* No row is read by it; but what it does not find could not be removed. */
static void damaged_index_is_refused(void **state)
{
	struct store_world *world = *state;
	cleanup_object const struct object *first = make_volume("a", "a");
	cleanup_object const struct object *second = make_volume("b", "b");
	cleanup_free char *before = NULL;
	char junk[PAGE_BYTES] = "";
	size_t length;
	off_t at;

	assert_int_equal(world_create(world, first), 0);
	close_store(world);
	at = index_of(path_of(world));
	before = read_file(path_of(world), &length);
	store_world_reopen(world);
	assert_int_equal(world_create(world, second), 0);
	close_store(world);
	overwrite(path_of(world), at, before + at, PAGE_BYTES); /* has the first alone */
	assert_refused(world, -EUCLEAN, "damaged");
	overwrite(path_of(world), at, junk, sizeof(junk));
	assert_refused(world, -EUCLEAN, "damaged");
}

static void store_in_use_is_refused(void **state)
{
	struct store_world *world = *state;
	struct failure failure = { .error = 0 };
	struct store *second = NULL;

	assert_int_equal(store_open_embedded(world->event, store_open_begin(world->directory),
					     &second, &failure),
			 -EBUSY);
	assert_non_null(strstr(failure.text, "in use by another process"));
}

static void absent_directory_is_refused(void **state)
{
	struct store_world *world = *state;
	struct failure failure = { .error = 0 };
	struct store *second = NULL;

	assert_int_equal(store_open_embedded(world->event, store_open_begin("/nonexistent/podvol"),
					     &second, &failure),
			 -ENOENT);
	assert_non_null(strstr(failure.text, "/nonexistent/podvol/store.db"));
}

static void empty_file_becomes_a_store(void **state)
{
	struct store_world *world = *state;

	/* As a kill between making the file and its first commit leaves it. */
	close_store(world);
	assert_return_code(unlink(path_of(world)), 0);
	overwrite(path_of(world), 0, "", 0);
	store_world_reopen(world);
	assert_int_equal(store_resource_version(world->store), 0);
}

static int count(const struct object *object, void *userdata)
{
	++*(unsigned int *) userdata;
	return 0;
}

static void unreadable_object_is_kept_and_its_name_taken(void **state)
{
	cleanup_object const struct object *one = make_class("one");
	cleanup_object const struct object *two = make_class("two");
	struct store_world *world = *state;
	unsigned int served = 0;

	assert_int_equal(world_create(world, one), 0);
	assert_int_equal(world_create(world, two), 0);
	close_store(world);
	run_sql(path_of(world), "UPDATE objects SET json='{\"kind\":\"Later\"}' WHERE name='one'");
	store_world_reopen(world);
	assert_int_equal(store_list(world->store, KIND_STORAGE_CLASS, NULL, count, &served), 0);
	assert_int_equal(served, 1);
	assert_null(store_get(world->store, KIND_STORAGE_CLASS, "", "one"));
	assert_int_equal(world_create(world, one), -EEXIST);
	assert_int_equal(world_update(world, one), -EINVAL);
	assert_int_equal(world_delete(world, KIND_STORAGE_CLASS, "", "one"), -EINVAL);

	/* Once readable again, it is found. */
	close_store(world);
	run_sql(path_of(world), "UPDATE objects SET json=replace(json, 'Later', 'Sooner')");
	store_world_reopen(world);
	assert_int_equal(world_create(world, one), -EEXIST);
}

static void row_under_another_name_is_not_served(void **state)
{
	cleanup_object const struct object *one = make_class("one");
	struct store_world *world = *state;

	assert_int_equal(world_create(world, one), 0);
	close_store(world);
	run_sql(path_of(world), "UPDATE objects SET name='other'");
	store_world_reopen(world);
	assert_null(store_get(world->store, KIND_STORAGE_CLASS, "", "one"));
	assert_null(store_get(world->store, KIND_STORAGE_CLASS, "", "other"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, store_world_setup, store_world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(new_store_is_private),
		TEST(text_file_is_refused),
		TEST(database_of_somebody_else_is_refused),
		TEST(newer_store_is_refused),
		TEST(damaged_pages_are_refused),
		TEST(damaged_index_is_refused),
		TEST(store_in_use_is_refused),
		TEST(absent_directory_is_refused),
		TEST(empty_file_becomes_a_store),
		TEST(unreadable_object_is_kept_and_its_name_taken),
		TEST(row_under_another_name_is_not_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
