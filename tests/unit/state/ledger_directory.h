/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_directory - a ledger in a directory of its own, and short ways to fill and read it
 *
 * Asserts by itself: for tests alone.
 */
#pragma once

#include "state/ledger.h"

extern const struct ledger_identity this_boot;

/* cmocka fixtures: *state is the path of a fresh directory. */
int new_directory(void **state);
int remove_directory_tree(void **state);

struct ledger *open_ledger(const char *directory, int expected);
void put(struct ledger *ledger, const char *unique_name, const char *pod_uid,
	 enum mount_state state);

/* All rows as "name:pod=state+unfinished " in the order of the walk; "-" for a device. */
void expect_names(struct ledger *ledger, const char *expected);
