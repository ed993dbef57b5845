/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_look_cases - what must be true of looks at mounts, whichever way the kernel's table is read
 */
#pragma once

#include "kernel_calls.h"

void test_fates_of_known_mounts(void **state);
void test_attributes_of_known_mounts(void **state);
void test_expected_attributes(void **state);
void test_others_below_and_above_the_root(void **state);
void test_attributes_are_set_back(void **state);
void test_another_mount_is_not_set_back(void **state);

#define MOUNT_LOOK_CASES(TEST)                                                                     \
	TEST(test_fates_of_known_mounts), TEST(test_attributes_of_known_mounts),                   \
		TEST(test_expected_attributes), TEST(test_others_below_and_above_the_root),        \
		TEST(test_attributes_are_set_back), TEST(test_another_mount_is_not_set_back)
