/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_registration - a socket's way from its first call to its end, call by call
 *
 * The watch and the calls are made up: the test says which sockets come and go and what is
 * answered. What is called, written and reported becomes a text in world.did.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "csi/csi.pb-c.h"
#include "csi/csi_driver_table.h"
#include "csi/csi_registration.h"
#include "csi/csi_registration_watch.h"
#include "csi/plugin_registration.pb-c.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS_MAX = 8 };

struct csi_call {
	struct csi_call_request request;
	char socket[128];
	bool is_open;
};

static struct {
	sd_event *event;
	struct csi_drivers *drivers;
	struct csi_registration *registration;
	struct csi_registration_watch_options watch;
	struct csi_call calls[CALLS_MAX];
	void *token; /* of the install or uninstall that runs */
	char did[1024], error[FAILURE_TEXT_BYTES];
	int call_error, install_error;
} world;

static void __attribute__((format(printf, 1, 2))) note(const char *format, ...)
{
	size_t used = strlen(world.did);
	va_list list;

	va_start(list, format);
	(void) vsnprintf(world.did + used, sizeof(world.did) - used, format, list);
	va_end(list);
}

static void expect(const char *did)
{
	assert_string_equal(world.did, did);
	world.did[0] = '\0';
}

/* ---- what is made up ---- */

int __wrap_csi_registration_watch_new(const struct csi_registration_watch_options *options,
				      struct csi_registration_watch **ret, struct failure *reterr);
struct csi_registration_watch *
__wrap_csi_registration_watch_free(struct csi_registration_watch *watch);
int __wrap_csi_call_start(sd_event *event, struct csi_log *log,
			  const struct csi_call_request *request, struct csi_call **ret,
			  struct failure *reterr);
struct csi_call *__wrap_csi_call_cancel(struct csi_call *call);

int __wrap_csi_registration_watch_new(const struct csi_registration_watch_options *options,
				      struct csi_registration_watch **ret, struct failure *reterr)
{
	world.watch = *options;
	*ret = NULL;
	return 0;
}

struct csi_registration_watch *
__wrap_csi_registration_watch_free(struct csi_registration_watch *watch)
{
	return NULL;
}

/* They run beside the stages. */
static bool asks_for_capabilities(enum csi_method method)
{
	return method == CSI_NODE_GET_CAPABILITIES || method == CSI_GET_PLUGIN_CAPABILITIES;
}

/* As the real one: the message is read before it returns. */
int __wrap_csi_call_start(sd_event *event, struct csi_log *log,
			  const struct csi_call_request *request, struct csi_call **ret,
			  struct failure *reterr)
{
	const Pluginregistration__RegistrationStatus *status = (const void *) request->message;
	struct csi_call *call = world.calls;

	assert_true(request->timeout_usec > 0);
	if (world.call_error < 0)
		return failed_plain(reterr, world.call_error, "too many calls");
	while (call->is_open)
		call++;
	assert_true(call < world.calls + CALLS_MAX);
	*call = (struct csi_call){ .request = *request, .is_open = true };
	(void) snprintf(call->socket, sizeof(call->socket), "%s", request->socket_path);
	if (request->method == REGISTRATION_NOTIFY_STATUS) {
		note("tell:%d ", status->plugin_registered);
		(void) snprintf(world.error, sizeof(world.error), "%s", status->error);
	} else if (!asks_for_capabilities(request->method)) {
		note("%s ", csi_method_row(request->method)->name);
	}
	*ret = call;
	return 0;
}

struct csi_call *__wrap_csi_call_cancel(struct csi_call *call)
{
	if (call) {
		assert_true(call->is_open);
		call->is_open = false;
		if (!asks_for_capabilities(call->request.method))
			note("cancel ");
	}
	return NULL;
}

static int open_directory(void *userdata, const char *path, struct failure *reterr)
{
	return failed_plain(reterr, -ENOENT, "not in this test");
}

static int install(void *userdata, const struct csi_driver *driver, void *token)
{
	note("install:%s:%s:%zu ", driver->name, driver->node_id, driver->segment_count);
	world.token = token;
	return world.install_error;
}

static int uninstall(void *userdata, const char *name, void *token)
{
	note("uninstall:%s ", name);
	world.token = token;
	return 0;
}

static void on_ready(void *userdata, const char *name)
{
	assert_non_null(csi_drivers_find(world.drivers, name));
	note("ready:%s ", name);
}

static int set_up(void **state)
{
	struct csi_registration_options options = {
		.directory = "/r",
		.open_directory = open_directory,
		.install = install,
		.uninstall = uninstall,
		.ready = on_ready,
	};

	memset(&world, 0, sizeof(world));
	assert_int_equal(sd_event_new(&world.event), 0);
	assert_int_equal(csi_drivers_new(world.event, NULL, &world.drivers), 0);
	options.event = world.event;
	options.drivers = world.drivers;
	assert_int_equal(csi_registration_new(&options, &world.registration, NULL), 0);
	return 0;
}

static int tear_down(void **state)
{
	assert_null(csi_registration_free(world.registration));
	for (size_t i = 0; i < CALLS_MAX; i++)
		assert_false(world.calls[i].is_open);
	(void) csi_drivers_free(world.drivers);
	sd_event_unref(world.event);
	return 0;
}

/* ---- what the test does ---- */

static void run(void)
{
	while (sd_event_run(world.event, 0) > 0)
		;
}

static void appear(const char *path)
{
	world.watch.appeared(world.watch.userdata, path);
	run();
}

static void vanish(const char *path)
{
	world.watch.vanished(world.watch.userdata, path);
	run();
}

/* The open call of this method; on one socket, NULL: any. */
static struct csi_call *open_call(enum csi_method method, const char *socket)
{
	for (size_t i = 0; i < CALLS_MAX; i++) {
		struct csi_call *call = &world.calls[i];

		if (call->is_open && call->request.method == method &&
		    (!socket || strcmp(call->socket, socket) == 0))
			return call;
	}
	fail_msg("no call of %s", csi_method_row(method)->name);
	return NULL;
}

static void end_call(enum csi_method method, const char *socket, const struct csi_reply *reply)
{
	struct csi_call *call = open_call(method, socket);

	call->is_open = false;
	call->request.done(call->request.userdata, reply);
}

static void fail_call(enum csi_method method, enum grpc_code code, bool was_sent)
{
	struct csi_reply reply = { .status = { .code = code, .was_sent = was_sent } };

	(void) snprintf(reply.status.text, sizeof(reply.status.text), "no luck");
	end_call(method, NULL, &reply);
}

static void answer_info_at(const char *socket, const char *type, const char *name,
			   const char *version)
{
	char *versions[] = { (char *) version };
	Pluginregistration__PluginInfo info = PLUGINREGISTRATION__PLUGIN_INFO__INIT;
	struct csi_reply reply = { .message = &info.base };

	info.type = (char *) type;
	info.name = (char *) name;
	info.endpoint = "/e/csi.sock";
	info.supported_versions = versions;
	info.n_supported_versions = 1;
	end_call(REGISTRATION_GET_INFO, socket, &reply);
}

static void answer_info(const char *type, const char *name)
{
	answer_info_at(NULL, type, name, "1.0.0");
}

static void answer_node_info(const char *node_id)
{
	Csi__V1__Topology__SegmentsEntry zone = CSI__V1__TOPOLOGY__SEGMENTS_ENTRY__INIT;
	Csi__V1__Topology__SegmentsEntry *zones[] = { &zone };
	Csi__V1__Topology topology = CSI__V1__TOPOLOGY__INIT;
	Csi__V1__NodeGetInfoResponse info = CSI__V1__NODE_GET_INFO_RESPONSE__INIT;
	struct csi_reply reply = { .message = &info.base };

	zone.key = "zone";
	zone.value = "a";
	topology.segments = zones;
	topology.n_segments = 1;
	info.node_id = (char *) node_id;
	info.max_volumes_per_node = 7;
	info.accessible_topology = &topology;
	end_call(CSI_NODE_GET_INFO, "/e/csi.sock", &reply);
}

static void answer_told(const char *socket)
{
	struct csi_reply reply = { .status = { .code = GRPC_OK } };

	end_call(REGISTRATION_NOTIFY_STATUS, socket, &reply);
}

static void written(int error)
{
	struct failure why = { .error = error, .text = "not written" };

	csi_registration_written(world.token, error, &why);
	run();
}

static void register_at(const char *path, const char *version)
{
	char socket[64];

	(void) snprintf(socket, sizeof(socket), "/r/%s", path);
	appear(path);
	answer_info_at(socket, "CSIPlugin", "d", version);
	answer_node_info("n1");
	written(0);
	answer_told(socket);
	world.did[0] = '\0';
}

static const struct csi_driver *at(const char *socket)
{
	const struct csi_driver *driver = csi_drivers_at(world.drivers, socket);

	assert_non_null(driver);
	return driver;
}

/* The timer of the next attempt, however long that takes. */
static void expect_retry(const char *socket, uint64_t usec)
{
	uint64_t now_usec = monotonic_usec();

	assert_int_equal(at(socket)->state, CSI_DRIVER_FAILED);
	assert_true(at(socket)->retry_usec <= now_usec + usec);
	assert_true(at(socket)->retry_usec + 60 * USEC_PER_SEC > now_usec + usec);
}

static void wait_for_call(void)
{
	while (world.did[0] == '\0')
		assert_true(sd_event_run(world.event, 60 * USEC_PER_SEC) > 0);
}

/* ---- tests ---- */

static void test_whole_way(void **state)
{
	const struct csi_driver *driver;

	appear("a");
	assert_int_equal(at("/r/a")->state, CSI_DRIVER_REGISTERING);
	expect("GetInfo ");
	assert_int_equal(open_call(REGISTRATION_GET_INFO, "/r/a")->request.timeout_usec,
			 USEC_PER_SEC);
	answer_info("CSIPlugin", "d");
	expect("NodeGetInfo ");
	assert_int_equal(open_call(CSI_NODE_GET_INFO, NULL)->request.timeout_usec,
			 120 * USEC_PER_SEC);
	answer_node_info("n1");
	expect("install:d:n1:1 ");
	assert_null(csi_drivers_find(world.drivers, "d"));
	written(0);
	expect("tell:1 ready:d ");
	assert_int_equal(open_call(REGISTRATION_NOTIFY_STATUS, NULL)->request.timeout_usec,
			 5 * USEC_PER_SEC);
	answer_told(NULL);
	driver = csi_drivers_find(world.drivers, "d");
	assert_string_equal(driver->version, "1.0.0");
	assert_string_equal(driver->endpoint, "/e/csi.sock");
	assert_string_equal(driver->registration_socket, "/r/a");
	assert_string_equal(driver->segments[0].value, "a");
	assert_int_equal(driver->max_volumes, 7);
	assert_int_equal(at("/r/a")->state, CSI_DRIVER_READY);
	expect("");
}

static void test_capabilities_are_shown(void **state)
{
	Csi__V1__NodeServiceCapability__RPC rpc = CSI__V1__NODE_SERVICE_CAPABILITY__RPC__INIT;
	Csi__V1__NodeServiceCapability item = CSI__V1__NODE_SERVICE_CAPABILITY__INIT;
	Csi__V1__NodeServiceCapability *items[] = { &item };
	Csi__V1__NodeGetCapabilitiesResponse told = CSI__V1__NODE_GET_CAPABILITIES_RESPONSE__INIT;
	struct csi_reply reply = { .message = &told.base };

	rpc.type = 1;
	item.type_case = CSI__V1__NODE_SERVICE_CAPABILITY__TYPE_RPC;
	item.rpc = &rpc;
	told.capabilities = items;
	told.n_capabilities = 1;
	register_at("a", "1.0.0");
	end_call(CSI_NODE_GET_CAPABILITIES, NULL, &reply);
	assert_int_equal(at("/r/a")->node_capabilities, 2);
}

/* case 234 */
static void test_socket_goes(void **state)
{
	register_at("a", "1.0.0");
	vanish("a");
	expect("uninstall:d ");
	assert_null(csi_drivers_find(world.drivers, "d"));
	written(0);
	expect("");
	vanish("a"); /* is nothing */
	vanish("b");
	expect("");
}

/* case 235: the first one is taken back before the second begins. */
static void test_socket_is_made_anew(void **state)
{
	register_at("a", "1.0.0");
	vanish("a");
	appear("a");
	expect("uninstall:d ");
	written(0);
	expect("GetInfo ");
	vanish("a");
	expect("cancel ");
}

static void test_socket_goes_while_it_is_written(void **state)
{
	appear("a");
	answer_info("CSIPlugin", "d");
	answer_node_info("n1");
	vanish("a");
	expect("GetInfo NodeGetInfo install:d:n1:1 ");
	appear("a");
	vanish("a");
	written(0);
	expect("uninstall:d ");
	written(-EIO); /* all that can be done about it is to say so */
	expect("");
	assert_null(csi_drivers_at(world.drivers, "/r/a"));
}

/* case 236 */
static void test_other_plugins(void **state)
{
	appear("a");
	answer_info("Foo", "d");
	expect("GetInfo tell:0 ");
	assert_non_null(strstr(world.error, "'Foo'"));
	answer_told(NULL);
	expect_retry("/r/a", 500 * USEC_PER_MSEC);
	wait_for_call();
	expect("GetInfo ");
	answer_info("CSIPlugin", "d");
	expect("NodeGetInfo ");
}

/* case 237: who does not answer is not notified either. */
static void test_registrar_hangs(void **state)
{
	appear("a");
	fail_call(REGISTRATION_GET_INFO, GRPC_DEADLINE_EXCEEDED, true);
	expect("GetInfo ");
	expect_retry("/r/a", 500 * USEC_PER_MSEC);
	assert_non_null(strstr(at("/r/a")->last_error->text, "DeadlineExceeded: no luck"));
}

/* A socket is there a moment before its server listens. */
static void test_nobody_listens_yet(void **state)
{
	appear("a");
	for (int i = 0; i < 3; i++) {
		fail_call(REGISTRATION_GET_INFO, GRPC_UNAVAILABLE, false);
		expect("GetInfo ");
		assert_int_equal(at("/r/a")->state, CSI_DRIVER_REGISTERING);
		wait_for_call();
	}
	answer_info("CSIPlugin", "d");
	expect("GetInfo NodeGetInfo ");
}

/* case 238 (difference) */
static void test_driver_fails(void **state)
{
	appear("a");
	answer_info("CSIPlugin", "d");
	fail_call(CSI_NODE_GET_INFO, GRPC_INTERNAL, true);
	expect("GetInfo NodeGetInfo tell:0 ");
	assert_non_null(strstr(world.error, "Internal: no luck"));
	answer_told(NULL);
	expect_retry("/r/a", 500 * USEC_PER_MSEC);
	wait_for_call();
	answer_info("CSIPlugin", "d");
	answer_node_info(""); /* case 239 */
	expect("GetInfo NodeGetInfo tell:0 ");
	assert_non_null(strstr(world.error, "no node id"));
	answer_told(NULL);
	expect_retry("/r/a", USEC_PER_SEC);
}

static void test_objects_cannot_be_written(void **state)
{
	appear("a");
	answer_info("CSIPlugin", "d");
	answer_node_info("n1");
	written(-EEXIST);
	expect("GetInfo NodeGetInfo install:d:n1:1 uninstall:d ");
	written(0);
	expect("tell:0 ");
	assert_string_equal(world.error, "not written");
	answer_told(NULL);
	expect_retry("/r/a", 500 * USEC_PER_MSEC);
	assert_null(csi_drivers_find(world.drivers, "d"));
}

/* What cannot begin has failed. */
static void test_without_memory(void **state)
{
	world.install_error = -ENOMEM;
	appear("a");
	answer_info("CSIPlugin", "d");
	answer_node_info("n1");
	expect("GetInfo NodeGetInfo install:d:n1:1 uninstall:d ");
	world.call_error = -ENOBUFS; /* nor can the registrar be notified */
	written(0);
	expect("");
	expect_retry("/r/a", 500 * USEC_PER_MSEC);
	world.call_error = 0;
}

static void test_registrar_that_hears_nothing(void **state)
{
	appear("a");
	answer_info("CSIPlugin", "d");
	answer_node_info("n1");
	written(0);
	fail_call(REGISTRATION_NOTIFY_STATUS, GRPC_UNAVAILABLE, true);
	assert_non_null(csi_drivers_find(world.drivers, "d"));
	world.did[0] = '\0';
}

/* case 227 */
static void test_same_version_at_another_socket(void **state)
{
	register_at("a", "1.0.0");
	appear("b");
	answer_info_at("/r/b", "CSIPlugin", "d", "1.0.0");
	expect("GetInfo tell:0 ");
	assert_non_null(strstr(world.error, "registered already"));
	answer_told("/r/b");
	assert_string_equal(csi_drivers_find(world.drivers, "d")->registration_socket, "/r/a");
	vanish("a"); /* and then it is its turn */
	written(0);
	expect("uninstall:d GetInfo ");
	answer_info_at("/r/b", "CSIPlugin", "d", "1.0.0");
	expect("NodeGetInfo ");
}

/* case 228; when the newer one goes the older one comes back, and nothing of it was taken away. */
static void test_newer_version_at_another_socket(void **state)
{
	register_at("a", "1.0.0");
	register_at("b", "1.0.1");
	assert_string_equal(csi_drivers_find(world.drivers, "d")->registration_socket, "/r/b");
	assert_int_equal(at("/r/a")->state, CSI_DRIVER_FAILED);
	assert_non_null(strstr(at("/r/a")->last_error->text, "/r/b"));
	vanish("a");
	expect("");
	assert_non_null(csi_drivers_find(world.drivers, "d"));
	register_at("c", "1.0.2");
	vanish("c");
	written(0);
	expect("uninstall:d GetInfo ");
	answer_info_at("/r/b", "CSIPlugin", "d", "1.0.1");
	expect("NodeGetInfo ");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_whole_way),
		TEST(test_capabilities_are_shown),
		TEST(test_socket_goes),
		TEST(test_socket_is_made_anew),
		TEST(test_socket_goes_while_it_is_written),
		TEST(test_other_plugins),
		TEST(test_registrar_hangs),
		TEST(test_nobody_listens_yet),
		TEST(test_driver_fails),
		TEST(test_objects_cannot_be_written),
		TEST(test_without_memory),
		TEST(test_registrar_that_hears_nothing),
		TEST(test_same_version_at_another_socket),
		TEST(test_newer_version_at_another_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
