/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ledger_holds - holds survive a kill whole and end with the boot
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "ledger_directory.h"
#include "state/ledger.h"

#include <sqlite3.h>
#include <string.h>
#include <sys/wait.h>

static const struct hold cgroup_hold = {
	.id = "00000000aa",
	.kind = HOLD_CGROUP,
	.pod_uid = "u1",
	.pod_namespace = "kube",
	.pod_name = "db",
	.container = "main",
	.cgroup = "/sys/fs/cgroup/x",
	.cgroup_id = UINT64_MAX,
	.since_usec = 1700000000000001,
};

static const struct hold process_hold = {
	.id = "00000000bb",
	.kind = HOLD_PROCESS,
	.pod_uid = "u2",
	.pod_namespace = "default",
	.pod_name = "web",
	.container = "main",
	.cgroup = "",
	.pid = 4711,
	.start_time = 123456789,
	.ended_before = 42,
};

static int append(const struct hold *hold, void *userdata)
{
	char *text = userdata;
	size_t used = strlen(text);

	(void) snprintf(text + used, 512 - used, "%s %s %s %s/%s %s %d %llu '%s' %llu %llu %llu;",
			hold->id, hold_kind_name(hold->kind), hold->pod_uid, hold->pod_namespace,
			hold->pod_name, hold->container, (int) hold->pid,
			(unsigned long long) hold->start_time, hold->cgroup,
			(unsigned long long) hold->cgroup_id, (unsigned long long) hold->since_usec,
			(unsigned long long) hold->ended_before);
	return 0;
}

static void expect_holds(struct ledger *ledger, const char *expected)
{
	char text[512] = "";

	assert_int_equal(ledger_walk_holds(ledger, append, text), 0);
	assert_string_equal(text, expected);
}

#define CGROUP_TEXT                                                                                \
	"00000000aa cgroup u1 kube/db main 0 0 '/sys/fs/cgroup/x' 18446744073709551615 "           \
	"1700000000000001 0;"
#define PROCESS_TEXT "00000000bb process u2 default/web main 4711 123456789 '' 0 0 42;"

static void test_holds_come_back_whole(void **state)
{
	struct ledger *ledger = open_ledger(*state, 0);

	assert_int_equal(ledger_put_hold(ledger, &process_hold, NULL), 0);
	assert_int_equal(ledger_put_hold(ledger, &cgroup_hold, NULL), 0);
	ledger_free(ledger);
	ledger = open_ledger(*state, 0);
	expect_holds(ledger, CGROUP_TEXT PROCESS_TEXT);
	assert_int_equal(ledger_forget_hold(ledger, "00000000aa", NULL), 0);
	assert_int_equal(ledger_forget_hold(ledger, "ffffffffff", NULL), 0);
	ledger_free(ledger);
	ledger = open_ledger(*state, 0);
	expect_holds(ledger, PROCESS_TEXT);
	ledger_free(ledger);
}

/* Without waiting for anybody's commit, and without carrying rows of volumes along. */
static void test_hold_survives_a_kill_at_once(void **state)
{
	struct ledger *ledger;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		ledger = NULL;
		(void) ledger_open_as(*state, &this_boot, &ledger, NULL);
		put(ledger, "volume", "u1", MOUNT_DONE);
		(void) ledger_put_hold(ledger, &process_hold, NULL);
		(void) raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	ledger = open_ledger(*state, 0);
	expect_holds(ledger, PROCESS_TEXT);
	expect_names(ledger, "");
	ledger_free(ledger);
}

static void test_another_boot_has_no_holds(void **state)
{
	const struct ledger_identity other = { .boot_id = "next", .mount_namespace = 1 };
	struct ledger *ledger = open_ledger(*state, 0);

	assert_int_equal(ledger_put_hold(ledger, &process_hold, NULL), 0);
	ledger_free(ledger);
	assert_int_equal(ledger_open_as(*state, &other, &ledger, NULL), 0);
	expect_holds(ledger, "");
	ledger_free(ledger);
}

static void change_by_sql(const char *directory, const char *sql)
{
	char path[256];
	sqlite3 *database;

	(void) snprintf(path, sizeof(path), "%s/ledger.db", directory);
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
	(void) sqlite3_close(database);
}

static void test_damaged_hold_is_not_believed(void **state)
{
	static const char *const damages[] = {
		"UPDATE hold SET pid = pid + 1",
		"UPDATE hold SET container = 'other'",
		"UPDATE hold SET id = '1'",
		"DROP TABLE hold",
	};

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		struct ledger *ledger = open_ledger(*state, 0);

		assert_int_equal(ledger_put_hold(ledger, &process_hold, NULL), 0);
		ledger_free(ledger);
		change_by_sql(*state, damages[i]);
		ledger = open_ledger(*state, 1);
		expect_holds(ledger, "");
		ledger_free(ledger);
	}
}

static int stop_at_once(const struct hold *hold, void *userdata)
{
	(*(int *) userdata)++;
	return 7;
}

static void test_walk_ends_when_told(void **state)
{
	struct ledger *ledger = open_ledger(*state, 0);
	int seen = 0;

	assert_int_equal(ledger_put_hold(ledger, &process_hold, NULL), 0);
	assert_int_equal(ledger_put_hold(ledger, &cgroup_hold, NULL), 0);
	assert_int_equal(ledger_walk_holds(ledger, stop_at_once, &seen), 7);
	assert_int_equal(seen, 1);
	ledger_free(ledger);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_holds_come_back_whole, new_directory,
						remove_directory_tree),
		cmocka_unit_test_setup_teardown(test_hold_survives_a_kill_at_once, new_directory,
						remove_directory_tree),
		cmocka_unit_test_setup_teardown(test_another_boot_has_no_holds, new_directory,
						remove_directory_tree),
		cmocka_unit_test_setup_teardown(test_damaged_hold_is_not_believed, new_directory,
						remove_directory_tree),
		cmocka_unit_test_setup_teardown(test_walk_ends_when_told, new_directory,
						remove_directory_tree),
	};

	return cmocka_run_group_tests_name("ledger_holds", tests, NULL, NULL);
}
