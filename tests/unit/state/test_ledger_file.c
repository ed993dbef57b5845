/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ledger_file - which file is believed: other boots, other namespaces, damage, newer schemas
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "ledger_directory.h"
#include "state/ledger.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

enum { PAGE_BYTES = 16384 /* of the ledger */ };

static void path_in(const char *directory, const char *name, char path[256])
{
	assert_true(snprintf(path, 256, "%s/%s", directory, name) < 256);
}

static void write_at(const char *path, off_t offset, const void *bytes, size_t length)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, length, offset), length);
}

static void make_ledger(const char *directory, unsigned int rows)
{
	struct ledger *ledger = open_ledger(directory, 0);
	char name[32];

	for (unsigned int i = 0; i < rows; i++) {
		(void) snprintf(name, sizeof(name), "volume-%05u", i);
		put(ledger, name, "uid", MOUNT_DONE);
	}
	assert_int_equal(ledger_commit(ledger, NULL), 0);
	ledger_free(ledger);
}

static unsigned int files_with(const char *directory, const char *text)
{
	cleanup_closedir DIR *stream = opendir(directory);
	const struct dirent *entry;
	unsigned int count = 0;

	assert_non_null(stream);
	while ((entry = readdir(stream)))
		count += strstr(entry->d_name, text) != NULL;
	return count;
}

/* What is not believed is kept beside an empty ledger that works. */
static void expect_begun_anew(const char *directory)
{
	struct ledger *ledger = open_ledger(directory, 1);

	expect_names(ledger, "");
	assert_true(files_with(directory, "ledger.db.unreadable-") >= 1);
	put(ledger, "new", "uid", MOUNT_DONE);
	assert_int_equal(ledger_commit(ledger, NULL), 0);
	ledger_free(ledger);

	ledger = open_ledger(directory, 0);
	expect_names(ledger, "new:uid=2 ");
	ledger_free(ledger);
}

static void change_by_sql(const char *directory, const char *sql)
{
	char path[256];
	sqlite3 *database;

	path_in(directory, "ledger.db", path);
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(database), SQLITE_OK);
}

static void test_only_root_may_read_it(void **state)
{
	struct stat status;
	char path[256];

	make_ledger(*state, 1);
	path_in(*state, "ledger.db", path);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
}

static void expect_empty_for(const char *directory, const struct ledger_identity *identity)
{
	struct ledger *ledger;

	assert_int_equal(ledger_open_as(directory, identity, &ledger, NULL), 0);
	expect_names(ledger, "");
	put(ledger, "v", "uid", MOUNT_DONE);
	assert_int_equal(ledger_commit(ledger, NULL), 0);
	ledger_free(ledger);
	assert_int_equal(ledger_open_as(directory, identity, &ledger, NULL), 0);
	expect_names(ledger, "v:uid=2 ");
	ledger_free(ledger);
}

static void test_other_boot_or_namespace_empties_it(void **state)
{
	struct ledger_identity other = this_boot;

	make_ledger(*state, 3);
	other.mount_namespace++;
	expect_empty_for(*state, &other);
	other.boot_id[0]++;
	expect_empty_for(*state, &other);
	assert_int_equal(files_with(*state, "unreadable"), 0);
}

static void test_second_process_is_refused(void **state)
{
	struct ledger *ledger = open_ledger(*state, 0), *second = NULL;
	struct failure failure = { 0 };

	put(ledger, "v", "uid", MOUNT_DONE);
	assert_int_equal(ledger_commit(ledger, NULL), 0);
	assert_int_equal(ledger_open_as(*state, &this_boot, &second, &failure), -EBUSY);
	assert_null(second);
	assert_int_equal(files_with(*state, "unreadable"), 0);
	ledger_free(ledger);
}

static void test_missing_directory_is_an_error(void **state)
{
	struct ledger *ledger;
	struct failure failure = { 0 };
	char path[256];

	path_in(*state, "missing", path);
	assert_int_equal(ledger_open_as(path, &this_boot, &ledger, &failure), -ENOENT);
	assert_true(strstr(failure.text, "missing/ledger.db") != NULL);
}

static void test_link_is_not_followed(void **state)
{
	struct ledger *ledger;
	char path[256];

	path_in(*state, "ledger.db", path);
	assert_int_equal(symlink("elsewhere", path), 0);
	assert_int_equal(ledger_open_as(*state, &this_boot, &ledger, NULL), -ELOOP);
	assert_int_equal(files_with(*state, "elsewhere"), 0);
}

static void test_text_is_no_ledger(void **state)
{
	char path[256];
	cleanup_close int fd = -EBADF;

	path_in(*state, "ledger.db", path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "this is not a data base, but it is long enough for one", 54),
			 54);
	expect_begun_anew(*state);
}

static void test_other_database_is_no_ledger(void **state)
{
	change_by_sql(*state, "CREATE TABLE recipes (name TEXT)");
	expect_begun_anew(*state);
}

static unsigned int unreadable_ledgers(const char *directory)
{
	return files_with(directory, "ledger.db.unreadable-") - files_with(directory, "-wal") -
	       files_with(directory, "-shm");
}

/* Within one second, or after the clock was set back: each has a name of its own. */
static void test_what_was_moved_aside_stays(void **state)
{
	for (unsigned int i = 1; i <= 4; i++) {
		make_ledger(*state, i);
		change_by_sql(*state, "DELETE FROM header");
		ledger_free(open_ledger(*state, 1));
		assert_int_equal(unreadable_ledgers(*state), i);
	}
}

static void test_newer_schema_is_moved_aside(void **state)
{
	struct ledger *ledger = NULL;
	struct failure failure = { 0 };

	make_ledger(*state, 3);
	change_by_sql(*state, "PRAGMA user_version = 5");
	assert_int_equal(ledger_open_as(*state, &this_boot, &ledger, &failure), 1);
	assert_true(strstr(failure.text, "schema version 5") != NULL);
	expect_names(ledger, "");
	assert_non_null(strstr(failure.text, "/ledger.db' is moved aside; starting a new one: "));
	ledger_free(ledger);
}

static void test_missing_column_is_damage(void **state)
{
	make_ledger(*state, 3);
	change_by_sql(*state, "ALTER TABLE entry DROP COLUMN path");
	expect_begun_anew(*state);
}

static void test_added_trigger_is_damage(void **state)
{
	make_ledger(*state, 3);
	change_by_sql(*state, "CREATE TRIGGER t AFTER DELETE ON entry BEGIN SELECT 1; END");
	expect_begun_anew(*state);
}

static void test_changed_text_is_damage(void **state)
{
	make_ledger(*state, 3);
	change_by_sql(*state, "UPDATE entry SET path = '/etc' WHERE unique_name = 'volume-00001'");
	expect_begun_anew(*state);
}

static void test_missing_header_is_damage(void **state)
{
	make_ledger(*state, 3);
	change_by_sql(*state, "DELETE FROM header");
	expect_begun_anew(*state);
}

static void test_impossible_state_is_damage(void **state)
{
	make_ledger(*state, 3);
	change_by_sql(*state, "PRAGMA ignore_check_constraints = ON; UPDATE entry SET state = 9");
	expect_begun_anew(*state);
}

static void expect_moved_aside_at(const char *directory, off_t length)
{
	struct ledger *ledger = NULL;
	char path[256];

	make_ledger(directory, 500);
	path_in(directory, "ledger.db", path);
	assert_int_equal(truncate(path, length), 0);
	assert_int_equal(ledger_open_as(directory, &this_boot, &ledger, NULL), 1);
	expect_names(ledger, "");
	ledger_free(ledger);
	assert_int_equal(unlink(path), 0);
}

/* Within the header SQLite's answers differ from byte to byte: not a database, an unknown format,
 * damage. */
static void test_torn_file_is_moved_aside(void **state)
{
	struct stat status;
	char path[256];

	make_ledger(*state, 500);
	path_in(*state, "ledger.db", path);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(unlink(path), 0);
	for (off_t length = 1; length <= 101; length += 5)
		expect_moved_aside_at(*state, length);
	for (off_t length = status.st_size - 1; length > 101; length -= 4321)
		expect_moved_aside_at(*state, length);
}

static size_t read_all(const char *path, char *bytes, size_t size)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	assert_true(fd >= 0);
	length = read(fd, bytes, size);
	assert_true(length > 0 && (size_t) length < size);
	return (size_t) length;
}

/* Page 3 begins the rows. Rows that are cut off a page are not missed by a mere reader. */
static void test_lost_rows_are_noticed(void **state)
{
	static const unsigned char one_row[] = { 0, 1 };
	char path[256];

	make_ledger(*state, 20);
	path_in(*state, "ledger.db", path);
	write_at(path, 2 * PAGE_BYTES + 3, one_row, sizeof(one_row));
	expect_begun_anew(*state);
}

/* What a kill left in the WAL belongs to the file that is moved aside, not to the new one. */
static void test_wal_goes_along(void **state)
{
	static char wal[1 << 20];
	static const char noise[512] = "noise";
	struct ledger *ledger;
	char path[256], wal_path[256];
	size_t length;

	make_ledger(*state, 500);
	path_in(*state, "ledger.db", path);
	path_in(*state, "ledger.db-wal", wal_path);
	ledger = open_ledger(*state, 0);
	put(ledger, "volume-00499", "uid", MOUNT_ABSENT);
	assert_int_equal(ledger_commit(ledger, NULL), 0);
	length = read_all(wal_path, wal, sizeof(wal));
	ledger_free(ledger);

	write_at(path, 4 * PAGE_BYTES, noise, sizeof(noise));
	write_at(wal_path, 0, wal, length);
	expect_begun_anew(*state);
	assert_int_equal(files_with(*state, "-wal"), 1);
}

static void overwrite(const char *path, off_t offset)
{
	static const unsigned char noise[64] = { 0xff, 0x00, 0xa5, 0x5a, 0x01, 0xfe };

	write_at(path, offset, noise, sizeof(noise));
}

static int expect_as_made(const struct ledger_row *row, void *userdata)
{
	unsigned int *count = userdata;
	char name[32];

	(void) snprintf(name, sizeof(name), "volume-%05u", *count);
	assert_string_equal(row->entry.unique_name, name);
	assert_string_equal(row->entry.pod_uid, "uid");
	assert_string_equal(row->entry.path, "");
	assert_int_equal(row->state, MOUNT_DONE);
	++*count;
	return 0;
}

/* Noise in unused bytes does no harm; everywhere else it is noticed. */
static void test_overwritten_file_is_survived(void **state)
{
	unsigned int begun_anew = 0;
	struct ledger *ledger;
	struct stat status;
	char path[256];

	make_ledger(*state, 100);
	path_in(*state, "ledger.db", path);
	assert_int_equal(stat(path, &status), 0);
	for (off_t offset = 0; offset + 64 < status.st_size; offset += 509) {
		unsigned int count = 0;
		int opened;

		overwrite(path, offset);
		opened = ledger_open_as(*state, &this_boot, &ledger, NULL);
		assert_true(opened == 0 || opened == 1);
		assert_int_equal(ledger_walk(ledger, expect_as_made, &count), 0);
		assert_int_equal(count, opened == 1 ? 0 : 100);
		ledger_free(ledger);
		begun_anew += opened == 1;
		assert_int_equal(unlink(path), 0);
		make_ledger(*state, 100);
	}
	assert_true(begun_anew >= 5);
}

int main(void)
{
#define WITH_DIRECTORY(test)                                                                       \
	cmocka_unit_test_setup_teardown(test, new_directory, remove_directory_tree)
	const struct CMUnitTest tests[] = {
		WITH_DIRECTORY(test_only_root_may_read_it),
		WITH_DIRECTORY(test_other_boot_or_namespace_empties_it),
		WITH_DIRECTORY(test_second_process_is_refused),
		WITH_DIRECTORY(test_missing_directory_is_an_error),
		WITH_DIRECTORY(test_link_is_not_followed),
		WITH_DIRECTORY(test_text_is_no_ledger),
		WITH_DIRECTORY(test_other_database_is_no_ledger),
		WITH_DIRECTORY(test_what_was_moved_aside_stays),
		WITH_DIRECTORY(test_newer_schema_is_moved_aside),
		WITH_DIRECTORY(test_missing_column_is_damage),
		WITH_DIRECTORY(test_added_trigger_is_damage),
		WITH_DIRECTORY(test_changed_text_is_damage),
		WITH_DIRECTORY(test_missing_header_is_damage),
		WITH_DIRECTORY(test_impossible_state_is_damage),
		WITH_DIRECTORY(test_torn_file_is_moved_aside),
		WITH_DIRECTORY(test_lost_rows_are_noticed),
		WITH_DIRECTORY(test_wal_goes_along),
		WITH_DIRECTORY(test_overwritten_file_is_survived),
	};

	return cmocka_run_group_tests_name("ledger_file", tests, NULL, NULL);
}
