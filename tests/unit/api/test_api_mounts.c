/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_mounts - POST .../mounts: what is waited for, which form the answer has, what is refused
 */
#include "api_world.h"

#include "base/cleanup.h"
#include "container/container_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MOUNTS "/podvol/v1/pods/default/web/mounts"

static struct planned_mount mount = {
	.name = "v",
	.host_path = "/h",
	.container_path = "/c",
	.sub_path = "",
};
static struct planned_container containers[] = {
	{ .name = "c", .type = "regular", .mounts = &mount, .mount_count = 1 },
	{ .name = "d", .type = "ephemeral" },
};
static const struct container_plan plan_of_one = {
	.pod = "default/web",
	.pod_uid = "u",
	.containers = containers,
	.container_count = 1,
};
static const struct container_plan plan_of_two = {
	.pod = "default/web",
	.pod_uid = "u",
	.containers = containers,
	.container_count = 2,
};

static void store_pod(struct world *world)
{
	assert_int_equal(world_request(world, METHOD_POST, "/api/v1/namespaces/default/pods",
				       world_pod_json),
			 201);
}

/* Asks, and has the volumes mounted and the plan made. */
static void ask(struct world *world, const char *uri, const struct container_plan *plan)
{
	world_begin(world, METHOD_POST, uri, NULL);
	world_end_wait(world, 0, "");
	assert_int_equal(world->answers, 0);
	world_end_plan(world, 0, plan, "");
	assert_int_equal(world->answers, 1);
}

static void test_waits_then_plans(void **state)
{
	struct world *world = *state;

	store_pod(world);
	world_begin(world, METHOD_POST, MOUNTS "?container=c&timeoutSeconds=5", NULL);
	assert_int_equal(world->agent.wait_for, WAIT_MOUNTED);
	assert_string_equal(world->agent.wait_pod, "default/web");
	assert_int_equal(world->agent.wait_usec, 5000000);
	assert_int_equal(world->agent.plans, 0);
	world_end_wait(world, 0, "");
	assert_string_equal(world->agent.plan_pod, "default/web");
	assert_string_equal(world->agent.plan_container, "c");
	world_end_plan(world, 0, &plan_of_one, "");
	assert_int_equal(world->exchange.status, 200);
	assert_string_equal(world_string(world, "pod"), "default/web");
	assert_string_equal(world_string(world, "containers.0.mounts.0.hostPath"), "/h");
}

static void test_times(void **state)
{
	static const struct {
		const char *query;
		uint64_t usec;
	} rows[] = {
		{ "", 0 },
		{ "?timeoutSeconds=0", 0 },
		{ "?timeoutSeconds=90", 90000000 },
		{ "?timeout=1m", 60000000 },
		{ "?timeout=0ms", 0 },
		{ "?timeout=1500ms", 1500000 },
	};
	static const char *const bad[] = { "?timeoutSeconds=",
					   "?timeoutSeconds=-1",
					   "?timeoutSeconds=5s",
					   "?timeoutSeconds=2592001",
					   "?timeoutSeconds=99999999999999999999",
					   "?timeoutSeconds=%201",
					   "?timeout=soon" };
	struct world *world = *state;
	char uri[128];

	store_pod(world);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		(void) snprintf(uri, sizeof(uri), MOUNTS "%s", rows[i].query);
		ask(world, uri, &plan_of_one);
		assert_string_equal(world->agent.plan_container, "(all)");
		assert_true(world->agent.wait_usec == rows[i].usec);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		(void) snprintf(uri, sizeof(uri), MOUNTS "%s", bad[i]);
		assert_int_equal(world_request(world, METHOD_POST, uri, NULL), 400);
	}
}

static void test_formats(void **state)
{
	struct world *world = *state;

	store_pod(world);
	ask(world, MOUNTS "?format=podman", &plan_of_one);
	assert_string_equal(world_reply(world), "--mount=type=bind,source=/h,destination=/c,"
						"bind-propagation=rprivate\n");
	assert_string_equal(world->exchange.reply_type, "text/plain");
	ask(world, MOUNTS "?format=oci", &plan_of_one);
	assert_string_equal(world_string(world, "mounts.0.destination"), "/c");
	ask(world, MOUNTS "?format=table", &plan_of_two);
	assert_string_equal(world_string(world, "kind"), "Table");
	assert_string_equal(world_string(world, "rows.0.cells.1"), "/c");

	/* A Table is also what the header can ask for. */
	world_form = FORM_TABLE;
	ask(world, MOUNTS, &plan_of_one);
	assert_string_equal(world_string(world, "columnDefinitions.0.name"), "Container");
	ask(world, MOUNTS "?format=json", &plan_of_one);
	assert_string_equal(world_string(world, "podUID"), "u");

	assert_int_equal(world_request(world, METHOD_POST, MOUNTS "?format=runc", NULL), 400);
	assert_string_equal(
		world_string(world, "message"),
		"format: 'runc' is none of json, table, oci, cri, podman, kube, docker, "
		"nspawn");
}

/* hostUsers: false: CRI's words are numbers, which who made the sandbox knows. */
static void test_user_namespace(void **state)
{
	static const char *const bad[] = { "",
					   ":",
					   "1",
					   "1:",
					   ":1",
					   "1:0",
					   "-1:2",
					   "1:2:3",
					   "1:2x",
					   "1%20:2",
					   "0x1:2",
					   "1:-2",
					   "4294967295:1",
					   "4294967294:2",
					   "0:99999999999999999999999" };
	struct planned_mount mapped = mount;
	struct planned_container one = containers[0];
	struct container_plan plan = plan_of_one;
	struct world *world = *state;
	char uri[160];

	mapped.idmap = true;
	one.mounts = &mapped;
	plan.containers = &one;
	store_pod(world);
	ask(world, MOUNTS "?format=cri&userNamespace=4294901759:65536", &plan);
	assert_int_equal(world->exchange.status, 200);
	for (size_t i = 0; i < 2; i++) {
		const char *const fields[] = { "uidMappings", "gidMappings" };

		(void) snprintf(uri, sizeof(uri),
				"\"%s\":[{\"host_id\":4294901759,"
				"\"container_id\":0,\"length\":65536}]",
				fields[i]);
		assert_non_null(strstr(world_reply(world), uri));
	}
	ask(world, MOUNTS "?format=cri", &plan);
	assert_int_equal(world->exchange.status, 422);
	assert_non_null(strstr(world_string(world, "message"), "as userNamespace=FIRST:COUNT"));
	ask(world, MOUNTS "?format=docker&userNamespace=1:1", &plan);
	assert_int_equal(world->exchange.status, 422);
	/* Of a pod without a user namespace nothing is mapped. */
	ask(world, MOUNTS "?format=cri&userNamespace=1:1", &plan_of_one);
	assert_int_equal(world->exchange.status, 200);
	assert_null(strstr(world_reply(world), "Mappings"));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		(void) snprintf(uri, sizeof(uri), MOUNTS "?format=cri&userNamespace=%s", bad[i]);
		assert_int_equal(world_request(world, METHOD_POST, uri, NULL), 400);
	}
}

static void test_one_of_several_containers(void **state)
{
	static const char *const formats[] = { "oci", "cri", "podman", "docker", "nspawn" };
	struct world *world = *state;
	char uri[128];

	store_pod(world);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		(void) snprintf(uri, sizeof(uri), MOUNTS "?format=%s", formats[i]);
		ask(world, uri, &plan_of_two);
		assert_int_equal(world->exchange.status, 400);
		assert_string_equal(world_string(world, "message"),
				    "container: this format is for one container, name it: c, d");
	}
}

/* "Not yet" is a conflict when the client did not want to wait, and else a time-out. */
static void test_not_mounted(void **state)
{
	static const struct {
		const char *uri;
		int error, status;
	} rows[] = {
		{ MOUNTS, -ETIMEDOUT, 409 },
		{ MOUNTS "?timeoutSeconds=1", -ETIMEDOUT, 504 },
		{ MOUNTS "?timeoutSeconds=1", -EIO, 422 },
		{ MOUNTS "?timeoutSeconds=1", -ENOENT, 404 },
		{ MOUNTS "?timeoutSeconds=1", -ECANCELED, 503 },
	};
	struct world *world = *state;

	store_pod(world);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		world_begin(world, METHOD_POST, rows[i].uri, NULL);
		world_end_wait(world, rows[i].error, "volume 'v': queued");
		assert_int_equal(world->exchange.status, rows[i].status);
		assert_string_equal(world_string(world, "message"), "volume 'v': queued");
	}
	assert_int_equal(world->agent.plans, 0);
}

static void test_no_plan(void **state)
{
	static const struct {
		int error, status;
	} rows[] = {
		{ -EAGAIN, 409 }, { -EINVAL, 422 },    { -EROFS, 422 },
		{ -ENOENT, 404 }, { -ECANCELED, 503 }, { -ENOTCONN, 500 },
	};
	struct world *world = *state;

	store_pod(world);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		world_begin(world, METHOD_POST, MOUNTS, NULL);
		world_end_wait(world, 0, "");
		world_end_plan(world, rows[i].error, NULL, "container 'c': no");
		assert_int_equal(world->exchange.status, rows[i].status);
		assert_string_equal(world_string(world, "message"), "container 'c': no");
	}
}

static void test_no_such_container(void **state)
{
	struct world *world = *state;

	store_pod(world);
	world->agent.plan_result = -ENOENT;
	world_begin(world, METHOD_POST, MOUNTS "?container=x", NULL);
	world_end_wait(world, 0, "");
	assert_int_equal(world->exchange.status, 404);
	assert_string_equal(world_string(world, "message"),
			    "pod 'default/web' has no container 'x'");
	world->agent.plan_result = -ENOBUFS;
	world_begin(world, METHOD_POST, MOUNTS, NULL);
	world_end_wait(world, 0, "");
	assert_int_equal(world->exchange.status, 429);
}

static void test_what_a_runtime_cannot_do(void **state)
{
	struct world *world = *state;

	store_pod(world);
	mount.propagation = PROPAGATION_BIDIRECTIONAL;
	ask(world, MOUNTS "?format=nspawn", &plan_of_one);
	mount.propagation = PROPAGATION_NONE;
	assert_int_equal(world->exchange.status, 422);
	assert_string_equal(world_string(world, "message"),
			    "container 'c': systemd-nspawn cannot express mountPropagation "
			    "Bidirectional, which '/c' asks for");
}

static void test_refused_at_once(void **state)
{
	struct world *world = *state;

	assert_int_equal(world_request(world, METHOD_POST, MOUNTS, NULL), 404);
	store_pod(world);
	assert_int_equal(world_request(world, METHOD_GET, MOUNTS, NULL), 405);
	world_may_wait = false;
	assert_int_equal(world_request(world, METHOD_POST, MOUNTS "?timeoutSeconds=1", NULL), 429);
	world->agent.wait_result = -ENOBUFS;
	assert_int_equal(world_request(world, METHOD_POST, MOUNTS, NULL), 429);
	assert_int_equal(world->agent.waits, 0);
}

static void test_the_client_leaves(void **state)
{
	struct world *world = *state;

	store_pod(world);
	world_begin(world, METHOD_POST, MOUNTS "?timeoutSeconds=9", NULL);
	exchange_abandon(&world->exchange);
	assert_int_equal(world->agent.cancelled, 1);
	assert_int_equal(world->agent.plans_left, 0);

	world_begin(world, METHOD_POST, MOUNTS "?timeoutSeconds=9", NULL);
	world_end_wait(world, 0, "");
	exchange_abandon(&world->exchange);
	assert_int_equal(world->agent.cancelled, 1);
	assert_int_equal(world->agent.plans_left, 1);
	assert_int_equal(world->answers, 0);
}

int main(void)
{
#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)
	const struct CMUnitTest tests[] = {
		WITH_WORLD(test_waits_then_plans),  WITH_WORLD(test_times),
		WITH_WORLD(test_formats),           WITH_WORLD(test_one_of_several_containers),
		WITH_WORLD(test_user_namespace),    WITH_WORLD(test_one_of_several_containers),
		WITH_WORLD(test_not_mounted),       WITH_WORLD(test_no_plan),
		WITH_WORLD(test_no_such_container), WITH_WORLD(test_what_a_runtime_cannot_do),
		WITH_WORLD(test_refused_at_once),   WITH_WORLD(test_the_client_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
