/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_memory_kinds - leases are written and watched like all kinds and gone with the store;
 * events survive it without a sync; versions of neither come again
 *
 * SQLite syncs by fdatasync(), which is counted: --wrap reaches no library, a definition does.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_world.h"

#include "base/cleanup.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_uint syncs;

/* Found by the library before its own. */
__attribute__((visibility("default"))) int fdatasync(int fd)
{
	atomic_fetch_add(&syncs, 1);
	return (int) syscall(SYS_fdatasync, fd);
}

__attribute__((visibility("default"))) int fsync(int fd)
{
	atomic_fetch_add(&syncs, 1);
	return (int) syscall(SYS_fsync, fd);
}

static const struct object *make_lease(const char *name, const char *holder)
{
	char text[300];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'coordination.k8s.io/v1','kind':'Lease','metadata':"
			"{'name':'%s','namespace':'default'},'spec':{'holderIdentity':'%s'}}",
			name, holder);
	return object_of(text);
}

static int create_lease(struct store_world *world, const char *name)
{
	cleanup_object const struct object *lease = make_lease(name, "a");

	return world_create(world, lease);
}

static int create_class(struct store_world *world, const char *name)
{
	cleanup_object const struct object *class = make_class(name);

	return world_create(world, class);
}

static const struct object *make_event(const char *name)
{
	char text[300];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'Event','metadata':{'name':'%s','namespace':"
			"'default'},'involvedObject':{'kind':'Pod','name':'a','namespace':"
			"'default'},'reason':'Tested','message':'text','type':'Normal'}",
			name);
	return object_of(text);
}

static int create_event(struct store_world *world, const char *name)
{
	cleanup_object const struct object *event = make_event(name);

	return world_create(world, event);
}

static const struct object *get_event(struct store_world *world, const char *name)
{
	return store_get(world->store, KIND_EVENT, "default", name);
}

static const struct object *get_lease(struct store_world *world, const char *name)
{
	return store_get(world->store, KIND_LEASE, "default", name);
}

/* What the file says once the store is closed, which is open again afterwards. */
static int64_t ask_database(struct store_world *world, const char *sql)
{
	char path[96];
	sqlite3 *connection;
	sqlite3_stmt *statement;
	int64_t answer;

	world->store = store_free(world->store);
	(void) snprintf(path, sizeof(path), "%s/store.db", world->directory);
	assert_int_equal(sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(connection, sql, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	answer = sqlite3_column_int64(statement, 0);
	(void) sqlite3_finalize(statement);
	(void) sqlite3_close(connection);
	store_world_reopen(world);
	return answer;
}

/* Changes with every row. */
static off_t log_length(struct store_world *world, const char *database)
{
	char path[96];
	struct stat status;

	(void) snprintf(path, sizeof(path), "%s/%s-wal", world->directory, database);
	assert_return_code(stat(path, &status), errno);
	return status.st_size;
}

static void no_wake(void *userdata)
{
}

static void test_verbs_are_those_of_all_kinds(void **state)
{
	struct store_world *world = *state;
	cleanup_object const struct object *other = make_lease("a", "b");
	struct store_watch *watch = NULL;
	const struct store_change *change;
	uint64_t since = store_resource_version(world->store);

	assert_int_equal(create_lease(world, "a"), 0);
	assert_int_equal(create_lease(world, "a"), -EEXIST);
	assert_int_equal(world_update(world, other), 0);
	assert_true(get_lease(world, "a")->meta.resource_version == since + 2);
	assert_int_equal(world_delete(world, KIND_LEASE, "default", "a"), 0);
	assert_null(get_lease(world, "a"));
	assert_int_equal(world_delete(world, KIND_LEASE, "default", "a"), -ENOENT);

	assert_int_equal(
		store_watch_new(world->store, 1U << KIND_LEASE, since, no_wake, NULL, &watch), 0);
	for (int type = STORE_ADDED; type <= STORE_DELETED; type++) {
		assert_int_equal(store_watch_next(watch, &change), 1);
		assert_int_equal(change->type, type);
		assert_true(change->resource_version == since + 1 + (uint64_t) type);
	}
	assert_int_equal(store_watch_next(watch, &change), 0);
	(void) store_watch_free(watch);
}

static void test_nothing_of_them_is_stored(void **state)
{
	struct store_world *world = *state;

	assert_int_equal(create_lease(world, "a"), 0);
	assert_int_equal(create_class(world, "kept"), 0);
	assert_int_equal(ask_database(world, "SELECT count(*) FROM objects"), 1);
	assert_null(get_lease(world, "a"));
	assert_non_null(store_get(world->store, KIND_STORAGE_CLASS, "", "kept"));
	assert_int_equal(create_lease(world, "a"), 0);
}

/* As they were, with the versions they had. */
static void test_events_survive_a_restart(void **state)
{
	struct store_world *world = *state;
	uint64_t version;
	char uid[64];

	assert_int_equal(create_event(world, "kept"), 0);
	assert_int_equal(create_event(world, "deleted"), 0);
	assert_int_equal(world_delete(world, KIND_EVENT, "default", "deleted"), 0);
	version = get_event(world, "kept")->meta.resource_version;
	(void) snprintf(uid, sizeof(uid), "%s", get_event(world, "kept")->meta.uid);
	store_world_reopen(world);
	assert_non_null(get_event(world, "kept"));
	assert_true(get_event(world, "kept")->meta.resource_version == version);
	assert_string_equal(get_event(world, "kept")->meta.uid, uid);
	assert_null(get_event(world, "deleted"));
	assert_true(store_resource_version(world->store) > version);
}

/* An older copy of the store, or an empty one, does not know their versions. */
static void test_events_of_another_store_are_dropped(void **state)
{
	struct store_world *world = *state;
	char path[96];

	assert_int_equal(create_event(world, "old"), 0);
	world->store = store_free(world->store);
	(void) snprintf(path, sizeof(path), "%s/store.db", world->directory);
	assert_return_code(unlink(path), errno);
	store_world_reopen(world);
	assert_null(get_event(world, "old"));
	assert_true(store_resource_version(world->store) == 0);
	assert_int_equal(create_event(world, "first"), 0);
	assert_int_equal(create_event(world, "new"), 0);
	store_world_reopen(world);
	assert_null(get_event(world, "old"));
	assert_non_null(get_event(world, "new"));
}

/* The store opens without them, and the file is left as it is. */
static void test_a_damaged_file_of_events_stops_no_start(void **state)
{
	static const char damage[] = "this is no database at all, of whatever version it may be";
	struct store_world *world = *state;
	struct stat status;
	char path[96];
	FILE *file;

	world->store = store_free(world->store);
	(void) snprintf(path, sizeof(path), "%s/events.db", world->directory);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(damage, 1, sizeof(damage), file), sizeof(damage));
	assert_int_equal(fclose(file), 0);
	store_world_reopen(world);
	assert_int_equal(create_event(world, "here"), 0);
	assert_non_null(get_event(world, "here"));
	store_world_reopen(world);
	assert_null(get_event(world, "here"));
	assert_return_code(stat(path, &status), errno);
	assert_int_equal(status.st_size, sizeof(damage));
}

/* Also when no row was written after them, and when one was. */
static void test_versions_do_not_come_again(void **state)
{
	struct store_world *world = *state;
	uint64_t last, stored;

	for (int round = 0; round < 4; round++) {
		assert_int_equal(create_lease(world, "a"), 0);
		assert_int_equal(create_lease(world, "b"), 0);
		if (round % 2 == 1)
			assert_int_equal(create_class(world, round == 1 ? "x" : "y"), 0);
		last = store_resource_version(world->store);
		stored = (uint64_t) ask_database(world, "SELECT resource_version FROM position");
		assert_true(stored >= last);
		assert_true(store_resource_version(world->store) >= last);
	}
}

/* Without them versions are exactly those of the rows: nothing is reserved. */
static void test_stored_kinds_alone_leave_no_gap(void **state)
{
	struct store_world *world = *state;
	uint64_t before = store_resource_version(world->store);

	assert_int_equal(create_class(world, "x"), 0);
	assert_int_equal(create_class(world, "y"), 0);
	store_world_reopen(world);
	assert_true(store_resource_version(world->store) == before + 2);
}

/* One reservation lasts for many writes: nothing is committed for the others. */
static void test_they_cost_no_sync(void **state)
{
	struct store_world *world = *state;
	off_t before;

	assert_int_equal(create_lease(world, "first"), 0);
	before = log_length(world, "store.db");
	for (int i = 0; i < 300; i++) {
		char name[16];

		(void) snprintf(name, sizeof(name), "l%d", i);
		assert_int_equal(create_lease(world, name), 0);
	}
	assert_int_equal(log_length(world, "store.db"), before);
	assert_int_equal(create_class(world, "x"), 0);
	assert_true(log_length(world, "store.db") > before);
}

/* They are in a log of their own; only the reservation of their versions is synced. */
static void test_events_cost_no_sync(void **state)
{
	struct store_world *world = *state;
	unsigned int before;
	off_t length;

	assert_int_equal(create_event(world, "first"), 0);
	before = atomic_load(&syncs);
	length = log_length(world, "events.db");
	for (int i = 0; i < 50; i++) {
		char name[16];

		(void) snprintf(name, sizeof(name), "e%d", i);
		assert_int_equal(create_event(world, name), 0);
	}
	assert_int_equal(atomic_load(&syncs), before);
	assert_true(log_length(world, "events.db") > length);
	assert_int_equal(create_class(world, "x"), 0);
	assert_true(atomic_load(&syncs) > before);
	assert_int_equal(create_event(world, "last"), 0);
	store_world_reopen(world);
	assert_non_null(get_event(world, "e49"));
	assert_non_null(get_event(world, "last"));
}

/* A watch of before the restart begins again: what it missed is in no ring. */
static void test_old_versions_are_gone_after_a_restart(void **state)
{
	struct store_world *world = *state;
	struct store_watch *watch = NULL;
	uint64_t last;

	assert_int_equal(create_lease(world, "a"), 0);
	last = store_resource_version(world->store);
	store_world_reopen(world);
	assert_int_equal(
		store_watch_new(world->store, 1U << KIND_LEASE, last, no_wake, NULL, &watch),
		-ESTALE);
}

#define IN_STORE(test)                                                                             \
	cmocka_unit_test_setup_teardown(test, store_world_setup, store_world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_STORE(test_verbs_are_those_of_all_kinds),
		IN_STORE(test_nothing_of_them_is_stored),
		IN_STORE(test_versions_do_not_come_again),
		IN_STORE(test_stored_kinds_alone_leave_no_gap),
		IN_STORE(test_events_survive_a_restart),
		IN_STORE(test_events_of_another_store_are_dropped),
		IN_STORE(test_a_damaged_file_of_events_stops_no_start),
		IN_STORE(test_they_cost_no_sync),
		IN_STORE(test_events_cost_no_sync),
		IN_STORE(test_old_versions_are_gone_after_a_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
