/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ledger_full - a ledger on a tmpfs without room: an error, no signal, nothing lost
 */
#include "tests/root/sandbox.h"

#include "base/cleanup.h"
#include "state/ledger.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>

static const struct ledger_identity identity = { .boot_id = "b00t", .mount_namespace = 1 };
static const struct volume_plugin plugin = { .name = "example.com/fake" };

static void mount_small_tmpfs(void)
{
	sandbox_mkdir("run", 0700);
	assert_int_equal(mount("none", sandbox_path("run"), "tmpfs", 0, "size=512k"), 0);
}

static void fill(void)
{
	static const char zeros[4096];
	cleanup_close int fd =
		open(sandbox_path("run/filler"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	assert_int_equal(errno, ENOSPC);
}

static void put_rows(struct ledger *ledger, unsigned int from, unsigned int to)
{
	char name[32];

	for (unsigned int i = from; i < to; i++) {
		struct ledger_row row = { .entry = { .unique_name = name, .plugin = &plugin },
					  .state = MOUNT_DONE };

		(void) snprintf(name, sizeof(name), "volume-%05u", i);
		assert_int_equal(ledger_put(ledger, &row), 0);
	}
}

static int count_row(const struct ledger_row *row, void *userdata)
{
	++*(unsigned int *) userdata;
	return 0;
}

static void expect_rows(struct ledger *ledger, unsigned int expected)
{
	unsigned int count = 0;

	assert_int_equal(ledger_walk(ledger, count_row, &count), 0);
	assert_int_equal(count, expected);
}

static void test_commit_fails_and_succeeds_later(void **state)
{
	struct failure failure = { 0 };
	struct ledger *ledger;

	mount_small_tmpfs();
	assert_int_equal(ledger_open_as(sandbox_path("run"), &identity, &ledger, NULL), 0);
	put_rows(ledger, 0, 10);
	assert_int_equal(ledger_commit(ledger, NULL), 0);

	fill();
	put_rows(ledger, 10, 500);
	assert_int_equal(ledger_commit(ledger, &failure), -ENOSPC);
	assert_non_null(strstr(failure.text, "cannot write the ledger"));
	expect_rows(ledger, 10);
	assert_int_equal(ledger_commit(ledger, NULL), -ENOSPC);

	assert_int_equal(unlink(sandbox_path("run/filler")), 0);
	assert_int_equal(ledger_commit(ledger, NULL), 0);
	expect_rows(ledger, 500);
	ledger_free(ledger);

	assert_int_equal(ledger_open_as(sandbox_path("run"), &identity, &ledger, NULL), 0);
	expect_rows(ledger, 500);
	ledger_free(ledger);
	assert_int_equal(umount(sandbox_path("run")), 0);
}

/* Rows that come and go for ever need no more room than those that are there. */
static void test_log_stays_small(void **state)
{
	struct ledger *ledger;

	mount_small_tmpfs();
	assert_int_equal(ledger_open_as(sandbox_path("run"), &identity, &ledger, NULL), 0);
	for (unsigned int i = 0; i < 1000; i++) {
		put_rows(ledger, 0, 20);
		assert_int_equal(ledger_commit(ledger, NULL), 0);
	}
	expect_rows(ledger, 20);
	ledger_free(ledger);
	assert_int_equal(umount(sandbox_path("run")), 0);
}

static void test_full_tmpfs_is_no_reason_to_lose_a_ledger(void **state)
{
	struct failure failure = { 0 };
	struct ledger *ledger;
	int opened;

	mount_small_tmpfs();
	assert_int_equal(ledger_open_as(sandbox_path("run"), &identity, &ledger, NULL), 0);
	put_rows(ledger, 0, 10);
	assert_int_equal(ledger_commit(ledger, NULL), 0);
	ledger_free(ledger);
	fill();

	opened = ledger_open_as(sandbox_path("run"), &identity, &ledger, &failure);
	assert_true(opened == 0 || opened == -ENOSPC);
	if (opened == 0)
		ledger_free(ledger);
	assert_int_equal(unlink(sandbox_path("run/filler")), 0);
	assert_int_equal(ledger_open_as(sandbox_path("run"), &identity, &ledger, NULL), 0);
	expect_rows(ledger, 10);
	ledger_free(ledger);
	assert_int_equal(umount(sandbox_path("run")), 0);
}

static void test_no_room_for_a_new_one(void **state)
{
	struct failure failure = { 0 };
	struct ledger *ledger;

	mount_small_tmpfs();
	fill();
	assert_int_equal(ledger_open_as(sandbox_path("run"), &identity, &ledger, &failure),
			 -ENOSPC);
	assert_true(failure.text[0] != '\0');
	assert_int_equal(umount(sandbox_path("run")), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_commit_fails_and_succeeds_later),
		SANDBOX_TEST(test_log_stays_small),
		SANDBOX_TEST(test_full_tmpfs_is_no_reason_to_lose_a_ledger),
		SANDBOX_TEST(test_no_room_for_a_new_one),
	};

	return sandbox_run("ledger_full", tests, ARRAY_SIZE(tests));
}
