/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_world - operations with a fake plugin; see operation_world.h
 */
#include "operation_world.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct world world;

/* ---- a plugin ---- */

static int run_stage(void *data, struct stage_report *report)
{
	if (world.hold) {
		atomic_store(report->tool_pid, world.tool_pid);
		(void) sem_post(&world.began);
		(void) sem_wait(&world.go);
		atomic_store(report->tool_pid, 0);
	}
	report->mount_id = 5;
	if (world.driver) {
		(void) snprintf(report->driver, sizeof(report->driver), "%s", world.driver);
		report->error_class = ERROR_TRANSIENT;
	}
	(void) snprintf(report->device_path, sizeof(report->device_path), "/dev/x");
	return world.stage_result < 0
		       ? failed_plain(&report->failure, world.stage_result, "no luck")
		       : world.stage_result;
}

static void free_data(void *data)
{
	world.frees++;
}

static int run_second(void *data, struct stage_report *report)
{
	world.seconds++;
	return STAGE_NEXT;
}

static const struct stage stages[] = {
	{ .name = "try", .place = STAGE_WORKER, .run = run_stage },
	{ .name = "second", .place = STAGE_WORKER, .run = run_second },
};

static int new_list(const struct volume_request *request, struct stage_list *ret,
		    struct failure *reterr)
{
	world.slots++;
	if (world.slot_error < 0)
		return failed_plain(reterr, world.slot_error, "slot says no");
	*ret = (struct stage_list){ .stages = stages,
				    .count = world.has_second ? 2 : 1,
				    .data = &world,
				    .free_data = free_data };
	return 0;
}

static char *get_device_mount_path(const struct volume_request *request)
{
	return strdup("/global");
}

static const struct volume_plugin plugin = {
	.name = "example.com/fake",
	.new_mounter = new_list,
	.new_unmounter = new_list,
	.new_device_mounter = new_list,
	.get_device_mount_path = get_device_mount_path,
	.supports_mount_options = true,
};

/* ---- the agent's side ---- */

static void on_ended(void *userdata, const struct operation_ended *ended)
{
	struct seen *seen = &world.ended[world.ended_count++];

	assert_ptr_equal(userdata, &world);
	assert_true(world.ended_count <= ARRAY_SIZE(world.ended));
	seen->result = ended->result;
	seen->attempt = ended->attempt;
	seen->retry_usec = ended->retry_usec;
	seen->waits = ended->waits;
	(void) snprintf(seen->name, sizeof(seen->name), "%s", ended->name);
	(void) snprintf(seen->text, sizeof(seen->text), "%s", ended->report->failure.text);
	(void) snprintf(seen->pod_uid, sizeof(seen->pod_uid), "%s",
			ended->result.pod_uid ?: "none");
	(void) snprintf(seen->device_mount_path, sizeof(seen->device_mount_path), "%s",
			ended->result.device_mount_path ?: "none");
	if (world.submit_when_ended) {
		const struct step *step = world.submit_when_ended;

		world.submit_when_ended = NULL;
		assert_int_equal(operation_submit(world.operations, step, monotonic_usec()), 0);
		/* What was reported is still there. */
		assert_string_equal(ended->result.unique_name, "v");
	}
}

static void stages_after(void *userdata, const struct step *step, struct stage_list *ret)
{
	if (world.has_last)
		*ret = (struct stage_list){ .stages = &stages[1], .count = 1 };
}

static void on_retry(void *userdata, const char *unique_name)
{
	assert_ptr_equal(userdata, &world);
	assert_true(world.retry_count < RETRIES_MAX);
	(void) snprintf(world.retries[world.retry_count++], 16, "%s", unique_name);
	if (world.submit_when_retried) {
		const struct step *step = world.submit_when_retried;

		world.submit_when_retried = NULL;
		assert_int_equal(operation_submit(world.operations, step, monotonic_usec()), 0);
		assert_string_equal(unique_name, "v");
	}
}

static void on_slow(void *userdata, const struct operation_view *view)
{
	struct slow *slow = &world.slow[world.slow_count++];

	assert_ptr_equal(userdata, &world);
	assert_true(world.slow_count <= ARRAY_SIZE(world.slow));
	*slow = (struct slow){ .pace = view->pace,
			       .thread_id = view->thread_id,
			       .tool_pid = view->tool_pid,
			       .waits_for_thread = view->waits_for_thread,
			       .has_pod = view->pod };
	(void) snprintf(slow->pod_uid, sizeof(slow->pod_uid), "%s", view->pod_uid);
	(void) snprintf(slow->stage, sizeof(slow->stage), "%s", view->stage);
}

/* A directory where no pod ever is: unmounting looks for sub-paths there. */
static struct plugin_host host = { .root_dir = "/r", .root_fd = -EBADF };
static const struct labels no_labels;

int world_set_up(void **state)
{
	static const char pod_json[] = "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": "
				       "{\"name\": \"p\", \"uid\": \"uid\"}, \"spec\": "
				       "{\"containers\": [{\"name\": \"c\", \"image\": \"i\"}]}}";
	const struct worker_limits one = { .threads = 1,
					   .threads_max = 1,
					   .set_aside_usec = USEC_PER_SEC };

	world = (struct world){ 0 };
	assert_true(sd_event_new(&world.event) >= 0);
	assert_int_equal(worker_return_new(world.event, 0, &world.to_loop), 0);
	assert_int_equal(dirty_set_new(NULL, NULL, &world.dirty), 0);
	assert_int_equal(actual_new(world.dirty, &world.actual), 0);
	assert_int_equal(object_parse_json(pod_json, strlen(pod_json), &world.pod, NULL), 0);
	host.root_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_return_code(host.root_fd, errno);
	assert_int_equal(sem_init(&world.began, 0, 0), 0);
	assert_int_equal(sem_init(&world.go, 0, 0), 0);
	world.options = (struct operations_options){ .event = world.event,
						     .host = &host,
						     .node_labels = &no_labels,
						     .actual = world.actual,
						     .back_off_first_usec = FIRST_USEC,
						     .back_off_max_usec = 4 * FIRST_USEC,
						     .ended = on_ended,
						     .stages_after = stages_after,
						     .retry = on_retry,
						     .slow = on_slow,
						     .slow_usec = SLOW_USEC,
						     .limit_usec = LIMIT_USEC,
						     .userdata = &world };
	assert_int_equal(
		worker_pool_new("test-worker", world.to_loop, &one, &world.options.workers), 0);
	assert_int_equal(
		worker_pool_new("test-walker", world.to_loop, &one, &world.options.walkers), 0);
	assert_int_equal(operations_new(&world.options, &world.operations), 0);
	world.want = (struct desired_volume){ .unique_name = "v", .plugin = &plugin };
	world.want_pod = (struct desired_pod){ .pod_uid = "uid",
					       .pod = world.pod,
					       .spec = { .name = "data", .pod = world.pod },
					       .requested_usec = monotonic_usec() - 1000 };
	world.have = (struct actual_volume){ .unique_name = "v",
					     .plugin = &plugin,
					     .spec_name = "data" };
	return 0;
}

void world_close_pools(void)
{
	world.options.workers = worker_pool_free(world.options.workers);
	world.options.walkers = worker_pool_free(world.options.walkers);
	world.to_loop = worker_return_free(world.to_loop);
}

int world_tear_down(void **state)
{
	/* A test that failed left threads that hold: the pools would wait for them for ever. */
	for (unsigned int i = 0; i < ARRAY_SIZE(world.ended); i++)
		(void) sem_post(&world.go);
	world_close_pools();
	assert_null(operations_free(world.operations));
	(void) actual_free(world.actual);
	(void) dirty_set_free(world.dirty);
	host.root_fd = close_keep_errno(host.root_fd);
	object_unref(world.pod);
	sd_event_unref(world.event);
	(void) sem_destroy(&world.began);
	(void) sem_destroy(&world.go);
	return 0;
}

struct step publish(const char *unique_name, const char *pod_uid)
{
	return (struct step){ .kind = STEP_PUBLISH,
			      .unique_name = unique_name,
			      .pod_uid = pod_uid,
			      .want = &world.want,
			      .want_pod = &world.want_pod };
}

struct step unpublish(const char *unique_name, const char *pod_uid)
{
	return (struct step){ .kind = STEP_UNPUBLISH,
			      .unique_name = unique_name,
			      .pod_uid = pod_uid,
			      .have = &world.have };
}

struct step stage_step(void)
{
	return (struct step){ .kind = STEP_STAGE,
			      .unique_name = "v",
			      .want = &world.want,
			      .want_pod = &world.want_pod };
}

int submit(struct step step)
{
	uint64_t now = monotonic_usec();
	int may = operation_may_start(world.operations, &step, now);
	int r = operation_submit(world.operations, &step, now);

	assert_int_equal(may, r);
	return r;
}

const struct seen *run_until_ended(unsigned int count)
{
	while (world.ended_count < count)
		assert_true(sd_event_run(world.event, 100 * USEC_PER_SEC) > 0);
	assert_int_equal(world.ended_count, count);
	return &world.ended[count - 1];
}

void run_until_retried(unsigned int count)
{
	while (world.retry_count < count)
		assert_true(sd_event_run(world.event, 100 * USEC_PER_SEC) > 0);
	assert_int_equal(world.retry_count, count);
}

const struct seen *fail_once(struct step step)
{
	world.stage_result = -EIO;
	assert_int_equal(submit(step), 0);
	return run_until_ended(world.ended_count + 1);
}

bool look(const char *pod_uid, struct operation_view *ret)
{
	return operation_find(world.operations, "v", pod_uid, ret);
}
