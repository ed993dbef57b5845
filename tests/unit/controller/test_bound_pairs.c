/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bound_pairs - who names whom, and whose turn it is
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/store/store_world.h"

#include "base/cleanup.h"
#include "controller/binding/bound_pairs.h"

#include <stdio.h>
#include <string.h>

static const struct object *claim_of(const char *name, const char *volume)
{
	char text[512];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'%s',"
			"'namespace':'ns'},'spec':{'volumeName':'%s','accessModes':["
			"'ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}",
			name, volume);
	return object_of(text);
}

static const struct object *volume_of(const char *name, const char *claim)
{
	char text[512];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'%s'},"
			"'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],"
			"'hostPath':{'path':'/d'},'claimRef':{'namespace':'ns','name':'%s'}}}",
			name, claim);
	return object_of(text);
}

/* The names that are due, sorted: "c v ". */
static void assert_due(struct bound_pairs *bound_pairs, const char *expected)
{
	const char *names[8];
	char text[64] = "";
	struct bound_pair *bound_pair;
	size_t count = 0;

	while ((bound_pair = bound_pairs_take_due(bound_pairs)))
		names[count++] = bound_pair_name(bound_pair).name;
	for (size_t i = 1; i < count; i++)
		for (size_t k = i; k > 0 && strcmp(names[k - 1], names[k]) > 0; k--) {
			const char *swap = names[k];

			names[k] = names[k - 1];
			names[k - 1] = swap;
		}
	for (size_t i = 0; i < count; i++)
		(void) snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", names[i]);
	assert_string_equal(text, expected);
}

static void a_change_concerns_both_sides(void **state)
{
	cleanup_object const struct object *c = claim_of("c", "v");
	cleanup_object const struct object *moved = claim_of("c", "w");
	cleanup_object const struct object *v = volume_of("v", "c");
	struct bound_pairs bound_pairs = { 0 };

	assert_int_equal(bound_pairs_set(&bound_pairs, c, NULL), 0);
	assert_due(&bound_pairs, "c v ");
	assert_int_equal(bound_pairs_set(&bound_pairs, v, NULL), 0);
	assert_due(&bound_pairs, "c v ");
	/* The old partner is notified, too. */
	assert_int_equal(bound_pairs_set(&bound_pairs, moved, c), 0);
	assert_due(&bound_pairs, "c v w ");
	assert_int_equal(bound_pairs_set(&bound_pairs, NULL, moved), 0);
	assert_due(&bound_pairs, "c v w ");
	assert_int_equal(bound_pairs_set(&bound_pairs, NULL, v), 0);
	assert_due(&bound_pairs, "c v ");
	bound_pairs_done(&bound_pairs);
}

static void namers_are_sorted_and_leave(void **state)
{
	static const char *const names[] = { "m", "a", "z", "b" };
	struct bound_pairs bound_pairs = { 0 };
	struct bound_pair *const *namers;
	const struct object *volumes[ARRAY_SIZE(names)];
	struct bound_pair *claim;
	size_t count;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		volumes[i] = volume_of(names[i], "c");
		assert_int_equal(bound_pairs_set(&bound_pairs, volumes[i], NULL), 0);
		assert_int_equal(bound_pairs_set(&bound_pairs, volumes[i], volumes[i]), 0);
	}
	claim = bound_pairs_get(&bound_pairs, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "c");
	assert_non_null(claim);
	namers = bound_pair_namers(claim, &count);
	assert_int_equal(count, 4);
	assert_string_equal(bound_pair_name(namers[0]).name, "a");
	assert_string_equal(bound_pair_name(namers[3]).name, "z");
	assert_int_equal(bound_pair_kind(namers[0]), KIND_PERSISTENT_VOLUME);
	assert_int_equal(bound_pairs_set(&bound_pairs, NULL, volumes[1]), 0);
	namers = bound_pair_namers(claim, &count);
	assert_int_equal(count, 3);
	assert_string_equal(bound_pair_name(namers[0]).name, "b");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void) object_unref(volumes[i]);
	bound_pairs_done(&bound_pairs);
}

static void busy_one_is_due_when_it_is_free(void **state)
{
	struct bound_pairs bound_pairs = { 0 };
	struct bound_pair *bound_pair =
		bound_pairs_add(&bound_pairs, KIND_PERSISTENT_VOLUME, "", "v");

	assert_non_null(bound_pair);
	assert_ptr_equal(bound_pairs_add(&bound_pairs, KIND_PERSISTENT_VOLUME, "", "v"),
			 bound_pair);
	bound_pair_set_busy(&bound_pairs, bound_pair, true);
	bound_pairs_make_due(&bound_pairs, bound_pair);
	assert_due(&bound_pairs, "");
	bound_pair_set_busy(&bound_pairs, bound_pair, false);
	assert_due(&bound_pairs, "v ");
	bound_pair_set_busy(&bound_pairs, bound_pair, true);
	bound_pair_set_busy(&bound_pairs, bound_pair, false);
	assert_due(&bound_pairs, "");
	bound_pairs_done(&bound_pairs);
}

static void claims_come_first_and_who_became_busy_waits(void **state)
{
	struct bound_pairs bound_pairs = { 0 };
	struct bound_pair *claim =
		bound_pairs_add(&bound_pairs, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "c");
	struct bound_pair *volume = bound_pairs_add(&bound_pairs, KIND_PERSISTENT_VOLUME, "", "v");

	bound_pairs_make_due(&bound_pairs, claim);
	bound_pairs_make_due(&bound_pairs, volume);
	assert_ptr_equal(bound_pairs_take_due(&bound_pairs), claim);
	/* In the list, and busy now. */
	bound_pair_set_busy(&bound_pairs, volume, true);
	assert_true(bound_pair_is_busy(volume));
	assert_null(bound_pairs_take_due(&bound_pairs));
	bound_pair_set_busy(&bound_pairs, volume, false);
	assert_ptr_equal(bound_pairs_take_due(&bound_pairs), volume);
	assert_null(bound_pairs_take_due(&bound_pairs));

	/* Free again before anybody looked at the list. */
	bound_pairs_make_due(&bound_pairs, volume);
	bound_pair_set_busy(&bound_pairs, volume, true);
	bound_pair_set_busy(&bound_pairs, volume, false);
	assert_ptr_equal(bound_pairs_take_due(&bound_pairs), volume);
	assert_null(bound_pairs_take_due(&bound_pairs));
	bound_pairs_done(&bound_pairs);
}

static void one_that_is_named_is_not_forgotten(void **state)
{
	cleanup_object const struct object *c = claim_of("c", "v");
	struct bound_pairs bound_pairs = { 0 };
	struct bound_pair *volume;

	assert_int_equal(bound_pairs_set(&bound_pairs, c, NULL), 0);
	assert_due(&bound_pairs, "c v ");
	volume = bound_pairs_get(&bound_pairs, KIND_PERSISTENT_VOLUME, "", "v");
	bound_pairs_forget(&bound_pairs, volume);
	assert_ptr_equal(bound_pairs_get(&bound_pairs, KIND_PERSISTENT_VOLUME, "", "v"), volume);
	assert_int_equal(bound_pairs_set(&bound_pairs, NULL, c), 0);
	assert_due(&bound_pairs, "c v ");
	bound_pairs_forget(&bound_pairs, volume);
	assert_null(bound_pairs_get(&bound_pairs, KIND_PERSISTENT_VOLUME, "", "v"));
	bound_pairs_done(&bound_pairs);
}

static void the_same_is_said_once(void **state)
{
	struct bound_pairs bound_pairs = { 0 };
	struct bound_pair *bound_pair =
		bound_pairs_add(&bound_pairs, KIND_PERSISTENT_VOLUME, "", "v");

	assert_false(bound_pair_says_again(bound_pair, "Failed", "x"));
	assert_true(bound_pair_says_again(bound_pair, "Failed", "x"));
	assert_false(bound_pair_says_again(bound_pair, "Failed", "y"));
	assert_false(bound_pair_says_again(bound_pair, NULL, NULL));
	assert_false(bound_pair_says_again(bound_pair, "Failed", "y"));
	bound_pairs_done(&bound_pairs);
}

static void name_that_is_too_long_to_exist_is_unknown(void **state)
{
	struct bound_pairs bound_pairs = { 0 };
	char name[400];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_null(bound_pairs_add(&bound_pairs, KIND_PERSISTENT_VOLUME, "", name));
	assert_null(bound_pairs_get(&bound_pairs, KIND_PERSISTENT_VOLUME, "", name));
	bound_pairs_done(&bound_pairs);
}

static void waiting_claims_are_due_until_forgotten(void **state)
{
	struct bound_pairs pairs = { 0 };
	enum object_kind kind = KIND_PERSISTENT_VOLUME_CLAIM;
	struct bound_pair *one = bound_pairs_add(&pairs, kind, "default", "one");
	struct bound_pair *other = bound_pairs_add(&pairs, kind, "default", "other");

	assert_true(one && other);
	bound_pair_set_waiting(&pairs, one, true);
	bound_pair_set_waiting(&pairs, other, true);
	bound_pair_set_waiting(&pairs, other, true);
	bound_pairs_forget(&pairs, one);
	bound_pairs_make_waiting_due(&pairs);
	assert_ptr_equal(bound_pairs_take_due(&pairs), other);
	assert_null(bound_pairs_take_due(&pairs));
	bound_pair_set_waiting(&pairs, other, false);
	bound_pairs_make_waiting_due(&pairs);
	assert_null(bound_pairs_take_due(&pairs));
	bound_pairs_done(&pairs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_concerns_both_sides),
		cmocka_unit_test(namers_are_sorted_and_leave),
		cmocka_unit_test(busy_one_is_due_when_it_is_free),
		cmocka_unit_test(claims_come_first_and_who_became_busy_waits),
		cmocka_unit_test(one_that_is_named_is_not_forgotten),
		cmocka_unit_test(the_same_is_said_once),
		cmocka_unit_test(name_that_is_too_long_to_exist_is_unknown),
		cmocka_unit_test(waiting_claims_are_due_until_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
