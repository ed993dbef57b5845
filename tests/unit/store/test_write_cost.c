/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_write_cost - how many texts are parsed for a write, whatever the machine does besides
 *
 * Parsing is what a write costs most. An update that changes status, metadata or spec alone has one
 * parse, of the version that it edits, or none by derive.h; what it compares beyond that is
 * compared as texts.
 */
#include "base/cleanup.h"
#include "object/derive.h"
#include "object/json/json.h"
#include "tests/unit/store/store_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static unsigned int parses;

/* ld --wrap */
// NOLINTBEGIN(bugprone-reserved-identifier)
int __real_json_parse(const char *text, size_t length, const struct json_limits *limits,
		      struct cJSON **ret, struct failure *reterr);
int __wrap_json_parse(const char *text, size_t length, const struct json_limits *limits,
		      struct cJSON **ret, struct failure *reterr);

int __wrap_json_parse(const char *text, size_t length, const struct json_limits *limits,
		      struct cJSON **ret, struct failure *reterr)
{
	parses++;
	return __real_json_parse(text, length, limits, ret, reterr);
}
// NOLINTEND(bugprone-reserved-identifier)

static const char volume[] =
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'pv'},'spec':{'capacity':"
	"{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/data'}}}";

static int set_status(struct cJSON *tree, void *userdata)
{
	return json_set_string(json_ensure_object(tree, "status"), "phase", "Available");
}

static int set_annotation(struct cJSON *tree, void *userdata)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata");

	return json_set_string(json_ensure_object(metadata, "annotations"), "example.com/a", "b");
}

static int set_claim(struct cJSON *tree, void *userdata)
{
	struct cJSON *ref = json_ensure_object(json_ensure_object(tree, "spec"), "claimRef");

	(void) json_set_string(ref, "namespace", "default");
	return json_set_string(ref, "name", "claim");
}

static int set_nothing(struct cJSON *tree, void *userdata)
{
	return 0;
}

static const struct object *stored(struct store_world *world)
{
	return store_get(world->store, KIND_PERSISTENT_VOLUME, "", "pv");
}

/* Parses of an update from the edit to the answer. */
static unsigned int cost_of(struct store_world *world,
			    int (*edit)(struct cJSON *tree, void *userdata))
{
	struct store_precondition precondition = { 0 };
	const struct object *proposal;
	struct answer answer = { 0 };
	struct failure why;

	parses = 0;
	precondition.resource_version = stored(world)->meta.resource_version;
	assert_int_equal(object_edit(stored(world), edit, NULL, &proposal, &why), 0);
	assert_int_equal(store_update(world->store, proposal, &precondition, answer_take, &answer),
			 0);
	(void) object_unref(proposal);
	assert_int_equal(answer_wait(world, &answer), 0);
	return parses;
}

static void test_parses(void **state)
{
	struct store_world *world = *state;
	const struct object *proposal = object_of(volume);

	parses = 0;
	assert_int_equal(world_create(world, proposal), 0);
	assert_int_equal(parses, 2); /* it is no proposal: for the rules, and as it is stored */
	(void) object_unref(proposal);
	assert_int_equal(cost_of(world, set_status), 1);
	assert_true(strstr(stored(world)->json, "\"Available\"") != NULL);
	assert_int_equal(stored(world)->meta.generation, 1);
	/* Keys that are valid are not looked up in the old version. */
	assert_int_equal(cost_of(world, set_annotation), 1);
	assert_int_equal(stored(world)->meta.generation, 1);
	/* What of the spec may not change is the same text. */
	assert_int_equal(cost_of(world, set_claim), 1);
	assert_int_equal(stored(world)->meta.generation, 2);
}

static void test_an_edit_of_nothing(void **state)
{
	struct store_world *world = *state;
	const struct object *proposal = object_of(volume);
	uint64_t version;

	assert_int_equal(world_create(world, proposal), 0);
	(void) object_unref(proposal);
	version = stored(world)->meta.resource_version;
	assert_int_equal(cost_of(world, set_nothing), 1);
	assert_int_equal(stored(world)->meta.resource_version, version);
}

/* A mark, and a deletion that a finalizer holds back. */
static void test_metadata_alone(void **state)
{
	const struct store_key key = { KIND_PERSISTENT_VOLUME, "", "pv" };
	struct store_world *world = *state;
	const struct object *proposal = object_of(volume), *marked;
	struct answer answer = { 0 };

	assert_int_equal(world_create(world, proposal), 0);
	(void) object_unref(proposal);
	parses = 0;
	assert_int_equal(object_annotated(stored(world), "example.com/a", "b", &marked, NULL), 0);
	assert_int_equal(store_update(world->store, marked, NULL, answer_take, &answer), 0);
	(void) object_unref(marked);
	assert_int_equal(answer_wait(world, &answer), 0);
	answer = (struct answer){ 0 };
	assert_int_equal(store_delete(world->store, &key, NULL, answer_take, &answer), 0);
	assert_int_equal(answer_wait(world, &answer), 0);
	assert_int_equal(parses, 0);
	assert_true(stored(world)->meta.deletes);
	assert_non_null(strstr(stored(world)->json, "\"example.com/a\":\"b\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_parses, store_world_setup,
						store_world_teardown),
		cmocka_unit_test_setup_teardown(test_metadata_alone, store_world_setup,
						store_world_teardown),
		cmocka_unit_test_setup_teardown(test_an_edit_of_nothing, store_world_setup,
						store_world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
