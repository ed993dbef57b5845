/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_container_mounts - what a plan is made of: sub-paths, tables, and what a worker sees
 *
 * The worker's part runs when a test says so. Flags, device numbers and SELinux are made up, the
 * paths are real.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent_world.h"

#include "base/cleanup.h"
#include "container/container_plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

int __wrap_fstat(int fd, struct stat *ret);
int __wrap_statvfs(const char *path, struct statvfs *ret);
const struct object *__wrap_store_get(struct store *store, enum object_kind kind,
				      const char *name_space, const char *name);
void __wrap_worker_submit(struct worker_pool *pool, struct worker_job *job);
int __wrap_subpaths_prepare(struct pod_mounts *owner, const char *pod_uid, const char *container,
			    subpaths_fn *done, void *userdata, struct subpath_call **ret);
void __wrap_subpaths_cancel(struct subpath_call *call);

/* ---- what is made up ---- */

static struct {
	const struct object *pod;
	mode_t mode;
	unsigned long flags;
	int statvfs_error, prepare_result;
	struct worker_job *job; /* submitted, not run */
	subpaths_fn *bound;
	void *bound_userdata;
	unsigned int left;
	char path[256];
} fake;

int __wrap_fstat(int fd, struct stat *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->st_mode = fake.mode;
	ret->st_nlink = 1;
	ret->st_rdev = makedev(7, 42);
	return 0;
}

int __wrap_statvfs(const char *path, struct statvfs *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->f_flag = fake.flags;
	errno = fake.statvfs_error;
	return fake.statvfs_error ? -1 : 0;
}

const struct object *__wrap_store_get(struct store *store, enum object_kind kind,
				      const char *name_space, const char *name)
{
	return fake.pod && strcmp(name, "web") == 0 ? fake.pod : NULL;
}

void __wrap_worker_submit(struct worker_pool *pool, struct worker_job *job)
{
	assert_null(fake.job);
	fake.job = job;
}

int __wrap_subpaths_prepare(struct pod_mounts *owner, const char *pod_uid, const char *container,
			    subpaths_fn *done, void *userdata, struct subpath_call **ret)
{
	assert_string_equal(pod_uid, POD);
	fake.bound = done;
	fake.bound_userdata = userdata;
	*ret = (struct subpath_call *) &fake;
	return fake.prepare_result;
}

void __wrap_subpaths_cancel(struct subpath_call *call)
{
	assert_ptr_equal(call, &fake);
	fake.left++;
}

static char *get_path(const struct volume_request *request)
{
	return strdup(fake.path);
}

static struct volume_attributes get_attributes(const struct volume_spec *spec)
{
	return (struct volume_attributes){ .read_only = spec->read_only,
					   .managed = true,
					   .selinux_relabel = true };
}

/* ---- the pod, and the answer ---- */

static const struct pod_volume_mount whole_mount = { .name = "data",
						     .mount_path = "/whole",
						     .sub_path = "",
						     .sub_path_expr = "",
						     .recursive_read_only = "",
						     .mount_propagation = "" };
static const struct pod_volume_mount part_mount = { .name = "data",
						    .mount_path = "/part",
						    .sub_path = "part",
						    .sub_path_expr = "",
						    .recursive_read_only = "",
						    .mount_propagation = "" };
static const struct pod_volume_device as_device = { .name = "data", .device_path = "/dev/xvda" };
static const struct pod_container with_mount = {
	.name = "c", .type = CONTAINER_REGULAR, .mounts = &whole_mount, .mount_count = 1
};
static const struct pod_container with_part = {
	.name = "c", .type = CONTAINER_REGULAR, .mounts = &part_mount, .mount_count = 1
};
static const struct pod_container with_device = {
	.name = "c", .type = CONTAINER_REGULAR, .devices = &as_device, .device_count = 1
};

static struct {
	unsigned int count;
	int error;
	char text[256];
	struct planned_mount mount; /* its strings are copies in these: */
	char host_path[256];
	struct planned_device device;
	gid_t group;
	size_t groups;
} told;

static void report(void *userdata, int error, const struct container_plan *plan,
		   const struct failure *why)
{
	told.count++;
	told.error = error;
	(void) snprintf(told.text, sizeof(told.text), "%.255s", why ? why->text : "");
	if (error < 0)
		return;
	told.groups = plan->group_count;
	told.group = told.groups > 0 ? plan->groups[0] : 0;
	if (plan->containers[0].mount_count > 0) {
		told.mount = plan->containers[0].mounts[0];
		(void) snprintf(told.host_path, sizeof(told.host_path), "%s", told.mount.host_path);
	} else {
		told.device = plan->containers[0].devices[0];
		(void) snprintf(told.host_path, sizeof(told.host_path), "%s",
				told.device.host_path);
	}
}

static int set_up(void **state)
{
	struct agent_world *world;

	assert_int_equal(new_agent_world(state), 0);
	world = *state;
	memset(&fake, 0, sizeof(fake));
	memset(&told, 0, sizeof(told));
	fake.pod = &world->pod.object;
	(void) snprintf(fake.path, sizeof(fake.path), "%s", world->directory);
	world->plugin.get_path = get_path;
	world->plugin.get_attributes = get_attributes;
	world->pod.pod.containers = &with_mount;
	world->pod.pod.container_count = 1;
	return 0;
}

/* The volume is wanted by this spec, and mounted. */
static void mount_spec(struct agent_world *world, struct volume_spec spec)
{
	spec.name = "data";
	spec.pod = &world->pod.object;
	spec.source = spec.pv ? NULL : &world->pod.volume;
	assert_true(
		desired_add(world->agent.desired, &(struct desired_want){
							  .unique_name = VOLUME,
							  .plugin = &world->plugin,
							  .spec = &spec,
							  .pod = &world->pod.object,
							  .outer_names = (const char *[]){ "data" },
							  .outer_name_count = 1,
						  }) >= 0);
	turn(world);
	end_step(world, STEP_PUBLISH, "volume_mount", 0, ERROR_FINAL);
}

/* ---- time ---- */

static bool time_is_over; /* at once */

int __real_sd_event_add_time_relative(sd_event *event, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata);
int __wrap_sd_event_add_time_relative(sd_event *event, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata);
int __wrap_sd_event_add_time_relative(sd_event *event, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata)
{
	return __real_sd_event_add_time_relative(event, ret, clock, time_is_over ? 0 : usec,
						 accuracy, callback, userdata);
}

static struct container_mounts_call *ask(struct agent_world *world)
{
	const struct container_mounts_request request = {
		.name_space = "default", .name = "web", .container = "c", .done = report
	};
	struct container_mounts_call *call = NULL;

	assert_int_equal(container_mounts_plan(&world->agent.pod_mounts, &request, &call), 0);
	assert_non_null(call);
	return call;
}

static void end_binding(int error, const struct bound_subpath *items, size_t count)
{
	const struct bound_subpaths bound = { items, count };
	const struct failure why = { error, "container \"c\": no such sub-path" };

	fake.bound(fake.bound_userdata, error, &bound, error < 0 ? &why : NULL);
}

static void run_job(bool is_run)
{
	struct worker_job *job = fake.job;

	assert_non_null(job);
	fake.job = NULL;
	if (is_run)
		job->run(job);
	job->done(job);
}

/* Asks, with nothing to bind, and runs the worker's part. */
static void plan(struct agent_world *world)
{
	(void) ask(world);
	assert_int_equal(told.count, 0);
	end_binding(0, NULL, 0);
	assert_int_equal(told.count, 0);
	run_job(true);
	assert_int_equal(told.count, 1);
}

/* ---- tests ---- */

static void test_a_mount(void **state)
{
	struct agent_world *world = *state;

	mount_spec(world, (struct volume_spec){ .read_only = true });
	fake.flags = ST_NOEXEC | ST_NODEV;
	plan(world);
	assert_int_equal(told.error, 0);
	assert_string_equal(told.host_path, world->directory);
	assert_true(told.mount.read_only);
	assert_true(told.mount.noexec);
	assert_true(told.mount.nodev);
	assert_false(told.mount.nosuid);
	assert_false(told.mount.relabel);
	assert_int_equal(told.groups, 0);
}

static void test_labels(void **state)
{
	static const char *const options[] = { "ro", "context=system_u:object_r:tmp_t:s0" };
	static const char *const in_one[] = {
		"noatime,context=\"system_u:object_r:tmp_t:s0:c1,c2\""
	};
	static const char *const of_others[] = { "fscontext=system_u:object_r:tmp_t:s0",
						 "rootcontext=system_u:object_r:tmp_t:s0" };
	struct agent_world *world = *state;

	world->agent.host.has_selinux = true;
	world->pv.pv.mount_options = options;
	world->pv.pv.mount_option_count = 1;
	mount_spec(world, (struct volume_spec){ .pv = &world->pv.object });
	plan(world);
	assert_true(told.mount.relabel);
	assert_false(told.mount.noexec);

	/* All files of such a mount have the one label. */
	world->pv.pv.mount_option_count = 2;
	told.count = 0;
	plan(world);
	assert_false(told.mount.relabel);

	world->pv.pv.mount_options = in_one;
	world->pv.pv.mount_option_count = 1;
	told.count = 0;
	plan(world);
	assert_false(told.mount.relabel);

	/* These label the file system or its root, and leave the files their own. */
	world->pv.pv.mount_options = of_others;
	world->pv.pv.mount_option_count = 2;
	told.count = 0;
	plan(world);
	assert_true(told.mount.relabel);

	world->agent.host.has_selinux = false;
	told.count = 0;
	plan(world);
	assert_false(told.mount.relabel);
}

/* case 346: the annotation's group is the plan's. */
static void test_a_group(void **state)
{
	struct agent_world *world = *state;

	world->pv.pv.has_gid = true;
	world->pv.pv.gid = 1234;
	mount_spec(world, (struct volume_spec){ .pv = &world->pv.object });
	plan(world);
	assert_int_equal(told.groups, 1);
	assert_int_equal(told.group, 1234);
}

static void test_a_device(void **state)
{
	struct agent_world *world = *state;
	char link[200], device[200];

	(void) snprintf(device, sizeof(device), "%s/device", world->directory);
	(void) snprintf(link, sizeof(link), "%s/link", world->directory);
	assert_int_equal(fclose(fopen(device, "we")), 0);
	assert_int_equal(symlink("device", link), 0);
	(void) snprintf(fake.path, sizeof(fake.path), "%s", link);
	world->pod.pod.containers = &with_device;
	mount_spec(world, (struct volume_spec){ .pv = &world->pv.object, .block = true });

	fake.mode = S_IFBLK | 0600;
	plan(world);
	assert_int_equal(told.error, 0);
	assert_string_equal(told.host_path, device);
	assert_int_equal(told.device.major, 7);
	assert_int_equal(told.device.minor, 42);
	assert_false(told.device.read_only);

	told.count = 0;
	fake.mode = S_IFREG | 0600;
	plan(world);
	assert_int_equal(told.error, -ENOTBLK);
	assert_non_null(strstr(told.text, "volume 'data'"));

	told.count = 0;
	assert_int_equal(unlink(link), 0);
	plan(world);
	assert_int_equal(told.error, -ENOENT);
}

/* A hostPath without a type need not be there; a server that does not answer is another matter. */
static void test_paths_that_cannot_be_looked_at(void **state)
{
	struct agent_world *world = *state;

	mount_spec(world, (struct volume_spec){ 0 });
	fake.statvfs_error = ENOENT;
	plan(world);
	assert_int_equal(told.error, 0);
	told.count = 0;
	fake.statvfs_error = ESTALE;
	plan(world);
	assert_int_equal(told.error, -ESTALE);
	assert_non_null(strstr(told.text, "volume 'data': cannot inspect"));
}

static void test_not_mounted(void **state)
{
	struct agent_world *world = *state;

	want_data(world);
	plan(world);
	assert_int_equal(told.error, -EAGAIN);
	assert_string_equal(told.text,
			    "container 'c', mountPath '/whole': volume 'data' is not mounted");
}

static void test_a_sub_path(void **state)
{
	static const struct bound_subpath bound = { .container = "c",
						    .mount_index = 0,
						    .path = "/bound/0" };
	struct agent_world *world = *state;

	world->pod.pod.containers = &with_part;
	mount_spec(world, (struct volume_spec){ 0 });
	(void) ask(world);
	end_binding(0, &bound, 1);
	run_job(true);
	assert_int_equal(told.error, 0);
	assert_string_equal(told.host_path, "/bound/0");

	told.count = 0;
	(void) ask(world);
	end_binding(-EROFS, NULL, 0);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.error, -EROFS);
	assert_string_equal(told.text, "container \"c\": no such sub-path");
	assert_null(fake.job);
}

static void test_refused_at_once(void **state)
{
	struct agent_world *world = *state;
	const struct container_mounts_request other = { .name_space = "default",
							.name = "other",
							.done = report };
	const struct container_mounts_request web = {
		.name_space = "default", .name = "web", .container = "x", .done = report
	};
	struct container_mounts_call *call = NULL;

	assert_int_equal(container_mounts_plan(&world->agent.pod_mounts, &other, &call), -ENOENT);
	fake.prepare_result = -ENOBUFS;
	assert_int_equal(container_mounts_plan(&world->agent.pod_mounts, &web, &call), -ENOBUFS);
	assert_int_equal(fake_references, 0);
	assert_int_equal(told.count, 0);
}

static void test_the_caller_leaves(void **state)
{
	struct agent_world *world = *state;

	mount_spec(world, (struct volume_spec){ 0 });
	container_mounts_cancel(ask(world));
	assert_int_equal(fake.left, 1);

	/* A worker has it: it ends unseen. */
	{
		struct container_mounts_call *call = ask(world);

		end_binding(0, NULL, 0);
		container_mounts_cancel(call);
		run_job(true);
	}
	assert_int_equal(fake.left, 1);
	assert_int_equal(told.count, 0);
}

/* A volume that hangs keeps one thread, however often it is asked for. */
static void test_one_look_at_a_time_for_a_pod(void **state)
{
	struct agent_world *world = *state;
	struct container_mounts_call *leaver;

	mount_spec(world, (struct volume_spec){ 0 });
	(void) ask(world);
	end_binding(0, NULL, 0);
	assert_non_null(fake.job);
	leaver = ask(world);
	end_binding(0, NULL, 0); /* a second job would be refused */
	(void) ask(world);
	end_binding(0, NULL, 0);
	container_mounts_cancel(leaver);
	run_job(true);
	assert_int_equal(told.count, 1);
	run_job(true);
	assert_int_equal(told.count, 2);
	assert_int_equal(told.error, 0);
	assert_string_equal(told.host_path, world->directory);
	assert_null(fake.job);
	assert_null(world->agent.pod_mounts.plans);
}

/* What was mounted when it was asked may be gone when its turn comes. */
static void test_a_call_that_waited_sees_what_is_mounted_now(void **state)
{
	struct agent_world *world = *state;

	mount_spec(world, (struct volume_spec){ 0 });
	(void) ask(world);
	end_binding(0, NULL, 0);
	(void) ask(world);
	end_binding(0, NULL, 0);
	want_no_more(world);
	run_job(true);
	assert_int_equal(told.error, 0);
	run_job(true);
	assert_int_equal(told.error, -EAGAIN);
}

static void test_podvold_stops(void **state)
{
	struct agent_world *world = *state;

	mount_spec(world, (struct volume_spec){ 0 });
	(void) ask(world);
	end_binding(0, NULL, 0);
	run_job(false);
	assert_int_equal(told.error, -ECANCELED);
	assert_string_equal(told.text, "podvold is shutting down");
}

/* What hangs goes on by itself; only who asks hears of it, and once. */
static void test_what_hangs_is_told(void **state)
{
	struct agent_world *world = *state;

	mount_spec(world, (struct volume_spec){ 0 });
	time_is_over = true;
	(void) ask(world);
	end_binding(0, NULL, 0);
	while (told.count < 1)
		assert_true(sd_event_run(world->agent.event, UINT64_MAX) > 0);
	assert_int_equal(told.error, -ETIMEDOUT);
	assert_non_null(strstr(told.text, "inspecting the volumes of pod 'default/web'"));
	run_job(true); /* it comes back after all */
	assert_int_equal(told.count, 1);
	assert_null(world->agent.pod_mounts.plans);

	(void) ask(world);
	while (told.count < 2)
		assert_true(sd_event_run(world->agent.event, UINT64_MAX) > 0);
	assert_non_null(strstr(told.text, "binding the sub-paths of pod 'default/web'"));
	assert_int_equal(fake.left, 1);
	time_is_over = false;
}

int main(void)
{
#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, free_agent_world)
	const struct CMUnitTest tests[] = {
		WITH_WORLD(test_a_mount),
		WITH_WORLD(test_labels),
		WITH_WORLD(test_a_group),
		WITH_WORLD(test_a_device),
		WITH_WORLD(test_paths_that_cannot_be_looked_at),
		WITH_WORLD(test_not_mounted),
		WITH_WORLD(test_a_sub_path),
		WITH_WORLD(test_refused_at_once),
		WITH_WORLD(test_the_caller_leaves),
		WITH_WORLD(test_one_look_at_a_time_for_a_pod),
		WITH_WORLD(test_a_call_that_waited_sees_what_is_mounted_now),
		WITH_WORLD(test_podvold_stops),
		WITH_WORLD(test_what_hangs_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
