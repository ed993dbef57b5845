/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_volume_users_search - what is searched for when a client asks who uses a volume, and when
 * the answer is "no users"
 *
 * The searches are made up and run on a real worker; real ones: tests/system/inuse/test_users.
 */
#include "inuse/volume_users_search.h"

#include "base/cleanup.h"
#include "base/worker.h"
#include "mount/holders/busy_holders.h"
#include "mount/holders/mount_holders.h"
#include "object/json/json.h"
#include "state/actual.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define VOLUME "kubernetes.io/local-volume/disk"

int __wrap_busy_holders_search(struct busy_query *queries, size_t count,
			       const atomic_bool *cancelled, struct failure *reterr);
int __wrap_mount_holders_search(struct mount_holder *holders, size_t count, struct failure *reterr);

/* What the searches find, and what they were asked; written and read while none runs. */
static struct {
	struct busy_holder user; /* of the first mount; pid 0: none */
	size_t hidden;
	bool cut_short, until_cancelled;
	int busy_result, mounts_result;
	struct mount_holder elsewhere; /* of each mount, when it is found */
	bool no_mount;
	char asked[512];
	unsigned int searched_mounts;
} made_up;

int __wrap_busy_holders_search(struct busy_query *queries, size_t count,
			       const atomic_bool *cancelled, struct failure *reterr)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		used += (size_t) snprintf(made_up.asked + used, sizeof(made_up.asked) - used,
					  "%s:%s ", queries[i].mount_point,
					  queries[i].folder ?: "-");
		queries[i].holders.hidden = made_up.hidden;
		queries[i].holders.cut_short = made_up.cut_short;
	}
	while (made_up.until_cancelled && !atomic_load(cancelled))
		sched_yield();
	if (made_up.until_cancelled)
		return failed(reterr, -ECANCELED, "cancelled");
	if (made_up.user.pid > 0) {
		queries[0].holders.list[0] = made_up.user;
		queries[0].holders.count = queries[0].holders.total = 1;
	}
	return made_up.busy_result < 0 ? failed(reterr, made_up.busy_result, "no luck") : 0;
}

int __wrap_mount_holders_search(struct mount_holder *holders, size_t count, struct failure *reterr)
{
	made_up.searched_mounts++;
	for (size_t i = 0; i < count; i++) {
		assert_true(holders[i].elsewhere && holders[i].volume);
		if (made_up.elsewhere.found)
			holders[i] = made_up.elsewhere;
		holders[i].pid_fd = -EBADF;
		holders[i].device = made_up.no_mount ? 0 : 7;
	}
	return made_up.mounts_result < 0 ? failed(reterr, made_up.mounts_result, "no mounts")
					 : made_up.mounts_result;
}

struct world {
	sd_event *event;
	struct worker_return *to_loop;
	struct worker_pool *workers;
	struct mount_root root;
	struct dirty_set *dirty;
	struct inuse inuse;
	struct cJSON *answer;
	unsigned int answers;
};

static void on_answer(void *userdata, struct cJSON *tree)
{
	struct world *world = userdata;

	json_free(world->answer);
	world->answer = tree;
	world->answers++;
}

/* A volume with a device, mounted in pods u-1 and u-2. */
static void mount_volume(struct actual *actual, bool block)
{
	static const char *const uids[] = { "u-1", "u-2" };
	static const struct volume_plugin plugin = { .name = "kubernetes.io/local-volume" };

	for (size_t i = 0; i < ARRAY_SIZE(uids); i++) {
		char path[64];
		struct actual_entry entry = {
			.unique_name = VOLUME,
			.plugin_name = plugin.name,
			.plugin = &plugin,
			.spec_name = "disk",
			.device_mountable = true,
			.block = block,
			.pod_uid = uids[i],
			.pod_key = "default/p",
			.outer_name = "data",
			.path = path,
		};

		(void) snprintf(path, sizeof(path), "/pods/%s/data", uids[i]);
		assert_int_equal(actual_begin(actual, &entry), 0);
		actual_apply(actual, &(struct step_result){ .kind = STEP_STAGE,
							    .unique_name = VOLUME,
							    .device_mount_path = "/global" });
		actual_apply(actual, &(struct step_result){ .kind = STEP_PUBLISH,
							    .unique_name = VOLUME,
							    .pod_uid = uids[i] });
	}
}

static int set_up(void **state)
{
	static const struct worker_limits limits = { .threads = 1,
						     .threads_max = 2,
						     .set_aside_usec = 1000000 };
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	memset(&made_up, 0, sizeof(made_up));
	assert_int_equal(sd_event_new(&world->event), 0);
	assert_int_equal(worker_return_new(world->event, 0, &world->to_loop), 0);
	assert_int_equal(worker_pool_new("worker", world->to_loop, &limits, &world->workers), 0);
	assert_int_equal(dirty_set_new(NULL, NULL, &world->dirty), 0);
	assert_int_equal(actual_new(world->dirty, &world->inuse.with.actual), 0);
	world->root.path = "/root";
	world->inuse.with.root = &world->root;
	world->inuse.with.workers = &world->workers;
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	worker_pool_free(world->workers);
	worker_return_free(world->to_loop);
	actual_free(world->inuse.with.actual);
	dirty_set_free(world->dirty);
	sd_event_unref(world->event);
	json_free(world->answer);
	free(world);
	return 0;
}

static int ask(struct world *world, const char *volume)
{
	struct volume_users_search *ask = NULL;

	return volume_users_search(&world->inuse, volume, on_answer, world, &ask);
}

/* Member "result". */
static const char *result_of(struct world *world)
{
	unsigned int before = world->answers;

	assert_int_equal(ask(world, VOLUME), 0);
	while (world->answers == before)
		assert_true(sd_event_run(world->event, UINT64_MAX) >= 0);
	return json_string(json_get(world->answer, "result"), "");
}

static void test_every_mount_is_searched_for(void **state)
{
	static const char *const names[] = { VOLUME, "disk", "/global", "/pods/u-2/data" };
	struct world *world = *state;

	mount_volume(world->inuse.with.actual, false);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		made_up.asked[0] = '\0';
		assert_int_equal(ask(world, names[i]), 0);
		while (world->inuse.asking)
			assert_true(sd_event_run(world->event, UINT64_MAX) >= 0);
		assert_string_equal(made_up.asked,
				    "/global:- /pods/u-1/data:/root/pods/u-1/volume-subpaths/disk "
				    "/pods/u-2/data:/root/pods/u-2/volume-subpaths/disk ");
	}
	assert_int_equal(ask(world, "none"), -ENOENT);
}

static void test_no_users_only_when_all_was_seen(void **state)
{
	struct world *world = *state;

	mount_volume(world->inuse.with.actual, false);
	assert_string_equal(result_of(world), "no users");
	made_up.hidden = 3;
	assert_string_equal(result_of(world), "unknown: 3 processes could not be inspected");
	made_up.hidden = 0;
	made_up.mounts_result = 4;
	assert_string_equal(result_of(world), "unknown: 4 processes could not be inspected");
	made_up.mounts_result = 0;
	made_up.cut_short = true;
	assert_string_equal(result_of(world), "unknown: the search was cut short");
	made_up.cut_short = false;
	made_up.no_mount = true;
	assert_non_null(strstr(result_of(world), "unknown: '/pods/u-1/data' is not a mount"));
	made_up.no_mount = false;
	made_up.mounts_result = -EIO;
	assert_string_equal(result_of(world), "unknown: no mounts: Input/output error");
	made_up.busy_result = -EMFILE;
	assert_string_equal(result_of(world), "unknown: no luck: Too many open files");
	made_up.busy_result = made_up.mounts_result = 0;
	made_up.elsewhere.found = true;
	made_up.elsewhere.how = HELD_UNREAD;
	assert_non_null(strstr(result_of(world), "unknown: uid 0 has more mount namespaces"));
}

static void test_block_volumes_are_unknown(void **state)
{
	struct world *world = *state;

	mount_volume(world->inuse.with.actual, true);
	assert_non_null(strstr(result_of(world), "unknown: who has the device of a block volume"));
}

/* A mount elsewhere is the same one for each mount of the volume. */
static void test_users_are_named(void **state)
{
	struct world *world = *state;
	cleanup_free char *text = NULL;

	mount_volume(world->inuse.with.actual, false);
	made_up.user = (struct busy_holder){ .kind = BUSY_OPEN_FILE,
					     .pid = 7,
					     .uid = 8,
					     .count = 1,
					     .pid_fd = -EBADF,
					     .command = "s\xff",
					     .name = "logs/a" };
	made_up.elsewhere = (struct mount_holder){
		.found = true, .pid = 9, .mount_namespace = 77, .command = "cat", .where = "/in"
	};
	made_up.hidden = 1;
	assert_string_equal(result_of(world), "2 users");
	text = json_print(json_get(world->answer, "users"));
	assert_string_equal(text, "[{\"kind\":\"open file\",\"pid\":7,\"uid\":8,\"command\":\"s?\","
				  "\"name\":\"logs/a\",\"count\":1,"
				  "\"text\":\"process 7 's?': open file 'logs/a'\"},"
				  "{\"kind\":\"mount elsewhere\",\"pid\":9,\"uid\":0,"
				  "\"command\":\"cat\",\"name\":\"/in\",\"count\":1,"
				  "\"mountNamespace\":\"77\",\"text\":\"process 9 'cat' has it "
				  "mounted at '/in' in mount namespace 77\"}]");
}

static void test_one_search_that_ends_with_its_client(void **state)
{
	struct world *world = *state;
	struct volume_users_search *first = NULL;

	mount_volume(world->inuse.with.actual, false);
	made_up.until_cancelled = true;
	assert_int_equal(volume_users_search(&world->inuse, VOLUME, on_answer, world, &first), 0);
	assert_int_equal(ask(world, VOLUME), -EBUSY);
	volume_users_search_cancel(first);
	while (world->inuse.asking)
		assert_true(sd_event_run(world->event, UINT64_MAX) >= 0);
	assert_int_equal(world->answers, 0);
	assert_int_equal(made_up.searched_mounts, 0);
	made_up.until_cancelled = false;
	assert_string_equal(result_of(world), "no users");
}

#define ASK_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		ASK_TEST(test_every_mount_is_searched_for),
		ASK_TEST(test_no_users_only_when_all_was_seen),
		ASK_TEST(test_block_volumes_are_unknown),
		ASK_TEST(test_users_are_named),
		ASK_TEST(test_one_search_that_ends_with_its_client),
	};

	return cmocka_run_group_tests_name("volume_users_search", tests, NULL, NULL);
}
