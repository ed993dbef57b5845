/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_method - the rows of our table are what csi.proto says, all of it and nothing else
 */
#include "base/cleanup.h"
#include "csi/csi.pb-c.h"
#include "csi/csi_call.h"
#include "csi/plugin_registration.pb-c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const ProtobufCServiceDescriptor *const services[] = {
	&csi__v1__identity__descriptor,
	&csi__v1__node__descriptor,
	&csi__v1__controller__descriptor,
	&csi__v1__group_controller__descriptor,
	&pluginregistration__registration__descriptor,
};

static void test_every_method_of_every_service_is_a_row(void **state)
{
	unsigned int count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		for (unsigned int j = 0; j < services[i]->n_methods; j++, count++) {
			const ProtobufCMethodDescriptor *method = &services[i]->methods[j];
			const struct csi_method_row *row;
			enum csi_method found;
			char path[128];

			(void) snprintf(path, sizeof(path), "/%s/%s", services[i]->name,
					method->name);
			assert_int_equal(csi_method_by_name(path, &found), 0);
			row = csi_method_row(found);
			assert_string_equal(row->path, path);
			assert_string_equal(row->name, method->name);
			assert_ptr_equal(row->request, method->input);
			assert_ptr_equal(row->reply, method->output);
		}
	}
	assert_int_equal(count, CSI_METHOD_COUNT);
}

static void test_by_name(void **state)
{
	enum csi_method method;

	assert_int_equal(csi_method_by_name("NodeStageVolume", &method), 0);
	assert_int_equal(method, CSI_NODE_STAGE_VOLUME);
	assert_int_equal(csi_method_by_name("GetInfo", &method), 0);
	assert_int_equal(method, REGISTRATION_GET_INFO);
	assert_int_equal(csi_method_by_name("nodeStageVolume", &method), -ENOENT);
	assert_int_equal(csi_method_by_name("csi.v1.Node/NodeStageVolume", &method), -ENOENT);
	assert_int_equal(csi_method_by_name("", &method), -ENOENT);
}

/* Who repeats a call without a thought must not repeat one that acts. */
static void test_what_only_asks(void **state)
{
	static const enum csi_method acting[] = {
		CSI_NODE_STAGE_VOLUME,
		CSI_NODE_UNSTAGE_VOLUME,
		CSI_NODE_PUBLISH_VOLUME,
		CSI_NODE_UNPUBLISH_VOLUME,
		CSI_NODE_EXPAND_VOLUME,
		CSI_CREATE_VOLUME,
		CSI_DELETE_VOLUME,
		CSI_CONTROLLER_PUBLISH_VOLUME,
		CSI_CONTROLLER_UNPUBLISH_VOLUME,
		CSI_CREATE_SNAPSHOT,
		CSI_DELETE_SNAPSHOT,
		CSI_CONTROLLER_EXPAND_VOLUME,
		CSI_CONTROLLER_MODIFY_VOLUME,
		CSI_CREATE_VOLUME_GROUP_SNAPSHOT,
		CSI_DELETE_VOLUME_GROUP_SNAPSHOT,
		REGISTRATION_NOTIFY_STATUS,
	};
	unsigned int count = 0;

	for (enum csi_method method = 0; method < CSI_METHOD_COUNT; method++)
		count += !csi_method_row(method)->is_read_only_call;
	assert_int_equal(count, ARRAY_SIZE(acting));
	for (size_t i = 0; i < ARRAY_SIZE(acting); i++)
		assert_false(csi_method_row(acting[i])->is_read_only_call);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_method_of_every_service_is_a_row),
		cmocka_unit_test(test_by_name),
		cmocka_unit_test(test_what_only_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
