/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_partners - who names whom, and whose turn it is
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_world.h"

#include "base/cleanup.h"
#include "controller/partners.h"

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
static void assert_due(struct partners *partners, const char *expected)
{
	const char *names[8];
	char text[64] = "";
	struct partner *partner;
	size_t count = 0;

	while ((partner = partners_take_due(partners)))
		names[count++] = partner_name(partner).name;
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
	struct partners partners = { 0 };

	assert_int_equal(partners_set(&partners, c, NULL), 0);
	assert_due(&partners, "c v ");
	assert_int_equal(partners_set(&partners, v, NULL), 0);
	assert_due(&partners, "c v ");
	/* The old partner is told, too. */
	assert_int_equal(partners_set(&partners, moved, c), 0);
	assert_due(&partners, "c v w ");
	assert_int_equal(partners_set(&partners, NULL, moved), 0);
	assert_due(&partners, "c v w ");
	assert_int_equal(partners_set(&partners, NULL, v), 0);
	assert_due(&partners, "c v ");
	partners_done(&partners);
}

static void namers_are_sorted_and_leave(void **state)
{
	static const char *const names[] = { "m", "a", "z", "b" };
	struct partners partners = { 0 };
	struct partner *const *namers;
	const struct object *volumes[ARRAY_SIZE(names)];
	struct partner *claim;
	size_t count;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		volumes[i] = volume_of(names[i], "c");
		assert_int_equal(partners_set(&partners, volumes[i], NULL), 0);
		assert_int_equal(partners_set(&partners, volumes[i], volumes[i]), 0);
	}
	claim = partners_get(&partners, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "c");
	assert_non_null(claim);
	namers = partner_namers(claim, &count);
	assert_int_equal(count, 4);
	assert_string_equal(partner_name(namers[0]).name, "a");
	assert_string_equal(partner_name(namers[3]).name, "z");
	assert_int_equal(partner_kind(namers[0]), KIND_PERSISTENT_VOLUME);
	assert_int_equal(partners_set(&partners, NULL, volumes[1]), 0);
	namers = partner_namers(claim, &count);
	assert_int_equal(count, 3);
	assert_string_equal(partner_name(namers[0]).name, "b");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void) object_unref(volumes[i]);
	partners_done(&partners);
}

static void busy_one_is_due_when_it_is_free(void **state)
{
	struct partners partners = { 0 };
	struct partner *partner = partners_add(&partners, KIND_PERSISTENT_VOLUME, "", "v");

	assert_non_null(partner);
	assert_ptr_equal(partners_add(&partners, KIND_PERSISTENT_VOLUME, "", "v"), partner);
	partner_set_busy(&partners, partner, true);
	partners_make_due(&partners, partner);
	assert_due(&partners, "");
	partner_set_busy(&partners, partner, false);
	assert_due(&partners, "v ");
	partner_set_busy(&partners, partner, true);
	partner_set_busy(&partners, partner, false);
	assert_due(&partners, "");
	partners_done(&partners);
}

static void claims_come_first_and_who_became_busy_waits(void **state)
{
	struct partners partners = { 0 };
	struct partner *claim = partners_add(&partners, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "c");
	struct partner *volume = partners_add(&partners, KIND_PERSISTENT_VOLUME, "", "v");

	partners_make_due(&partners, claim);
	partners_make_due(&partners, volume);
	assert_ptr_equal(partners_take_due(&partners), claim);
	/* In the list, and busy now. */
	partner_set_busy(&partners, volume, true);
	assert_true(partner_is_busy(volume));
	assert_null(partners_take_due(&partners));
	partner_set_busy(&partners, volume, false);
	assert_ptr_equal(partners_take_due(&partners), volume);
	assert_null(partners_take_due(&partners));

	/* Free again before anybody looked at the list. */
	partners_make_due(&partners, volume);
	partner_set_busy(&partners, volume, true);
	partner_set_busy(&partners, volume, false);
	assert_ptr_equal(partners_take_due(&partners), volume);
	assert_null(partners_take_due(&partners));
	partners_done(&partners);
}

static void one_that_is_named_is_not_forgotten(void **state)
{
	cleanup_object const struct object *c = claim_of("c", "v");
	struct partners partners = { 0 };
	struct partner *volume;

	assert_int_equal(partners_set(&partners, c, NULL), 0);
	assert_due(&partners, "c v ");
	volume = partners_get(&partners, KIND_PERSISTENT_VOLUME, "", "v");
	partners_forget(&partners, volume);
	assert_ptr_equal(partners_get(&partners, KIND_PERSISTENT_VOLUME, "", "v"), volume);
	assert_int_equal(partners_set(&partners, NULL, c), 0);
	assert_due(&partners, "c v ");
	partners_forget(&partners, volume);
	assert_null(partners_get(&partners, KIND_PERSISTENT_VOLUME, "", "v"));
	partners_done(&partners);
}

static void the_same_is_said_once(void **state)
{
	struct partners partners = { 0 };
	struct partner *partner = partners_add(&partners, KIND_PERSISTENT_VOLUME, "", "v");

	assert_false(partner_says_again(partner, "Failed", "x"));
	assert_true(partner_says_again(partner, "Failed", "x"));
	assert_false(partner_says_again(partner, "Failed", "y"));
	assert_false(partner_says_again(partner, NULL, NULL));
	assert_false(partner_says_again(partner, "Failed", "y"));
	partners_done(&partners);
}

static void name_that_is_too_long_to_exist_is_unknown(void **state)
{
	struct partners partners = { 0 };
	char name[400];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_null(partners_add(&partners, KIND_PERSISTENT_VOLUME, "", name));
	assert_null(partners_get(&partners, KIND_PERSISTENT_VOLUME, "", name));
	partners_done(&partners);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
