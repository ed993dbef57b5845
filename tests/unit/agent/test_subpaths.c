/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_subpaths - calls for sub-paths: one at a time for each pod, never beside a teardown
 *
 * The threads are real, what they would do to the kernel is made up: opening waits where a test
 * says so.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent_world.h"
#include "fake_events.h"

#include "base/cleanup.h"
#include "mount/path/subpath.h"
#include "object/kinds/environment.h"

#include <semaphore.h>
#include <string.h>

enum { MOUNTS = 150 };

static struct {
	atomic_uint opened, open_now, most_open, bound, undone;
	atomic_bool hold, hold_bind;
	sem_t go;
	atomic_int open_error, bind_error;
	struct worker_return *to_loop;
	struct pod_volume_mount mounts[MOUNTS];
	struct pod_container containers[2];
} kernel;

int __wrap_environment_expand(const char *text, const struct object *pod, const char *container,
			      const struct environment_sources *sources, char **ret,
			      struct failure *reterr);
int __wrap_subpath_open(const struct subpath_request *request, struct subpath *ret,
			struct failure *reterr);
int __wrap_subpath_bind(struct subpath *subpath, struct failure *reterr);
void __wrap_subpath_undo(const struct subpath_request *request, struct subpath *subpath);
void __wrap_subpath_done(struct subpath *subpath);

int __wrap_subpath_open(const struct subpath_request *request, struct subpath *ret,
			struct failure *reterr)
{
	unsigned int now;

	atomic_fetch_add(&kernel.opened, 1);
	if (atomic_load(&kernel.hold))
		(void) sem_wait(&kernel.go);
	if (atomic_load(&kernel.open_error) < 0)
		return failed_plain(reterr, atomic_load(&kernel.open_error), "cannot open '%s'",
				    request->sub_path);
	now = atomic_fetch_add(&kernel.open_now, 1) + 1;
	if (now > atomic_load(&kernel.most_open))
		atomic_store(&kernel.most_open, now);
	*ret = SUBPATH_EMPTY;
	ret->is_directory = true;
	ret->source_fd = 0;
	return 0;
}

/* A path that starts with "$(S)" takes it from a Secret, others from a ConfigMap. */
int __wrap_environment_expand(const char *text, const struct object *pod, const char *container,
			      const struct environment_sources *sources, char **ret,
			      struct failure *reterr)
{
	bool is_secret = strncmp(text, "$(S)", 4) == 0;

	(void) sources->find(sources->userdata, is_secret ? KIND_SECRET : KIND_CONFIG_MAP,
			     "default", "source");
	return asprintf(ret, "%s%s", is_secret ? "hunter2" : "public", text + 4) < 0 ? -ENOMEM : 0;
}

int __wrap_subpath_bind(struct subpath *subpath, struct failure *reterr)
{
	if (atomic_load(&kernel.hold_bind))
		(void) sem_wait(&kernel.go);
	if (atomic_load(&kernel.bind_error) < 0)
		return failed_plain(reterr, atomic_load(&kernel.bind_error), "cannot bind");
	subpath->is_bound = true;
	atomic_fetch_add(&kernel.bound, 1);
	return 0;
}

void __wrap_subpath_undo(const struct subpath_request *request, struct subpath *subpath)
{
	assert_false(subpath->is_bound);
	atomic_fetch_add(&kernel.undone, 1);
}

void __wrap_subpath_done(struct subpath *subpath)
{
	if (subpath->source_fd >= 0)
		atomic_fetch_sub(&kernel.open_now, 1);
	*subpath = SUBPATH_EMPTY;
}

/* ---- the pod and its callers ---- */

struct caller {
	bool called;
	int error;
	size_t count;
	char first_path[128], first_container[32], why[FAILURE_TEXT_BYTES];
	size_t first_index;
	struct subpath_call *call;
};

static void on_done(void *userdata, int error, const struct bound_subpaths *ret,
		    const struct failure *why)
{
	struct caller *caller = userdata;

	assert_false(caller->called);
	assert_true((error < 0) == (why != NULL));
	caller->called = true;
	caller->error = error;
	caller->count = ret->count;
	(void) snprintf(caller->why, sizeof(caller->why), "%s", why ? why->text : "");
	if (ret->count == 0)
		return;
	caller->first_index = ret->items[0].mount_index;
	assert_true(ret->items[0].is_directory);
	(void) snprintf(caller->first_path, sizeof(caller->first_path), "%s", ret->items[0].path);
	(void) snprintf(caller->first_container, sizeof(caller->first_container), "%s",
			ret->items[0].container);
}

static void ask(struct agent_world *world, const char *container, struct caller *ret)
{
	*ret = (struct caller){ .called = false };
	assert_int_equal(subpaths_prepare(&world->agent.pod_mounts, POD, container, on_done, ret,
					  &ret->call),
			 0);
	assert_false(ret->called);
}

static void run(struct agent_world *world)
{
	assert_return_code(sd_event_run(world->agent.event, 5000000), errno);
}

static void run_until_called(struct agent_world *world, const struct caller *caller)
{
	for (int i = 0; !caller->called && i < 1000; i++)
		run(world);
	assert_true(caller->called);
}

static void run_until_opened(struct agent_world *world, unsigned int count)
{
	for (int i = 0; atomic_load(&kernel.opened) < count && i < 1000000; i++)
		assert_return_code(sd_event_run(world->agent.event, 1000), errno);
	assert_int_equal(atomic_load(&kernel.opened), count);
}

/* "data" is mounted for the pod. */
static void mount_data(struct agent_world *world)
{
	want_data(world);
	turn(world);
	end_step(world, STEP_PUBLISH, "volume_mount", 0, ERROR_FINAL);
	turn(world);
	assert_int_equal(state_of_pod(world), MOUNT_DONE);
}

static void fill_pod(struct pod *pod)
{
	for (size_t i = 0; i < MOUNTS; i++)
		kernel.mounts[i] = (struct pod_volume_mount){ .name = "data",
							      .mount_path = "/x",
							      .sub_path = i == 1 ? "a/b" : "",
							      .sub_path_expr = "" };
	kernel.containers[0] =
		(struct pod_container){ .name = "main", .mounts = kernel.mounts, .mount_count = 2 };
	kernel.containers[1] = (struct pod_container){ .name = "none" };
	pod->containers = kernel.containers;
	pod->container_count = 2;
}

static int setup(void **state)
{
	const struct worker_limits two = { .threads = 2,
					   .threads_max = 2,
					   .set_aside_usec = 20000 };
	struct agent *agent;

	assert_int_equal(new_agent_world(state), 0);
	agent = &((struct agent_world *) *state)->agent;
	memset(&kernel, 0, sizeof(kernel));
	assert_int_equal(sem_init(&kernel.go, 0, 0), 0);
	agent->host.root_dir = "/r";
	assert_int_equal(worker_return_new(agent->event, 0, &agent->to_loop), 0);
	assert_int_equal(worker_pool_new("worker", agent->to_loop, &two, &agent->pools.workers), 0);
	fill_pod(&((struct agent_world *) *state)->pod.pod);
	return 0;
}

static void close_pools(struct agent *agent)
{
	agent->pools.workers = worker_pool_free(agent->pools.workers);
	agent->to_loop = worker_return_free(agent->to_loop);
}

static int teardown(void **state)
{
	close_pools(&((struct agent_world *) *state)->agent);
	(void) sem_destroy(&kernel.go);
	return free_agent_world(state);
}

/* ---- tests ---- */

static void test_a_container_s_path(void **state)
{
	struct agent_world *world = *state;
	struct caller caller;

	mount_data(world);
	ask(world, "main", &caller);
	run_until_called(world, &caller);
	assert_int_equal(caller.error, 0);
	assert_int_equal(caller.count, 1);
	assert_int_equal(caller.first_index, 1);
	assert_string_equal(caller.first_container, "main");
	assert_string_equal(caller.first_path, "/r/pods/" POD "/volume-subpaths/data/main/1");
	assert_int_equal(atomic_load(&kernel.open_now), 0);
}

static void test_nothing_to_bind_is_done(void **state)
{
	struct agent_world *world = *state;
	struct caller caller;

	mount_data(world);
	ask(world, "none", &caller);
	run_until_called(world, &caller);
	assert_int_equal(caller.error, 0);
	assert_int_equal(caller.count, 0);
	assert_int_equal(atomic_load(&kernel.opened), 0);
}

static void test_who_is_unknown_is_told_at_once(void **state)
{
	struct agent_world *world = *state;
	struct subpath_call *call;
	struct caller caller = { .called = false };

	mount_data(world);
	assert_int_equal(
		subpaths_prepare(&world->agent.pod_mounts, "uid-2", NULL, on_done, &caller, &call),
		-ENOENT);
	assert_int_equal(
		subpaths_prepare(&world->agent.pod_mounts, POD, "other", on_done, &caller, &call),
		-ENOENT);
}

static void test_one_at_a_time_for_a_pod(void **state)
{
	struct agent_world *world = *state;
	struct caller first, second;

	mount_data(world);
	atomic_store(&kernel.hold, true);
	ask(world, NULL, &first);
	ask(world, "main", &second);
	run_until_opened(world, 1);
	for (int i = 0; i < 20; i++)
		assert_return_code(sd_event_run(world->agent.event, 100), errno);
	assert_int_equal(atomic_load(&kernel.opened), 1);
	atomic_store(&kernel.hold, false);
	(void) sem_post(&kernel.go);
	run_until_called(world, &first);
	assert_false(second.called);
	run_until_called(world, &second);
	assert_int_equal(first.error, 0);
	assert_int_equal(second.error, 0);
}

/* The call ends between two stages, and the teardown is proposed again. */
static void test_a_teardown_waits(void **state)
{
	struct agent_world *world = *state;
	struct caller caller;

	mount_data(world);
	atomic_store(&kernel.hold, true);
	ask(world, "main", &caller);
	run_until_opened(world, 1);
	want_no_more(world);
	turn(world);
	expect_calls(world, "commit ");
	(void) sem_post(&kernel.go);
	run_until_called(world, &caller);
	assert_int_equal(caller.error, -ECANCELED);
	assert_int_equal(atomic_load(&kernel.bound), 0);
	turn(world);
	assert_non_null(strstr(world->calls, "submit:unpublish"));
}

static void bind_many(struct agent_world *world)
{
	for (size_t i = 0; i < MOUNTS; i++)
		kernel.mounts[i].sub_path = "a";
	kernel.containers[0].mount_count = MOUNTS;
	mount_data(world);
}

/* What is under way is done; what has not begun is left. */
static void test_a_teardown_waits_for_one_burst(void **state)
{
	struct agent_world *world = *state;
	struct caller caller;

	bind_many(world);
	atomic_store(&kernel.hold_bind, true);
	ask(world, "main", &caller);
	run_until_opened(world, 64);
	while (atomic_load(&kernel.bound) < 1) { /* the binds have begun */
		(void) sem_post(&kernel.go);
		assert_return_code(sd_event_run(world->agent.event, 1000), errno);
	}
	want_no_more(world);
	turn(world);
	expect_calls(world, "commit ");
	atomic_store(&kernel.hold_bind, false);
	(void) sem_post(&kernel.go);
	run_until_called(world, &caller);
	assert_int_equal(caller.error, -ECANCELED);
	assert_string_equal(caller.why, "the pod is being taken down");
	assert_int_equal(atomic_load(&kernel.bound), 64);
	assert_int_equal(atomic_load(&kernel.opened), 64);
}

static void test_a_call_does_not_begin_beside_a_teardown(void **state)
{
	struct agent_world *world = *state;
	const struct operation_view view = { .unique_name = VOLUME,
					     .pod_uid = POD,
					     .kind = STEP_UNPUBLISH,
					     .name = "volume_unmount",
					     .stage = "x",
					     .running = true };
	struct caller caller;

	mount_data(world);
	world->views = &view;
	world->view_count = 1;
	ask(world, "main", &caller);
	run_until_called(world, &caller);
	assert_int_equal(caller.error, -EAGAIN);
	assert_string_equal(caller.why, "volume 'data' is being unmounted");
	assert_int_equal(atomic_load(&kernel.opened), 0);
}

static void test_what_is_not_mounted_is_named(void **state)
{
	struct agent_world *world = *state;
	struct caller caller;

	want_data(world);
	ask(world, "main", &caller);
	run_until_called(world, &caller);
	assert_int_equal(caller.error, -EAGAIN);
	assert_non_null(strstr(caller.why, "volume 'data'"));
}

static void test_a_pod_that_goes_before_its_turn(void **state)
{
	struct agent_world *world = *state;
	struct caller caller;

	mount_data(world);
	ask(world, "main", &caller);
	want_no_more(world);
	run_until_called(world, &caller);
	assert_int_equal(caller.error, -ENOENT);
	assert_int_equal(atomic_load(&kernel.opened), 0);
}

static void test_refused_paths(void **state)
{
	struct agent_world *world = *state;
	struct caller caller;

	mount_data(world);
	kernel.mounts[1].sub_path = "/abs"; /* case 10 */
	ask(world, "main", &caller);
	run_until_called(world, &caller);
	assert_int_equal(caller.error, -EINVAL);
	assert_string_equal(caller.why, "error SubPath `/abs` must not be an absolute path");
	kernel.mounts[1].sub_path = "a/../b"; /* case 11 */
	ask(world, "main", &caller);
	run_until_called(world, &caller);
	assert_string_equal(caller.why,
			    "unable to provision SubPath `a/../b`: must not contain '..'");
	assert_int_equal(atomic_load(&kernel.opened), 0);
	assert_int_equal(fake_events.count, 2);
}

static void test_failures_say_where(void **state)
{
	struct agent_world *world = *state;
	struct caller caller;

	mount_data(world);
	atomic_store(&kernel.open_error, -EROFS);
	ask(world, "main", &caller);
	run_until_called(world, &caller);
	assert_int_equal(caller.error, -EROFS);
	assert_string_equal(caller.why, "failed to prepare subPath for volumeMount \"data\" of "
					"container \"main\": cannot open 'a/b'");
	assert_int_equal(caller.count, 0);

	atomic_store(&kernel.open_error, 0);
	atomic_store(&kernel.bind_error, -ENOSPC);
	ask(world, "main", &caller);
	run_until_called(world, &caller);
	assert_int_equal(caller.error, -ENOSPC);
	assert_int_equal(atomic_load(&kernel.undone), 1);
	assert_int_equal(atomic_load(&kernel.open_now), 0);
	assert_int_equal(fake_events.count, 2);
}

static void fail_with(struct agent_world *world, const char *expression, struct caller *ret)
{
	kernel.mounts[1].sub_path = "";
	kernel.mounts[1].sub_path_expr = expression;
	ask(world, "main", ret);
	run_until_called(world, ret);
	assert_true(ret->error < 0);
}

/* Events and answers are read by those who may not read Secrets. */
static void test_failures_do_not_show_a_secret(void **state)
{
	struct agent_world *world = *state;
	struct caller caller;

	mount_data(world);
	atomic_store(&kernel.open_error, -EROFS);
	fail_with(world, "$(C)", &caller);
	assert_non_null(strstr(caller.why, "cannot open 'public'"));
	fail_with(world, "$(S)", &caller);
	assert_int_equal(caller.error, -EROFS);
	assert_null(strstr(caller.why, "hunter2"));
	assert_non_null(strstr(caller.why, "volumeMount \"data\" of container \"main\""));
	fail_with(world, "$(S)/../x", &caller);
	assert_int_equal(caller.error, -EINVAL);
	assert_null(strstr(caller.why, "hunter2"));
	assert_non_null(strstr(caller.why, "a path made from a Secret, which is not shown"));
}

static void test_many_take_few_descriptors(void **state)
{
	struct agent_world *world = *state;
	struct caller caller;

	bind_many(world);
	ask(world, NULL, &caller);
	run_until_called(world, &caller);
	assert_int_equal(caller.error, 0);
	assert_int_equal(caller.count, MOUNTS);
	assert_int_equal(atomic_load(&kernel.bound), MOUNTS);
	assert_in_range(atomic_load(&kernel.most_open), 2, 64);
	assert_int_equal(atomic_load(&kernel.open_now), 0);
}

static void test_who_left_is_not_told(void **state)
{
	struct agent_world *world = *state;
	struct caller early, late, after;

	mount_data(world);
	ask(world, "main", &early);
	subpaths_cancel(early.call);
	atomic_store(&kernel.hold, true);
	ask(world, "main", &late);
	run_until_opened(world, 1);
	subpaths_cancel(late.call);
	ask(world, "main", &after);
	atomic_store(&kernel.hold, false);
	(void) sem_post(&kernel.go);
	run_until_called(world, &after);
	assert_int_equal(after.error, 0);
	assert_false(early.called);
	assert_false(late.called);
}

static void test_calls_are_bounded(void **state)
{
	struct agent_world *world = *state;
	static struct caller callers[1000];
	struct caller one_more;

	mount_data(world);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(callers); i++) {
		ask(world, "main", &one_more);
		subpaths_cancel(one_more.call); /* and makes room */
	}
	for (size_t i = 0; i < ARRAY_SIZE(callers); i++)
		ask(world, "main", &callers[i]);
	assert_int_equal(subpaths_prepare(&world->agent.pod_mounts, POD, "main", on_done, &one_more,
					  &one_more.call),
			 -ENOBUFS);
	for (size_t i = 0; i < ARRAY_SIZE(callers); i++)
		run_until_called(world, &callers[i]);
}

/* One waits, one is stuck on a thread. */
static void test_the_end_tells_everybody(void **state)
{
	struct agent_world *world = *state;
	struct caller running, waiting;

	mount_data(world);
	atomic_store(&kernel.hold, true);
	ask(world, "main", &running);
	ask(world, "main", &waiting);
	run_until_opened(world, 1);
	world->agent.pod_mounts.subpaths = subpaths_free(world->agent.pod_mounts.subpaths);
	assert_int_equal(running.error, -ECANCELED);
	assert_int_equal(waiting.error, -ECANCELED);
	assert_string_equal(waiting.why, "podvold is shutting down");
	(void) sem_post(&kernel.go);
	close_pools(&world->agent);
	assert_int_equal(atomic_load(&kernel.open_now), 0);
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(test_a_container_s_path),
		WITH_WORLD(test_nothing_to_bind_is_done),
		WITH_WORLD(test_who_is_unknown_is_told_at_once),
		WITH_WORLD(test_one_at_a_time_for_a_pod),
		WITH_WORLD(test_a_teardown_waits),
		WITH_WORLD(test_a_teardown_waits_for_one_burst),
		WITH_WORLD(test_a_call_does_not_begin_beside_a_teardown),
		WITH_WORLD(test_what_is_not_mounted_is_named),
		WITH_WORLD(test_a_pod_that_goes_before_its_turn),
		WITH_WORLD(test_refused_paths),
		WITH_WORLD(test_failures_say_where),
		WITH_WORLD(test_failures_do_not_show_a_secret),
		WITH_WORLD(test_many_take_few_descriptors),
		WITH_WORLD(test_who_left_is_not_told),
		WITH_WORLD(test_calls_are_bounded),
		WITH_WORLD(test_the_end_tells_everybody),
	};

	return cmocka_run_group_tests_name("subpaths", tests, NULL, NULL);
}
