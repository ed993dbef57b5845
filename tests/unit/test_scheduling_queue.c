/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_scheduling_queue - whose claims are looked at first
 *
 * The texts use ' for ".
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_world.h"

#include "base/cleanup.h"
#include "controller/scheduling_queue.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define USES(claim) "{'name':'" claim "','persistentVolumeClaim':{'claimName':'" claim "'}}"
#define POD(name, rest, volumes)                                                                   \
	"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'" name                                \
	"','namespace':'ns'},'spec':{'containers':[{'name':'a','image':'i'}],'volumes':[" volumes  \
	"]" rest "}}"
#define PRIORITY(n) ",'priority':" n

/* What the store takes for the time of day; 0: the real one. */
static time_t now;

int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (clock != CLOCK_REALTIME || now == 0)
		return __real_clock_gettime(clock, ret);
	*ret = (struct timespec){ .tv_sec = now };
	return 0;
}

static const struct {
	struct {
		time_t created;
		const char *pod;
	} pods[3]; /* in the order in which they are stored */
	const char *due, *order;
} rows[] = {
	{ { { 20, POD("p", "", USES("b")) }, { 10, POD("q", "", USES("a")) } }, "ab", "ab" },
	{ { { 10, POD("p", "", USES("b")) }, { 20, POD("q", "", USES("a")) } }, "ab", "ba" },
	{ { { 10, POD("q", "", USES("b")) }, { 10, POD("p", "", USES("a")) } }, "ab", "ba" },
	{ { { 10, POD("p", "", USES("a")) }, { 20, POD("q", PRIORITY("1"), USES("b")) } },
	  "ab",
	  "ba" },
	{ { { 10, POD("p", PRIORITY("-1"), USES("a")) }, { 20, POD("q", "", USES("b")) } },
	  "ab",
	  "ba" },
	/* All claims of a pod together, as it has them; what no pod has comes last. */
	{ { { 10, POD("p", "", USES("c") "," USES("a")) }, { 20, POD("q", "", USES("b")) } },
	  "abcd",
	  "cabd" },
	/* One that two have belongs to the first. */
	{ { { 10, POD("p", "", USES("b")) }, { 20, POD("q", "", USES("a") "," USES("b")) } },
	  "ab",
	  "ba" },
	/* What is not due is not made so, nor is what nobody knows of. */
	{ { { 10, POD("p", "", USES("b") "," USES("x")) }, { 20, POD("q", "", USES("a")) } },
	  "a",
	  "a" },
	{ { { 0, NULL } }, "a", "a" },
};

static void pods_in_their_order(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct partners partners = { 0 };
		struct partner *partner;
		struct store_world world;
		char got[16] = "";

		store_world_open(&world);
		for (size_t j = 0; j < ARRAY_SIZE(rows[i].pods) && rows[i].pods[j].pod; j++) {
			cleanup_object const struct object *pod = object_of(rows[i].pods[j].pod);

			now = rows[i].pods[j].created;
			assert_int_equal(world_create(&world, pod), 0);
		}
		now = 0;
		for (const char *name = "abcd"; *name; name++) {
			partner = partners_add(&partners, KIND_PERSISTENT_VOLUME_CLAIM, "ns",
					       (const char[]){ *name, '\0' });
			assert_non_null(partner);
			if (strchr(rows[i].due, *name))
				partners_make_due(&partners, partner);
		}
		scheduling_queue_order(world.store, &partners);
		while ((partner = partners_take_due(&partners)))
			(void) strncat(got, partner_name(partner).name,
				       sizeof(got) - strlen(got) - 1);
		if (strcmp(got, rows[i].order) != 0)
			fail_msg("row %zu: '%s', not '%s'", i, got, rows[i].order);
		partners_done(&partners);
		store_world_close(&world);
	}
}

/* Not those of others, of which there may be thousands. */
static void claims_of_the_pods_that_use_one(void **state)
{
	static const char *const pods[] = { POD("p", "", USES("a") "," USES("b")),
					    POD("q", "", USES("c")) };
	cleanup_object const struct object *claim = object_of(
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'a',"
		"'namespace':'ns'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"
		"'requests':{'storage':'1Gi'}}}}");
	struct partners partners = { 0 };
	struct partner *known[3];
	struct store_world world;

	store_world_open(&world);
	for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
		cleanup_object const struct object *pod = object_of(pods[i]);

		assert_int_equal(world_create(&world, pod), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		known[i] = partners_add(&partners, KIND_PERSISTENT_VOLUME_CLAIM, "ns",
					(const char[]){ (char) ('a' + i), '\0' });
	scheduling_queue_users_due(world.store, &partners, claim);
	assert_true(partner_is_due(known[0]) && partner_is_due(known[1]));
	assert_false(partner_is_due(known[2]));
	partners_done(&partners);
	store_world_close(&world);
}

static void busy_ones_stay_where_they_are(void **state)
{
	struct partners partners = { 0 };
	struct partner *a = partners_add(&partners, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "a");
	struct partner *b = partners_add(&partners, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "b");

	assert_true(a && b);
	partners_make_due(&partners, a);
	partners_make_due(&partners, b);
	assert_true(partner_is_due(a));
	partner_set_busy(&partners, a, true);
	assert_false(partner_is_due(a));
	partners_put_first(&partners, a);
	assert_ptr_equal(partners_take_due(&partners), b);
	assert_null(partners_take_due(&partners));
	partner_set_busy(&partners, a, false);
	partners_make_due(&partners, b);
	partners_put_first(&partners, a);
	assert_ptr_equal(partners_take_due(&partners), a);
	assert_ptr_equal(partners_take_due(&partners), b);
	partners_done(&partners);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_in_their_order),
		cmocka_unit_test(claims_of_the_pods_that_use_one),
		cmocka_unit_test(busy_ones_stay_where_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
