/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_table_cases - what the mount table answers, whichever way it is read
 *
 * Run by test_mount_table (listmount, statmount) and test_mount_table_text (mountinfo).
 */
#pragma once

#include "kernel_calls.h"

void case_walk_agrees_with_mountinfo(void **state);
void case_refresh_sees_what_changed(void **state);
void case_facts_and_entries_have_the_same_ids(void **state);
void case_references_of_a_directory(void **state);
void case_references_of_a_mount_s_root(void **state);
void case_references_by_prefix(void **state);
void case_references_end_when_told(void **state);
void case_references_after_a_move(void **state);
void case_references_of_another_file_system(void **state);
void case_references_of_nothing_mounted(void **state);
void case_awkward_names(void **state);
void case_attributes_as_words(void **state);

#define MOUNT_TABLE_CASES(TEST)                                                                    \
	TEST(case_walk_agrees_with_mountinfo), TEST(case_refresh_sees_what_changed),               \
		TEST(case_facts_and_entries_have_the_same_ids),                                    \
		TEST(case_references_of_a_directory), TEST(case_references_of_a_mount_s_root),     \
		TEST(case_references_by_prefix), TEST(case_references_end_when_told),              \
		TEST(case_references_after_a_move), TEST(case_references_of_another_file_system),  \
		TEST(case_references_of_nothing_mounted), TEST(case_awkward_names),                \
		TEST(case_attributes_as_words)
