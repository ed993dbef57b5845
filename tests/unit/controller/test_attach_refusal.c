/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attach_refusal - what is not attached now: another node has it, or there is no room
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach_world.h"

/* case 454 */
static void test_elsewhere(void **state)
{
	struct world *world = *state;

	put_pod(world, "p", "a", "there");
	attach(world, "a", "there");
	use(world, "a", "there");
	world->events[0] = '\0';
	put_pod(world, "q", "a", "here");
	put_pod(world, "q", "a", "here");
	restart(world);
	world->events[0] = '\0';
	run(world);
	use(world, "a", "there");
	put_node(world, "other");
	assert_null(attachment(world, "a", "here"));
	assert_string_equal(world->events, "");
	remove_pod(world, "p");
	assert_null(attachment(world, "a", "here"));
	use(world, "", "there");
	assert_null(attachment(world, "a", "here"));
	detach(world, "a", "there");
	assert_non_null(attachment(world, "a", "here"));
}

static void test_multi_attach_words(void **state)
{
	struct world *world = *state;

	put_pod(world, "p", "a", "there");
	attach(world, "a", "there");
	world->events[0] = '\0';
	put_pod(world, "q", "a", "here");
	assert_string_equal(world->events,
			    "q Warning FailedAttachVolume: Multi-Attach error for volume \"pv-a\" "
			    "Volume is already used by pod(s) p\n");
	use(world, "a", "there");
	world->events[0] = '\0';
	remove_pod(world, "p");
	remove_pod(world, "q");
	put_pod(world, "r", "a", "here");
	assert_string_equal(world->events,
			    "r Warning FailedAttachVolume: Multi-Attach error for volume \"pv-a\" "
			    "Volume is already exclusively attached to one node and can't be "
			    "attached to another\n");
}

/* case 455 */
static void test_shared(void **state)
{
	struct world *world = *state;

	put_volume(world, "s", "'ReadWriteMany'");
	put_pod(world, "p", "s", "there");
	attach(world, "s", "there");
	put_pod(world, "q", "s", "here");
	assert_non_null(attachment(world, "s", "here"));
	attach(world, "s", "here");
	remove_pod(world, "p");
	detach(world, "s", "there");
	assert_false(attachment(world, "s", "here")->object->meta.deletes);
}

static void test_limit(void **state)
{
	struct world *world = *state;

	put(world, "{'apiVersion':'storage.k8s.io/v1','kind':'CSINode','metadata':{'name':'here'},"
		   "'spec':{'drivers':[{'name':'d','nodeID':'n','allocatable':{'count':1}}]}}");
	put_volume(world, "b", "'ReadWriteOnce'");
	put_pod(world, "p", "a", "here");
	put_pod(world, "q", "b", "here");
	assert_null(attachment(world, "b", "here"));
	assert_string_equal(world->events,
			    "q Warning FailedAttachVolume: AttachVolume.Attach failed for volume "
			    "\"pv-b\" : node(s) exceed max volume count\n");
	attach(world, "a", "here");
	remove_pod(world, "p");
	assert_null(attachment(world, "b", "here"));
	detach(world, "a", "here");
	assert_non_null(attachment(world, "b", "here"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, attach_world_setup, attach_world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_elsewhere),
		TEST(test_multi_attach_words),
		TEST(test_shared),
		TEST(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
