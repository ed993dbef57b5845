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

#include "tests/unit/store/store_world.h"

#include "base/cleanup.h"
#include "controller/scheduling/scheduling.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define USES(claim) "{'name':'" claim "','persistentVolumeClaim':{'claimName':'" claim "'}}"
#define POD(name, rest, volumes)                                                                   \
	"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'" name                                \
	"','namespace':'ns'},'spec':{'containers':[{'name':'a','image':'i'}],'volumes':[" volumes  \
	"]" rest "}}"
#define PRIORITY(n) ",'priority':" n

#define CLASS(name, mode)                                                                          \
	"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'" name        \
	"'},'provisioner':'podvol/local','volumeBindingMode':'" mode "'}"

/* What the store takes for the time of day; 0: the real one. */
static time_t now;

static unsigned int lists; /* of the store */

int __real_store_list(struct store *store, enum object_kind kind, const char *name_space,
		      int (*visit)(const struct object *object, void *userdata), void *userdata);
int __wrap_store_list(struct store *store, enum object_kind kind, const char *name_space,
		      int (*visit)(const struct object *object, void *userdata), void *userdata);

int __wrap_store_list(struct store *store, enum object_kind kind, const char *name_space,
		      int (*visit)(const struct object *object, void *userdata), void *userdata)
{
	lists++;
	return __real_store_list(store, kind, name_space, visit, userdata);
}

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
	/* What is not due is not made so, nor is what is unknown. */
	{ { { 10, POD("p", "", USES("b") "," USES("x")) }, { 20, POD("q", "", USES("a")) } },
	  "a",
	  "a" },
	{ { { 0, NULL } }, "a", "a" },
};

static void store_claim(struct store_world *world, char name, const char *spec)
{
	char text[512];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'%c',"
			"'namespace':'ns'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"
			"'requests':{'storage':'1Gi'}},%s}}",
			name, spec);
	cleanup_object const struct object *claim = object_of(text);

	assert_int_equal(world_create(world, claim), 0);
}

static void store_class(struct store_world *world, const char *text)
{
	cleanup_object const struct object *class = object_of(text);

	assert_int_equal(world_create(world, class), 0);
}

static void pods_in_their_order(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bound_pairs bound_pairs = { 0 };
		struct bound_pair *bound_pair;
		struct store_world world;
		char got[16] = "";

		store_world_open(&world);
		for (size_t j = 0; j < ARRAY_SIZE(rows[i].pods) && rows[i].pods[j].pod; j++) {
			cleanup_object const struct object *pod = object_of(rows[i].pods[j].pod);

			now = rows[i].pods[j].created;
			assert_int_equal(world_create(&world, pod), 0);
		}
		now = 0;
		store_class(&world, CLASS("waits", "WaitForFirstConsumer"));
		for (const char *name = "abcd"; *name; name++) {
			store_claim(&world, *name, "'storageClassName':'waits'");
			bound_pair = bound_pairs_add(&bound_pairs, KIND_PERSISTENT_VOLUME_CLAIM,
						     "ns", (const char[]){ *name, '\0' });
			assert_non_null(bound_pair);
			if (strchr(rows[i].due, *name))
				bound_pairs_make_due(&bound_pairs, bound_pair);
		}
		lists = 0;
		scheduling_queue_order(world.store, &bound_pairs, false);
		/* One claim has an order already, whatever pods there are. */
		assert_int_equal(lists, strlen(rows[i].due) > 1);
		while ((bound_pair = bound_pairs_take_due(&bound_pairs)))
			(void) strncat(got, bound_pair_name(bound_pair).name,
				       sizeof(got) - strlen(got) - 1);
		if (strcmp(got, rows[i].order) != 0)
			fail_msg("row %zu: '%s', not '%s'", i, got, rows[i].order);
		bound_pairs_done(&bound_pairs);
		store_world_close(&world);
	}
}

/* No look at thousands of pods for claims that take nothing from each other. */
static void claims_without_competitors(void **state)
{
	static const struct {
		const char *spec;
		bool has_free_volumes;
		unsigned int lists;
	} kinds[] = {
		{ "'storageClassName':'waits'", false, 1 },
		{ "'storageClassName':'waits','volumeName':'v'", true, 0 },
		{ "'storageClassName':'at-once'", false, 0 },
		{ "'storageClassName':'at-once'", true, 1 },
		{ "'storageClassName':'unknown'", false, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct bound_pairs bound_pairs = { 0 };
		struct store_world world;

		store_world_open(&world);
		store_class(&world, CLASS("waits", "WaitForFirstConsumer"));
		store_class(&world, CLASS("at-once", "Immediate"));
		for (char name = 'a'; name <= 'c'; name++) {
			store_claim(&world, name, kinds[i].spec);
			bound_pairs_make_due(&bound_pairs,
					     bound_pairs_add(&bound_pairs,
							     KIND_PERSISTENT_VOLUME_CLAIM, "ns",
							     (const char[]){ name, '\0' }));
		}
		lists = 0;
		scheduling_queue_order(world.store, &bound_pairs, kinds[i].has_free_volumes);
		assert_int_equal(lists, kinds[i].lists);
		bound_pairs_done(&bound_pairs);
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
	struct bound_pairs bound_pairs = { 0 };
	struct bound_pair *known[3];
	struct store_world world;

	store_world_open(&world);
	for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
		cleanup_object const struct object *pod = object_of(pods[i]);

		assert_int_equal(world_create(&world, pod), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		known[i] = bound_pairs_add(&bound_pairs, KIND_PERSISTENT_VOLUME_CLAIM, "ns",
					   (const char[]){ (char) ('a' + i), '\0' });
	scheduling_queue_users_due(world.store, &bound_pairs, claim);
	assert_true(bound_pair_is_due(known[0]) && bound_pair_is_due(known[1]));
	assert_false(bound_pair_is_due(known[2]));
	bound_pairs_done(&bound_pairs);
	store_world_close(&world);
}

static void busy_ones_stay_where_they_are(void **state)
{
	struct bound_pairs bound_pairs = { 0 };
	struct bound_pair *a =
		bound_pairs_add(&bound_pairs, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "a");
	struct bound_pair *b =
		bound_pairs_add(&bound_pairs, KIND_PERSISTENT_VOLUME_CLAIM, "ns", "b");

	assert_true(a && b);
	bound_pairs_make_due(&bound_pairs, a);
	bound_pairs_make_due(&bound_pairs, b);
	assert_true(bound_pair_is_due(a));
	bound_pair_set_busy(&bound_pairs, a, true);
	assert_false(bound_pair_is_due(a));
	bound_pairs_put_first(&bound_pairs, a);
	assert_ptr_equal(bound_pairs_take_due(&bound_pairs), b);
	assert_null(bound_pairs_take_due(&bound_pairs));
	bound_pair_set_busy(&bound_pairs, a, false);
	bound_pairs_make_due(&bound_pairs, b);
	bound_pairs_put_first(&bound_pairs, a);
	assert_ptr_equal(bound_pairs_take_due(&bound_pairs), a);
	assert_ptr_equal(bound_pairs_take_due(&bound_pairs), b);
	bound_pairs_done(&bound_pairs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_in_their_order),
		cmocka_unit_test(claims_without_competitors),
		cmocka_unit_test(claims_of_the_pods_that_use_one),
		cmocka_unit_test(busy_ones_stay_where_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
