/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_docker_mount - a mount is a pod with a hold: when it is answered, and what is left of it
 *
 * The agent is canned: the test says when its waits end, what is mounted and what is held.
 */
#include "api_node.h"
#include "docker_world.h"

#include "base/cleanup.h"
#include "base/uuid.h"
#include "object/kinds/pod.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define POD_KEY "podvol-docker/data-855b556730a34a05-"

static const char mounted[] = "{\"items\":[{\"pod\":\"x\",\"state\":\"mounted\",\"path\":\"/p\"}]}";
static const char failing[] =
	"{\"items\":[{\"pod\":\"x\",\"state\":\"absent\",\"path\":\"\",\"error\":\"no disk\"}]}";
static const char working[] = "{\"items\":[{\"pod\":\"x\",\"state\":\"pending\",\"path\":\"\","
			      "\"step\":\"volume_mount\"}]}";
static const char one_hold[] = "{\"items\":[{\"id\":\"00000000bb\",\"kind\":\"explicit\"},"
			       "{\"id\":\"00000000aa\",\"kind\":\"process\"}]}";

static int set_up(void **state)
{
	struct world *world;

	assert_int_equal(world_set_up(state), 0);
	world = *state;
	docker_store_volumes(world);
	docker_create(world, "data", "pv", "disk");
	return 0;
}

static int find_pod(const struct object *pod, void *userdata)
{
	*(const struct object **) userdata = pod;
	return 1;
}

/* The only pod; NULL: there is none. */
static const struct object *the_pod(const struct world *world)
{
	const struct object *pod = NULL;

	(void) store_list(world->agent.store, KIND_POD, NULL, find_pod, &pod);
	return pod;
}

static void turn_until(struct world *world, bool there)
{
	for (int i = 0; i < 500 && !the_pod(world) == there; i++)
		assert_true(sd_event_run(world->event, 5000) >= 0);
	assert_int_equal(the_pod(world) != NULL, there);
}

static void turn_until_wait(struct world *world, unsigned int waits)
{
	for (int i = 0; i < 500 && world->agent.waits < waits; i++)
		assert_true(sd_event_run(world->event, 5000) >= 0);
	assert_int_equal(world->agent.waits, waits);
}

/* Up to its wait. */
static void begin_mount(struct world *world, const char *id)
{
	unsigned int before = world->agent.waits;
	char body[128];

	(void) snprintf(body, sizeof(body), "{\"Name\":\"data\",\"ID\":\"%s\"}", id);
	docker_begin(world, METHOD_POST, "/VolumeDriver.Mount", body);
	turn_until_wait(world, before + 1);
	assert_int_equal(world->answers, 0);
}

static void mount_it(struct world *world, const char *id)
{
	begin_mount(world, id);
	world->agent.volumes = mounted;
	world_end_wait(world, 0, "");
	assert_int_equal(world->exchange.status, 200);
	world->agent.holds = one_hold;
}

/* ---- mount ---- */

static void test_mount_is_a_pod_and_a_hold(void **state)
{
	struct world *world = *state;
	const struct object *pod;
	struct docker_volume volume;
	char asked[256], text[256];

	begin_mount(world, "1");
	assert_int_equal(world->agent.wait_for, WAIT_MOUNTED);
	assert_memory_equal(world->agent.wait_pod, POD_KEY, strlen(POD_KEY));
	assert_string_equal(world->agent.hold_asked, "");
	world->agent.volumes = mounted;
	world_end_wait(world, 0, "");
	assert_string_equal(world_reply(world), "{\"Mountpoint\":\"/p\",\"Err\":\"\"}");

	pod = the_pod(world);
	(void) snprintf(asked, sizeof(asked), "%s/%s %s engine 0 ''", DOCKER_NAMESPACE,
			pod->meta.name, pod->meta.uid);
	assert_string_equal(world->agent.hold_asked, asked);
	assert_true(docker_volume_find(world->agent.store, "data", &volume));
	assert_int_equal(pod->pod->volume_count, 1);
	assert_string_equal(pod->pod->volumes[0].claim_name, volume.claim);
	assert_true(pod_volume_use(pod->pod, "volume").mounted);
	docker_annotation(pod, DOCKER_ID_ANNOTATION, text, sizeof(text));
	assert_string_equal(text, "1");

	assert_int_equal(docker_call(world, "/VolumeDriver.Path", "data"), 200);
	assert_string_equal(world_string(world, "Mountpoint"), "/p");
}

static struct cJSON *fullness(const char *text)
{
	const struct json_limits limits = { .bytes = 4096, .depth = 8 };
	struct cJSON *tree = NULL;

	assert_int_equal(json_parse(text, strlen(text), &limits, &tree, NULL), 0);
	return tree;
}

/* The sizes of a mounted volume, or why they are not known; never none without a word. */
static void test_one_volume_comes_with_its_size(void **state)
{
	static const char get[] = "/VolumeDriver.Get", body[] = "{\"Name\":\"data\"}\n";
	struct world *world = *state;

	begin_mount(world, "1");
	world->agent.volumes = mounted;
	world_end_wait(world, 0, "");
	docker_begin(world, METHOD_POST, get, body);
	assert_int_equal(world->exchange.status, 0);
	world_node.statistics_done(
		world_node.statistics_userdata,
		fullness("{\"items\":[{\"capacityBytes\":9,\"usedBytes\":3,\"path\":\"/p\"}]}"));
	assert_string_equal(world_string(world, "Volume.Mountpoint"), "/p");
	assert_string_equal(world_string(world, "Volume.Status.mounts.0.id"), "1");
	assert_non_null(strstr(world_reply(world), "\"capacityBytes\":9,\"usedBytes\":3}"));

	docker_begin(world, METHOD_POST, get, body);
	exchange_abandon(&world->exchange);
	assert_int_equal(world_node.statistics_left, 1);
	world_node.result = -ENOBUFS;
	assert_int_equal(docker_call(world, get, "data"), 200);
	assert_string_equal(world_string(world, "Volume.Status.error"),
			    "too many pending requests: try again later");
	world_node.result = 0;
}

static void test_mount_again_is_the_same_mount(void **state)
{
	struct world *world = *state;
	char uid[64];

	mount_it(world, "1");
	(void) snprintf(uid, sizeof(uid), "%s", the_pod(world)->meta.uid);
	world->agent.hold_asked[0] = '\0';
	mount_it(world, "1");
	assert_string_equal(world->agent.wait_uid, uid);
	assert_string_equal(world->agent.hold_asked, ""); /* it has one */
	/* Nor does a second call take it away when it fails or its client leaves. */
	begin_mount(world, "1");
	world_leave(world);
	begin_mount(world, "1");
	world_end_wait(world, -EIO, "as the test says");
	assert_int_equal(world->exchange.status, 500);
	docker_create(world, "shared", "claim", "default/shared"); /* behind what was queued */
	assert_non_null(the_pod(world));
	assert_string_equal(the_pod(world)->meta.uid, uid);
}

static int count_pod(const struct object *pod, void *userdata)
{
	(*(unsigned int *) userdata)++;
	return 0;
}

static void test_each_id_is_a_mount(void **state)
{
	struct world *world = *state;
	unsigned int count = 0;

	mount_it(world, "1");
	mount_it(world, "2");
	(void) store_list(world->agent.store, KIND_POD, NULL, count_pod, &count);
	assert_int_equal(count, 2);
}

/* What failed is answered soon and leaves nothing; what is at work has time. */
static void test_waiting(void **state)
{
	static const struct {
		const char *volumes;
		int error;
		bool waits_on;
	} rows[] = {
		{ working, -ETIMEDOUT, true },  { failing, -ETIMEDOUT, false },
		{ working, -EIO, false },       { working, -ENOENT, false },
		{ working, -ECANCELED, false },
	};
	struct world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin_mount(world, "1");
		assert_in_range(world->agent.wait_usec, 1000000, 4500000); /* podman's 5 s */
		world->agent.volumes = rows[i].volumes;
		world_end_wait(world, rows[i].error, "as the test says");
		if (rows[i].waits_on) {
			assert_int_equal(world->answers, 0);
			assert_non_null(world->agent.wait_done);
			world_end_wait(world, -EIO, "as the test says");
		}
		assert_int_equal(world->exchange.status, 500);
		assert_string_equal(world_string(world, "Err"), "as the test says");
		turn_until(world, false);
		assert_string_equal(world->agent.hold_asked, "");
	}
}

static void test_no_hold_no_mount(void **state)
{
	struct world *world = *state;

	begin_mount(world, "1");
	world->agent.volumes = mounted;
	world->agent.hold_result = -EDQUOT;
	world_end_wait(world, 0, "");
	assert_int_equal(world->exchange.status, 500);
	assert_string_equal(world_string(world, "Err"), "as the test says");
	turn_until(world, false);
}

static void test_client_leaves_a_mount(void **state)
{
	struct world *world = *state;

	begin_mount(world, "1");
	world_leave(world);
	assert_int_equal(world->agent.cancelled, 1);
	turn_until(world, false);

	/* While the pod is being stored. */
	docker_begin(world, METHOD_POST, "/VolumeDriver.Mount", "{\"Name\":\"data\",\"ID\":\"1\"}");
	world_leave(world);
	turn_until(world, true);
	turn_until(world, false);
	assert_int_equal(world->agent.waits, 1);
}

static void test_waits_are_bounded(void **state)
{
	struct world *world = *state;

	world_may_wait = false;
	assert_int_equal(docker_request(world, METHOD_POST, "/VolumeDriver.Mount",
					"{\"Name\":\"data\",\"ID\":\"1\"}"),
			 500);
	assert_null(the_pod(world));
	world_may_wait = true;
	world->agent.wait_result = -ENOBUFS;
	assert_int_equal(docker_request(world, METHOD_POST, "/VolumeDriver.Mount",
					"{\"Name\":\"data\",\"ID\":\"1\"}"),
			 500);
	assert_non_null(strstr(world_string(world, "Err"), "too many pending requests"));
	turn_until(world, false);
}

/* ---- unmount ---- */

static void test_unmount_ends_hold_and_pod(void **state)
{
	struct world *world = *state;
	char uid[64], asked[128];

	mount_it(world, "1");
	(void) snprintf(uid, sizeof(uid), "%s", the_pod(world)->meta.uid);
	docker_begin(world, METHOD_POST, "/VolumeDriver.Unmount",
		     "{\"Name\":\"data\",\"ID\":\"1\"}");
	/* Not the one that another client posted. */
	(void) snprintf(asked, sizeof(asked), "release %s 00000000bb", uid);
	assert_string_equal(world->agent.hold_asked, asked);
	turn_until_wait(world, 2);
	assert_null(the_pod(world));
	assert_int_equal(world->agent.wait_for, WAIT_UNMOUNTED);
	assert_string_equal(world->agent.wait_uid, uid);
	assert_int_equal(world->answers, 0);
	world_end_wait(world, 0, "");
	assert_string_equal(world_reply(world), "{\"Err\":\"\"}");
}

static void test_unmount_that_fails_says_why(void **state)
{
	struct world *world = *state;

	mount_it(world, "1");
	world->agent.hold_result = -EIO;
	assert_int_equal(docker_request(world, METHOD_POST, "/VolumeDriver.Unmount",
					"{\"Name\":\"data\",\"ID\":\"1\"}"),
			 500);
	assert_non_null(the_pod(world)); /* held, so not deleted */
	world->agent.hold_result = 0;
	docker_begin(world, METHOD_POST, "/VolumeDriver.Unmount",
		     "{\"Name\":\"data\",\"ID\":\"1\"}");
	turn_until_wait(world, 2);
	world_end_wait(world, -ETIMEDOUT, "container lives");
	assert_int_equal(world->exchange.status, 500);
	assert_string_equal(world_string(world, "Err"), "container lives");
}

/* The pod is gone from the store, and its volume is mounted: held, or left by the last call. */
static void test_unmount_finds_what_is_mounted(void **state)
{
	static char volumes[256];
	struct world *world = *state;
	char name[DOCKER_OBJECT_NAME_BYTES];

	docker_pod_name("data", "1", name);
	(void) snprintf(volumes, sizeof(volumes),
			"{\"items\":[{\"pod\":\"default/other\",\"podUID\":\"o\"},"
			"{\"pod\":\"podvol-docker/%s\",\"podUID\":\"u-1\",\"state\":\"mounted\"}]}",
			name);
	world->agent.volumes = volumes;
	world->agent.holds = one_hold;
	docker_begin(world, METHOD_POST, "/VolumeDriver.Unmount",
		     "{\"Name\":\"data\",\"ID\":\"1\"}");
	assert_string_equal(world->agent.hold_asked, "release u-1 00000000bb");
	assert_string_equal(world->agent.wait_uid, "u-1");
	world_end_wait(world, 0, "");
	assert_int_equal(world->exchange.status, 200);
}

static void test_unmount_of_nothing_is_done(void **state)
{
	struct world *world = *state;

	assert_int_equal(docker_request(world, METHOD_POST, "/VolumeDriver.Unmount",
					"{\"Name\":\"data\",\"ID\":\"1\"}"),
			 200);
	assert_int_equal(docker_request(world, METHOD_POST, "/VolumeDriver.Unmount",
					"{\"Name\":\"unknown\",\"ID\":\"1\"}"),
			 200);
	assert_int_equal(world->agent.waits, 0);
}

static void test_client_leaves_an_unmount(void **state)
{
	struct world *world = *state;

	mount_it(world, "1");
	docker_begin(world, METHOD_POST, "/VolumeDriver.Unmount",
		     "{\"Name\":\"data\",\"ID\":\"1\"}");
	world_leave(world);
	turn_until(world, false);
	assert_int_equal(world->agent.waits, 1);
}

/* ---- another boot ---- */

static void store_pod_of_boot(struct world *world, const char *boot_id)
{
	cleanup_object const struct object *pod = NULL;
	struct docker_volume volume;
	struct failure why;

	assert_true(docker_volume_find(world->agent.store, "data", &volume));
	assert_int_equal(docker_pod_new(&volume, "1", boot_id, &pod, &why), 0);
	assert_int_equal(store_create(world->agent.store, pod, NULL, NULL), 0);
	turn_until(world, true);
}

static void test_start_deletes_what_another_boot_mounted(void **state)
{
	struct world *world = *state;
	struct failure why;

	store_pod_of_boot(world, "another");
	assert_int_equal(docker_volume_start(&world->agent, &why), 0);
	turn_until(world, false);
	assert_string_equal(world->agent.hold_asked, "");
}

static void test_start_keeps_what_this_boot_mounted(void **state)
{
	struct world *world = *state;
	char boot_id[UUID_BYTES], asked[256];
	const struct object *pod;
	struct failure why;

	assert_int_equal(uuid_of_boot(boot_id), 0);
	assert_int_equal(strlen(boot_id), 36);
	store_pod_of_boot(world, boot_id);
	pod = the_pod(world);
	(void) snprintf(asked, sizeof(asked), "%s/%s %s engine 0 ''", DOCKER_NAMESPACE,
			pod->meta.name, pod->meta.uid);
	assert_int_equal(docker_volume_start(&world->agent, &why), 0);
	assert_string_equal(world->agent.hold_asked, asked);
	world->agent.hold_asked[0] = '\0';
	world->agent.holds = one_hold;
	assert_int_equal(docker_volume_start(&world->agent, &why), 0);
	assert_string_equal(world->agent.hold_asked, "");
	assert_non_null(the_pod(world));
}

/* Other people's pods are none of its business. */
static void test_start_passes_over_other_pods(void **state)
{
	struct world *world = *state;
	struct failure why;

	assert_int_equal(world_request(world, METHOD_POST, "/api/v1/namespaces/podvol-docker/pods",
				       world_pod_json),
			 201);
	assert_int_equal(docker_volume_start(&world->agent, &why), 0);
	assert_int_equal(
		world_request(world, METHOD_GET, "/api/v1/namespaces/podvol-docker/pods/web", NULL),
		200);
	assert_string_equal(world->agent.hold_asked, "");
}

static void test_mount_replaces_a_pod_of_another_boot(void **state)
{
	struct world *world = *state;
	char uid[64];

	store_pod_of_boot(world, "another");
	(void) snprintf(uid, sizeof(uid), "%s", the_pod(world)->meta.uid);
	mount_it(world, "1");
	assert_string_not_equal(the_pod(world)->meta.uid, uid);
	assert_string_equal(world->agent.wait_uid, the_pod(world)->meta.uid);
}

int main(void)
{
#define WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, world_tear_down)
	const struct CMUnitTest tests[] = {
		WORLD(test_mount_is_a_pod_and_a_hold),
		WORLD(test_one_volume_comes_with_its_size),
		WORLD(test_mount_again_is_the_same_mount),
		WORLD(test_each_id_is_a_mount),
		WORLD(test_waiting),
		WORLD(test_no_hold_no_mount),
		WORLD(test_client_leaves_a_mount),
		WORLD(test_waits_are_bounded),
		WORLD(test_unmount_ends_hold_and_pod),
		WORLD(test_unmount_that_fails_says_why),
		WORLD(test_unmount_finds_what_is_mounted),
		WORLD(test_unmount_of_nothing_is_done),
		WORLD(test_client_leaves_an_unmount),
		WORLD(test_start_deletes_what_another_boot_mounted),
		WORLD(test_start_keeps_what_this_boot_mounted),
		WORLD(test_start_passes_over_other_pods),
		WORLD(test_mount_replaces_a_pod_of_another_boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
