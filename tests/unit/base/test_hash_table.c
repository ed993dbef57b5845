/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hash_table - names that differ in their last digits fall in buckets of their own
 */
#include "base/hash_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { NAMES = 4096, CHAIN_MAX = 16 }; /* a random function has chains of six or seven */

/* Whichever byte of a word the digits stand in. */
static void test_numbered_names(void **state)
{
	for (int prefix = 0; prefix < 16; prefix++) {
		unsigned int chains[NAMES] = { 0 };

		for (unsigned int i = 0; i < NAMES; i++) {
			char name[64];
			int length = snprintf(name, sizeof(name), "%.*spod-%u", prefix,
					      "default/deployment", i);
			unsigned int hash = hash_of_bytes(name, (size_t) length);

			assert_true(++chains[hash % NAMES] <= CHAIN_MAX);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbered_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
