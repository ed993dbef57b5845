/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ledger - what was committed comes back, what was not does not, whatever happens in between
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "ledger_directory.h"
#include "state/ledger.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const struct volume_plugin plugin = { .name = "example.com/fake" };

static int compare_with_full_row(const struct ledger_row *row, void *userdata)
{
	const struct actual_entry *entry = &row->entry;

	++*(unsigned int *) userdata;
	assert_string_equal(entry->unique_name, "example.com/fake/pv");
	assert_string_equal(entry->pod_uid, "uid-a");
	assert_string_equal(entry->plugin_name, "example.com/fake");
	assert_null(entry->plugin);
	assert_string_equal(entry->spec_name, "pv");
	assert_string_equal(entry->pod_key, "default/a");
	assert_string_equal(entry->outer_name, "data");
	assert_string_equal(entry->path, "/pods/uid-a/pv");
	assert_true(entry->device_mountable);
	assert_false(entry->block);
	assert_true(entry->read_only);
	assert_false(entry->single_writer);
	assert_int_equal(row->state, MOUNT_DONE);
	assert_string_equal(row->device_path, "/dev/loop7");
	assert_string_equal(row->device_mount_path, "");
	return 0;
}

static void test_row_comes_back_whole(void **state)
{
	struct ledger *ledger = open_ledger(*state, 0);
	unsigned int rows = 0;
	struct ledger_row row = { .entry = { .unique_name = "example.com/fake/pv",
					     .plugin = &plugin,
					     .spec_name = "pv",
					     .device_mountable = true,
					     .pod_uid = "uid-a",
					     .pod_key = "default/a",
					     .outer_name = "data",
					     .path = "/pods/uid-a/pv",
					     .read_only = true },
				  .state = MOUNT_DONE,
				  .device_path = "/dev/loop7" };

	assert_int_equal(ledger_put(ledger, &row), 0);
	assert_int_equal(ledger_commit(ledger, NULL), 0);
	ledger_free(ledger);

	ledger = open_ledger(*state, 0);
	assert_int_equal(ledger_walk(ledger, compare_with_full_row, &rows), 0);
	assert_int_equal(rows, 1);
	ledger_free(ledger);
}

static void test_rows_wait_for_the_commit(void **state)
{
	struct ledger *ledger = open_ledger(*state, 0);

	assert_int_equal(ledger_commit(ledger, NULL), 0); /* nothing to do */
	put(ledger, "v", "a", MOUNT_ABSENT);
	expect_names(ledger, "");
	assert_int_equal(ledger_commit(ledger, NULL), 0);
	expect_names(ledger, "v:a=0 ");
	put(ledger, "w", "a", MOUNT_ABSENT);
	ledger_free(ledger); /* never committed */

	ledger = open_ledger(*state, 0);
	expect_names(ledger, "v:a=0 ");
	ledger_free(ledger);
}

static void test_last_word_of_a_turn_counts(void **state)
{
	struct ledger *ledger = open_ledger(*state, 0);

	put(ledger, "v", "a", MOUNT_ABSENT);
	put(ledger, "v", "a", MOUNT_DONE);
	put(ledger, "w", "a", MOUNT_DONE);
	assert_int_equal(ledger_forget(ledger, "w", "a"), 0);
	assert_int_equal(ledger_forget(ledger, "x", "a"), 0);
	put(ledger, "x", "a", MOUNT_UNCERTAIN);
	assert_int_equal(ledger_commit(ledger, NULL), 0);
	expect_names(ledger, "v:a=2 x:a=1 ");
	ledger_free(ledger);
}

static void test_device_and_pods_are_rows_of_their_own(void **state)
{
	struct ledger *ledger = open_ledger(*state, 0);

	put(ledger, "v", "b", MOUNT_DONE);
	put(ledger, "v", "a", MOUNT_DONE);
	put(ledger, "v", NULL, MOUNT_DONE);
	put(ledger, "va", NULL, MOUNT_ABSENT); /* no mix-up of "v" "a" with "va" "" */
	assert_int_equal(ledger_commit(ledger, NULL), 0);
	expect_names(ledger, "v:-=2 v:a=2 v:b=2 va:-=0 ");

	assert_int_equal(ledger_forget(ledger, "v", "a"), 0);
	assert_int_equal(ledger_forget(ledger, "va", NULL), 0);
	assert_int_equal(ledger_forget(ledger, "never", "there"), 0);
	assert_int_equal(ledger_commit(ledger, NULL), 0);
	expect_names(ledger, "v:-=2 v:b=2 ");
	ledger_free(ledger);
}

struct copies {
	struct ledger_row rows[2];
	size_t count;
};

static int copy_row(const struct ledger_row *row, void *userdata)
{
	struct copies *copies = userdata;

	assert_true(copies->count < 2);
	copies->rows[copies->count++] = *row;
	return 0;
}

static void test_copied_rows_outlive_the_walk(void **state)
{
	struct ledger *ledger = open_ledger(*state, 0);
	struct copies copies = { .count = 0 };

	put(ledger, "v", "a", MOUNT_DONE);
	put(ledger, "w", "b", MOUNT_DONE);
	assert_int_equal(ledger_commit(ledger, NULL), 0);
	assert_int_equal(ledger_walk(ledger, copy_row, &copies), 0);
	assert_int_equal(copies.count, 2);
	assert_string_equal(copies.rows[0].entry.unique_name, "v");
	assert_string_equal(copies.rows[0].entry.pod_uid, "a");
	assert_string_equal(copies.rows[1].entry.unique_name, "w");
	ledger_free(ledger);
}

static int end_at_once(const struct ledger_row *row, void *userdata)
{
	++*(unsigned int *) userdata;
	return 7;
}

static void test_walk_ends_when_told(void **state)
{
	struct ledger *ledger = open_ledger(*state, 0);
	unsigned int rows = 0;

	put(ledger, "v", "a", MOUNT_DONE);
	put(ledger, "w", "a", MOUNT_DONE);
	assert_int_equal(ledger_commit(ledger, NULL), 0);
	assert_int_equal(ledger_walk(ledger, end_at_once, &rows), 7);
	assert_int_equal(rows, 1);
	ledger_free(ledger);
}

/* Writes beyond the limit fail with EFBIG, which SQLite takes as an input/output error. */
static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit;

	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_failed_commit_keeps_its_rows(void **state)
{
	struct ledger *ledger = open_ledger(*state, 0);
	struct failure failure = { 0 };

	put(ledger, "v", "a", MOUNT_DONE);
	assert_int_equal(ledger_commit(ledger, NULL), 0);

	limit_file_size(4096);
	put(ledger, "w", "a", MOUNT_DONE);
	assert_int_equal(ledger_forget(ledger, "v", "a"), 0);
	assert_int_equal(ledger_commit(ledger, &failure), -EIO);
	assert_int_equal(failure.error, -EIO);
	assert_true(strstr(failure.text, "cannot write the ledger") != NULL);
	expect_names(ledger, "v:a=2 ");
	put(ledger, "x", "a", MOUNT_DONE);
	assert_int_equal(ledger_commit(ledger, NULL), -EIO);

	limit_file_size(RLIM_INFINITY);
	assert_int_equal(ledger_commit(ledger, NULL), 0);
	expect_names(ledger, "w:a=2 x:a=2 ");
	ledger_free(ledger);
}

/* The child commits and acknowledges row after row until it is killed. */
static void commit_for_ever(const char *directory, int acknowledge_fd)
{
	struct ledger *ledger;
	char name[32];

	if (ledger_open_as(directory, &this_boot, &ledger, NULL) < 0)
		_exit(1);
	for (uint32_t i = 0;; i++) {
		struct ledger_row row = { .entry = { .unique_name = name, .plugin = &plugin } };

		(void) snprintf(name, sizeof(name), "volume-%08u", i);
		if (ledger_put(ledger, &row) < 0 || ledger_commit(ledger, NULL) < 0 ||
		    write(acknowledge_fd, &i, sizeof(i)) != sizeof(i))
			_exit(1);
	}
}

static int count_in_order(const struct ledger_row *row, void *userdata)
{
	uint32_t *next = userdata;
	char name[32];

	(void) snprintf(name, sizeof(name), "volume-%08u", *next);
	assert_string_equal(row->entry.unique_name, name);
	++*next;
	return 0;
}

static uint32_t kill_after(const char *directory, uint32_t acknowledged)
{
	uint32_t last = 0;
	int fds[2], status;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void) close(fds[0]);
		commit_for_ever(directory, fds[1]);
	}
	(void) close(fds[1]);
	do {
		assert_int_equal(read(fds[0], &last, sizeof(last)), sizeof(last));
	} while (last < acknowledged);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	while (read(fds[0], &last, sizeof(last)) == sizeof(last))
		;
	(void) close(fds[0]);
	return last;
}

static void test_kill_loses_no_acknowledged_commit(void **state)
{
	for (uint32_t round = 0; round < 20; round++) {
		/* Up to well beyond the thousand pages after which SQLite writes the WAL back. */
		uint32_t last = kill_after(*state, 7 + round * 67), found = 0;
		struct ledger *ledger = open_ledger(*state, 0);

		assert_int_equal(ledger_walk(ledger, count_in_order, &found), 0);
		assert_true(found == last + 1 || found == last + 2);
		for (uint32_t i = 0; i < found; i++) {
			char name[32];

			(void) snprintf(name, sizeof(name), "volume-%08u", i);
			assert_int_equal(ledger_forget(ledger, name, NULL), 0);
		}
		assert_int_equal(ledger_commit(ledger, NULL), 0);
		ledger_free(ledger);
	}
}

static void test_thousand_rows_are_cheap(void **state)
{
	struct ledger *ledger = open_ledger(*state, 0);
	uint64_t began_usec = monotonic_usec();
	char name[64];

	for (unsigned int i = 0; i < 1000; i++) {
		(void) snprintf(name, sizeof(name), "kubernetes.io/local-volume/pv-%u", i);
		put(ledger, name, "7ab9ce1e-54a3-4b42-9a1e-0f4b57b4a001", MOUNT_DONE);
	}
	assert_int_equal(ledger_commit(ledger, NULL), 0);
	print_message("# 1000 rows in one commit: %llu us\n",
		      (unsigned long long) (monotonic_usec() - began_usec));
	ledger_free(ledger);
}

static void test_real_identity_is_found(void **state)
{
	struct ledger *ledger;

	assert_int_equal(ledger_open(*state, &ledger, NULL), 0);
	put(ledger, "v", "a", MOUNT_DONE);
	assert_int_equal(ledger_commit(ledger, NULL), 0);
	ledger_free(ledger);
	assert_int_equal(ledger_open(*state, &ledger, NULL), 0);
	expect_names(ledger, "v:a=2 ");
	ledger_free(ledger);

	ledger = open_ledger(*state, 0); /* the made-up boot of the other tests */
	expect_names(ledger, "");
	ledger_free(ledger);
}

int main(void)
{
#define WITH_DIRECTORY(test)                                                                       \
	cmocka_unit_test_setup_teardown(test, new_directory, remove_directory_tree)
	const struct CMUnitTest tests[] = {
		WITH_DIRECTORY(test_row_comes_back_whole),
		WITH_DIRECTORY(test_rows_wait_for_the_commit),
		WITH_DIRECTORY(test_last_word_of_a_turn_counts),
		WITH_DIRECTORY(test_device_and_pods_are_rows_of_their_own),
		WITH_DIRECTORY(test_copied_rows_outlive_the_walk),
		WITH_DIRECTORY(test_walk_ends_when_told),
		WITH_DIRECTORY(test_failed_commit_keeps_its_rows),
		WITH_DIRECTORY(test_kill_loses_no_acknowledged_commit),
		WITH_DIRECTORY(test_thousand_rows_are_cheap),
		WITH_DIRECTORY(test_real_identity_is_found),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
