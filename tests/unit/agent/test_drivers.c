/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_drivers - volumes that wait for a driver, and what people and Prometheus see of drivers
 *
 * Registration is made up: the test says when a driver is ready. What is made due in the operations
 * is in world->calls, beside what agent_world.h writes down.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent_world.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "csi/csi_driver_table.h"
#include "csi/csi_log.h"
#include "csi/csi_registration.h"
#include "object/json/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRIVER "csi.example.com"
#define STAGED "kubernetes.io/csi/csi.example.com^handle"

static struct csi_registration_options registration;
static struct agent_world *the_world;

int __wrap_csi_registration_new(const struct csi_registration_options *options,
				struct csi_registration **ret, struct failure *reterr);
struct csi_registration *__wrap_csi_registration_free(struct csi_registration *all);
void __wrap_operation_retry_now(struct operations *operations, const char *unique_name);
void __wrap_operation_tear_down_now(struct operations *operations, const char *unique_name,
				    const char *pod_uid, uint64_t now_usec);

int __wrap_csi_registration_new(const struct csi_registration_options *options,
				struct csi_registration **ret, struct failure *reterr)
{
	registration = *options;
	return 0;
}

struct csi_registration *__wrap_csi_registration_free(struct csi_registration *all)
{
	return NULL;
}

static void write_down(const char *what, const char *unique_name, const char *pod_uid)
{
	size_t used = strlen(the_world->calls);

	(void) snprintf(the_world->calls + used, sizeof(the_world->calls) - used, "%s:%s:%s ", what,
			unique_name, pod_uid);
}

void __wrap_operation_retry_now(struct operations *operations, const char *unique_name)
{
	write_down("now", unique_name, "");
}

void __wrap_operation_tear_down_now(struct operations *operations, const char *unique_name,
				    const char *pod_uid, uint64_t now_usec)
{
	write_down("down", unique_name, pod_uid);
}

static int set_up(void **state)
{
	struct agent *agent;

	assert_int_equal(new_agent_world(state), 0);
	the_world = *state;
	agent = &the_world->agent;
	agent->root.path = "/root-dir";
	assert_int_equal(agent_open_drivers(agent), 0);
	assert_int_equal(drivers_start(agent->drivers, NULL, NULL), 0);
	assert_ptr_equal(registration.drivers, agent->host.csi_drivers);
	assert_string_equal(registration.directory, "/root-dir/plugins_registry");
	assert_null(registration.install); /* there is no store */
	return 0;
}

static int tear_down(void **state)
{
	struct agent *agent = &the_world->agent;

	agent->drivers = drivers_free(agent->drivers);
	memset(&registration, 0, sizeof(registration));
	return free_agent_world(state);
}

/* A step of this volume that failed, or not, and whose stages said @driver. */
static void end_of(enum step_kind kind, const char *unique_name, const char *pod_uid,
		   const char *driver, int error)
{
	struct stage_report report = { .failure = { error, "no driver" },
				       .error_class = ERROR_TRANSIENT };
	struct operation_ended ended = {
		.result = { .kind = kind,
			    .unique_name = unique_name,
			    .pod_uid = pod_uid,
			    .error = error,
			    .error_class = ERROR_TRANSIENT },
		.name = "a_step",
		.report = &report,
		.waits = error == -ENOTCONN && *driver,
	};

	(void) snprintf(report.driver, sizeof(report.driver), "%s", driver);
	the_world->calls[0] = '\0';
	drivers_note(the_world->agent.drivers, &ended);
}

static void end_with(enum step_kind kind, const char *unique_name, const char *driver, int error)
{
	end_of(kind, unique_name, kind == STEP_PUBLISH || kind == STEP_UNPUBLISH ? POD : NULL,
	       driver, error);
}

static void put(const char *name, enum csi_driver_state driver_state)
{
	const struct csi_topology_segment segment = { "zone", "a" };
	const struct failure broken = { -EIO, "no answer" };
	char socket[64];
	const struct csi_driver driver = {
		.name = name,
		.state = driver_state,
		.registration_socket = socket,
		.endpoint = "/e",
		.version = "1.0.0",
		.node_id = "n1",
		.max_volumes = 7,
		.segments = &segment,
		.segment_count = 1,
		.last_error = driver_state == CSI_DRIVER_FAILED ? &broken : NULL,
		.node_capabilities = 1 << 1 | 1 << 3,
		.has_controller = true,
		.controller_capabilities = 1 << CSI_CAN_EXPAND_VOLUME,
	};

	(void) snprintf(socket, sizeof(socket), "/r/%s", name);
	assert_int_equal(csi_drivers_put(registration.drivers, &driver), 0);
}

static void make_ready(const char *name)
{
	the_world->calls[0] = '\0';
	put(name, CSI_DRIVER_READY);
	registration.ready(registration.userdata, name);
}

/* ---- who waits ---- */

static void test_ready_driver_makes_its_volumes_due(void **state)
{
	struct agent_world *world = *state;

	end_with(STEP_STAGE, STAGED, DRIVER, -ENOTCONN);
	expect_calls(world, "");
	end_with(STEP_PUBLISH, "inline", DRIVER, -EIO); /* failed at it, for whatever reason */
	end_with(STEP_STAGE, "other", "other.example.com", -ENOTCONN);
	end_with(STEP_STAGE, "local", "", -EIO);
	make_ready("nobody.example.com");
	expect_calls(world, "");
	make_ready(DRIVER);
	expect_calls(world, "now:" STAGED ": down:" STAGED ": now:inline: down:inline: ");
	assert_int_equal(dirty_count(world->agent.dirty), 2);
	make_ready(DRIVER); /* they are due already */
	expect_calls(world, "");
	make_ready("other.example.com");
	expect_calls(world, "now:other: down:other: ");
}

/* An old failure has no say once the step succeeded. */
static void test_success_ends_the_wait(void **state)
{
	struct agent_world *world = *state;

	end_with(STEP_STAGE, STAGED, DRIVER, -ENOTCONN);
	end_with(STEP_STAGE, STAGED, DRIVER, -ENOTCONN); /* counts once */
	end_with(STEP_STAGE, STAGED, DRIVER, 0);
	make_ready(DRIVER);
	expect_calls(world, "");
}

/* Its own, not one that ended well for another pod of the volume, nor for the whole of it. */
static void test_success_of_another_pod_ends_no_wait(void **state)
{
	struct agent_world *world = *state;

	end_of(STEP_UNPUBLISH, STAGED, "a", DRIVER, -ENOTCONN);
	end_of(STEP_PUBLISH, STAGED, "b", DRIVER, -ENOTCONN);
	end_of(STEP_UNPUBLISH, STAGED, "c", DRIVER, 0);
	end_of(STEP_STAGE, STAGED, NULL, DRIVER, 0);
	drivers_planned(world->agent.drivers, STAGED); /* "b" wants it no more */
	expect_calls(world, "cancel:" STAGED ":b ");
	make_ready(DRIVER);
	expect_calls(world, "now:" STAGED ": down:" STAGED ": ");
	make_ready(DRIVER);
	expect_calls(world, "");

	end_of(STEP_UNPUBLISH, STAGED, "a", DRIVER, -ENOTCONN);
	end_of(STEP_UNPUBLISH, STAGED, "a", DRIVER, 0);
	make_ready(DRIVER);
	expect_calls(world, "");
}

/* Between the failure and its report. */
static void test_driver_came_meanwhile(void **state)
{
	struct agent_world *world = *state;

	make_ready(DRIVER);
	end_with(STEP_STAGE, STAGED, DRIVER, -ENOTCONN);
	expect_calls(world, "now:" STAGED ": down:" STAGED ": ");
	end_with(STEP_STAGE, STAGED, DRIVER, -EIO); /* this one backs off as ever */
	expect_calls(world, "");
}

/* A volume tells its driver by its name where no stage did. */
static void test_driver_of_a_name(void **state)
{
	struct agent_world *world = *state;
	static const struct {
		const char *unique_name, *driver;
	} rows[] = {
		{ STAGED, DRIVER },
		{ "kubernetes.io/csi/d^a^b", "d" },
		{ "kubernetes.io/csi/^a", "" },
		{ "kubernetes.io/csi/uid-1-data", "" },
		{ "kubernetes.io/local-volume/a^b", "" },
		{ "kubernetes.io/csi/"
		  "a234567890123456789012345678901234567890123456789012345678901234^b",
		  "" },
	};
	char name[DRIVER_NAME_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		drivers_name_of(world->agent.drivers, rows[i].unique_name, name);
		assert_string_equal(name, rows[i].driver);
	}
	end_with(STEP_UNSTAGE, STAGED, "", -EIO);
	make_ready(DRIVER);
	expect_calls(world, "now:" STAGED ": down:" STAGED ": ");
}

/* A pod that is gone waits for no driver; its teardown does. */
static void test_what_nobody_wants_waits_no_more(void **state)
{
	struct agent_world *world = *state;

	want_data(world);
	end_with(STEP_PUBLISH, VOLUME, DRIVER, -ENOTCONN);
	drivers_planned(world->agent.drivers, VOLUME);
	expect_calls(world, "");
	want_no_more(world);
	drivers_planned(world->agent.drivers, "another");
	expect_calls(world, "");
	drivers_planned(world->agent.drivers, VOLUME);
	expect_calls(world, "cancel:" VOLUME ":" POD " ");
	make_ready(DRIVER);
	expect_calls(world, "");
	end_with(STEP_UNPUBLISH, VOLUME, DRIVER, -EIO);
	drivers_planned(world->agent.drivers, VOLUME);
	expect_calls(world, "");
}

/* A turn of the agent asks by itself. */
static void test_turn_forgets(void **state)
{
	struct agent_world *world = *state;

	want_data(world);
	turn(world);
	end_with(STEP_PUBLISH, VOLUME, DRIVER, -ENOTCONN);
	want_no_more(world);
	turn(world);
	assert_non_null(strstr(world->calls, "cancel:" VOLUME ":" POD " "));
}

/* Every pod's teardown, by the entries that there are. */
static void test_teardowns_of_pods_are_due(void **state)
{
	struct agent_world *world = *state;

	want_data(world);
	turn(world);
	end_step(world, STEP_PUBLISH, "volume_mount", 0, ERROR_FINAL);
	end_with(STEP_UNPUBLISH, VOLUME, DRIVER, -EIO);
	make_ready(DRIVER);
	expect_calls(world, "now:" VOLUME ": down:" VOLUME ": down:" VOLUME ":" POD " ");
}

/* Only for so long, and without a store alone. */
static void test_drain_waits_for_drivers(void **state)
{
	struct agent_world *world = *state;

	assert_true(drivers_may_come(world->agent.drivers));
	drivers_stop(world->agent.drivers);
	assert_false(drivers_may_come(NULL));
}

/* ---- views ---- */

static struct cJSON *view(struct agent_world *world, const char *name)
{
	struct cJSON *tree = agent_view_drivers(&world->agent, name);

	assert_non_null(tree);
	return tree;
}

static void test_view(void **state)
{
	struct agent_world *world = *state;
	cleanup_json struct cJSON *tree = NULL;
	const struct cJSON *item;
	int64_t number;

	put(DRIVER, CSI_DRIVER_READY);
	tree = view(world, DRIVER);
	assert_int_equal(json_count(json_get(tree, "items")), 1);
	item = json_at(json_get(tree, "items"), 0);
	assert_string_equal(json_string(json_get(item, "state"), ""), "ready");
	assert_string_equal(json_string(json_get(item, "nodeID"), ""), "n1");
	assert_string_equal(json_string(json_get(item, "socket"), ""), "/r/" DRIVER);
	assert_string_equal(json_string(json_at(json_get(item, "capabilities"), 0), ""),
			    "STAGE_UNSTAGE_VOLUME");
	assert_string_equal(json_string(json_at(json_get(item, "capabilities"), 1), ""),
			    "EXPAND_VOLUME");
	assert_string_equal(json_string(json_at(json_get(item, "controllerCapabilities"), 0), ""),
			    "EXPAND_VOLUME");
	assert_string_equal(json_string(json_get(json_get(item, "topology"), "zone"), ""), "a");
	assert_true(json_int64(json_get(item, "maxVolumes"), &number) && number == 7);
	assert_true(json_int64(json_get(item, "volumes"), &number) && number == 0);
	assert_string_equal(json_string(json_get(item, "error"), "?"), "");
	assert_null(json_get(item, "nextRetry"));
}

/* Drivers stand before the plugins; what is gone is listed while something of it is left. */
static void test_all_of_them(void **state)
{
	struct agent_world *world = *state;
	cleanup_json struct cJSON *tree = NULL, *one = NULL;
	const struct cJSON *items;

	put("gone.example.com", CSI_DRIVER_READY);
	csi_drivers_drop(registration.drivers, "/r/gone.example.com");
	put("b.example.com", CSI_DRIVER_FAILED);
	tree = view(world, NULL);
	items = json_get(tree, "items");
	assert_string_equal(json_string(json_get(json_at(items, 0), "name"), ""), "b.example.com");
	assert_string_equal(json_string(json_get(json_at(items, 0), "error"), ""), "no answer");
	assert_true(json_bool(json_get(json_at(items, 1), "inTree"), false));
	one = view(world, "kubernetes.io/csi");
	assert_int_equal(json_count(json_get(one, "items")), 1);
}

static void test_metrics(void **state)
{
	struct agent_world *world = *state;
	struct csi_log *log = (struct csi_log *) (uintptr_t) drivers_log(world->agent.drivers);
	const struct grpc_result result = { .code = GRPC_DEADLINE_EXCEEDED, .took_usec = 300000 };
	cleanup_free char *text = NULL;

	put(DRIVER, CSI_DRIVER_READY);
	put("b.example.com", CSI_DRIVER_FAILED);
	csi_log_end(log, csi_log_begin(log, "a\"b\n", NULL, CSI_NODE_STAGE_VOLUME), &result);
	text = agent_metrics(&world->agent);
	assert_non_null(text);
	assert_non_null(strstr(text, "# TYPE csi_operations_seconds histogram\n"));
	assert_non_null(strstr(text, "csi_operations_seconds_bucket{driver_name=\"a_b_\","
				     "grpc_status_code=\"DeadlineExceeded\",method_name="
				     "\"/csi.v1.Node/NodeStageVolume\",migrated=\"false\","
				     "le=\"300\"} 1\n"));
	assert_non_null(strstr(text, ",le=\"+Inf\"} 1\n"));
	assert_non_null(strstr(text, "csi_operations_seconds_count{driver_name=\"a_b_\""));
	assert_non_null(strstr(text, "\nplugin_manager_total_plugins{socket_path=\"/r/" DRIVER
				     "\",state=\"actual_state_of_world\"} 1\n"));
	assert_non_null(strstr(text, "{socket_path=\"/r/b.example.com\",state=\"desired_state_of_"
				     "world\"} 1\n"));
	assert_null(strstr(text, "b.example.com\",state=\"actual"));
	assert_non_null(strstr(text, "\npodvol_csi_drivers{state=\"ready\"} 1\n"));
	assert_non_null(strstr(text, "\npodvol_csi_drivers{state=\"failed\"} 1\n"));
	assert_non_null(strstr(text, "\npodvol_csi_drivers{state=\"gone\"} 0\n"));
}

/* A row without memory (NULL) gets no calls and ends nothing: the next row has its own. */
static void test_row_without_memory(void **state)
{
	struct agent_world *world = *state;
	struct csi_log *log = (struct csi_log *) (uintptr_t) drivers_log(world->agent.drivers);
	const struct grpc_result result = { .code = GRPC_OK };
	cleanup_json struct cJSON *row = json_new_object();

	csi_log_end(log, csi_log_begin(log, DRIVER, "unique", CSI_NODE_STAGE_VOLUME), &result);
	drivers_describe(world->agent.drivers, NULL, "unique", "");
	drivers_describe(world->agent.drivers, row, "unique", "");
	assert_int_equal(json_count(json_get(row, "calls")), 1);
	json_remove(row, "calls");
	drivers_describe(world->agent.drivers, row, "of another volume", "");
	assert_null(json_get(row, "calls"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_ready_driver_makes_its_volumes_due),
		TEST(test_success_ends_the_wait),
		TEST(test_success_of_another_pod_ends_no_wait),
		TEST(test_driver_came_meanwhile),
		TEST(test_driver_of_a_name),
		TEST(test_what_nobody_wants_waits_no_more),
		TEST(test_turn_forgets),
		TEST(test_teardowns_of_pods_are_due),
		TEST(test_drain_waits_for_drivers),
		TEST(test_view),
		TEST(test_all_of_them),
		TEST(test_metrics),
		TEST(test_row_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
