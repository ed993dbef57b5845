/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_registration_capabilities - a registered driver tells what it can do, call by call
 *
 * The calls are made up, one at a time.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "csi/csi.pb-c.h"
#include "csi/csi_registration_internal.h"

#include <stdio.h>
#include <string.h>

struct csi_call {
	struct csi_call_request request;
	bool is_open;
};

static struct {
	struct csi_registration all;
	struct registration one;
	struct csi_call call;
	unsigned int told; /* how often all was known */
	int call_error;
} world;

int __wrap_csi_call_start(sd_event *event, struct csi_log *log,
			  const struct csi_call_request *request, struct csi_call **ret,
			  struct failure *reterr);
struct csi_call *__wrap_csi_call_cancel(struct csi_call *call);

int __wrap_csi_call_start(sd_event *event, struct csi_log *log,
			  const struct csi_call_request *request, struct csi_call **ret,
			  struct failure *reterr)
{
	assert_false(world.call.is_open);
	assert_string_equal(request->socket_path, "/e/csi.sock");
	assert_ptr_equal(request->message->descriptor, csi_method_row(request->method)->request);
	if (world.call_error < 0)
		return failed_plain(reterr, world.call_error, "too many calls");
	world.call = (struct csi_call){ .request = *request, .is_open = true };
	*ret = &world.call;
	return 0;
}

struct csi_call *__wrap_csi_call_cancel(struct csi_call *call)
{
	if (call)
		call->is_open = false;
	return NULL;
}

static const struct csi_driver *driver(void)
{
	return csi_drivers_at(world.all.options.drivers, "/r/a");
}

static void on_capable(void *userdata, const char *name)
{
	assert_string_equal(name, "d");
	assert_true(driver()->capabilities_known);
	world.told++;
}

static int set_up(void **state)
{
	static char name[] = "d", endpoint[] = "/e/csi.sock", socket[] = "/r/a";
	const struct csi_driver ready = {
		.name = name,
		.state = CSI_DRIVER_READY,
		.registration_socket = socket,
		.endpoint = endpoint,
		.version = "1.0.0",
		.node_id = "n1",
	};

	memset(&world, 0, sizeof(world));
	world.all.options.capable = on_capable;
	assert_true(sd_event_new(&world.all.options.event) >= 0);
	assert_int_equal(csi_drivers_new(world.all.options.event, NULL, &world.all.options.drivers),
			 0);
	assert_int_equal(csi_drivers_put(world.all.options.drivers, &ready), 0);
	world.one = (struct registration){
		.all = &world.all, .name = name, .endpoint = endpoint, .socket = socket
	};
	return 0;
}

static int tear_down(void **state)
{
	registration_end_capabilities(&world.one);
	assert_false(world.call.is_open);
	(void) csi_drivers_free(world.all.options.drivers);
	sd_event_unref(world.all.options.event);
	return 0;
}

static void answer(enum csi_method method, enum grpc_code code, const ProtobufCMessage *message)
{
	const struct csi_reply reply = { .status = { .code = code, .text = "no luck" },
					 .message = message };

	assert_true(world.call.is_open);
	assert_int_equal(world.call.request.method, method);
	world.call.is_open = false;
	world.call.request.done(world.call.request.userdata, &reply);
}

static void answer_node(void)
{
	Csi__V1__NodeServiceCapability__RPC rpc = CSI__V1__NODE_SERVICE_CAPABILITY__RPC__INIT;
	Csi__V1__NodeServiceCapability item = CSI__V1__NODE_SERVICE_CAPABILITY__INIT;
	Csi__V1__NodeServiceCapability *items[] = { &item };
	Csi__V1__NodeGetCapabilitiesResponse told = CSI__V1__NODE_GET_CAPABILITIES_RESPONSE__INIT;

	rpc.type = 1;
	item.type_case = CSI__V1__NODE_SERVICE_CAPABILITY__TYPE_RPC;
	item.rpc = &rpc;
	told.capabilities = items;
	told.n_capabilities = 1;
	answer(CSI_NODE_GET_CAPABILITIES, GRPC_OK, &told.base);
}

static void answer_plugin_with(Csi__V1__PluginCapability__Service__Type type)
{
	Csi__V1__PluginCapability__Service service = CSI__V1__PLUGIN_CAPABILITY__SERVICE__INIT;
	Csi__V1__PluginCapability__VolumeExpansion expansion =
		CSI__V1__PLUGIN_CAPABILITY__VOLUME_EXPANSION__INIT;
	Csi__V1__PluginCapability first = CSI__V1__PLUGIN_CAPABILITY__INIT, second = first,
				  unset = first;
	Csi__V1__PluginCapability *items[] = { &first, &unset, &second };
	Csi__V1__GetPluginCapabilitiesResponse told =
		CSI__V1__GET_PLUGIN_CAPABILITIES_RESPONSE__INIT;

	service.type = type;
	expansion.type = CSI__V1__PLUGIN_CAPABILITY__VOLUME_EXPANSION__TYPE__OFFLINE;
	first.type_case = CSI__V1__PLUGIN_CAPABILITY__TYPE_SERVICE;
	first.service = &service;
	second.type_case = CSI__V1__PLUGIN_CAPABILITY__TYPE_VOLUME_EXPANSION;
	second.volume_expansion = &expansion;
	told.capabilities = items;
	told.n_capabilities = 3;
	answer(CSI_GET_PLUGIN_CAPABILITIES, GRPC_OK, &told.base);
}

static void answer_plugin(void)
{
	answer_plugin_with(CSI__V1__PLUGIN_CAPABILITY__SERVICE__TYPE__CONTROLLER_SERVICE);
}

static void answer_controller(unsigned int number)
{
	Csi__V1__ControllerServiceCapability__RPC rpc =
		CSI__V1__CONTROLLER_SERVICE_CAPABILITY__RPC__INIT;
	Csi__V1__ControllerServiceCapability item = CSI__V1__CONTROLLER_SERVICE_CAPABILITY__INIT;
	Csi__V1__ControllerServiceCapability *items[] = { &item };
	Csi__V1__ControllerGetCapabilitiesResponse told =
		CSI__V1__CONTROLLER_GET_CAPABILITIES_RESPONSE__INIT;

	rpc.type = (Csi__V1__ControllerServiceCapability__RPC__Type) number;
	item.type_case = CSI__V1__CONTROLLER_SERVICE_CAPABILITY__TYPE_RPC;
	item.rpc = &rpc;
	told.capabilities = items;
	told.n_capabilities = 1;
	answer(CSI_CONTROLLER_GET_CAPABILITIES, GRPC_OK, &told.base);
}

static void test_controller_is_asked(void **state)
{
	registration_call_capabilities(&world.one);
	answer_node();
	assert_int_equal(driver()->node_capabilities, 1 << 1);
	answer_plugin();
	assert_int_equal(driver()->plugin_capabilities, 0); /* not all is reported */
	assert_int_equal(world.told, 0);
	answer_controller(1);
	assert_int_equal(world.told, 1);
	assert_true(driver()->has_controller);
	assert_int_equal(driver()->plugin_capabilities,
			 CSI_PLUGIN_CONTROLLER_SERVICE | CSI_PLUGIN_EXPANSION_OFFLINE);
	assert_true(csi_driver_can(driver(), CSI_CAN_CREATE_DELETE_VOLUME));
	assert_false(csi_driver_can(driver(), CSI_CAN_EXPAND_VOLUME));
}

static void test_group_controller_is_asked(void **state)
{
	Csi__V1__GroupControllerServiceCapability__RPC rpc =
		CSI__V1__GROUP_CONTROLLER_SERVICE_CAPABILITY__RPC__INIT;
	Csi__V1__GroupControllerServiceCapability item =
		CSI__V1__GROUP_CONTROLLER_SERVICE_CAPABILITY__INIT;
	Csi__V1__GroupControllerServiceCapability *items[] = { &item };
	Csi__V1__GroupControllerGetCapabilitiesResponse told =
		CSI__V1__GROUP_CONTROLLER_GET_CAPABILITIES_RESPONSE__INIT;

	rpc.type = 1;
	item.type_case = CSI__V1__GROUP_CONTROLLER_SERVICE_CAPABILITY__TYPE_RPC;
	item.rpc = &rpc;
	told.capabilities = items;
	told.n_capabilities = 1;
	registration_call_capabilities(&world.one);
	answer_node();
	answer_plugin_with(CSI__V1__PLUGIN_CAPABILITY__SERVICE__TYPE__GROUP_CONTROLLER_SERVICE);
	assert_int_equal(world.told, 0);
	answer(CSI_GROUP_CONTROLLER_GET_CAPABILITIES, GRPC_OK, &told.base);
	assert_int_equal(world.told, 1);
	assert_true(driver()->takes_group_snapshots);
	assert_false(driver()->has_controller);
}

static void test_number_of_the_future(void **state)
{
	registration_call_capabilities(&world.one);
	answer_node();
	answer_plugin();
	answer_controller(4000);
	assert_true(driver()->has_controller);
	assert_int_equal(driver()->controller_capabilities, 0);
}

static void test_driver_without_a_controller(void **state)
{
	registration_call_capabilities(&world.one);
	answer(CSI_NODE_GET_CAPABILITIES, GRPC_UNIMPLEMENTED, NULL);
	answer(CSI_GET_PLUGIN_CAPABILITIES, GRPC_UNIMPLEMENTED, NULL);
	assert_int_equal(world.told, 1);
	assert_false(world.call.is_open);
	assert_true(driver()->capabilities_known);
	assert_false(driver()->has_controller);
}

/* It says so, and does not know the call. */
static void test_controller_that_is_none(void **state)
{
	registration_call_capabilities(&world.one);
	answer_node();
	answer_plugin();
	answer(CSI_CONTROLLER_GET_CAPABILITIES, GRPC_UNIMPLEMENTED, NULL);
	assert_int_equal(world.told, 1);
	assert_false(driver()->has_controller);
}

static void wait_for_call(void)
{
	while (!world.call.is_open)
		assert_true(sd_event_run(world.all.options.event, 60 * USEC_PER_SEC) > 0);
}

/* What is not answered now may be later: it is asked again, from there on. */
static void test_asked_again(void **state)
{
	registration_call_capabilities(&world.one);
	answer_node();
	answer(CSI_GET_PLUGIN_CAPABILITIES, GRPC_UNAVAILABLE, NULL);
	assert_false(driver()->capabilities_known);
	assert_int_equal(world.told, 0);
	wait_for_call();
	answer_plugin();
	answer_controller(9);
	assert_true(csi_driver_can(driver(), CSI_CAN_EXPAND_VOLUME));
}

static void test_call_that_cannot_begin(void **state)
{
	world.call_error = -ENOBUFS;
	registration_call_capabilities(&world.one);
	assert_non_null(world.one.capabilities_timer);
	world.call_error = 0;
	registration_call_capabilities(&world.one); /* registered again meanwhile */
	assert_null(world.one.capabilities_timer);
	answer_node();
	assert_int_equal(driver()->node_capabilities, 1 << 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_controller_is_asked),     TEST(test_group_controller_is_asked),
		TEST(test_number_of_the_future),    TEST(test_driver_without_a_controller),
		TEST(test_controller_that_is_none), TEST(test_asked_again),
		TEST(test_call_that_cannot_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
