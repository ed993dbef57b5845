/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container_plan - see container_plan.h
 *
 * Pods of a cluster passed its admission and not podvold's: the rules that keep a container from
 * more than its pod grants are checked again here, where they take effect.
 */
#include "container/container_plan.h"

#include "base/cleanup.h"
#include "container/words.h"
#include "object/json/json.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const char *const propagation_names[] = {
	[PROPAGATION_NONE] = "None",
	[PROPAGATION_HOST_TO_CONTAINER] = "HostToContainer",
	[PROPAGATION_BIDIRECTIONAL] = "Bidirectional",
};
static_assert(ARRAY_SIZE(propagation_names) == PROPAGATION_COUNT, "name every propagation");

static const char *const read_only_names[] = {
	[RECURSIVE_READ_ONLY_DISABLED] = "Disabled",
	[RECURSIVE_READ_ONLY_IF_POSSIBLE] = "IfPossible",
	[RECURSIVE_READ_ONLY_ENABLED] = "Enabled",
};
static_assert(ARRAY_SIZE(read_only_names) == RECURSIVE_READ_ONLY_COUNT, "name every mode");

const char *mount_propagation_name(enum mount_propagation propagation)
{
	assert(propagation < PROPAGATION_COUNT);
	return propagation_names[propagation];
}

const char *mount_propagation_option(enum mount_propagation propagation)
{
	static const char *const options[PROPAGATION_COUNT] = {
		[PROPAGATION_NONE] = "rprivate",
		[PROPAGATION_HOST_TO_CONTAINER] = "rslave",
		[PROPAGATION_BIDIRECTIONAL] = "rshared",
	};

	assert(propagation < PROPAGATION_COUNT);
	return options[propagation];
}

const char *recursive_read_only_name(enum recursive_read_only mode)
{
	assert(mode < RECURSIVE_READ_ONLY_COUNT);
	return read_only_names[mode];
}

/* Absent is the first of the names. Return: its index, or -EINVAL. */
static int index_of(const char *const *names, size_t count, const char *text)
{
	if (*text == '\0')
		return 0;
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], text) == 0)
			return (int) i;
	return -EINVAL;
}

/* ---- what the caller knows ---- */

static const struct container_volume *find_volume(const struct container_plan_request *request,
						  const char *name)
{
	for (size_t i = 0; i < request->volume_count; i++)
		if (strcmp(request->volumes[i].name, name) == 0)
			return &request->volumes[i];
	return NULL;
}

static const struct container_sub_path *find_sub_path(const struct container_plan_request *request,
						      const char *container, size_t mount)
{
	for (size_t i = 0; i < request->sub_path_count; i++) {
		const struct container_sub_path *sub_path = &request->sub_paths[i];

		if (sub_path->mount == mount && strcmp(sub_path->container, container) == 0)
			return sub_path;
	}
	return NULL;
}

/* JSON, which most formats are, cannot carry other bytes: a path must not come out changed. */
static int check_utf8(const char *path, struct failure *reterr)
{
	cleanup_json struct cJSON *text = json_new_array();

	if (!text || json_set_string(text, NULL, path) < 0)
		return failed(reterr, -ENOMEM, "cannot make a plan of mounts");
	if (strcmp(json_string(json_first(text), ""), path) != 0)
		return failed_plain(reterr, -EINVAL, "the host path '%s' is not UTF-8", path);
	return 0;
}

/* ---- mounts ---- */

static void mount_done(struct planned_mount *mount)
{
	free(mount->name);
	free(mount->host_path);
	free(mount->container_path);
	free(mount->sub_path);
	free(mount->image);
}

/* As kubelet does when it starts a container, and API servers when they admit its pod. */
static int check_modes(const struct pod_container *container, const struct pod_volume_mount *wish,
		       const struct planned_mount *mount, struct failure *reterr)
{
	if (mount->propagation == PROPAGATION_BIDIRECTIONAL && !container->privileged)
		return failed_plain(reterr, -EINVAL,
				    "mountPropagation Bidirectional needs a privileged container");
	if (mount->recursive_read_only == RECURSIVE_READ_ONLY_DISABLED)
		return 0;
	if (!wish->read_only)
		return failed_plain(reterr, -EINVAL, "recursiveReadOnly needs readOnly: true");
	if (mount->propagation != PROPAGATION_NONE)
		return failed_plain(reterr, -EINVAL,
				    "recursiveReadOnly needs mountPropagation None");
	return 0;
}

static int read_modes(const struct pod_container *container, const struct pod_volume_mount *wish,
		      struct planned_mount *mount, struct failure *reterr)
{
	int propagation =
		index_of(propagation_names, ARRAY_SIZE(propagation_names), wish->mount_propagation);
	int read_only =
		index_of(read_only_names, ARRAY_SIZE(read_only_names), wish->recursive_read_only);

	if (propagation < 0)
		return failed_plain(reterr, -EINVAL, "unknown mountPropagation '%s'",
				    wish->mount_propagation);
	if (read_only < 0)
		return failed_plain(reterr, -EINVAL, "unknown recursiveReadOnly '%s'",
				    wish->recursive_read_only);
	mount->propagation = (enum mount_propagation) propagation;
	mount->recursive_read_only = (enum recursive_read_only) read_only;
	return check_modes(container, wish, mount, reterr);
}

static int find_image(const struct container_volume *volume, const struct pod_volume_mount *wish,
		      struct planned_mount *mount, struct failure *reterr)
{
	if (*wish->sub_path_expr)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "subPathExpr '%s' is not supported for image volume '%s'",
				    wish->sub_path_expr, wish->name);
	mount->sub_path = strdup(wish->sub_path);
	mount->host_path = strdup("");
	mount->image = strdup(volume->image);
	mount->read_only = true;
	mount->relabel = volume->relabel;
	return mount->sub_path && mount->host_path && mount->image ? 0 : -ENOMEM;
}

/* The host's end: the volume, or what was bound for a part of it; never the whole volume in place
 * of a part. */
static int find_source(const struct container_plan_request *request,
		       const struct pod_container *container, size_t index,
		       struct planned_mount *mount, struct failure *reterr)
{
	const struct pod_volume_mount *wish = &container->mounts[index];
	const struct container_volume *volume = find_volume(request, wish->name);
	const struct container_sub_path *bound = find_sub_path(request, container->name, index);
	const char *part = *wish->sub_path ? wish->sub_path : wish->sub_path_expr;

	if (!volume)
		return failed_plain(reterr, -EAGAIN, "volume '%s' is not mounted", wish->name);
	if (volume->block)
		return failed_plain(reterr, -EINVAL, "volume '%s' is a block device", wish->name);
	if (volume->image)
		return find_image(volume, wish, mount, reterr);
	if (*part && !bound)
		return failed_plain(reterr, -EAGAIN, "subPath '%s' of volume '%s' is not prepared",
				    part, wish->name);
	mount->sub_path = strdup(part);
	mount->host_path = strdup(*part ? bound->host_path : volume->path);
	mount->read_only = wish->read_only || volume->read_only;
	mount->relabel = volume->relabel;
	mount->noexec = volume->noexec;
	mount->nosuid = volume->nosuid;
	mount->nodev = volume->nodev;
	if (!mount->sub_path || !mount->host_path)
		return -ENOMEM;
	return check_utf8(mount->host_path, reterr);
}

static int plan_mount(const struct container_plan_request *request,
		      const struct pod_container *container, size_t index,
		      struct planned_mount *mount, struct failure *reterr)
{
	const struct pod_volume_mount *wish = &container->mounts[index];
	int r;

	mount->name = strdup(wish->name);
	mount->container_path = path_text_clean(wish->mount_path);
	if (!mount->name || !mount->container_path)
		return -ENOMEM;
	if (path_text_depth(mount->container_path) == 0)
		return failed_plain(reterr, -EINVAL, "nothing can be mounted over the root");
	mount->idmap = request->pod->pod->user_namespace;
	r = find_source(request, container, index, mount, reterr);
	if (r == 0)
		r = read_modes(container, wish, mount, reterr);
	return r;
}

/* Stable, so that mounts of one depth keep the pod's order; lists are short. */
static void sort_by_depth(struct planned_mount *mounts, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct planned_mount moved = mounts[i];
		size_t depth = path_text_depth(moved.container_path), at = i;

		for (; at > 0 && path_text_depth(mounts[at - 1].container_path) > depth; at--)
			mounts[at] = mounts[at - 1];
		mounts[at] = moved;
	}
}

/* ---- devices ---- */

static void device_done(struct planned_device *device)
{
	free(device->name);
	free(device->host_path);
	free(device->container_path);
}

static int plan_device(const struct container_plan_request *request,
		       const struct pod_volume_device *wish, struct planned_device *device,
		       struct failure *reterr)
{
	const struct container_volume *volume = find_volume(request, wish->name);

	if (!volume)
		return failed_plain(reterr, -EAGAIN, "volume '%s' is not mapped", wish->name);
	if (!volume->block)
		return failed_plain(reterr, -EINVAL, "volume '%s' is not a block device",
				    wish->name);
	device->name = strdup(wish->name);
	device->host_path = strdup(volume->path);
	device->container_path = path_text_clean(wish->device_path);
	if (!device->name || !device->host_path || !device->container_path)
		return -ENOMEM;
	device->read_only = volume->read_only;
	device->major = volume->major;
	device->minor = volume->minor;
	return check_utf8(device->host_path, reterr);
}

/* ---- containers ---- */

static void container_done(struct planned_container *container)
{
	for (size_t i = 0; i < container->mount_count; i++)
		mount_done(&container->mounts[i]);
	for (size_t i = 0; i < container->device_count; i++)
		device_done(&container->devices[i]);
	free(container->mounts);
	free(container->devices);
	free(container->name);
}

static const char *type_name(const struct pod_container *container)
{
	if (container->type == CONTAINER_INIT)
		return container->sidecar ? "sidecar" : "init";
	return container->type == CONTAINER_REGULAR ? "regular" : "ephemeral";
}

/* The place in the container that is taken already, by a mount or device before; NULL: none. */
static const char *find_twice(const struct planned_container *container)
{
	for (size_t i = 0; i < container->mount_count; i++) {
		const char *path = container->mounts[i].container_path;

		for (size_t k = 0; k < i; k++)
			if (strcmp(container->mounts[k].container_path, path) == 0)
				return path;
		for (size_t k = 0; k < container->device_count; k++)
			if (strcmp(container->devices[k].container_path, path) == 0)
				return path;
	}
	for (size_t i = 0; i < container->device_count; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(container->devices[k].container_path,
				   container->devices[i].container_path) == 0)
				return container->devices[i].container_path;
	return NULL;
}

/* Counted as they are begun, so that what is half built is freed. */
static int plan_mounts(const struct container_plan_request *request,
		       const struct pod_container *container, struct planned_container *planned,
		       struct failure *reterr)
{
	planned->mounts = calloc(container->mount_count + 1, sizeof(*planned->mounts));
	planned->devices = calloc(container->device_count + 1, sizeof(*planned->devices));
	if (!planned->mounts || !planned->devices)
		return -ENOMEM;
	for (size_t i = 0; i < container->mount_count; i++) {
		int r = plan_mount(request, container, i, &planned->mounts[planned->mount_count++],
				   reterr);

		if (r < 0) {
			(void) failure_prefix(reterr, "container '%s', mountPath '%s'",
					      container->name, container->mounts[i].mount_path);
			return r;
		}
	}
	for (size_t i = 0; i < container->device_count; i++) {
		int r = plan_device(request, &container->devices[i],
				    &planned->devices[planned->device_count++], reterr);

		if (r < 0) {
			(void) failure_prefix(reterr, "container '%s', devicePath '%s'",
					      container->name, container->devices[i].device_path);
			return r;
		}
	}
	return 0;
}

static int plan_container(const struct container_plan_request *request,
			  const struct pod_container *container, struct planned_container *planned,
			  struct failure *reterr)
{
	const char *twice;
	int r;

	planned->name = strdup(container->name);
	planned->type = type_name(container);
	if (!planned->name)
		return -ENOMEM;
	r = plan_mounts(request, container, planned, reterr);
	if (r < 0)
		return r;
	twice = find_twice(planned);
	if (twice)
		return failed_plain(reterr, -EINVAL,
				    "container '%s': two mounts or devices at '%s'",
				    container->name, twice);
	sort_by_depth(planned->mounts, planned->mount_count);
	return 0;
}

/* ---- groups ---- */

static bool has_group(const struct container_plan *plan, gid_t group)
{
	for (size_t i = 0; i < plan->group_count; i++)
		if (plan->groups[i] == group)
			return true;
	return false;
}

static void add_group(struct container_plan *plan, gid_t group)
{
	if (!has_group(plan, group))
		plan->groups[plan->group_count++] = group;
}

/* The pod's own first, so that a volume adds none that the pod lists already. */
static int plan_groups(const struct container_plan_request *request, struct container_plan *plan)
{
	const struct pod *pod = request->pod->pod;

	plan->groups = calloc(1 + pod->supplemental_group_count + request->volume_count,
			      sizeof(*plan->groups));
	if (!plan->groups)
		return -ENOMEM;
	if (pod->has_fs_group)
		add_group(plan, pod->fs_group);
	for (size_t i = 0; i < pod->supplemental_group_count; i++)
		add_group(plan, pod->supplemental_groups[i]);
	for (size_t i = 0; i < request->volume_count; i++)
		if (request->volumes[i].has_group)
			add_group(plan, request->volumes[i].group);
	return 0;
}

/* ---- the plan ---- */

struct container_plan *container_plan_free(struct container_plan *plan)
{
	if (!plan)
		return NULL;
	for (size_t i = 0; i < plan->container_count; i++)
		container_done(&plan->containers[i]);
	free(plan->containers);
	free(plan->groups);
	free(plan->pod);
	free(plan->pod_uid);
	free(plan);
	return NULL;
}

void container_plan_free_pointer(struct container_plan **plan)
{
	(void) container_plan_free(*plan);
}

static int plan_containers(const struct container_plan_request *request,
			   struct container_plan *plan, struct failure *reterr)
{
	const struct pod *pod = request->pod->pod;

	for (size_t i = 0; i < pod->container_count; i++) {
		const struct pod_container *container = &pod->containers[i];
		int r;

		if (request->container && strcmp(request->container, container->name) != 0)
			continue;
		r = plan_container(request, container, &plan->containers[plan->container_count++],
				   reterr);
		if (r < 0)
			return r;
	}
	if (request->container && plan->container_count == 0)
		return failed_plain(reterr, -ENOENT, "pod '%s' has no container '%s'", plan->pod,
				    request->container);
	return 0;
}

int container_plan_make(const struct container_plan_request *request, struct container_plan **ret,
			struct failure *reterr)
{
	cleanup_container_plan struct container_plan *plan = calloc(1, sizeof(*plan));
	struct failure why = { .error = 0 };
	char key[POD_KEY_BYTES];
	int r = -ENOMEM;

	assert(request && ret && request->pod && request->pod->kind == KIND_POD);
	if (plan) {
		plan->pod = strdup(pod_key(request->pod->pod, key));
		plan->pod_uid = strdup(request->pod->meta.uid);
		plan->object = request->pod;
		plan->containers =
			calloc(request->pod->pod->container_count + 1, sizeof(*plan->containers));
		if (plan->pod && plan->pod_uid && plan->containers)
			r = plan_groups(request, plan);
	}
	if (r == 0)
		r = plan_containers(request, plan, &why);
	if (r == -ENOMEM)
		return failed(reterr, r, "cannot make a plan of mounts");
	if (r < 0) {
		if (reterr)
			*reterr = why;
		return r;
	}
	*ret = TAKE_PTR(plan);
	return 0;
}
