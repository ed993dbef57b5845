/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_claim - what a PersistentVolumeClaim decodes to, its defaults and its rules
 */
#include "object/kinds/persistent_volume.h"

#include "base/cleanup.h"
#include "tests/unit/object/object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define HEAD     "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: data\n"
#define MODES    "  accessModes: [ReadWriteOnce]\n"
#define REQUESTS "  resources: {requests: {storage: 1Gi}}\n"

static void test_a_full_claim(void **state)
{
	const struct object *object = object_of(
		HEAD "  namespace: ns\n  finalizers: [a/b, kubernetes.io/pvc-protection]\n"
		     "  annotations: {pv.kubernetes.io/bind-completed: 'yes', "
		     "pv.kubernetes.io/bound-by-controller: 'yes'}\n"
		     "  ownerReferences:\n  - {kind: Job, name: j, uid: u-0}\n"
		     "  - {kind: Pod, name: p, uid: u-1, controller: true}\n"
		     "spec:\n  volumeName: pv\n  storageClassName: fast\n  volumeMode: Block\n"
		     "  accessModes: [ReadWriteOncePod]\n"
		     "  resources: {requests: {storage: 5Gi}}\n"
		     "  selector: {matchLabels: {a: b}}\n"
		     "status: {phase: Bound, capacity: {storage: 6Gi}}\n");
	const struct persistent_volume_claim *claim = object->claim;

	assert_ptr_equal(claim->object, object);
	assert_string_equal(object->meta.name_space, "ns");
	assert_string_equal(claim->volume_name, "pv");
	assert_true(claim->has_storage_class);
	assert_string_equal(claim->storage_class, "fast");
	assert_int_equal(claim->mode, VOLUME_MODE_BLOCK);
	assert_int_equal(claim->access_modes, ACCESS_READ_WRITE_ONCE_POD);
	assert_true(quantity_value(&claim->request) == 5LL << 30);
	assert_true(quantity_value(&claim->status_capacity) == 6LL << 30);
	assert_int_equal(claim->selector->count, 1);
	assert_int_equal(claim->phase, CLAIM_BOUND);
	assert_true(claim->bind_completed);
	assert_true(claim->bound_by_controller);
	assert_true(claim->has_protection_finalizer);
	assert_string_equal(claim->controller_owner_uid, "u-1");
	(void) object_unref(object);
}

static void test_defaults(void **state)
{
	const struct object *object = object_of(HEAD "spec:\n" MODES REQUESTS);
	const struct persistent_volume_claim *claim = object->claim;

	assert_string_equal(object->meta.name_space, "default");
	assert_string_equal(claim->volume_name, "");
	assert_false(claim->has_storage_class);
	assert_string_equal(claim->storage_class, "");
	assert_int_equal(claim->mode, VOLUME_MODE_FILESYSTEM);
	assert_false(claim->status_capacity.is_set);
	assert_null(claim->selector);
	assert_int_equal(claim->phase, CLAIM_PHASE_UNSET);
	assert_false(claim->bind_completed);
	assert_false(claim->bound_by_controller);
	assert_false(claim->has_protection_finalizer);
	assert_string_equal(claim->controller_owner_uid, "");
	(void) object_unref(object);
}

static void test_an_empty_class_is_a_class(void **state)
{
	const struct object *object =
		object_of(HEAD "spec:\n  storageClassName: ''\n" MODES REQUESTS);

	assert_true(object->claim->has_storage_class);
	assert_string_equal(object->claim->storage_class, "");
	(void) object_unref(object);
	object = object_of(HEAD "spec:\n  storageClassName: null\n" MODES REQUESTS);
	assert_false(object->claim->has_storage_class);
	(void) object_unref(object);
	object = object_of(HEAD "  annotations: {volume.beta.kubernetes.io/storage-class: ''}\n"
				"spec:\n  storageClassName: x\n" MODES REQUESTS);
	assert_true(object->claim->has_storage_class);
	assert_string_equal(object->claim->storage_class, "");
	(void) object_unref(object);
}

/* As in Kubernetes a quantity may be written as a number; it is a string from then on. */
static void test_numbers_are_quantities(void **state)
{
	const struct object *object =
		object_of(HEAD "spec:\n" MODES "  resources: {requests: {storage: 1_000}}\n");

	assert_true(quantity_value(&object->claim->request) == 1000);
	assert_non_null(strstr(object->json, "{\"storage\":\"1000\"}"));
	(void) object_unref(object);
}

static void test_rules(void **state)
{
	static const struct {
		const char *yaml, *why;
	} rules[] = {
		{ HEAD "spec:\n" REQUESTS,
		  "spec.accessModes: Required value: at least 1 access mode is required" },
		{ HEAD "spec:\n" REQUESTS "  accessModes: ReadWriteOnce\n",
		  "spec.accessModes: Invalid value: \"ReadWriteOnce\": must be a list, not a "
		  "string" },
		{ HEAD "spec:\n" MODES, "spec.resources.requests[storage]: Required value" },
		{ HEAD "spec:\n" MODES "  resources: {requests: {storage: 1e}}\n",
		  "spec.resources.requests[storage]: Invalid value: \"1e\": quantities are numbers "
		  "with a suffix, such as \"10Gi\" or \"1500m\"" },
		{ HEAD "spec:\n" MODES "  resources: {requests: {storage: 0}}\n",
		  "spec.resources.requests[storage]: Invalid value: \"0\": must be greater than "
		  "zero" },
		{ HEAD "spec:\n" MODES REQUESTS "  volumeMode: block\n",
		  "spec.volumeMode: Unsupported value: \"block\": supported values: \"Block\", "
		  "\"Filesystem\"" },
		{ HEAD "spec:\n" MODES REQUESTS "status: {phase: bound}\n",
		  "status.phase: Unsupported value: \"bound\": supported values: \"Pending\", "
		  "\"Bound\", \"Lost\"" },
		{ HEAD "spec:\n" MODES REQUESTS "status: {capacity: {storage: x}}\n",
		  "status.capacity[storage]: Invalid value: \"x\": quantities are numbers with a "
		  "suffix, such as \"10Gi\" or \"1500m\"" },
		{ HEAD "spec: 1\n", "spec: Invalid value: must be a map, not a number" },
		{ HEAD, "spec.accessModes: Required value: at least 1 access mode is required" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		assert_refused(rules[i].yaml, rules[i].why);
}

static void test_names_of_phases(void **state)
{
	assert_string_equal(claim_phase_name(CLAIM_PHASE_UNSET), "");
	assert_string_equal(claim_phase_name(CLAIM_LOST), "Lost");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_full_claim),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_an_empty_class_is_a_class),
		cmocka_unit_test(test_numbers_are_quantities),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_names_of_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
