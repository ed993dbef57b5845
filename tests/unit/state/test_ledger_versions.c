/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ledger_versions - what older releases left in the run directory is believed as it was
 *
 * The files are made from the words of those releases, sums included.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ledger_directory.h"

#include "base/cleanup.h"
#include "state/ledger.h"

#include <sqlite3.h>
#include <string.h>

#define HEADER                                                                                     \
	"CREATE TABLE header (boot_id TEXT NOT NULL, mount_namespace INTEGER NOT NULL) STRICT;"
#define ENTRY_WITH(columns)                                                                        \
	"CREATE TABLE entry ("                                                                     \
	" unique_name TEXT NOT NULL CHECK (unique_name <> ''),"                                    \
	" pod_uid TEXT NOT NULL,"                                                                  \
	" plugin_name TEXT NOT NULL,"                                                              \
	" spec_name TEXT NOT NULL,"                                                                \
	" pod_key TEXT NOT NULL,"                                                                  \
	" outer_name TEXT NOT NULL,"                                                               \
	" path TEXT NOT NULL,"                                                                     \
	" device_path TEXT NOT NULL,"                                                              \
	" device_mount_path TEXT NOT NULL,"                                                        \
	" state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 2),"                                   \
	" device_mountable INTEGER NOT NULL CHECK (device_mountable IN (0, 1)),"                   \
	" block INTEGER NOT NULL CHECK (block IN (0, 1)),"                                         \
	" read_only INTEGER NOT NULL CHECK (read_only IN (0, 1)),"                                 \
	" single_writer INTEGER NOT NULL CHECK (single_writer IN (0, 1))," columns                 \
	" checksum INTEGER NOT NULL,"                                                              \
	" PRIMARY KEY (unique_name, pod_uid)) STRICT, WITHOUT ROWID;"
#define ENTRY   ENTRY_WITH("")
#define ENTRY_3 ENTRY_WITH(" unfinished INTEGER NOT NULL CHECK (unfinished BETWEEN 0 AND 4),")
#define HOLD                                                                                       \
	"CREATE TABLE hold ("                                                                      \
	" id TEXT PRIMARY KEY NOT NULL,"                                                           \
	" pod_uid TEXT NOT NULL CHECK (pod_uid <> ''),"                                            \
	" pod_namespace TEXT NOT NULL,"                                                            \
	" pod_name TEXT NOT NULL,"                                                                 \
	" container TEXT NOT NULL,"                                                                \
	" cgroup TEXT NOT NULL,"                                                                   \
	" kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),"                                     \
	" pid INTEGER NOT NULL,"                                                                   \
	" start_time INTEGER NOT NULL,"                                                            \
	" cgroup_id INTEGER NOT NULL,"                                                             \
	" since INTEGER NOT NULL,"                                                                 \
	" ended_before INTEGER NOT NULL,"                                                          \
	" checksum INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
#define ROWS_WITH(numbers)                                                                         \
	"INSERT INTO header VALUES ('b00t', 4026531841);"                                          \
	"INSERT INTO entry VALUES ('example.com/fake/pv', 'u1', 'example.com/fake', 'pv',"         \
	" 'default/web', 'data', '/pods/u1/pv', '/dev/sdb', '/staging/pv', 2, 1, 0, 1, 0," numbers \
	" %lld);"
#define ROWS ROWS_WITH("")
#define SUM  (7395043554935830028LL)

static const char version_1[] = HEADER ENTRY ROWS "PRAGMA user_version = 1;";
static const char version_2[] = HEADER ENTRY HOLD ROWS "PRAGMA user_version = 2;";
static const char version_3[] = HEADER ENTRY_3 HOLD ROWS_WITH(" 0,") "PRAGMA user_version = 3;";

static void change(const char *directory, const char *statements)
{
	char path[256];
	sqlite3 *database;

	(void) snprintf(path, sizeof(path), "%s/ledger.db", directory);
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	assert_int_equal(sqlite3_exec(database, statements, NULL, NULL, NULL), SQLITE_OK);
	(void) sqlite3_close(database);
}

static void make_old(const char *directory, const char *sql, long long sum)
{
	cleanup_free char *statements = NULL;

	assert_true(asprintf(&statements, sql, sum) > 0);
	change(directory, statements);
}

static int check_row(const struct ledger_row *row, void *userdata)
{
	unsigned int *count = userdata;

	++*count;
	assert_string_equal(row->entry.unique_name, "example.com/fake/pv");
	assert_string_equal(row->entry.pod_uid, "u1");
	assert_string_equal(row->entry.outer_name, "data");
	assert_string_equal(row->device_mount_path, "/staging/pv");
	assert_int_equal(row->state, MOUNT_DONE);
	assert_true(row->entry.device_mountable);
	assert_true(row->entry.read_only);
	assert_false(row->entry.single_writer);
	assert_int_equal(row->unfinished, UNFINISHED_NOTHING);
	assert_int_equal(row->entry.mount_mark, 0);
	assert_int_equal(row->entry.served, 0);
	return 0;
}

static int note_unfinished(const struct ledger_row *row, void *userdata)
{
	*(enum unfinished *) userdata = row->unfinished;
	return 0;
}

static void expect_kept(const char *directory)
{
	struct ledger *ledger = open_ledger(directory, 0);
	unsigned int count = 0;

	assert_int_equal(ledger_walk(ledger, check_row, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(ledger_forget_hold(ledger, "00", NULL), 0); /* there is a table of them */
	ledger_free(ledger);
}

static void test_ledger_of_version_1_is_kept(void **state)
{
	make_old(*state, version_1, SUM);
	expect_kept(*state);
	expect_kept(*state); /* as what it is now */
}

static void test_ledger_of_version_2_is_kept(void **state)
{
	make_old(*state, version_2, SUM);
	expect_kept(*state);
	expect_kept(*state);
}

static void test_ledger_of_version_3_is_kept(void **state)
{
	make_old(*state, version_3, SUM);
	expect_kept(*state);
	expect_kept(*state);
}

static void test_damage_from_before_an_upgrade_is_seen(void **state)
{
	struct failure failure = { 0 };
	struct ledger *ledger;

	make_old(*state, version_2, SUM + 1);
	assert_int_equal(ledger_open_as(*state, &this_boot, &ledger, &failure), 1);
	assert_non_null(strstr(failure.text, "checksum"));
	expect_names(ledger, "");
	ledger_free(ledger);
}

/* What is unfinished comes back with its row, and any change of it is damage. */
static void test_unfinished_steps_come_back(void **state)
{
	struct ledger_row row = { .entry = { .unique_name = "v", .spec_name = "pv" },
				  .state = MOUNT_UNCERTAIN };
	struct failure failure = { 0 };
	struct ledger *ledger;

	for (int i = 0; i < UNFINISHED_COUNT; i++) {
		enum unfinished seen = UNFINISHED_COUNT;

		ledger = open_ledger(*state, 0);
		row.unfinished = (enum unfinished) i;
		row.entry.plugin_name = "p";
		assert_int_equal(ledger_put(ledger, &row), 0);
		assert_int_equal(ledger_commit(ledger, NULL), 0);
		ledger_free(ledger);

		ledger = open_ledger(*state, 0);
		assert_int_equal(ledger_walk(ledger, note_unfinished, &seen), 0);
		assert_int_equal(seen, i);
		ledger_free(ledger);
	}
	change(*state, "UPDATE entry SET unfinished = 0");
	assert_int_equal(ledger_open_as(*state, &this_boot, &ledger, &failure), 1);
	ledger_free(ledger);
}

static int check_marks(const struct ledger_row *row, void *userdata)
{
	assert_true(row->entry.mount_mark == UINT64_MAX);
	assert_int_equal(row->entry.served, 7);
	return 0;
}

/* So do the marks, and any change of them is damage. */
static void test_marks_come_back(void **state)
{
	static const char *const changes[] = { "mount_mark = 0", "mount_mark = 5", "served = 0",
					       "mount_mark = served, served = mount_mark" };
	const struct ledger_row row = { .entry = { .unique_name = "v",
						   .plugin_name = "p",
						   .mount_mark = UINT64_MAX,
						   .served = 7 },
					.state = MOUNT_DONE };
	struct failure failure = { 0 };
	struct ledger *ledger;
	char update[128];

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		ledger = open_ledger(*state, 0);
		assert_int_equal(ledger_put(ledger, &row), 0);
		assert_int_equal(ledger_commit(ledger, NULL), 0);
		ledger_free(ledger);
		ledger = open_ledger(*state, 0);
		assert_int_equal(ledger_walk(ledger, check_marks, NULL), 0);
		ledger_free(ledger);

		(void) snprintf(update, sizeof(update), "UPDATE entry SET %s", changes[i]);
		change(*state, update);
		assert_int_equal(ledger_open_as(*state, &this_boot, &ledger, &failure), 1);
		ledger_free(ledger);
	}
}

int main(void)
{
#define WITH_DIRECTORY(test)                                                                       \
	cmocka_unit_test_setup_teardown(test, new_directory, remove_directory_tree)
	const struct CMUnitTest tests[] = {
		WITH_DIRECTORY(test_ledger_of_version_1_is_kept),
		WITH_DIRECTORY(test_ledger_of_version_2_is_kept),
		WITH_DIRECTORY(test_ledger_of_version_3_is_kept),
		WITH_DIRECTORY(test_damage_from_before_an_upgrade_is_seen),
		WITH_DIRECTORY(test_unfinished_steps_come_back),
		WITH_DIRECTORY(test_marks_come_back),
	};

	return cmocka_run_group_tests_name("ledger_versions", tests, NULL, NULL);
}
