/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_storage_class - what a StorageClass decodes to, its defaults and its rules
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

#define HEAD "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata:\n  name: fast\n"

static void test_a_full_class(void **state)
{
	const struct object *object = object_of(
		HEAD "  annotations: {storageclass.kubernetes.io/is-default-class: 'true'}\n"
		     "  namespace: dropped\n"
		     "provisioner: p/q\nreclaimPolicy: Retain\nallowVolumeExpansion: yes\n"
		     "volumeBindingMode: WaitForFirstConsumer\nparameters: {a: '1'}\n");
	const struct storage_class *class = object->storage_class;

	assert_ptr_equal(class->object, object);
	assert_string_equal(object->meta.name_space, "");
	assert_null(strstr(object->json, "dropped"));
	assert_string_equal(class->provisioner, "p/q");
	assert_int_equal(class->reclaim_policy, RECLAIM_RETAIN);
	assert_true(class->waits_for_first_consumer);
	assert_true(class->is_default);
	assert_true(class->allow_volume_expansion);
	(void) object_unref(object);
}

static void test_defaults(void **state)
{
	const struct object *object = object_of(HEAD "provisioner: x\n");
	const struct storage_class *class = object->storage_class;

	assert_int_equal(class->reclaim_policy, RECLAIM_DELETE);
	assert_false(class->waits_for_first_consumer);
	assert_false(class->is_default);
	assert_false(class->allow_volume_expansion);
	assert_non_null(strstr(object->json, "\"reclaimPolicy\":\"Delete\""));
	assert_non_null(strstr(object->json, "\"volumeBindingMode\":\"Immediate\""));
	(void) object_unref(object);
}

static void test_only_true_makes_a_default(void **state)
{
	static const struct {
		const char *yaml;
		bool is_default;
	} annotations[] = {
		{ HEAD "  annotations: {storageclass.kubernetes.io/is-default-class: 'True'}\n"
		       "provisioner: x\n",
		  false },
		{ HEAD "  annotations: {storageclass.kubernetes.io/is-default-class: ''}\n"
		       "provisioner: x\n",
		  false },
		{ HEAD "  annotations: {storageclass.beta.kubernetes.io/is-default-class: 'true'}\n"
		       "provisioner: x\n",
		  true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(annotations); i++) {
		const struct object *object = object_of(annotations[i].yaml);

		assert_int_equal(object->storage_class->is_default, annotations[i].is_default);
		(void) object_unref(object);
	}
}

static void test_rules(void **state)
{
	assert_refused(HEAD, "provisioner: Required value");
	assert_refused(HEAD "provisioner: x\nreclaimPolicy: Recycle\n",
		       "reclaimPolicy: Unsupported value: \"Recycle\": supported values: "
		       "\"Delete\", \"Retain\"");
	assert_refused(HEAD "provisioner: x\nvolumeBindingMode: Later\n",
		       "volumeBindingMode: Unsupported value: \"Later\": supported values: "
		       "\"Immediate\", \"WaitForFirstConsumer\"");
	assert_refused(HEAD "provisioner: x\nparameters: {a: 1}\n",
		       "parameters[a]: Invalid value: must be a string, not a number");
	assert_refused(HEAD "provisioner: x\nallowVolumeExpansion: 'true'\n",
		       "allowVolumeExpansion: Invalid value: \"true\": must be a boolean, not a "
		       "string");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_full_class),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_only_true_makes_a_default),
		cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
