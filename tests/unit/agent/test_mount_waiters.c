/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mount_waiters - when a wait for a pod is over, and what it says: real tables, real loop,
 * made-up operations
 */
#include "agent/parts.h"
#include "tests/unit/state/fake_objects.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { TIMEOUT_LONG_USEC = 100000000, TIMEOUT_SHORT_USEC = 20000 };

static struct fake_pod pod;
static struct pod_volume_mount pod_mount = { .name = "data", .mount_path = "/data" };
static struct pod_container container = { .name = "c", .mounts = &pod_mount, .mount_count = 1 };
static const struct object *stored_pod;
static struct operation_view running;
static bool has_running;

const struct object *__wrap_store_get(struct store *store, enum object_kind kind,
				      const char *name_space, const char *name);
void __wrap_populator_pod(struct populator *populator, const char *name_space, const char *name,
			  uint64_t now_usec);
bool __wrap_operation_in_way(struct operations *operations, const char *unique_name,
			     const char *pod_uid, struct operation_view *ret);
bool __wrap_operation_find(struct operations *operations, const char *unique_name,
			   const char *pod_uid, struct operation_view *ret);

bool __wrap_unstage_gate_check(const struct unstage_gate *gate, const char *unique_name,
			       const char *pod_uid, struct unstage_view *ret);

/* What holds a device back is another test's. */
bool __wrap_unstage_gate_check(const struct unstage_gate *gate, const char *unique_name,
			       const char *pod_uid, struct unstage_view *ret)
{
	return false;
}

const struct object *__wrap_store_get(struct store *store, enum object_kind kind,
				      const char *name_space, const char *name)
{
	return stored_pod;
}

void __wrap_populator_pod(struct populator *populator, const char *name_space, const char *name,
			  uint64_t now_usec)
{
	mount_waiters_pod_changed((struct waits *) populator, "uid-1");
}

bool __wrap_operation_find(struct operations *operations, const char *unique_name,
			   const char *pod_uid, struct operation_view *ret)
{
	if (has_running && *pod_uid)
		*ret = running;
	return has_running && *pod_uid;
}

bool __wrap_operation_in_way(struct operations *operations, const char *unique_name,
			     const char *pod_uid, struct operation_view *ret)
{
	return false;
}

struct fixture {
	struct agent agent;
	struct config config;
	struct mount_wait *wait;
	unsigned int calls;
	int error;
	struct failure why;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct agent *agent = &fixture->agent;

	assert_non_null(fixture);
	fake_pod_init(&pod, "web", "uid-1");
	pod.pod.containers = &container;
	pod.pod.container_count = 1;
	stored_pod = &pod.object;
	has_running = false;
	fixture->config.waits_max = 2;
	fixture->config.node_name = "a";
	agent->config = &fixture->config;
	assert_return_code(sd_event_new(&agent->event), errno);
	assert_int_equal(dirty_set_new(NULL, NULL, &agent->dirty), 0);
	assert_int_equal(desired_new(agent->dirty, &agent->desired), 0);
	assert_int_equal(actual_new(agent->dirty, &agent->actual), 0);
	agent_fill_options(agent);
	assert_int_equal(agent_open_mount_waiters(agent), 0);
	assert_int_equal(holds_new(2, &agent->holds.table), 0);
	agent->populator = (struct populator *) agent->waits; /* for the function wrapped above */
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	struct agent *agent = &fixture->agent;

	mount_waiters_free(agent->waits);
	holds_free(agent->holds.table);
	actual_free(agent->actual);
	desired_free(agent->desired);
	dirty_set_free(agent->dirty);
	sd_event_unref(agent->event);
	free(fixture);
	return 0;
}

static void on_done(void *userdata, int error, const struct failure *why)
{
	struct fixture *fixture = userdata;

	fixture->calls++;
	fixture->error = error;
	if (why)
		fixture->why = *why;
}

static int wait_for_pod(struct fixture *fixture, enum mount_wait_for what, uint64_t timeout_usec,
			struct mount_wait **ret)
{
	const struct mount_wait_request request = {
		.what = what,
		.name_space = "default",
		.name = "web",
		.uid = "uid-1",
		.timeout_usec = timeout_usec,
		.done = on_done,
		.userdata = fixture,
	};

	return agent_wait_pod(&fixture->agent, &request, ret);
}

/* Looking at the pod again tells its waits, as the agent does; none may end before the call
 * returned. */
static void start(struct fixture *fixture, enum mount_wait_for what, uint64_t timeout_usec)
{
	assert_int_equal(wait_for_pod(fixture, what, timeout_usec, &fixture->wait), 0);
	assert_int_equal(fixture->calls, 0);
}

/* Turns the loop until the wait is over, at most for @usec. */
static void turn(struct fixture *fixture, uint64_t usec)
{
	uint64_t end = monotonic_usec() + usec;

	do
		assert_return_code(sd_event_run(fixture->agent.event, 1000), errno);
	while (fixture->calls == 0 && monotonic_usec() < end);
}

static void want_volume(struct fixture *fixture)
{
	struct volume_spec spec = { .name = "data", .pod = &pod.object, .source = &pod.volume };

	assert_int_equal(desired_add(fixture->agent.desired,
				     &(struct desired_want){
					     .unique_name = "fake/uid-1-data",
					     .plugin = &fake_plugin,
					     .spec = &spec,
					     .pod = &pod.object,
					     .outer_names = (const char *[]){ "data" },
					     .outer_name_count = 1,
				     }),
			 1);
}

/* A second volume of the pod that refers to the same claim. */
static void want_volume_twice(struct fixture *fixture)
{
	static const char *const names[] = { "data", "copy" };
	struct volume_spec spec = { .name = "data", .pod = &pod.object, .source = &pod.volume };

	assert_int_equal(desired_add(fixture->agent.desired,
				     &(struct desired_want){
					     .unique_name = "fake/uid-1-data",
					     .plugin = &fake_plugin,
					     .spec = &spec,
					     .pod = &pod.object,
					     .outer_names = names,
					     .outer_name_count = ARRAY_SIZE(names),
				     }),
			 1);
}

static void unwant_volume(struct fixture *fixture)
{
	desired_remove(fixture->agent.desired, "fake/uid-1-data", "uid-1");
}

static void publish(struct fixture *fixture, int error, enum error_class error_class)
{
	struct actual_entry entry = {
		.unique_name = "fake/uid-1-data",
		.plugin = &fake_plugin,
		.plugin_name = fake_plugin.name,
		.spec_name = "data",
		.pod_uid = "uid-1",
		.pod_key = "default/web",
		.outer_name = "data",
		.path = "/p",
	};

	assert_int_equal(actual_begin(fixture->agent.actual, &entry), 0);
	actual_apply(fixture->agent.actual, &(struct step_result){
						    .kind = STEP_PUBLISH,
						    .unique_name = "fake/uid-1-data",
						    .pod_uid = "uid-1",
						    .error = error,
						    .error_class = error_class,
					    });
	mount_waiters_pod_changed(fixture->agent.waits, "uid-1");
}

static void unpublish(struct fixture *fixture)
{
	actual_apply(fixture->agent.actual, &(struct step_result){
						    .kind = STEP_UNPUBLISH,
						    .unique_name = "fake/uid-1-data",
						    .pod_uid = "uid-1",
					    });
	mount_waiters_pod_changed(fixture->agent.waits, "uid-1");
}

static void assert_why(const struct fixture *fixture, const char *words)
{
	if (!strstr(fixture->why.text, words))
		fail_msg("'%s' does not say '%s'", fixture->why.text, words);
}

static void test_mounted_already(void **state)
{
	struct fixture *fixture = *state;

	want_volume(fixture);
	publish(fixture, 0, ERROR_FINAL);
	start(fixture, WAIT_MOUNTED, TIMEOUT_LONG_USEC);
	turn(fixture, TIMEOUT_LONG_USEC);
	assert_int_equal(fixture->calls, 1);
	assert_int_equal(fixture->error, 0);
}

static void test_mounted_later(void **state)
{
	struct fixture *fixture = *state;

	want_volume(fixture);
	start(fixture, WAIT_MOUNTED, TIMEOUT_LONG_USEC);
	turn(fixture, TIMEOUT_SHORT_USEC);
	assert_int_equal(fixture->calls, 0);
	publish(fixture, 0, ERROR_FINAL);
	assert_int_equal(fixture->calls, 1);
	assert_int_equal(fixture->error, 0);
}

static void case_337_uncertain_is_not_mounted(void **state)
{
	struct fixture *fixture = *state;

	want_volume(fixture);
	publish(fixture, -EIO, ERROR_UNCERTAIN);
	start(fixture, WAIT_MOUNTED, TIMEOUT_SHORT_USEC);
	turn(fixture, TIMEOUT_LONG_USEC);
	assert_int_equal(fixture->calls, 1);
	assert_int_equal(fixture->error, -ETIMEDOUT);
}

/* case 338, a difference: kubelet's wait for the unmount is satisfied by an uncertain entry;
 * podvold's is not, because there may be a mount still. */
static void case_338_uncertain_is_not_unmounted(void **state)
{
	struct fixture *fixture = *state;

	want_volume(fixture);
	publish(fixture, -EIO, ERROR_UNCERTAIN);
	unwant_volume(fixture);
	start(fixture, WAIT_UNMOUNTED, TIMEOUT_LONG_USEC);
	turn(fixture, TIMEOUT_SHORT_USEC);
	assert_int_equal(fixture->calls, 0);
	unpublish(fixture);
	assert_int_equal(fixture->calls, 1);
	assert_int_equal(fixture->error, 0);
}

static void case_339_mounted_in_the_last_moment(void **state)
{
	struct fixture *fixture = *state;

	want_volume(fixture);
	start(fixture, WAIT_MOUNTED, 0);
	publish(fixture, 0, ERROR_FINAL);
	turn(fixture, TIMEOUT_LONG_USEC);
	assert_int_equal(fixture->error, 0);
}

/* case 340, a difference: the answer is the step, its error and the next try, not three lists. */
static void case_340_timeout_says_what_is_in_the_way(void **state)
{
	static const struct failure failure = { -ENOENT, "path \"/x\" does not exist" };
	struct fixture *fixture = *state;

	want_volume(fixture);
	has_running = true;
	running = (struct operation_view){ .name = "volume_mount",
					   .stage = "look up the source",
					   .attempts = 3,
					   .retry_usec = monotonic_usec() + 2000000,
					   .failure = &failure };
	start(fixture, WAIT_MOUNTED, TIMEOUT_SHORT_USEC);
	turn(fixture, TIMEOUT_LONG_USEC);
	assert_int_equal(fixture->error, -ETIMEDOUT);
	assert_why(fixture, "volume 'data': volume_mount failed at 'look up the source'");
	assert_why(fixture, "path \"/x\" does not exist");
	assert_why(fixture, "attempt 3, failing for ");
}

/* case 310, a difference: kubelet's wait ends at once with any look-up error; podvold's at its
 * deadline, with all of them, because claims and volumes may arrive. case 465 */
static void case_310_look_up_errors_do_not_end_the_wait(void **state)
{
	static const struct pod_volume both[] = { { .name = "data" }, { .name = "copy" } };
	static struct pod_volume_mount mounts[] = { { .name = "data", .mount_path = "/data" },
						    { .name = "copy", .mount_path = "/copy" } };
	static struct pod_container main_container = { .name = "c",
						       .mounts = mounts,
						       .mount_count = 2 };
	struct fixture *fixture = *state;
	struct desired *desired = fixture->agent.desired;
	uint64_t begin = monotonic_usec();

	pod.pod.containers = &main_container;
	pod.pod.volumes = both;
	pod.pod.volume_count = ARRAY_SIZE(both);
	assert_int_equal(desired_add_error(desired, "uid-1", "data", -EAGAIN,
					   "error processing PVC default/c: PVC is not bound"),
			 0);
	assert_int_equal(desired_add_error(desired, "uid-1", "copy", -ENOENT, "no such claim"), 0);
	start(fixture, WAIT_MOUNTED, TIMEOUT_SHORT_USEC);
	turn(fixture, TIMEOUT_LONG_USEC);
	assert_int_equal(fixture->error, -ETIMEDOUT);
	assert_true(monotonic_usec() - begin >= TIMEOUT_SHORT_USEC);
	assert_string_equal(fixture->why.text,
			    "volume 'data': error processing PVC default/c: PVC is not bound; "
			    "next when its objects change; "
			    "volume 'copy': no such claim; next when its objects change; to do: "
			    "create what is missing, or correct its name in the pod or volume");
}

static void test_what_cannot_heal_ends_the_wait_at_once(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(desired_add_error(fixture->agent.desired, "uid-1", "data", -EOPNOTSUPP,
					   "no volume plugin"),
			 0);
	start(fixture, WAIT_MOUNTED, UINT64_MAX);
	turn(fixture, TIMEOUT_LONG_USEC);
	assert_int_equal(fixture->error, -EIO);
	assert_why(fixture, "volume 'data': no volume plugin");
}

static void expect_idle(struct fixture *fixture, const char *why)
{
	fixture->calls = 0;
	start(fixture, WAIT_MOUNTED, UINT64_MAX);
	turn(fixture, TIMEOUT_LONG_USEC);
	assert_int_equal(fixture->calls, 1);
	assert_int_equal(fixture->error, -EIO);
	assert_string_equal(fixture->why.text, why);
}

static void test_pods_that_never_get_volumes_say_so_at_once(void **state)
{
	struct fixture *fixture = *state;

	pod.pod.node_name = "b";
	expect_idle(fixture, "pod 'default/web' belongs to node 'b', this is node 'a'");
	pod.pod.node_name = "a";
	pod.pod.phase = "Succeeded";
	expect_idle(fixture,
		    "pod 'default/web' has finished (Succeeded): its volumes are not mounted");
	pod.pod.phase = "";
	pod.object.meta.deletes = true;
	expect_idle(fixture, "pod 'default/web' is being deleted: its volumes are not mounted");
}

static void test_look_up_error_that_heals(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(
		desired_add_error(fixture->agent.desired, "uid-1", "data", -ENOENT, "not bound"),
		0);
	start(fixture, WAIT_MOUNTED, TIMEOUT_LONG_USEC);
	turn(fixture, TIMEOUT_SHORT_USEC);
	assert_int_equal(fixture->calls, 0);
	desired_clear_errors(fixture->agent.desired, "uid-1");
	want_volume(fixture);
	publish(fixture, 0, ERROR_FINAL);
	assert_int_equal(fixture->error, 0);
	assert_int_equal(fixture->calls, 1);
}

static void test_timeout_tells_a_look_up_error(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(
		desired_add_error(fixture->agent.desired, "uid-1", "data", -ENOENT, "not bound"),
		0);
	start(fixture, WAIT_MOUNTED, 0);
	turn(fixture, TIMEOUT_LONG_USEC);
	assert_int_equal(fixture->error, -ETIMEDOUT);
	assert_why(fixture, "not bound");
}

/* The pod wants it no more, its container lives. */
static void test_hold_in_the_way_is_named(void **state)
{
	struct fixture *fixture = *state;
	const struct hold fields = {
		.id = "0123456789",
		.kind = HOLD_PROCESS,
		.pod_uid = "uid-1",
		.pod_namespace = "default",
		.pod_name = "web",
		.container = "main",
		.cgroup = "",
		.pid = getpid(),
	};
	const struct hold *hold;
	char expected[256];

	want_volume(fixture);
	publish(fixture, 0, ERROR_FINAL);
	desired_remove(fixture->agent.desired, "fake/uid-1-data", "uid-1");
	assert_int_equal(holds_add(fixture->agent.holds.table, &fields, &hold, NULL), 0);
	start(fixture, WAIT_UNMOUNTED, 0);
	turn(fixture, TIMEOUT_LONG_USEC);
	assert_int_equal(fixture->error, -ETIMEDOUT);
	(void) snprintf(expected, sizeof(expected),
			"volume 'data': stays mounted, container 'main' is running: process %d ",
			(int) getpid());
	assert_non_null(strstr(fixture->why.text, expected));
	assert_non_null(strstr(fixture->why.text, ", hold 0123456789"));
}

static void test_unmounted_is_not_awaited_in_vain(void **state)
{
	struct fixture *fixture = *state;

	want_volume(fixture);
	publish(fixture, 0, ERROR_FINAL);
	start(fixture, WAIT_UNMOUNTED, 0);
	turn(fixture, TIMEOUT_LONG_USEC);
	assert_int_equal(fixture->error, -ETIMEDOUT);
	assert_why(fixture, "volume 'data' is mounted and stays so until its pod is deleted");
}

static void test_pod_that_goes_ends_the_wait(void **state)
{
	struct fixture *fixture = *state;

	want_volume(fixture);
	start(fixture, WAIT_MOUNTED, TIMEOUT_LONG_USEC);
	stored_pod = NULL;
	mount_waiters_pod_changed(fixture->agent.waits, "uid-1");
	assert_int_equal(fixture->calls, 1);
	assert_int_equal(fixture->error, -ENOENT);
	assert_why(fixture, "pod 'default/web' was deleted");
}

static void test_one_volume_is_waited_for_under_each_of_its_names(void **state)
{
	static const struct pod_volume both[] = { { .name = "data" }, { .name = "copy" } };
	static struct pod_volume_mount mounts[] = { { .name = "data", .mount_path = "/data" },
						    { .name = "copy", .mount_path = "/copy" } };
	static struct pod_container main_container = { .name = "c",
						       .mounts = mounts,
						       .mount_count = 2 };
	struct fixture *fixture = *state;

	pod.pod.containers = &main_container;
	pod.pod.volumes = both;
	pod.pod.volume_count = ARRAY_SIZE(both);
	want_volume(fixture);
	publish(fixture, 0, ERROR_FINAL);
	start(fixture, WAIT_MOUNTED, TIMEOUT_SHORT_USEC);
	turn(fixture, TIMEOUT_LONG_USEC);
	assert_int_equal(fixture->error, -ETIMEDOUT);
	assert_why(fixture, "volume 'copy': not looked up yet");

	unwant_volume(fixture);
	want_volume_twice(fixture);
	fixture->calls = 0;
	start(fixture, WAIT_MOUNTED, TIMEOUT_LONG_USEC);
	turn(fixture, TIMEOUT_LONG_USEC);
	assert_int_equal(fixture->calls, 1);
	assert_int_equal(fixture->error, 0);
}

static void test_unused_volumes_are_not_waited_for(void **state)
{
	struct fixture *fixture = *state;

	pod.pod.container_count = 0;
	start(fixture, WAIT_MOUNTED, TIMEOUT_LONG_USEC);
	turn(fixture, TIMEOUT_LONG_USEC);
	assert_int_equal(fixture->error, 0);
	assert_int_equal(fixture->calls, 1);
}

static void test_waits_are_bounded_and_cancelled(void **state)
{
	struct fixture *fixture = *state;
	struct mount_wait *second, *third;

	want_volume(fixture);
	start(fixture, WAIT_MOUNTED, TIMEOUT_LONG_USEC);
	assert_int_equal(wait_for_pod(fixture, WAIT_MOUNTED, TIMEOUT_LONG_USEC, &second), 0);
	assert_int_equal(wait_for_pod(fixture, WAIT_MOUNTED, TIMEOUT_LONG_USEC, &third), -ENOBUFS);
	mount_wait_cancel(second);
	publish(fixture, 0, ERROR_FINAL);
	assert_int_equal(fixture->calls, 1);
}

static void test_stopping_ends_every_wait(void **state)
{
	struct fixture *fixture = *state;

	want_volume(fixture);
	start(fixture, WAIT_MOUNTED, TIMEOUT_LONG_USEC);
	fixture->agent.waits = mount_waiters_free(fixture->agent.waits);
	assert_int_equal(fixture->calls, 1);
	assert_int_equal(fixture->error, -ECANCELED);
}

#define WITH_TABLES(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TABLES(test_mounted_already),
		WITH_TABLES(test_mounted_later),
		WITH_TABLES(case_337_uncertain_is_not_mounted),
		WITH_TABLES(case_338_uncertain_is_not_unmounted),
		WITH_TABLES(case_339_mounted_in_the_last_moment),
		WITH_TABLES(case_340_timeout_says_what_is_in_the_way),
		WITH_TABLES(case_310_look_up_errors_do_not_end_the_wait),
		WITH_TABLES(test_what_cannot_heal_ends_the_wait_at_once),
		WITH_TABLES(test_pods_that_never_get_volumes_say_so_at_once),
		WITH_TABLES(test_look_up_error_that_heals),
		WITH_TABLES(test_timeout_tells_a_look_up_error),
		WITH_TABLES(test_hold_in_the_way_is_named),
		WITH_TABLES(test_unmounted_is_not_awaited_in_vain),
		WITH_TABLES(test_pod_that_goes_ends_the_wait),
		WITH_TABLES(test_one_volume_is_waited_for_under_each_of_its_names),
		WITH_TABLES(test_unused_volumes_are_not_waited_for),
		WITH_TABLES(test_waits_are_bounded_and_cancelled),
		WITH_TABLES(test_stopping_ends_every_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
