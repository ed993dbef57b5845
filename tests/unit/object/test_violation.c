/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_violation - all that is wrong with an object at once, as Kubernetes' causes tell it
 */
#include "object/schema/violation.h"

#include "base/cleanup.h"
#include "tests/unit/object/object_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define POD_HEAD "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"p\"}, "

static void violations_of(const char *json, struct violations *ret)
{
	cleanup_json struct cJSON *tree = tree_of_json(json);

	assert_int_equal(object_violations(tree, ret), 0);
}

static void assert_violation(const struct violations *found, size_t index, const char *reason,
			     const char *field, const char *message)
{
	assert_true(index < found->count);
	assert_string_equal(violation_reason(found->list[index].type), reason);
	assert_string_equal(found->list[index].field, field);
	assert_string_equal(found->list[index].message, message);
}

static void test_all_are_told(void **state)
{
	struct violations found;

	violations_of(POD_HEAD
		      "\"spec\": {\"restartPolicy\": \"Sometimes\", \"nodeName\": \"UP\","
		      " \"volumes\": [{\"name\": \"v\", \"hostPath\": {}}, {\"name\": \"v\"}],"
		      " \"containers\": [{\"name\": \"c\", \"volumeMounts\": [{\"name\": \"w\"}]},"
		      " {}]}}",
		      &found);
	assert_int_equal(found.count, 6);
	assert_violation(&found, 0, "FieldValueRequired", "spec.volumes[0].hostPath.path",
			 "Required value");
	assert_violation(&found, 1, "FieldValueDuplicate", "spec.volumes[1].name",
			 "Duplicate value: \"v\"");
	assert_violation(&found, 2, "FieldValueNotFound", "spec.containers[0].volumeMounts[0].name",
			 "Not found: \"w\"");
	assert_violation(&found, 3, "FieldValueRequired", "spec.containers[1].name",
			 "Required value");
	assert_violation(&found, 4, "FieldValueNotSupported", "spec.restartPolicy",
			 "Unsupported value: \"Sometimes\": supported values: \"Always\", "
			 "\"Never\", \"OnFailure\"");
	assert_violation(&found, 5, "FieldValueInvalid", "spec.nodeName",
			 "Invalid value: \"UP\": a lowercase RFC 1123 subdomain must consist of "
			 "lower case alphanumeric characters, '-' or '.'");
}

/* A look that goes on after an operator that is none does not ask how many values it takes. */
static void test_an_unknown_operator_is_a_violation(void **state)
{
	struct violations found;

	violations_of("{\"apiVersion\": \"v1\", \"kind\": \"PersistentVolumeClaim\","
		      " \"metadata\": {\"name\": \"c\"}, \"spec\": {\"accessModes\":"
		      " [\"ReadWriteOnce\"], \"resources\": {\"requests\": {\"storage\": \"1\"}},"
		      " \"selector\": {\"matchExpressions\":"
		      " [{\"key\": \"a\", \"operator\": \"Near\"}]}}}",
		      &found);
	assert_int_equal(found.count, 1);
	assert_violation(&found, 0, "FieldValueNotSupported",
			 "spec.selector.matchExpressions[0].operator",
			 "Unsupported value: \"Near\": supported values: \"DoesNotExist\", "
			 "\"Exists\", \"In\", \"NotIn\"");
}

static void test_the_first_is_the_failure(void **state)
{
	cleanup_json struct cJSON *tree =
		tree_of_json(POD_HEAD "\"spec\": {\"containers\": [], \"restartPolicy\": \"x\"}}");
	struct violations found;
	const struct object *object = NULL;
	struct failure failure = { .error = 0 }, again = { .error = 0 };

	assert_int_equal(object_from_json(tree, &object, &failure), -EINVAL);
	assert_string_equal(failure.text, "spec.containers: Required value");
	assert_int_equal(object_violations(tree, &found), 0);
	assert_int_equal(found.count, 2);
	assert_int_equal(violations_to_failure(&found, &again), -EINVAL);
	assert_string_equal(again.text, failure.text);
}

static void test_wrong_types_hide_the_rest(void **state)
{
	struct violations found;

	violations_of(POD_HEAD
		      "\"spec\": {\"containers\": 5, \"volumes\": {}, \"nodeName\": \"UP\"}}",
		      &found);
	assert_int_equal(found.count, 2);
	assert_violation(&found, 0, "FieldValueInvalid", "spec.containers",
			 "Invalid value: must be a list, not a number");
	assert_violation(&found, 1, "FieldValueInvalid", "spec.volumes",
			 "Invalid value: must be a list, not a map");
}

static void test_a_right_object_has_none(void **state)
{
	struct violations found;

	violations_of(POD_HEAD "\"spec\": {\"containers\": [{\"name\": \"c\"}]}}", &found);
	assert_int_equal(found.count, 0);
}

static void test_they_are_bounded(void **state)
{
	cleanup_json struct cJSON *tree = tree_of_json(POD_HEAD "\"spec\": {\"volumes\": []}}");
	struct cJSON *spec = json_ensure_object(tree, "spec");
	struct cJSON *list = json_add_array(spec, "containers");
	struct violations found;

	for (int i = 0; i < 3 * VIOLATIONS_MAX; i++)
		(void) json_add_object(list, NULL);
	assert_int_equal(object_violations(tree, &found), 0);
	assert_int_equal(found.count, VIOLATIONS_MAX);
}

static void test_kinds_that_are_not_served(void **state)
{
	cleanup_json struct cJSON *tree =
		tree_of_json("{\"apiVersion\": \"v1\", \"kind\": \"Service\"}");
	struct violations found;

	assert_int_equal(object_violations(tree, &found), -EOPNOTSUPP);
	assert_int_equal(found.count, 0);
}

static void test_updates(void **state)
{
	static const char class[] = "apiVersion: storage.k8s.io/v1\nkind: StorageClass\n"
				    "metadata: {name: c}\n";
	char one[200], other[200];
	const struct object *old, *new_object;
	struct violations found;

	(void) snprintf(one, sizeof(one), "%sprovisioner: a\nparameters: {x: z}\n", class);
	(void) snprintf(other, sizeof(other), "%sprovisioner: b\nreclaimPolicy: Retain\n", class);
	old = object_of(one);
	new_object = object_of(other);
	assert_int_equal(object_update_violations(old, new_object, &found), 0);
	assert_int_equal(found.count, 3);
	assert_violation(&found, 0, "FieldValueForbidden", "provisioner",
			 "Forbidden: updates to provisioner are forbidden.");
	assert_violation(&found, 2, "FieldValueForbidden", "reclaimPolicy",
			 "Forbidden: updates to reclaimPolicy are forbidden.");
	assert_int_equal(object_update_violations(old, old, &found), 0);
	assert_int_equal(found.count, 0);
	(void) object_unref(old);
	(void) object_unref(new_object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_are_told),
		cmocka_unit_test(test_an_unknown_operator_is_a_violation),
		cmocka_unit_test(test_the_first_is_the_failure),
		cmocka_unit_test(test_wrong_types_hide_the_rest),
		cmocka_unit_test(test_a_right_object_has_none),
		cmocka_unit_test(test_they_are_bounded),
		cmocka_unit_test(test_kinds_that_are_not_served),
		cmocka_unit_test(test_updates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
