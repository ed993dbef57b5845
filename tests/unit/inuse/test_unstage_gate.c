/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_unstage_gate - which steps wait for a search, when it is done, and what is said meanwhile
 *
 * The search is made up and runs on a real worker; real namespaces:
 * tests/root/mount/test_mount_holders.c and tests/system/inuse/test_unstage.
 */
#include "inuse/unstage_gate.h"

#include "base/cleanup.h"
#include "mount/holders/mount_holders.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

int __wrap_mount_holders_search(struct mount_holder *holders, size_t count, struct failure *reterr);

enum { TURNS_MAX = 50 };

/* What the searches find, and what they were asked; written and read while none runs. */
static struct {
	pid_t holder; /* 0: none */
	int result;
	unsigned int searches, forced;
	size_t asked;
} made_up;

int __wrap_mount_holders_search(struct mount_holder *holders, size_t count, struct failure *reterr)
{
	made_up.searches++;
	made_up.forced += count == 1 && holders[0].passed;
	made_up.asked += count;
	for (size_t i = 0; i < count && made_up.holder; i++) {
		holders[i].found = true;
		holders[i].pid = made_up.holder;
		holders[i].pid_fd = pidfd_open(made_up.holder, 0);
		holders[i].mount_namespace = 77;
		(void) snprintf(holders[i].command, sizeof(holders[i].command), "sh");
		(void) snprintf(holders[i].where, sizeof(holders[i].where), "/in");
	}
	if (made_up.result < 0)
		return failed(reterr, made_up.result, "cannot search");
	return made_up.result;
}

struct world {
	sd_event *event;
	struct worker_return *to_loop;
	struct worker_pool *workers;
	struct unstage_gate *gate;
	unsigned int changed, held;
	int forced; /* what on_forced() got; 1: nothing yet */
	struct actual_volume volume;
	struct step step;
};

static void on_changed(void *userdata, const char *unique_name)
{
	assert_int_equal(strncmp(unique_name, "volume", 6), 0);
	((struct world *) userdata)->changed++;
}

static void on_held(void *userdata, const struct unstage_view *view)
{
	assert_true(view->failure->error < 0);
	((struct world *) userdata)->held++;
}

static int set_up(void **state)
{
	static const struct worker_limits limits = { .threads = 1,
						     .threads_max = 2,
						     .set_aside_usec = 1000000 };
	struct world *world = calloc(1, sizeof(*world));
	struct unstage_gate_options options = { .changed = on_changed,
						.held = on_held,
						.userdata = world };

	assert_non_null(world);
	memset(&made_up, 0, sizeof(made_up));
	assert_int_equal(sd_event_new(&world->event), 0);
	assert_int_equal(worker_return_new(world->event, 0, &world->to_loop), 0);
	assert_int_equal(worker_pool_new("worker", world->to_loop, &limits, &world->workers), 0);
	options.event = world->event;
	options.workers = world->workers;
	assert_int_equal(unstage_gate_new(&options, &world->gate), 0);
	world->volume.unique_name = "volume";
	world->volume.device_mount_path = "/"; /* is mounted */
	world->volume.device_path = "/dev/x";
	world->step = (struct step){ .kind = STEP_UNSTAGE,
				     .unique_name = "volume",
				     .have = &world->volume };
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	worker_pool_free(world->workers);
	worker_return_free(world->to_loop);
	unstage_gate_free(world->gate);
	sd_event_unref(world->event);
	free(world);
	return 0;
}

/* Asks, and turns the loop until that changed something. */
static bool ask_and_wait(struct world *world)
{
	unsigned int before = world->changed;
	bool passes = unstage_gate_passes(world->gate, &world->step);

	unstage_gate_search(world->gate);
	for (int i = 0; i < TURNS_MAX && !passes && world->changed == before; i++)
		assert_true(sd_event_run(world->event, 2000000) >= 0);
	return passes;
}

static void on_forced(void *userdata, int error, const struct mount_passed *passed,
		      const struct failure *why)
{
	((struct world *) userdata)->forced = error;
}

static int force(struct world *world)
{
	struct unstage_force *force;
	struct holds *holds;
	int r;

	assert_int_equal(holds_new(1, &holds), 0);
	force = unstage_force_new(holds, on_forced, world);
	assert_non_null(force);
	holds_free(holds);
	world->forced = 1;
	r = unstage_gate_force(world->gate, "volume", "", force);
	if (r < 0)
		unstage_force_free(force);
	return r;
}

static void test_only_what_takes_a_device_waits(void **state)
{
	static const struct {
		enum step_kind kind;
		bool block;
		const char *mount_point, *device;
		bool passes;
	} rows[] = {
		{ STEP_STAGE, false, "/", "/dev/x", true },
		{ STEP_PUBLISH, false, "/", "/dev/x", true },
		{ STEP_FORGET, false, "/", "/dev/x", true },
		{ STEP_UNPUBLISH, false, "/", "/dev/x", true },
		{ STEP_UNSTAGE, false, "", "/dev/x", true },
		{ STEP_UNSTAGE, false, "/", "", false },
		{ STEP_UNPUBLISH, true, "", "/dev/x", false },
		{ STEP_UNSTAGE, true, "/", "", true },
		{ STEP_UNSTAGE, true, "/", "/dev/x", false },
	};
	struct world *world = *state;
	char name[16];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		(void) snprintf(name, sizeof(name), "volume%zu", i);
		world->volume.unique_name = name;
		world->volume.block = rows[i].block;
		world->volume.device_mount_path = (char *) rows[i].mount_point;
		world->volume.device_path = (char *) rows[i].device;
		world->step.unique_name = name;
		world->step.kind = rows[i].kind;
		assert_int_equal(unstage_gate_passes(world->gate, &world->step), rows[i].passes);
	}
}

static void test_passes_once_when_nobody_has_it(void **state)
{
	struct world *world = *state;

	assert_false(ask_and_wait(world));
	assert_int_equal(made_up.searches, 1);
	assert_true(unstage_gate_passes(world->gate, &world->step));
	assert_false(ask_and_wait(world));
	assert_int_equal(made_up.searches, 2);
}

/* A directory that no device is mounted on, as of a volume without one. */
static void test_what_is_not_mounted_is_not_searched_for(void **state)
{
	struct world *world = *state;

	world->volume.device_mount_path = "/no/such/directory";
	assert_false(ask_and_wait(world));
	assert_int_equal(made_up.searches, 0);
	assert_true(unstage_gate_passes(world->gate, &world->step));
}

/* Where a stage reports the device that it mounts. What others stage, they may not name. */
static void test_where_nothing_was_staged_nothing_is_searched_for(void **state)
{
	static const struct volume_plugin local = { .name = "x", .traits = VOLUME_STAGES_DEVICE },
					  other = { .name = "y" };
	struct world *world = *state;

	world->volume.plugin = &local;
	world->volume.staged_nothing = true;
	assert_true(unstage_gate_passes(world->gate, &world->step));
	world->volume.staged_nothing = false;
	assert_false(unstage_gate_passes(world->gate, &world->step));
	world->volume.staged_nothing = true;
	world->volume.plugin = &other;
	assert_false(unstage_gate_passes(world->gate, &world->step));
}

static void test_one_search_for_all_of_a_turn(void **state)
{
	struct world *world = *state;
	char name[16];

	for (int i = 0; i < 20; i++) {
		(void) snprintf(name, sizeof(name), "volume%d", i);
		world->step.unique_name = name;
		assert_false(unstage_gate_passes(world->gate, &world->step));
	}
	world->step.unique_name = "volume";
	assert_false(ask_and_wait(world));
	assert_int_equal(made_up.searches, 1);
	assert_int_equal(made_up.asked, 21);
	assert_int_equal(world->changed, 21);
}

/* 100 directories that are removed at once cost one pass, and one look at the table of mounts. */
static void test_one_search_for_all_directories(void **state)
{
	static const struct volume_plugin plugin = { .name = "x", .traits = VOLUME_REMOVES_FILES };
	struct world *world = *state;
	char top[] = "/tmp/podvol-gate-XXXXXX", paths[100][64];
	struct actual_pod *pod;
	struct unstage_view view;

	assert_non_null(mkdtemp(top));
	for (int i = 0; i < 100; i++) {
		char uid[16];

		(void) snprintf(paths[i], sizeof(paths[i]), "%s/%d", top, i);
		assert_int_equal(mkdir(paths[i], 0700), 0);
		(void) snprintf(uid, sizeof(uid), "uid%d", i);
		pod = calloc(1, sizeof(*pod));
		assert_non_null(pod);
		pod->pod_uid = strdup(uid);
		pod->path = paths[i];
		HASH_ADD_KEYPTR(hh, world->volume.pods, pod->pod_uid, strlen(pod->pod_uid), pod);
		world->volume.plugin = &plugin;
		world->step.kind = STEP_UNPUBLISH;
		world->step.pod_uid = pod->pod_uid;
		assert_false(unstage_gate_passes(world->gate, &world->step));
	}
	assert_true(unstage_gate_check(world->gate, "volume", "uid7", &view));
	assert_string_equal(view.keeps, "files");
	(void) ask_and_wait(world);
	assert_int_equal(made_up.searches, 1);
	assert_int_equal(made_up.asked, 100);
	for (pod = world->volume.pods; pod; pod = pod->hh.next) {
		world->step.pod_uid = pod->pod_uid;
		assert_true(unstage_gate_passes(world->gate, &world->step));
	}
	while ((pod = world->volume.pods)) {
		assert_int_equal(rmdir(pod->path), 0);
		HASH_DEL(world->volume.pods, pod);
		free(pod->pod_uid);
		free(pod);
	}
	assert_int_equal(rmdir(top), 0);
}

/* One that is not there, or is a file system of its own, is left to its teardown. */
static void test_only_directories_that_are_removed_are_searched_for(void **state)
{
	static const struct volume_plugin plugin = { .name = "x", .traits = VOLUME_REMOVES_FILES };
	static const char *const paths[] = { "/no/such/directory", "/proc", "/etc/passwd" };
	struct world *world = *state;
	struct actual_pod pod = { .pod_uid = "uid" };

	world->volume.plugin = &plugin;
	world->step.kind = STEP_UNPUBLISH;
	world->step.pod_uid = "uid";
	HASH_ADD_KEYPTR(hh, world->volume.pods, pod.pod_uid, strlen(pod.pod_uid), &pod);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		pod.path = (char *) paths[i];
		assert_false(ask_and_wait(world));
		assert_true(unstage_gate_passes(world->gate, &world->step));
	}
	assert_int_equal(made_up.searches, 0);
	HASH_DEL(world->volume.pods, &pod);
}

static void test_waits_for_the_end_of_who_has_it(void **state)
{
	struct world *world = *state;
	struct unstage_view view;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void) pause();
	}
	made_up.holder = pid;
	assert_false(ask_and_wait(world));
	assert_true(unstage_gate_check(world->gate, "volume", "", &view));
	assert_false(view.searching);
	assert_non_null(
		strstr(view.failure->text, "'sh' has it mounted at '/in' in mount namespace 77"));
	/* Asked again at once, it is not searched for again. */
	assert_false(unstage_gate_passes(world->gate, &world->step));
	unstage_gate_search(world->gate);
	assert_int_equal(sd_event_run(world->event, 0), 0);
	assert_int_equal(made_up.searches, 1);

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	made_up.holder = 0;
	assert_true(sd_event_run(world->event, 5000000) > 0);
	assert_int_equal(world->changed, 2);
	/* Until the next search ended others may keep it: it can be forced. */
	assert_true(unstage_gate_check(world->gate, "volume", "", &view));
	assert_true(view.searching);
	assert_int_equal(force(world), 0);
	assert_false(ask_and_wait(world));
	assert_int_equal(world->forced, 0);
	assert_true(unstage_gate_passes(world->gate, &world->step));
}

/* It may unmount the volume and live on: nothing tells of that. */
static void test_who_has_it_may_let_go_and_live(void **state)
{
	struct world *world = *state;

	made_up.holder = getpid();
	assert_false(ask_and_wait(world));
	assert_int_equal(world->changed, 1);
	made_up.holder = 0;
	for (int i = 0; i < TURNS_MAX && world->changed < 2; i++)
		assert_true(sd_event_run(world->event, 1000000) >= 0);
	assert_int_equal(world->changed, 2);
	assert_false(ask_and_wait(world));
	assert_true(unstage_gate_passes(world->gate, &world->step));
}

static void test_failed_search_keeps_the_device_and_comes_again(void **state)
{
	struct world *world = *state;
	struct unstage_view view;

	made_up.result = -EMFILE;
	assert_false(ask_and_wait(world));
	assert_false(unstage_gate_passes(world->gate, &world->step));
	assert_true(unstage_gate_check(world->gate, "volume", "", &view));
	assert_int_equal(view.failure->error, -EMFILE);
	made_up.result = 0;
	for (int i = 0; i < TURNS_MAX && world->changed < 2; i++)
		assert_true(sd_event_run(world->event, 1000000) >= 0);
	assert_false(ask_and_wait(world));
	assert_true(unstage_gate_passes(world->gate, &world->step));
}

/* It is heard of in any case, and counts for one search alone. */
static void test_force_is_searched_for_at_once(void **state)
{
	struct world *world = *state;

	assert_int_equal(force(world), -ENOENT);
	made_up.holder = getpid();
	assert_false(ask_and_wait(world));
	assert_int_equal(force(world), 0);
	assert_int_equal(force(world), -EBUSY);
	assert_false(ask_and_wait(world));
	assert_int_equal(made_up.forced, 1);
	assert_int_equal(world->forced, -EBUSY);
	assert_int_equal(world->held, 1); /* the same holder is said once */
	made_up.holder = 0;
	assert_int_equal(force(world), 0);
	assert_false(ask_and_wait(world));
	assert_int_equal(world->forced, 0);
	assert_true(unstage_gate_passes(world->gate, &world->step));
	assert_false(ask_and_wait(world));
	assert_int_equal(made_up.searches, 4);
	assert_int_equal(made_up.forced, 2);
}

static void test_force_that_is_not_searched_for_is_heard_of(void **state)
{
	struct world *world = *state;

	made_up.holder = getpid();
	assert_false(ask_and_wait(world));
	assert_int_equal(force(world), 0);
	world->gate = unstage_gate_free(world->gate);
	assert_int_equal(world->forced, -ECANCELED);
}

#define GATE_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		GATE_TEST(test_only_what_takes_a_device_waits),
		GATE_TEST(test_passes_once_when_nobody_has_it),
		GATE_TEST(test_what_is_not_mounted_is_not_searched_for),
		GATE_TEST(test_where_nothing_was_staged_nothing_is_searched_for),
		GATE_TEST(test_one_search_for_all_of_a_turn),
		GATE_TEST(test_one_search_for_all_directories),
		GATE_TEST(test_only_directories_that_are_removed_are_searched_for),
		GATE_TEST(test_waits_for_the_end_of_who_has_it),
		GATE_TEST(test_who_has_it_may_let_go_and_live),
		GATE_TEST(test_failed_search_keeps_the_device_and_comes_again),
		GATE_TEST(test_force_is_searched_for_at_once),
		GATE_TEST(test_force_that_is_not_searched_for_is_heard_of),
	};

	return cmocka_run_group_tests_name("unstage_gate", tests, NULL, NULL);
}
