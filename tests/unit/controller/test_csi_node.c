/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_node - what is written to Node and CSINode, on a real store
 *
 * Each write is seen as a version of its object, so that "nothing was written" is a number.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/store/store_world.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "controller/csi/csi_node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world {
	struct store_world store;
	struct csi_node *csi_node;
	unsigned int answers;
	int error;
	char text[FAILURE_TEXT_BYTES];
};

static void on_done(void *userdata, int error, const struct failure *why)
{
	struct world *world = userdata;

	world->answers++;
	world->error = error;
	(void) snprintf(world->text, sizeof(world->text), "%s", error < 0 ? why->text : "");
}

static const struct object *get(struct world *world, enum object_kind kind)
{
	return store_get(world->store.store, kind, "", "n");
}

static void make_node(struct world *world, const char *labels)
{
	cleanup_object const struct object *node = NULL;
	char text[512];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'Node','metadata':{'name':'n','labels':{%s}}}",
			labels);
	node = object_of(text);
	assert_int_equal(world_create(&world->store, node), 0);
}

static bool has_csi_node(void *userdata)
{
	return get(userdata, KIND_CSI_NODE) != NULL;
}

static void start(struct world *world)
{
	assert_int_equal(
		csi_node_new(world->store.event, world->store.store, "n", &world->csi_node), 0);
}

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	store_world_open(&world->store);
	*state = world;
	return 0;
}

/* With Node and CSINode. */
static int set_up_node(void **state)
{
	(void) set_up(state);
	make_node(*state, "'l':'m'");
	start(*state);
	store_world_run(&((struct world *) *state)->store, has_csi_node, *state);
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	assert_null(csi_node_free(world->csi_node));
	store_world_close(&world->store);
	free(world);
	return 0;
}

static bool is_answered(void *userdata)
{
	return ((struct world *) userdata)->answers == 0 ? false : true;
}

static int answer(struct world *world)
{
	store_world_run(&world->store, is_answered, world);
	assert_int_equal(world->answers, 1);
	world->answers = 0;
	return world->error;
}

static int install(struct world *world, const char *driver, const char *node_id, const char *zone,
		   int64_t max_volumes)
{
	const struct label label = { "zone", zone };
	const struct csi_node_entry entry = { .driver = driver,
					      .node_id = node_id,
					      .topology = { &label, zone ? 1 : 0 },
					      .max_volumes = max_volumes };

	assert_int_equal(csi_node_install(world->csi_node, &entry, on_done, world), 0);
	return answer(world);
}

static int uninstall(struct world *world, const char *driver)
{
	assert_int_equal(csi_node_uninstall(world->csi_node, driver, on_done, world), 0);
	return answer(world);
}

static uint64_t version(struct world *world)
{
	return store_resource_version(world->store.store);
}

static void assert_has(struct world *world, enum object_kind kind, const char *text)
{
	const struct object *object = get(world, kind);

	assert_non_null(object);
	if (!strstr(object->json, text))
		fail_msg("no '%s' in %s", text, object->json);
}

static void assert_lacks(struct world *world, enum object_kind kind, const char *text)
{
	assert_null(strstr(get(world, kind)->json, text));
}

/* ---- tests ---- */

static void test_csi_node_is_made(void **state)
{
	struct world *world = *state;
	uint64_t before = version(world);

	assert_lacks(world, KIND_CSI_NODE, CSI_MIGRATED_ANNOTATION);
	assert_has(world, KIND_CSI_NODE, "\"drivers\":[]");
	assert_has(world, KIND_CSI_NODE, get(world, KIND_NODE)->meta.uid);
	world->csi_node = csi_node_free(world->csi_node);
	start(world); /* once more: nothing is written */
	assert_int_equal(uninstall(world, "nobody"), 0);
	assert_int_equal(version(world), before);
}

/* It may be written in the same moment by another client. */
static void test_waits_for_the_node(void **state)
{
	struct world *world = *state;

	start(world);
	for (int i = 0; i < 3; i++)
		(void) sd_event_run(world->store.event, 5 * USEC_PER_MSEC);
	make_node(world, "");
	store_world_run(&world->store, has_csi_node, world);
}

static void test_driver_without_a_node(void **state)
{
	struct world *world = *state;

	start(world);
	assert_int_equal(install(world, "d", "i", NULL, 0), -ENOENT);
	assert_string_equal(world->text, "Node 'n' not found");
	assert_int_equal(uninstall(world, "d"), 0);
}

static void test_life_of_a_driver(void **state)
{
	struct world *world = *state;
	uint64_t before;

	assert_int_equal(install(world, "d", "i", "a", 10), 0); /* case 240, case 243 */
	assert_has(world, KIND_NODE, "{\\\"d\\\":\\\"i\\\"}");
	assert_has(world, KIND_NODE, "\"zone\":\"a\"");
	assert_has(world, KIND_CSI_NODE,
		   "{\"allocatable\":{\"count\":10},\"name\":\"d\","
		   "\"nodeID\":\"i\",\"topologyKeys\":[\"zone\"]}");
	assert_int_equal(install(world, "e", "j", NULL, 0), 0);
	before = version(world);
	assert_int_equal(install(world, "d", "i", "a", 10), 0);
	assert_int_equal(version(world), before); /* case 246 */
	assert_int_equal(uninstall(world, "d"), 0);
	assert_lacks(world, KIND_CSI_NODE, "\"name\":\"d\"");
	assert_has(world, KIND_CSI_NODE, "\"name\":\"e\"");
	assert_has(world, KIND_NODE, "{\\\"e\\\":\\\"j\\\"}");
	assert_has(world, KIND_NODE, "\"zone\":\"a\""); /* case 234: labels stay */
	assert_int_equal(uninstall(world, "e"), 0);
	assert_lacks(world, KIND_NODE, CSI_NODE_ID_ANNOTATION);
}

/* An entry may not be changed where it stands, and ends up at the end. */
static void test_driver_that_says_something_else(void **state)
{
	struct world *world = *state;

	assert_int_equal(install(world, "d", "i", NULL, 0), 0);
	assert_int_equal(install(world, "e", "j", NULL, 0), 0);
	assert_int_equal(install(world, "d", "k", "a", 0), 0); /* case 242 */
	assert_has(world, KIND_CSI_NODE,
		   "{\"name\":\"e\",\"nodeID\":\"j\"},{\"name\":\"d\",\"nodeID\":\"k\","
		   "\"topologyKeys\":[\"zone\"]}]");
	assert_has(world, KIND_NODE, "{\\\"d\\\":\\\"k\\\",\\\"e\\\":\\\"j\\\"}");
}

static void test_contradiction_writes_nothing(void **state)
{
	struct world *world = *state;
	uint64_t before;

	assert_int_equal(install(world, "d", "i", "b", 0), 0);
	before = version(world);
	assert_int_equal(install(world, "e", "j", "a", 0), -EEXIST); /* case 241 */
	assert_non_null(strstr(world->text, "zone"));
	assert_int_equal(install(world, "e", "", NULL, 0), -EINVAL); /* case 239 */
	assert_int_equal(version(world), before);
}

/* What the store does not admit is reported at once, and as the store says it. */
static void test_what_is_not_admitted(void **state)
{
	struct world *world = *state;
	char long_id[300];

	memset(long_id, 'x', sizeof(long_id) - 1);
	long_id[sizeof(long_id) - 1] = '\0';
	assert_int_equal(install(world, "d", long_id, NULL, 0), -EINVAL);
	assert_non_null(strstr(world->text, "192"));
	assert_lacks(world, KIND_CSI_NODE, "\"name\":\"d\"");
}

static int put_label(struct cJSON *tree, void *userdata)
{
	return json_set_string(json_ensure_object(json_ensure_object(tree, "metadata"), "labels"),
			       userdata, "x");
}

/* Both changes are there in the end. */
static void test_somebody_else_writes_at_the_same_time(void **state)
{
	struct world *world = *state;
	const struct csi_node_entry entry = { .driver = "d", .node_id = "i" };
	cleanup_object const struct object *node = NULL, *csi_node = NULL;

	assert_int_equal(object_edit(get(world, KIND_NODE), put_label, "theirs", &node, NULL), 0);
	assert_int_equal(
		object_edit(get(world, KIND_CSI_NODE), put_label, "theirs", &csi_node, NULL), 0);
	assert_int_equal(csi_node_install(world->csi_node, &entry, on_done, world), 0);
	assert_int_equal(store_update(world->store.store, node, NULL, NULL, NULL), 0);
	assert_int_equal(store_update(world->store.store, csi_node, NULL, NULL, NULL), 0);
	assert_int_equal(answer(world), 0);
	assert_has(world, KIND_NODE, "theirs");
	assert_has(world, KIND_NODE, CSI_NODE_ID_ANNOTATION);
	assert_has(world, KIND_CSI_NODE, "theirs");
	assert_has(world, KIND_CSI_NODE, "\"name\":\"d\"");
}

static void test_csi_node_that_somebody_deleted(void **state)
{
	struct world *world = *state;

	assert_int_equal(world_delete(&world->store, KIND_CSI_NODE, "", "n"), 0);
	store_world_run(&world->store, has_csi_node, world);
	assert_lacks(world, KIND_CSI_NODE, CSI_MIGRATED_ANNOTATION);
	assert_has(world, KIND_CSI_NODE, "\"drivers\":[]");
}

static bool has_both(void *userdata)
{
	const struct object *object = get(userdata, KIND_CSI_NODE);

	return object && strstr(object->json, "\"name\":\"d\"") &&
	       strstr(object->json, "\"name\":\"e\"");
}

/* With all that is registered, as it was reported last, and with nothing that left. */
static void test_drivers_come_back_with_it(void **state)
{
	struct world *world = *state;

	assert_int_equal(install(world, "d", "before", "z1", 3), 0);
	assert_int_equal(install(world, "d", "i", "z1", 7), 0);
	assert_int_equal(install(world, "left", "i", "z1", 0), 0);
	assert_int_equal(install(world, "e", "i", NULL, 0), 0);
	assert_int_equal(uninstall(world, "left"), 0);
	assert_int_equal(world_delete(&world->store, KIND_CSI_NODE, "", "n"), 0);
	store_world_run(&world->store, has_both, world);
	assert_has(world, KIND_CSI_NODE, "\"nodeID\":\"i\"");
	assert_has(world, KIND_CSI_NODE, "\"count\":7");
	assert_has(world, KIND_CSI_NODE, "\"zone\"");
	assert_lacks(world, KIND_CSI_NODE, "before");
	assert_lacks(world, KIND_CSI_NODE, "left");
	assert_int_equal(world->answers, 0);
}

/* What was under way is not reported; the store's later answer has no effect. */
static void test_end_in_the_middle(void **state)
{
	struct world *world = *state;
	const struct csi_node_entry entry = { .driver = "d", .node_id = "i" };

	assert_int_equal(csi_node_install(world->csi_node, &entry, on_done, world), 0);
	assert_int_equal(csi_node_install(world->csi_node, &entry, on_done, world), 0);
	while (!strstr(get(world, KIND_NODE)->json, CSI_NODE_ID_ANNOTATION))
		(void) sd_event_run(world->store.event, USEC_PER_SEC);
	(void) sd_event_run(world->store.event, 0);
	world->csi_node = csi_node_free(world->csi_node);
	assert_int_equal(world_delete(&world->store, KIND_POD, "x", "nobody"), -ENOENT);
	assert_int_equal(world->answers, 0);
}

int main(void)
{
#define ALONE(name)     cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define WITH_NODE(name) cmocka_unit_test_setup_teardown(name, set_up_node, tear_down)
	const struct CMUnitTest tests[] = {
		WITH_NODE(test_csi_node_is_made),
		ALONE(test_waits_for_the_node),
		ALONE(test_driver_without_a_node),
		WITH_NODE(test_life_of_a_driver),
		WITH_NODE(test_driver_that_says_something_else),
		WITH_NODE(test_contradiction_writes_nothing),
		WITH_NODE(test_what_is_not_admitted),
		WITH_NODE(test_somebody_else_writes_at_the_same_time),
		WITH_NODE(test_csi_node_that_somebody_deleted),
		WITH_NODE(test_drivers_come_back_with_it),
		WITH_NODE(test_end_in_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
