/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_causes - 422 tells all that is wrong with an object or an update, a cause each
 */
#include "api_world.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PODS    "/api/v1/namespaces/default/pods"
#define MAPS    "/api/v1/namespaces/default/configmaps"
#define CLASSES "/apis/storage.k8s.io/v1/storageclasses"

static void assert_cause(struct world *world, int index, const char *reason, const char *field,
			 const char *message)
{
	char path[64];

	(void) snprintf(path, sizeof(path), "details.causes.%d.reason", index);
	assert_string_equal(world_string(world, path), reason);
	(void) snprintf(path, sizeof(path), "details.causes.%d.field", index);
	assert_string_equal(world_string(world, path), field);
	(void) snprintf(path, sizeof(path), "details.causes.%d.message", index);
	assert_string_equal(world_string(world, path), message);
}

static void assert_message(struct world *world, const char *message)
{
	assert_int_equal(world->exchange.status, 422);
	assert_string_equal(world_string(world, "reason"), "Invalid");
	assert_string_equal(world_string(world, "message"), message);
}

static void test_a_new_object(void **state)
{
	struct world *world = *state;

	(void) world_request(world, METHOD_POST, PODS,
			     "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"restartPolicy\":\"x\","
			     "\"containers\":[{\"name\":\"C\"},{}]}}");
	assert_message(world, "Pod \"web\" is invalid: [spec.containers[0].name: Invalid value: "
			      "\"C\": a lowercase RFC 1123 label must consist of lower case "
			      "alphanumeric characters or '-', spec.containers[1].name: Required "
			      "value, spec.restartPolicy: Unsupported value: \"x\": supported "
			      "values: \"Always\", \"Never\", \"OnFailure\"]");
	assert_cause(world, 1, "FieldValueRequired", "spec.containers[1].name", "Required value");
	assert_cause(world, 2, "FieldValueNotSupported", "spec.restartPolicy",
		     "Unsupported value: \"x\": supported values: \"Always\", \"Never\", "
		     "\"OnFailure\"");
	assert_string_equal(world_string(world, "details.causes.3.reason"), "");
}

static void test_one_cause_needs_no_brackets(void **state)
{
	struct world *world = *state;

	(void) world_request(world, METHOD_POST, MAPS,
			     "{\"metadata\":{\"name\":\"m\"},\"data\":{\"a/b\":\"\"}}");
	assert_message(world, "ConfigMap \"m\" is invalid: data[a/b]: Invalid value: \"a/b\": a "
			      "valid config key must consist of alphanumeric characters, '-', '_' "
			      "or '.'");
}

static void test_an_update(void **state)
{
	struct world *world = *state;

	assert_int_equal(world_request(world, METHOD_POST, CLASSES,
				       "{\"metadata\":{\"name\":\"c\"},\"provisioner\":\"a\"}"),
			 201);
	(void) world_request(world, METHOD_PUT, CLASSES "/c",
			     "{\"metadata\":{\"name\":\"c\"},\"provisioner\":\"b\","
			     "\"reclaimPolicy\":\"Retain\"}");
	assert_message(world, "StorageClass \"c\" is invalid: [provisioner: Forbidden: updates to "
			      "provisioner are forbidden., reclaimPolicy: Forbidden: updates to "
			      "reclaimPolicy are forbidden.]");
	assert_cause(world, 1, "FieldValueForbidden", "reclaimPolicy",
		     "Forbidden: updates to reclaimPolicy are forbidden.");
}

static void test_a_patch(void **state)
{
	struct world *world = *state;

	assert_int_equal(world_request(world, METHOD_POST, MAPS,
				       "{\"metadata\":{\"name\":\"m\"},\"immutable\":true,"
				       "\"data\":{\"a\":\"b\"}}"),
			 201);
	world_content = CONTENT_MERGE_PATCH;
	(void) world_request(world, METHOD_PATCH, MAPS "/m",
			     "{\"data\":{\"a/b\":\"\",\"..\":\"\"}}");
	assert_int_equal(world->exchange.status, 422);
	assert_cause(world, 0, "FieldValueInvalid", "data[a/b]",
		     "Invalid value: \"a/b\": a valid config key must consist of alphanumeric "
		     "characters, '-', '_' or '.'");
	assert_cause(world, 1, "FieldValueInvalid", "data[..]",
		     "Invalid value: \"..\": must not be '..'");
	(void) world_request(world, METHOD_PATCH, MAPS "/m",
			     "{\"data\":{\"a\":\"c\"},\"binaryData\":{\"x\":\"\"}}");
	assert_int_equal(world->exchange.status, 422);
	assert_cause(world, 0, "FieldValueForbidden", "data",
		     "Forbidden: field is immutable when `immutable` is set");
	assert_cause(world, 1, "FieldValueForbidden", "binaryData",
		     "Forbidden: field is immutable when `immutable` is set");
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(test_a_new_object),
		IN_WORLD(test_one_cause_needs_no_brackets),
		IN_WORLD(test_an_update),
		IN_WORLD(test_a_patch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
