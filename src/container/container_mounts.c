/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container_mounts - calls for the mounts of a pod's containers: what the plan needs is looked up
 * on the thread where it may be
 *
 * The sub-paths are bound first (subpaths.c), then the loop takes from its tables what is mounted
 * where, and a worker, since that may hang, inspects these places: flags of the mount, numbers of
 * the device. One call of a pod at a time: a place that hangs keeps one thread, however many calls
 * there are. The plan itself is pure (container/). A call holds nothing: a client that needs the
 * volumes to stay posts a hold.
 */
#include "container/pod_mounts.h"

#include "base/cleanup.h"
#include "base/thread_stack.h"
#include "container/container_plan.h"
#include "mount/bind/options.h"
#include "status/volume_row.h"
#include "store/store.h"
#include "plugins/plugin.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <utlist.h>

/* Then a volume or its sub-path hangs, and that is said: well before clients stop waiting, 10 s. */
enum { PLAN_WAIT_USEC = 5 * 1000000 };

/* A volume with strings of its own, for another thread. */
struct planned_volume {
	struct container_volume volume;
	char *name, *path, *image; /* image NULL: none */
};

struct container_mounts_call {
	struct worker_job job; /* first: what the pool gives back */
	struct pod_mounts *owner;
	const struct object *pod;  /* a reference */
	char *container;           /* NULL: all */
	container_mounts_fn *done; /* NULL: the caller left */
	void *userdata;
	struct subpath_call *subpaths; /* while they are being bound */
	struct container_sub_path *sub_paths;
	size_t sub_path_count;
	struct planned_volume *volumes;
	size_t volume_count;
	bool on_worker, was_run;
	sd_event_source *timer;
	struct failure failure;                        /* of the worker */
	struct container_mounts_call *previous, *next; /* on a worker, or waiting for one */
};

static void call_free(struct container_mounts_call *call)
{
	for (size_t i = 0; i < call->sub_path_count; i++)
		free((char *) call->sub_paths[i].host_path);
	for (size_t i = 0; i < call->volume_count; i++) {
		free(call->volumes[i].name);
		free(call->volumes[i].path);
		free(call->volumes[i].image);
	}
	sd_event_source_disable_unref(call->timer);
	free(call->sub_paths);
	free(call->volumes);
	free(call->container);
	(void) object_unref(call->pod);
	free(call);
}

static void finish(struct container_mounts_call *call, int error, const struct container_plan *plan,
		   const struct failure *why)
{
	if (call->done)
		call->done(call->userdata, error, plan, why);
	call_free(call);
}

/* ---- on a worker: the host ---- */

/* A context= mount has one label for all its files: changing them would fail. */
static bool can_relabel(const struct volume_spec *spec)
{
	const struct persistent_volume *pv = spec_pv(spec);
	cleanup_free char *options = NULL;

	if (!pv || pv->mount_option_count == 0)
		return true;
	/* One string may hold several options. */
	options = mount_options_join(pv->mount_options, pv->mount_option_count, "");
	return options && strncmp(options, "context=", strlen("context=")) != 0 &&
	       !strstr(options, ",context=");
}

/* A runtime gets the device itself, not the link that leads to it. */
static int check_device(struct planned_volume *volume, struct failure *reterr)
{
	cleanup_close int fd = open(volume->path, O_PATH | O_CLOEXEC);
	char link[64], device[PATH_MAX];
	struct stat found;
	ssize_t length;

	if (fd < 0 || fstat(fd, &found) < 0)
		return failed(reterr, -errno, "volume '%s': cannot inspect '%s'", volume->name,
			      volume->path);
	if (!S_ISBLK(found.st_mode))
		return failed(reterr, -ENOTBLK, "volume '%s': '%s'", volume->name, volume->path);
	(void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, device, sizeof(device) - 1);
	if (length < 0 || found.st_nlink == 0)
		return failed(reterr, length < 0 ? -errno : -ENODEV,
			      "volume '%s': cannot determine which device '%s' is", volume->name,
			      volume->path);
	device[length] = '\0';
	free(volume->path);
	volume->path = strdup(device);
	if (!volume->path)
		return failed(reterr, -ENOMEM, "cannot inspect a device");
	volume->volume.major = major(found.st_rdev);
	volume->volume.minor = minor(found.st_rdev);
	return 0;
}

/* A hostPath without a type need not be there: what becomes of that is the runtime's business. */
static int check_mount(struct planned_volume *volume, struct failure *reterr)
{
	struct statvfs found;

	if (statvfs(volume->path, &found) < 0) {
		if (errno == ENOENT)
			return 0;
		return failed(reterr, -errno, "volume '%s': cannot inspect '%s'", volume->name,
			      volume->path);
	}
	volume->volume.noexec = found.f_flag & ST_NOEXEC;
	volume->volume.nosuid = found.f_flag & ST_NOSUID;
	volume->volume.nodev = found.f_flag & ST_NODEV;
	return 0;
}

static void check_volumes(struct worker_job *job)
{
	struct container_mounts_call *call = (struct container_mounts_call *) job;
	int r = 0;

	for (size_t i = 0; i < call->volume_count && r == 0; i++) {
		struct planned_volume *volume = &call->volumes[i];

		if (!volume->image)
			r = volume->volume.block ? check_device(volume, &call->failure)
						 : check_mount(volume, &call->failure);
		volume->volume.relabel =
			volume->volume.relabel && call->owner->with.host->has_selinux;
		volume->volume.name = volume->name;
		volume->volume.path = volume->path;
		volume->volume.image = volume->image;
	}
	call->was_run = true;
}

/* ---- back on the loop ---- */

static int make_plan(const struct container_mounts_call *call, struct container_plan **ret,
		     struct failure *reterr)
{
	cleanup_free struct container_volume *volumes =
		calloc(call->volume_count + 1, sizeof(*volumes));
	const struct container_plan_request request = {
		.pod = call->pod,
		.container = call->container,
		.volumes = volumes,
		.volume_count = call->volume_count,
		.sub_paths = call->sub_paths,
		.sub_path_count = call->sub_path_count,
	};

	if (!volumes)
		return failed(reterr, -ENOMEM, "cannot make a plan of mounts");
	for (size_t i = 0; i < call->volume_count; i++)
		volumes[i] = call->volumes[i].volume;
	return container_plan_make(&request, ret, reterr);
}

static void go_on_with_pod(struct pod_mounts *owner, const struct object *pod);

static void on_checked(struct worker_job *job)
{
	static const struct failure stopping = { -ECANCELED, "podvold is shutting down" };
	struct container_mounts_call *call = (struct container_mounts_call *) job;
	cleanup_container_plan struct container_plan *plan = NULL;
	struct failure why = call->was_run ? call->failure : stopping;
	int r = why.error;

	DL_DELETE2(call->owner->plans, call, previous, next);
	go_on_with_pod(call->owner, call->pod);
	if (r == 0)
		r = make_plan(call, &plan, &why);
	finish(call, r, plan, r < 0 ? &why : NULL);
}

/* ---- facts of the tables ---- */

static int count_row(const struct volume_row *row, void *userdata)
{
	size_t *count = userdata;

	++*count;
	return 0;
}

/* Those that are mounted; for a container that uses another one the plan fails. */
static int add_row(const struct volume_row *row, void *userdata)
{
	struct container_mounts_call *call = userdata;
	struct planned_volume *volume = &call->volumes[call->volume_count];
	struct volume_attributes attributes;
	const struct volume_spec *spec;
	const struct persistent_volume *pv;

	if (!row->want_pod || !row->have_pod || row->have_pod->state != MOUNT_DONE)
		return 0;
	spec = &row->want_pod->spec;
	pv = spec_pv(spec);
	attributes = row->want->plugin->get_attributes(spec);
	volume->volume = (struct container_volume){
		.read_only = spec->read_only || attributes.read_only,
		.relabel = attributes.managed && attributes.selinux_relabel && can_relabel(spec),
		.block = spec->block,
		.has_group = pv && pv->has_gid,
		.group = pv ? pv->gid : 0,
	};
	volume->name = strdup(row->outer_name);
	volume->path = strdup(row->have_pod->path);
	call->volume_count++;
	if (!pv && spec->source->source == SOURCE_IMAGE) {
		volume->image = strdup(spec->source->image);
		if (!volume->image)
			return -ENOMEM;
	}
	return volume->name && volume->path ? 0 : -ENOMEM;
}

static int collect_volumes(struct container_mounts_call *call)
{
	const char *uid = call->pod->meta.uid;
	size_t count = 0;

	(void) volume_rows_of_pod(call->owner->with.tables, uid, count_row, &count);
	call->volumes = calloc(count + 1, sizeof(*call->volumes));
	if (!call->volumes)
		return -ENOMEM;
	return volume_rows_of_pod(call->owner->with.tables, uid, add_row, call);
}

static int copy_sub_paths(struct container_mounts_call *call, const struct bound_subpaths *bound)
{
	call->sub_paths = calloc(bound->count + 1, sizeof(*call->sub_paths));
	if (!call->sub_paths)
		return -ENOMEM;
	for (size_t i = 0; i < bound->count; i++) {
		struct container_sub_path *copy = &call->sub_paths[i];

		copy->host_path = strdup(bound->items[i].path);
		call->sub_path_count++;
		if (!copy->host_path)
			return -ENOMEM;
		copy->mount = bound->items[i].mount_index;
		/* The name is the pod's, which this call keeps. */
		for (size_t k = 0; k < call->pod->pod->container_count; k++)
			if (strcmp(call->pod->pod->containers[k].name, bound->items[i].container) ==
			    0)
				copy->container = call->pod->pod->containers[k].name;
		assert(copy->container);
	}
	return 0;
}

/* ---- one call of a pod at a time ---- */

/* The first of this pod that waits goes to a worker, with what is mounted now. Return: false: it
 * could not, and has ended. */
static bool begin_plan(struct container_mounts_call *call)
{
	struct failure no_memory;
	int r = collect_volumes(call);

	call->on_worker = r == 0;
	if (call->on_worker) {
		worker_submit(*call->owner->with.workers, &call->job);
		return true;
	}
	DL_DELETE2(call->owner->plans, call, previous, next);
	(void) failed(&no_memory, r, "cannot make a plan of mounts");
	finish(call, r, NULL, &no_memory);
	return false;
}

static void go_on_with_pod(struct pod_mounts *owner, const struct object *pod)
{
	struct container_mounts_call *call, *next;

	(void) object_ref(pod); /* a call that ends lets go of it */
	DL_FOREACH_SAFE2(owner->plans, call, next, next)
	if (strcmp(call->pod->meta.uid, pod->meta.uid) == 0 &&
	    (call->on_worker || begin_plan(call)))
		break;
	(void) object_unref(pod);
}

static void on_bound(void *userdata, int error, const struct bound_subpaths *bound,
		     const struct failure *why)
{
	struct container_mounts_call *call = userdata;
	struct failure no_memory;
	int r = error;

	call->subpaths = NULL;
	if (r < 0) {
		finish(call, r, NULL, why);
		return;
	}
	r = copy_sub_paths(call, bound);
	if (r == 0) {
		DL_APPEND2(call->owner->plans, call, previous, next);
		go_on_with_pod(call->owner, call->pod);
		return;
	}
	(void) failed(&no_memory, r, "cannot make a plan of mounts");
	finish(call, r, NULL, &no_memory);
}

/* ---- calls that hang ---- */

static void explain_silence(const struct container_mounts_call *call, struct failure *ret)
{
	const struct container_mounts_call *first;
	char stack[THREAD_STACK_BYTES] = "";
	const char *what = call->subpaths ? "binding the sub-paths" : "inspecting the volumes";

	DL_FOREACH2(call->owner->plans, first, next)
	if (first->on_worker && strcmp(first->pod->meta.uid, call->pod->meta.uid) == 0)
		thread_stack_read(atomic_load(&first->job.thread_id), stack);
	(void) failed_plain(ret, -ETIMEDOUT, "%s of pod '%s/%s' takes longer than %d s%s%s", what,
			    call->pod->meta.name_space, call->pod->meta.name,
			    PLAN_WAIT_USEC / 1000000, *stack ? ": a thread waits in " : "", stack);
}

/* The hanging call continues; only the caller is notified. */
static int on_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct container_mounts_call *call = userdata;
	container_mounts_fn *done = call->done;
	void *caller = call->userdata;
	struct failure why;

	if (!done)
		return 0;
	explain_silence(call, &why);
	container_mounts_cancel(call);
	done(caller, -ETIMEDOUT, NULL, &why);
	return 0;
}

/* ---- for others ---- */

int container_mounts_plan(struct pod_mounts *owner, const struct container_mounts_request *request,
			  struct container_mounts_call **ret)
{
	struct container_mounts_call *call;
	const struct object *pod;
	int r;

	assert(owner && request && ret);
	assert(request->name_space && request->name && request->done);
	pod = store_get(*owner->with.store, KIND_POD, request->name_space, request->name);
	if (!pod)
		return -ENOENT;
	call = calloc(1, sizeof(*call));
	if (!call)
		return -ENOMEM;
	call->job.run = check_volumes;
	call->job.done = on_checked;
	call->owner = owner;
	call->pod = object_ref(pod);
	call->done = request->done;
	call->userdata = request->userdata;
	call->container = request->container ? strdup(request->container) : NULL;
	r = request->container && !call->container ? -ENOMEM : 0;
	if (r == 0)
		r = sd_event_add_time_relative(owner->with.event, &call->timer, CLOCK_MONOTONIC,
					       PLAN_WAIT_USEC, 0, on_time, call);
	if (r == 0)
		r = subpaths_prepare(owner, pod->meta.uid, request->container, on_bound, call,
				     &call->subpaths);
	if (r < 0) {
		call_free(call);
		return r;
	}
	*ret = call;
	return 0;
}

void container_mounts_cancel(struct container_mounts_call *call)
{
	assert(call);
	call->done = NULL;
	if (call->on_worker)
		return; /* the end frees it */
	if (call->subpaths)
		subpaths_cancel(call->subpaths);
	else
		DL_DELETE2(call->owner->plans, call, previous, next);
	call_free(call);
}
