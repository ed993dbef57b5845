/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_node - what of a Node concerns volumes
 */
#include "object/kinds/node.h"

#include "base/cleanup.h"
#include "tests/unit/object/object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define HEAD "apiVersion: v1\nkind: Node\nmetadata:\n  name: here\n"

static void test_nothing(void **state)
{
	cleanup_object const struct object *object = object_of(HEAD);
	const struct node *node = object->node;

	assert_ptr_equal(node->object, object);
	assert_false(node->is_ready || node->is_out_of_service || node->is_managed ||
		     node->keeps_terminated);
	assert_int_equal(node->in_use.count, 0);
	assert_false(node_volumes_have(&node->attached, ""));
}

static void test_everything(void **state)
{
	cleanup_object const struct object *object = object_of(
		HEAD
		"  annotations: {volumes.kubernetes.io/controller-managed-attach-detach: 'true',\n"
		"    volumes.kubernetes.io/keep-terminated-pod-volumes: 'true'}\n"
		"spec: {taints: [{key: a, effect: NoExecute},\n"
		"  {key: node.kubernetes.io/out-of-service, effect: NoExecute}]}\n"
		"status:\n"
		"  conditions: [{type: Other, status: 'False'}, {type: Ready, status: 'True'}]\n"
		"  volumesInUse: [c, a, b]\n"
		"  volumesAttached: [{name: zz, devicePath: ''}, {name: yy, devicePath: "
		"/dev/x}]\n");
	const struct node *node = object->node;

	assert_true(node->is_ready && node->is_out_of_service && node->is_managed &&
		    node->keeps_terminated);
	assert_int_equal(node->in_use.count, 3);
	for (const char *name = "abc"; *name; name++)
		assert_true(node_volumes_have(&node->in_use, (char[2]){ *name }));
	assert_false(node_volumes_have(&node->in_use, "d"));
	assert_true(node_volumes_have(&node->attached, "yy"));
	assert_true(node_volumes_have(&node->attached, "zz"));
	assert_false(node_volumes_have(&node->attached, "a"));
}

static void test_half(void **state)
{
	cleanup_object const struct object *object = object_of(
		HEAD "  annotations: {volumes.kubernetes.io/keep-terminated-pod-volumes: 'yes'}\n"
		     "spec: {taints: [{key: node.kubernetes.io/unreachable, effect: NoExecute}]}\n"
		     "status: {conditions: [{type: Ready, status: Unknown}]}\n");

	assert_false(object->node->is_ready || object->node->is_out_of_service ||
		     object->node->keeps_terminated);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
