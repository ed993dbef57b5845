/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_drivers - the table of drivers: what is found, shown, remembered, and called
 */
#include "csi/csi_driver_table.h"

#include "base/cleanup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct world {
	sd_event *event;
	struct csi_drivers *drivers;
	char list[2048]; /* of show() */
};

/* ---- the calls of csi_call.h ---- */

static struct csi_call_request called;
static char called_socket[128];

int __wrap_csi_call_start(sd_event *event, struct csi_log *log,
			  const struct csi_call_request *request, struct csi_call **ret,
			  struct failure *reterr);
int __wrap_csi_call_start(sd_event *event, struct csi_log *log,
			  const struct csi_call_request *request, struct csi_call **ret,
			  struct failure *reterr)
{
	called = *request;
	(void) snprintf(called_socket, sizeof(called_socket), "%s", request->socket_path);
	return 0;
}

/* ---- the world ---- */

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	assert_int_equal(sd_event_new(&world->event), 0);
	assert_int_equal(csi_drivers_new(world->event, NULL, &world->drivers), 0);
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	assert_null(csi_drivers_free(world->drivers));
	sd_event_unref(world->event);
	free(world);
	return 0;
}

static void put(struct world *world, const char *name, const char *socket,
		enum csi_driver_state driver_state)
{
	const struct csi_topology_segment segment = { "zone", "a" };
	const struct csi_driver driver = {
		.name = name,
		.state = driver_state,
		.registration_socket = socket,
		.endpoint = "/endpoint",
		.version = "1.0.0",
		.node_id = "n1",
		.max_volumes = 7,
		.segments = &segment,
		.segment_count = 1,
		.node_capabilities = 2,
	};

	assert_int_equal(csi_drivers_put(world->drivers, &driver), 0);
}

static int add_line(const struct csi_driver *driver, void *userdata)
{
	static const char states[] = { 'i', 'r', 'f', 'g' };
	struct world *world = userdata;
	size_t used = strlen(world->list);

	(void) snprintf(world->list + used, sizeof(world->list) - used, "%s%s %s %c",
			used > 0 ? "," : "", driver->name, driver->registration_socket,
			states[driver->state]);
	return 0;
}

static const char *show(struct world *world)
{
	world->list[0] = '\0';
	assert_int_equal(csi_drivers_walk(world->drivers, add_line, world), 0);
	return world->list;
}

/* ---- tests ---- */

static void test_only_ready_ones_are_found(void **state)
{
	struct world *world = *state;
	const struct csi_driver *driver;

	put(world, "d", "/1", CSI_DRIVER_REGISTERING);
	assert_null(csi_drivers_find(world->drivers, "d"));
	put(world, "d", "/1", CSI_DRIVER_FAILED);
	assert_null(csi_drivers_find(world->drivers, "d"));
	put(world, "d", "/1", CSI_DRIVER_READY);
	driver = csi_drivers_find(world->drivers, "d");
	assert_string_equal(driver->node_id, "n1");
	assert_string_equal(driver->segments[0].key, "zone");
	assert_string_equal(driver->segments[0].value, "a");
	assert_int_equal(driver->max_volumes, 7);
	assert_null(csi_drivers_find(world->drivers, "e"));
	csi_drivers_drop(world->drivers, "/1");
	assert_null(csi_drivers_find(world->drivers, "d"));
	csi_drivers_drop(world->drivers, "/1");
}

static void test_two_drivers_may_share_an_endpoint(void **state)
{
	struct world *world = *state;

	put(world, "d", "/1", CSI_DRIVER_READY);
	put(world, "e", "/2", CSI_DRIVER_READY); /* case 229 */
	assert_string_equal(csi_drivers_find(world->drivers, "d")->endpoint,
			    csi_drivers_find(world->drivers, "e")->endpoint);
}

static void test_sorted_by_name_and_socket(void **state)
{
	struct world *world = *state;

	put(world, "e", "/1", CSI_DRIVER_READY);
	put(world, "d", "/3", CSI_DRIVER_FAILED);
	put(world, "d", "/2", CSI_DRIVER_READY);
	put(world, "", "/9", CSI_DRIVER_REGISTERING);
	assert_string_equal(show(world), " /9 i,d /2 r,d /3 f,e /1 r");
	put(world, "z", "/9", CSI_DRIVER_REGISTERING); /* its name became known */
	assert_string_equal(show(world), "d /2 r,d /3 f,e /1 r,z /9 i");
}

static void test_time_counts_from_the_change_of_state(void **state)
{
	struct world *world = *state;
	const struct csi_capabilities told = {
		.is_known = true,
		.has_controller = true,
		.node = 6,
		.controller = 1 << CSI_CAN_EXPAND_VOLUME,
		.plugin = CSI_PLUGIN_CONTROLLER_SERVICE,
	};
	const struct csi_capabilities half = { .has_controller = true, .node = 2, .controller = 2 };
	uint64_t since_usec;

	put(world, "d", "/1", CSI_DRIVER_REGISTERING);
	since_usec = csi_drivers_at(world->drivers, "/1")->since_usec;
	assert_true(since_usec > 0);
	put(world, "d", "/1", CSI_DRIVER_REGISTERING);
	assert_int_equal(csi_drivers_at(world->drivers, "/1")->since_usec, since_usec);
	csi_drivers_note_capabilities(world->drivers, "/1", &told);
	assert_int_equal(csi_drivers_at(world->drivers, "/1")->node_capabilities, 6);
	assert_true(csi_driver_can(csi_drivers_at(world->drivers, "/1"), CSI_CAN_EXPAND_VOLUME));
	assert_false(
		csi_driver_can(csi_drivers_at(world->drivers, "/1"), CSI_CAN_CREATE_DELETE_VOLUME));
	csi_drivers_note_capabilities(world->drivers, "/none", &told);
	/* What is not reported completely yet is not acted upon. */
	csi_drivers_note_capabilities(world->drivers, "/1", &half);
	assert_int_equal(csi_drivers_at(world->drivers, "/1")->node_capabilities, 2);
	assert_false(csi_drivers_at(world->drivers, "/1")->has_controller);
	assert_int_equal(csi_drivers_at(world->drivers, "/1")->controller_capabilities, 0);
}

static void test_what_was_ready_is_remembered(void **state)
{
	struct world *world = *state;

	put(world, "d", "/1", CSI_DRIVER_READY);
	put(world, "e", "/2", CSI_DRIVER_FAILED);
	csi_drivers_drop(world->drivers, "/1");
	csi_drivers_drop(world->drivers, "/2");
	assert_string_equal(show(world), "d /1 g");
	assert_null(csi_drivers_at(world->drivers, "/1"));
	put(world, "d", "/1", CSI_DRIVER_REGISTERING);
	assert_string_equal(show(world), "d /1 i,d /1 g");
	put(world, "d", "/1", CSI_DRIVER_READY);
	assert_string_equal(show(world), "d /1 r");
}

static void test_memory_of_the_gone_is_bounded(void **state)
{
	struct world *world = *state;
	char name[32], socket[32];
	unsigned int count = 0;

	for (int i = 0; i < CSI_DRIVERS_GONE_MAX + 10; i++) {
		(void) snprintf(name, sizeof(name), "d%03d", i);
		(void) snprintf(socket, sizeof(socket), "/%03d", i);
		put(world, name, socket, CSI_DRIVER_READY);
		csi_drivers_drop(world->drivers, socket);
	}
	for (const char *at = show(world); *at; at++)
		count += *at == 'g';
	assert_int_equal(count, CSI_DRIVERS_GONE_MAX);
	assert_null(strstr(world->list, "d000"));
	assert_non_null(strstr(world->list, "d073"));
}

/* ---- calls ---- */

static int call(struct world *world, const char *name, const char *socket, struct failure *reterr)
{
	const struct csi_call_request request = { .driver = name, .socket_path = socket };
	struct csi_call *ret = NULL;

	called_socket[0] = '\0';
	return csi_drivers_call(world->drivers, &request, &ret, reterr);
}

static void test_calls_go_to_the_endpoint(void **state)
{
	struct world *world = *state;

	put(world, "d", "/1", CSI_DRIVER_READY);
	assert_int_equal(call(world, "d", NULL, NULL), 0);
	assert_string_equal(called_socket, "/endpoint");
	assert_int_equal(call(world, "d", "/other", NULL), 0);
	assert_string_equal(called_socket, "/other");
}

/* The sentence says what is known of the driver that is missing. */
static void test_missing_drivers(void **state)
{
	struct world *world = *state;
	struct failure broken = { .error = -EIO, .text = "no answer" }, why;
	struct csi_driver driver = { .name = "d",
				     .state = CSI_DRIVER_FAILED,
				     .registration_socket = "/1",
				     .endpoint = "",
				     .version = "",
				     .node_id = "",
				     .last_error = &broken };

	assert_int_equal(call(world, "d", NULL, &why), -ENOTCONN);
	assert_string_equal(why.text, "driver 'd' is not registered on this node");
	assert_int_equal(csi_drivers_put(world->drivers, &driver), 0);
	broken.text[0] = '\0'; /* the table has its own */
	assert_int_equal(call(world, "d", NULL, &why), -ENOTCONN);
	assert_string_equal(why.text, "driver 'd' is not registered yet: no answer");
	put(world, "d", "/1", CSI_DRIVER_READY);
	csi_drivers_drop(world->drivers, "/1");
	assert_int_equal(call(world, "d", NULL, &why), -ENOTCONN);
	assert_non_null(strstr(why.text, "any more: its socket '/1' went"));
	assert_string_equal(called_socket, "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_only_ready_ones_are_found),
		TEST(test_two_drivers_may_share_an_endpoint),
		TEST(test_sorted_by_name_and_socket),
		TEST(test_time_counts_from_the_change_of_state),
		TEST(test_what_was_ready_is_remembered),
		TEST(test_memory_of_the_gone_is_bounded),
		TEST(test_calls_go_to_the_endpoint),
		TEST(test_missing_drivers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
