/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ledger_calls - what a burst of pods costs the loop thread in reads and writes of the ledger
 *
 * Counted by the kernel for this thread, so that a machine's load changes nothing.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "ledger_directory.h"
#include "state/ledger.h"

#include <stdio.h>
#include <string.h>

enum { PODS = 1000, TURN = 25 /* pods whose steps begin, or end, in one turn of the loop */ };

/* Reads and writes; skips where the kernel counts none. */
static unsigned long count_calls(void)
{
	cleanup_fclose FILE *file = fopen("/proc/thread-self/io", "re");
	unsigned long reads = 0, writes = 0;

	if (!file ||
	    fscanf(file, "rchar: %*u wchar: %*u syscr: %lu syscw: %lu", &reads, &writes) != 2)
		skip();
	return reads + writes;
}

static void put_pod(struct ledger *ledger, unsigned int number, bool in_order, bool is_done)
{
	static const struct volume_plugin plugin = { .name = "kubernetes.io/local-volume" };
	/* As uids are: in no order. */
	unsigned int mixed = number * 2654435761U;
	char name[64], uid[64], path[256], unique[128], key[64];
	struct ledger_row row;

	(void) snprintf(name, sizeof(name), "pvc-%08x-8ba3-4d52-9b84-6b9bcb0c3c5f",
			in_order ? number : mixed);
	(void) snprintf(uid, sizeof(uid), "%08x-45dc-47c4-8d13-4b5f4bb8de55", ~mixed);
	(void) snprintf(key, sizeof(key), "default/pod-%u", number);
	(void) snprintf(unique, sizeof(unique), "%s/%s", plugin.name, name);
	(void) snprintf(path, sizeof(path),
			"/var/lib/podvol/pods/%s/volumes/kubernetes.io~local-volume/%s", uid, name);
	row = (struct ledger_row){ .entry = { .unique_name = unique,
					      .plugin = &plugin,
					      .spec_name = name,
					      .pod_uid = uid,
					      .pod_key = key,
					      .outer_name = "data",
					      .path = path,
					      .mount_mark = is_done ? 0x123456789abcd : 0,
					      .served = is_done ? 0x123456789abcd : 0 },
				   .state = is_done ? MOUNT_DONE : MOUNT_UNCERTAIN,
				   .unfinished = is_done ? UNFINISHED_NOTHING : UNFINISHED_SET_UP };
	assert_int_equal(ledger_put(ledger, &row), 0);
	row.entry.pod_uid = NULL;
	row.entry.pod_key = row.entry.outer_name = row.entry.path = NULL;
	assert_int_equal(ledger_put(ledger, &row), 0);
}

/* The intents of some, with the results of those before them. */
static void take_turn(struct ledger *ledger, unsigned int first, bool in_order)
{
	for (unsigned int i = first; i < first + TURN; i++) {
		if (i < PODS)
			put_pod(ledger, i, in_order, false);
		if (i >= TURN)
			put_pod(ledger, i - TURN, in_order, true);
	}
	assert_int_equal(ledger_commit(ledger, NULL), 0);
}

static void burst(void **state, bool in_order, unsigned long most)
{
	struct ledger *ledger = open_ledger(*state, 0);
	unsigned long before = count_calls(), calls;

	for (unsigned int first = 0; first < PODS + TURN; first += TURN)
		take_turn(ledger, first, in_order);
	calls = count_calls() - before;
	print_message("%lu calls of %d pods, at most %lu\n", calls, PODS, most);
	assert_in_range(calls, 1, most);
	ledger_free(ledger);
}

/* Of a file of pods that are numbered: one page after the other is filled. */
static void test_names_in_order(void **state)
{
	burst(state, true, 750);
}

/* As provisioned volumes are named: each row lies in another page. */
static void test_names_in_no_order(void **state)
{
	burst(state, false, 3700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names_in_order, new_directory,
						remove_directory_tree),
		cmocka_unit_test_setup_teardown(test_names_in_no_order, new_directory,
						remove_directory_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
