/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_consumers - a pod gets a node for all its claims or for none, and says why not
 *
 * The texts use ' for ".
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "binder_world.h"

#include "base/cleanup.h"
#include "controller/scheduling/consumers.h"

#include <stdio.h>
#include <string.h>

#define LATE(name, provisioner)                                                                    \
	"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'" name        \
	"'},'provisioner':'" provisioner "','volumeBindingMode':'WaitForFirstConsumer'}"
#define NODE "{'apiVersion':'v1','kind':'Node','metadata':{'name':'here','labels':{'a':'b'}}}"
#define NAMED_CLAIM(name, class, rest)                                                             \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'" name              \
	"','namespace':'ns'},'spec':{'accessModes':['ReadWriteOnce'],'storageClassName':'" class   \
		"','resources':{'requests':{'storage':'1Gi'}}" rest "}}"
#define OF(claim) "{'name':'" claim "','persistentVolumeClaim':{'claimName':'" claim "'}}"
#define POD(name, volumes)                                                                         \
	"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'" name                                \
	"','namespace':'ns'},'spec':{'containers':[{'name':'a','image':'i'}],'volumes':[" volumes  \
	"]}}"
#define TWO OF("one") "," OF("two")

static const char *selected(struct world *world, const char *name)
{
	const struct object *claim = get(world, KIND_PERSISTENT_VOLUME_CLAIM, name);

	assert_non_null(claim);
	return claim->claim->selected_node;
}

/* How often an event of this name is there. */
static unsigned int told(const struct world *world, const char *event)
{
	unsigned int count = 0;

	for (const char *at = world->events; (at = strstr(at, event)); at++)
		count++;
	return count;
}

static void both_claims_get_the_node(void **state)
{
	struct world *world = *state;

	put(world, NODE);
	put(world, LATE("late", "example.com/p"));
	put(world, NAMED_CLAIM("one", "late", ""));
	put(world, NAMED_CLAIM("two", "late", ""));
	put(world, POD("p", TWO));
	start_and_run(world);
	assert_string_equal(selected(world, "one"), "here");
	assert_string_equal(selected(world, "two"), "here");
	assert_int_equal(told(world, "FailedScheduling"), 0);
}

/* No provisioner makes volumes of the second class, and none is there. */
static void neither_gets_it_when_one_cannot_be_here(void **state)
{
	struct world *world = *state;

	put(world, NODE);
	put(world, LATE("late", "example.com/p"));
	put(world, LATE("made", "kubernetes.io/no-provisioner"));
	put(world, NAMED_CLAIM("one", "late", ""));
	put(world, NAMED_CLAIM("two", "made", ""));
	put(world, POD("p", TWO));
	start_and_run(world);
	assert_string_equal(selected(world, "one"), "");
	assert_string_equal(selected(world, "two"), "");
	assert_int_equal(told(world, "p/FailedScheduling"), 1);

	/* The volume comes, and both are served. */
	put(world, VOLUME("v", "", CLASS("made"), ""));
	run(world);
	assert_string_equal(selected(world, "one"), "here");
	assert_string_equal(get(world, KIND_PERSISTENT_VOLUME_CLAIM, "two")->claim->volume_name,
			    "v");
	assert_int_equal(told(world, "p/FailedScheduling"), 1);
}

static void a_claim_that_is_missing_keeps_the_others(void **state)
{
	struct world *world = *state;

	put(world, NODE);
	put(world, LATE("late", "example.com/p"));
	put(world, NAMED_CLAIM("one", "late", ""));
	put(world, POD("p", TWO));
	start_and_run(world);
	assert_string_equal(selected(world, "one"), "");
	assert_int_equal(told(world, "p/FailedScheduling"), 1);
	put(world, NAMED_CLAIM("two", "late", ""));
	run(world);
	assert_string_equal(selected(world, "one"), "here");
	assert_string_equal(selected(world, "two"), "here");
}

/* One that does not wait is bound first, whenever its volume comes. */
static void a_claim_that_is_bound_at_once_comes_first(void **state)
{
	struct world *world = *state;

	put(world, NODE);
	put(world, LATE("late", "example.com/p"));
	put(world, CLASS_OBJECT("now", "", "kubernetes.io/no-provisioner"));
	put(world, NAMED_CLAIM("one", "late", ""));
	put(world, NAMED_CLAIM("two", "now", ""));
	put(world, POD("p", TWO));
	start_and_run(world);
	assert_string_equal(selected(world, "one"), "");
	put(world, VOLUME("v", "", CLASS("now"), ""));
	run(world);
	assert_string_equal(selected(world, "one"), "here");
}

static void another_pod_of_the_claim_may_be_here(void **state)
{
	struct world *world = *state;

	put(world, NODE);
	put(world, LATE("late", "example.com/p"));
	put(world, LATE("made", "kubernetes.io/no-provisioner"));
	put(world, NAMED_CLAIM("one", "late", ""));
	put(world, NAMED_CLAIM("two", "made", ""));
	put(world, POD("a", TWO));
	put(world, POD("b", OF("one")));
	start_and_run(world);
	assert_string_equal(selected(world, "one"), "here");
	assert_string_equal(selected(world, "two"), "");
}

static void the_words_are_the_schedulers(void **state)
{
	static const struct {
		const char *two, *pod, *why;
	} rows[] = {
		{ NAMED_CLAIM("two", "made", ""), POD("p", TWO),
		  "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to "
		  "bind." },
		{ NAMED_CLAIM("three", "made", ""), POD("p", TWO),
		  "0/1 nodes are available: persistentvolumeclaim \"two\" not found." },
		{ NAMED_CLAIM("two", "now", ""), POD("p", TWO),
		  "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims." },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world world = { .binder = NULL };
		struct consumers found;

		store_world_open(&world.store);
		put(&world, NODE);
		put(&world, LATE("late", "example.com/p"));
		put(&world, LATE("made", "kubernetes.io/no-provisioner"));
		put(&world, NAMED_CLAIM("one", "late", ""));
		put(&world, rows[i].two);
		put(&world, rows[i].pod);
		consumers_find(world.store.store, "here",
			       get(&world, KIND_PERSISTENT_VOLUME_CLAIM, "one"), NULL, &found);
		assert_null(found.node);
		assert_non_null(found.refused);
		assert_string_equal(found.refused->meta.name, "p");
		assert_string_equal(found.why, rows[i].why);
		assert_string_equal(found.names, "p");
		assert_false(found.is_crowded);
		consumers_find(world.store.store, NULL,
			       get(&world, KIND_PERSISTENT_VOLUME_CLAIM, "one"), NULL, &found);
		assert_null(found.node);
		assert_null(found.refused);
		store_world_close(&world.store);
	}
}

/* ---- what several pods want ---- */

#define CSI_NODE(count)                                                                            \
	"{'apiVersion':'storage.k8s.io/v1','kind':'CSINode','metadata':{'name':'here'},'spec':{"   \
	"'drivers':[{'name':'p.example.com','nodeID':'n1','allocatable':{'count':" count "}}]}}"
#define POD_OF(name, rest, volumes)                                                                \
	"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'" name                                \
	"','namespace':'ns'},'spec':{'containers':[{'name':'a','image':'i'}],'volumes':[" volumes  \
	"]" rest "}}"

/* All is there when the binder starts; the claims that are not named get no node. */
static void who_is_first_gets_what_is_scarce(void **state)
{
	static const struct {
		const char *csi_node, *pods[3];
		const char *given; /* claims, of "one" to "four" */
	} rows[] = {
		{ CSI_NODE("1"), { POD("p", OF("one")), POD("q", OF("two")) }, "one " },
		{ CSI_NODE("1"), { POD("q", OF("two")), POD("p", OF("one")) }, "two " },
		{ CSI_NODE("2"), { POD("q", OF("two")), POD("p", OF("one")) }, "one two " },
		{ CSI_NODE("1"),
		  { POD("p", OF("one")), POD_OF("q", ",'priority':7", OF("two")) },
		  "two " },
		{ CSI_NODE("1"),
		  { POD_OF("p", ",'priority':-7", OF("one")), POD("q", OF("two")) },
		  "two " },
		/* What does not fit keeps out no other. */
		{ CSI_NODE("1"),
		  { POD("p", OF("one") "," OF("two")), POD("q", OF("three")) },
		  "three " },
		{ CSI_NODE("3"),
		  { POD("p", OF("one") "," OF("two")), POD("q", OF("three") "," OF("four")),
		    POD("r", OF("four")) },
		  "one two four " },
		/* A claim of two pods is one volume. */
		{ CSI_NODE("2"),
		  { POD("p", OF("one") "," OF("two")), POD("q", OF("one")), POD("r", OF("three")) },
		  "one two " },
		{ CSI_NODE("0"), { POD("p", OF("one")) }, "" },
	};
	static const char *const names[] = { "one", "two", "three", "four" };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world world = { .binder = NULL };
		char given[32] = "";

		store_world_open(&world.store);
		put(&world, NODE);
		put(&world, rows[i].csi_node);
		put(&world, LATE("late", "p.example.com"));
		put(&world, NAMED_CLAIM("four", "late", ""));
		put(&world, NAMED_CLAIM("two", "late", ""));
		put(&world, NAMED_CLAIM("one", "late", ""));
		put(&world, NAMED_CLAIM("three", "late", ""));
		for (size_t j = 0; j < ARRAY_SIZE(rows[i].pods) && rows[i].pods[j]; j++)
			put(&world, rows[i].pods[j]);
		start_and_run(&world);
		for (size_t j = 0; j < ARRAY_SIZE(names); j++)
			if (selected(&world, names[j])[0])
				(void) snprintf(given + strlen(given),
						sizeof(given) - strlen(given), "%s ", names[j]);
		if (strcmp(given, rows[i].given) != 0)
			fail_msg("row %zu: '%s', not '%s'", i, given, rows[i].given);
		world.binder = pv_binder_free(world.binder);
		store_world_close(&world.store);
	}
}

static void one_that_was_kept_out_comes_when_another_goes(void **state)
{
	struct world *world = *state;

	put(world, NODE);
	put(world, CSI_NODE("1"));
	put(world, LATE("late", "p.example.com"));
	put(world, NAMED_CLAIM("one", "late", ""));
	put(world, NAMED_CLAIM("two", "late", ""));
	put(world, NAMED_CLAIM("three", "late", ""));
	put(world, POD("p", OF("one")));
	put(world, POD("q", OF("two")));
	put(world, POD("r", OF("three")));
	start_and_run(world);
	assert_string_equal(selected(world, "one"), "here");
	assert_string_equal(selected(world, "two"), "");
	assert_int_equal(told(world, "q/FailedScheduling"), 1);
	assert_int_equal(told(world, "r/FailedScheduling"), 1);

	assert_int_equal(world_delete(&world->store, KIND_POD, "ns", "p"), 0);
	run(world);
	assert_string_equal(selected(world, "two"), "here");
	assert_string_equal(selected(world, "three"), "");
	assert_int_equal(told(world, "r/FailedScheduling"), 1);

	/* One that has ended needs nothing, either. */
	put(world, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'q','namespace':'ns'},"
		   "'spec':{'containers':[{'name':'a','image':'i'}],'volumes':[" OF(
			   "two") "]},"
				  "'status':{'phase':'Succeeded'}}");
	run(world);
	assert_string_equal(selected(world, "three"), "here");
}

static void one_that_was_kept_out_comes_when_the_limit_goes(void **state)
{
	struct world *world = *state;
	struct consumers found;

	put(world, NODE);
	put(world, CSI_NODE("0"));
	put(world, LATE("late", "p.example.com"));
	put(world, NAMED_CLAIM("one", "late", ""));
	put(world, POD("p", OF("one")));
	start_and_run(world);
	assert_string_equal(selected(world, "one"), "");
	consumers_find(world->store.store, "here", get(world, KIND_PERSISTENT_VOLUME_CLAIM, "one"),
		       NULL, &found);
	assert_true(found.is_crowded);
	assert_int_equal(world_delete(&world->store, KIND_CSI_NODE, "", "here"), 0);
	run(world);
	assert_string_equal(selected(world, "one"), "here");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, binder_world_setup, binder_world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(both_claims_get_the_node),
		TEST(neither_gets_it_when_one_cannot_be_here),
		TEST(a_claim_that_is_missing_keeps_the_others),
		TEST(a_claim_that_is_bound_at_once_comes_first),
		TEST(another_pod_of_the_claim_may_be_here),
		cmocka_unit_test(the_words_are_the_schedulers),
		cmocka_unit_test(who_is_first_gets_what_is_scarce),
		TEST(one_that_was_kept_out_comes_when_another_goes),
		TEST(one_that_was_kept_out_comes_when_the_limit_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
