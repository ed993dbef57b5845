/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pod_index - which pods an object leads to, while what they lead to changes
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "state/pod_index.h"

#include <stdio.h>

static const struct object_reference conf = { KIND_CONFIG_MAP, "default", "conf" };
static const struct object_reference secret = { KIND_SECRET, "default", "conf" };
static const struct object_reference elsewhere = { KIND_CONFIG_MAP, "other", "conf" };

static bool no_memory;
int __real_name_sets_add(struct name_sets *sets, const char *key, const char *name);
int __wrap_name_sets_add(struct name_sets *sets, const char *key, const char *name);

/* The second of two fails. */
int __wrap_name_sets_add(struct name_sets *sets, const char *key, const char *name)
{
	static bool was_called;

	was_called = no_memory && !was_called;
	return no_memory && !was_called ? -ENOMEM : __real_name_sets_add(sets, key, name);
}

static void test_one_list_takes_the_place_of_another(void **state)
{
	struct pod_index index = { .pods = { NULL } };
	struct pod_references a = { .count = 0 }, next = { .count = 0 };

	assert_int_equal(pod_references_add(&next, &conf), 0);
	assert_int_equal(pod_references_add(&next, &conf), 0);
	assert_int_equal(next.count, 1);
	assert_int_equal(pod_index_replace(&index, "uid-a", &a, &next), 0);
	assert_int_equal(next.count, 0);
	assert_string_equal(pod_index_at(&index, &conf, 0), "uid-a");
	assert_null(pod_index_at(&index, &conf, 1));
	assert_null(pod_index_at(&index, &secret, 0));
	assert_null(pod_index_at(&index, &elsewhere, 0));

	assert_int_equal(pod_references_add(&next, &secret), 0);
	assert_int_equal(pod_index_replace(&index, "uid-a", &a, &next), 0);
	assert_null(pod_index_at(&index, &conf, 0));
	assert_string_equal(pod_index_at(&index, &secret, 0), "uid-a");

	assert_int_equal(pod_index_replace(&index, "uid-a", &a, &next), 0);
	assert_null(pod_index_at(&index, &secret, 0));
	assert_null(index.pods.sets);
}

struct uses {
	unsigned int begun, ended;
	char last[64];
};

static void note_use(void *userdata, const struct object_reference *reference, bool is_used)
{
	struct uses *uses = userdata;

	uses->begun += is_used;
	uses->ended += !is_used;
	(void) snprintf(uses->last, sizeof(uses->last), "%d %s %s", (int) reference->kind,
			reference->name_space, reference->name);
}

static void replace(struct pod_index *index, const char *uid, struct pod_references *old,
		    const struct object_reference *reference)
{
	struct pod_references next = { .count = 0 };

	if (reference)
		assert_int_equal(pod_references_add(&next, reference), 0);
	assert_int_equal(pod_index_replace(index, uid, old, &next), 0);
}

static void test_the_first_use_and_the_last_are_noted(void **state)
{
	struct uses uses = { 0 };
	struct pod_index index = { .changed = note_use, .userdata = &uses };
	struct pod_references a = { .count = 0 }, b = { .count = 0 };
	char expected[64];

	(void) snprintf(expected, sizeof(expected), "%d other conf", (int) KIND_CONFIG_MAP);
	replace(&index, "uid-a", &a, &elsewhere);
	assert_int_equal(uses.begun, 1);
	assert_string_equal(uses.last, expected);
	replace(&index, "uid-b", &b, &elsewhere);
	assert_int_equal(uses.begun, 1);
	replace(&index, "uid-a", &a, NULL);
	assert_int_equal(uses.ended, 0);
	replace(&index, "uid-b", &b, &secret);
	assert_int_equal(uses.begun, 2);
	assert_int_equal(uses.ended, 1);
	assert_string_equal(uses.last, expected);
	replace(&index, "uid-b", &b, NULL);
	assert_int_equal(uses.ended, 2);
}

static void test_without_memory_nothing_changes(void **state)
{
	struct pod_index index = { .pods = { NULL } };
	struct pod_references a = { .count = 0 }, next = { .count = 0 };

	assert_int_equal(pod_references_add(&next, &conf), 0);
	assert_int_equal(pod_index_replace(&index, "uid-a", &a, &next), 0);
	assert_int_equal(pod_references_add(&next, &secret), 0);
	assert_int_equal(pod_references_add(&next, &elsewhere), 0);
	no_memory = true;
	assert_int_equal(pod_index_replace(&index, "uid-a", &a, &next), -ENOMEM);
	no_memory = false;
	assert_int_equal(next.count, 0);
	assert_string_equal(pod_index_at(&index, &conf, 0), "uid-a");
	assert_null(pod_index_at(&index, &secret, 0));
	assert_int_equal(pod_index_replace(&index, "uid-a", &a, &next), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_list_takes_the_place_of_another),
		cmocka_unit_test(test_the_first_use_and_the_last_are_noted),
		cmocka_unit_test(test_without_memory_nothing_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
