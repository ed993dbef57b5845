/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod - v1.Pod: types, defaults and decoding; see pod.h. Its rules are in pod_validate.c.
 */
#include "object/kinds/pod.h"

#include "base/text.h"
#include "base/cleanup.h"
#include "object/json/json_tree.h"
#include "object/kinds.h"
#include "object/kinds/pod_field.h"
#include "object/kinds/claim_spec.h"
#include "object/metadata.h"
#include "object/select/name_index.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HUGE_PAGES_PREFIX "hugepages-"

enum { TERMINATION_SECONDS = 30 };

/* In this order they are decoded; the order of enum container_type. */
static const char *const container_lists[] = {
	[CONTAINER_INIT] = "initContainers",
	[CONTAINER_REGULAR] = "containers",
	[CONTAINER_EPHEMERAL] = "ephemeralContainers",
};
static_assert(ARRAY_SIZE(container_lists) == CONTAINER_EPHEMERAL + 1, "a list for every type");

/* ---- defaults ---- */

/* What a limit names is requested, unless a request says otherwise. */
static int default_requests(struct cJSON *container)
{
	const struct cJSON *limits = json_get(json_get(container, "resources"), "limits");
	struct cJSON *requests;

	if (json_count(limits) == 0 || json_count(limits) > POD_RESOURCES_MAX)
		return 0; /* validation refuses so many */
	requests = json_ensure_object(json_ensure_object(container, "resources"), "requests");
	if (!requests)
		return -ENOMEM;
	JSON_FOREACH (item, limits) {
		if (!json_get(requests, json_key(item)) &&
		    json_set_string(requests, json_key(item), json_string(item, "")) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Of the defaults that say nothing about volumes only those are filled in that people look for. */
int pod_set_defaults(struct cJSON *tree)
{
	struct cJSON *spec = json_ensure_object(tree, "spec"), *list;
	int r = 0;

	if (!spec)
		return -ENOMEM;
	if (!json_get(spec, "restartPolicy"))
		r = json_set_string(spec, "restartPolicy", "Always");
	if (r == 0 && !json_get(spec, "terminationGracePeriodSeconds"))
		r = json_set_int(spec, "terminationGracePeriodSeconds", TERMINATION_SECONDS);
	list = json_member(spec, "volumes");
	for (struct cJSON *item = list ? list->child : NULL; item && r == 0; item = item->next)
		r = pod_volume_set_defaults(item);
	for (size_t i = 0; i < ARRAY_SIZE(container_lists); i++) {
		list = json_member(spec, container_lists[i]);
		for (struct cJSON *item = list ? list->child : NULL; item && r == 0;
		     item = item->next)
			r = default_requests(item);
	}
	return r;
}

/* ---- decoding: containers ---- */

/* 0 when there is no such limit, as plugins take it. */
static int64_t limit_bytes(const struct cJSON *limits, const char *name)
{
	struct quantity limit = quantity_decode(json_get(limits, name));

	return quantity_value(&limit);
}

static void decode_mounts(const struct cJSON *list, struct arena *arena,
			  struct pod_container *container)
{
	struct pod_volume_mount *mounts = arena_array(arena, json_count(list), sizeof(*mounts));
	size_t count = 0;

	for (const struct cJSON *item = json_first(list); item && mounts; item = json_next(item)) {
		mounts[count++] = (struct pod_volume_mount){
			.name = arena_text(arena, item, "name"),
			.mount_path = arena_text(arena, item, "mountPath"),
			.sub_path = arena_text(arena, item, "subPath"),
			.sub_path_expr = arena_text(arena, item, "subPathExpr"),
			.read_only = json_bool(json_get(item, "readOnly"), false),
			.recursive_read_only = arena_text(arena, item, "recursiveReadOnly"),
			.mount_propagation = arena_text(arena, item, "mountPropagation"),
		};
	}
	container->mounts = mounts;
	container->mount_count = count;
}

static void decode_devices(const struct cJSON *list, struct arena *arena,
			   struct pod_container *container)
{
	struct pod_volume_device *devices = arena_array(arena, json_count(list), sizeof(*devices));
	size_t count = 0;

	for (const struct cJSON *item = json_first(list); item && devices; item = json_next(item)) {
		devices[count++] = (struct pod_volume_device){
			.name = arena_text(arena, item, "name"),
			.device_path = arena_text(arena, item, "devicePath"),
		};
	}
	container->devices = devices;
	container->device_count = count;
}

/* "hugepages-2Mi": the page size is part of the resource's name. */
static bool is_huge_pages(const struct cJSON *item)
{
	return strncmp(json_key(item), HUGE_PAGES_PREFIX, strlen(HUGE_PAGES_PREFIX)) == 0;
}

/* Requests and not limits: those of huge pages are equal, and the defaults have filled them in. */
static void decode_huge_pages(const struct cJSON *requests, struct arena *arena,
			      struct pod_container *container)
{
	struct huge_page_request *pages;
	size_t most = 0, count = 0;

	JSON_FOREACH (item, requests)
		most += is_huge_pages(item) ? 1 : 0;
	pages = arena_array(arena, most, sizeof(*pages));
	for (const struct cJSON *item = json_first(requests); item && pages;
	     item = json_next(item)) {
		struct quantity request = quantity_decode(item);

		if (!is_huge_pages(item))
			continue;
		pages[count++] = (struct huge_page_request){
			.page_size =
				arena_string(arena, json_key(item) + strlen(HUGE_PAGES_PREFIX)),
			.bytes = quantity_value(&request),
		};
	}
	container->huge_pages = pages;
	container->huge_page_count = count;
}

/* A container's own user wins over the pod's. */
static void decode_user(const struct cJSON *own, const struct cJSON *of_pod,
			struct pod_container *container)
{
	int64_t user;

	container->has_run_as_user = json_int64(json_get(own, "runAsUser"), &user) ||
				     json_int64(json_get(of_pod, "runAsUser"), &user);
	if (container->has_run_as_user)
		container->run_as_user = (uid_t) user; /* range was validated */
}

static void decode_container(const struct cJSON *item, const struct cJSON *spec,
			     struct arena *arena, struct pod_container *container)
{
	const struct cJSON *resources = json_get(item, "resources");
	const struct cJSON *limits = json_get(resources, "limits");

	container->name = arena_text(arena, item, "name");
	container->sidecar =
		container->type == CONTAINER_INIT && json_text_is(item, "restartPolicy", "Always");
	container->privileged =
		json_bool(json_get(json_get(item, "securityContext"), "privileged"), false);
	container->memory_limit_bytes = limit_bytes(limits, "memory");
	container->ephemeral_storage_limit_bytes = limit_bytes(limits, "ephemeral-storage");
	decode_mounts(json_get(item, "volumeMounts"), arena, container);
	decode_devices(json_get(item, "volumeDevices"), arena, container);
	decode_huge_pages(json_get(resources, "requests"), arena, container);
	decode_user(json_get(item, "securityContext"), json_get(spec, "securityContext"),
		    container);
}

/* All three lists in one array: a search for uses of a volume must miss none. */
static void decode_containers(const struct cJSON *spec, struct arena *arena, struct pod *pod)
{
	struct pod_container *containers;
	size_t most = 0, count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(container_lists); i++)
		most += json_count(json_get(spec, container_lists[i]));
	containers = arena_array(arena, most, sizeof(*containers));
	for (size_t i = 0; i < ARRAY_SIZE(container_lists) && containers; i++) {
		const struct cJSON *list = json_get(spec, container_lists[i]);

		JSON_FOREACH (item, list) {
			containers[count].type = (enum container_type) i;
			decode_container(item, spec, arena, &containers[count++]);
		}
	}
	pod->containers = containers;
	pod->container_count = count;
}

/* ---- decoding: status ---- */

/* An init or ephemeral container that runs uses volumes as a regular one does. */
static bool any_runs(const struct cJSON *statuses)
{
	JSON_FOREACH (item, statuses) {
		if (json_get(json_get(item, "state"), "running"))
			return true;
	}
	return false;
}

/* Each regular container has a status that says so. */
static bool all_ended(const struct cJSON *containers, const struct name_index *statuses)
{
	JSON_FOREACH (item, containers) {
		const struct name_entry *own = name_index_find(statuses, json_text(item, "name"));

		if (!own || !json_get(json_get(own->item, "state"), "terminated"))
			return false;
	}
	return true;
}

/* That a container ended needs a word saying so; silence is no evidence, and no memory neither. */
static bool containers_terminated(const struct cJSON *spec, const struct cJSON *status,
				  struct arena *arena)
{
	const char *phase = json_text(status, "phase");
	const struct cJSON *statuses = json_get(status, "containerStatuses");
	const struct cJSON *containers = json_get(spec, "containers");
	cleanup_name_index struct name_index index = { 0 };

	if (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0)
		return true;
	if (json_count(statuses) == 0 || any_runs(json_get(status, "initContainerStatuses")) ||
	    any_runs(json_get(status, "ephemeralContainerStatuses")))
		return false;
	if (name_index_init(&index, statuses, "name") < 0) {
		arena->exhausted = true;
		return false;
	}
	return all_ended(containers, &index);
}

/* Gates times conditions, so there are only so many of either that count. */
static void decode_gates(const struct cJSON *tree, struct pod *pod)
{
	enum { GATES_MAX = 32 };
	const struct cJSON *gates = json_get_path(tree, "spec.readinessGates");
	const struct cJSON *conditions = json_get_path(tree, "status.conditions");

	for (const struct cJSON *item = json_first(gates);
	     item && pod->readiness_gate_count < GATES_MAX; item = json_next(item)) {
		const char *type = json_text(item, "conditionType");

		pod->readiness_gate_count++;
		pod->readiness_gates_passed +=
			json_text_is(json_find(conditions, "type", type), "status", "True") ? 1 : 0;
	}
}

static void decode_status(const struct cJSON *tree, struct arena *arena, struct pod *pod)
{
	const struct cJSON *status = json_get(tree, "status");
	const struct cJSON *statuses = json_get(status, "containerStatuses");

	pod->phase = arena_text(arena, status, "phase");
	pod->reason = arena_text(arena, status, "reason");
	pod->address = arena_text(arena, status, "podIP");
	pod->nominated_node_name = arena_text(arena, status, "nominatedNodeName");
	decode_gates(tree, pod);
	pod->containers_terminated = containers_terminated(json_get(tree, "spec"), status, arena);
	JSON_FOREACH (item, statuses) {
		int64_t restarts = 0;

		pod->ready_count += json_bool(json_get(item, "ready"), false) ? 1 : 0;
		if (json_int64(json_get(item, "restartCount"), &restarts) && restarts > 0)
			pod->restart_count += (unsigned int) restarts;
	}
}

/* ---- decoding: the pod ---- */

static void decode_volumes(const struct cJSON *list, const char *pod_name, struct arena *arena,
			   struct pod *pod)
{
	struct pod_volume *volumes = arena_array(arena, json_count(list), sizeof(*volumes));
	size_t count = 0;

	for (const struct cJSON *item = json_first(list); item && volumes; item = json_next(item))
		pod_volume_decode(item, pod_name, arena, &volumes[count++]);
	pod->volumes = volumes;
	pod->volume_count = count;
}

static void decode_groups(const struct cJSON *security, struct arena *arena, struct pod *pod)
{
	const struct cJSON *list = json_get(security, "supplementalGroups");
	const char *policy = json_text(security, "fsGroupChangePolicy");
	gid_t *groups = arena_array(arena, json_count(list), sizeof(*groups));
	int64_t group;
	size_t count = 0;

	pod->has_fs_group = json_int64(json_get(security, "fsGroup"), &group);
	if (pod->has_fs_group)
		pod->fs_group = (gid_t) group; /* range was validated */
	if (strcmp(policy, "OnRootMismatch") == 0)
		pod->fs_group_change_policy = FS_GROUP_CHANGE_ON_ROOT_MISMATCH;
	for (const struct cJSON *item = json_first(list); item && groups; item = json_next(item)) {
		if (json_int64(item, &group))
			groups[count++] = (gid_t) group;
	}
	pod->supplemental_groups = groups;
	pod->supplemental_group_count = count;
}

/* A container's options take the place of the pod's, member by member. */
static const char *selinux_option(const struct cJSON *spec, const struct cJSON *container,
				  const char *name)
{
	const struct cJSON *own =
		json_get(json_get(container, "securityContext"), "seLinuxOptions");
	const struct cJSON *all = json_get(json_get(spec, "securityContext"), "seLinuxOptions");

	return json_string(json_get(own, name), json_text(all, name));
}

/* What all containers have in common; "" where they differ. */
static const char *common_selinux_option(const struct cJSON *spec, const char *name)
{
	static const char *const lists[] = { "initContainers", "containers" };
	const char *common = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		JSON_FOREACH (item, json_get(spec, lists[i])) {
			const char *option = selinux_option(spec, item, name);

			if (common && strcmp(common, option) != 0)
				return "";
			common = option;
		}
	return common ?: "";
}

int pod_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
	       struct failure *reterr)
{
	const struct cJSON *spec = json_get(tree, "spec");
	struct pod *pod = arena_array(arena, 1, sizeof(*pod));
	const char *name, *policy;

	if (!pod)
		return failed(reterr, -ENOMEM, "cannot decode a pod");
	pod->object = object;
	pod->node_name = arena_text(arena, spec, "nodeName");
	(void) json_int64(json_get(spec, "priority"), &pod->priority);
	name = json_text(spec, "serviceAccountName");
	pod->service_account_name = arena_string(arena, *name ? name : "default");
	decode_volumes(json_get(spec, "volumes"), object->meta.name, arena, pod);
	decode_containers(spec, arena, pod);
	pod->memory_limit_bytes = limit_bytes(json_get_path(spec, "resources.limits"), "memory");
	pod->memory_overhead_bytes = limit_bytes(json_get(spec, "overhead"), "memory");
	decode_groups(json_get(spec, "securityContext"), arena, pod);
	policy = metadata_annotation(tree, POD_FS_GROUP_ANNOTATION);
	pod->fs_group_idmap = policy && strcmp(policy, "Idmap") == 0;
	pod->user_namespace = !json_bool(json_get(spec, "hostUsers"), true);
	pod->selinux_user = arena_string(arena, common_selinux_option(spec, "user"));
	pod->selinux_level = arena_string(arena, common_selinux_option(spec, "level"));
	decode_status(tree, arena, pod);
	object->pod = pod;
	return 0;
}

/* ---- questions ---- */

/* A volume that no container uses is not mounted, as in kubelet. */
struct pod_volume_use pod_volume_use(const struct pod *pod, const char *volume_name)
{
	struct pod_volume_use use = { 0 };

	assert(pod && volume_name);
	for (size_t i = 0; i < pod->container_count; i++) {
		const struct pod_container *container = &pod->containers[i];

		for (size_t j = 0; j < container->mount_count; j++)
			use.mounted =
				use.mounted || strcmp(container->mounts[j].name, volume_name) == 0;
		for (size_t j = 0; j < container->device_count; j++)
			use.as_device = use.as_device ||
					strcmp(container->devices[j].name, volume_name) == 0;
	}
	return use;
}

bool pod_fs_user(const struct pod *pod, uid_t *ret)
{
	assert(pod && ret);
	for (size_t i = 0; i < pod->container_count; i++) {
		const struct pod_container *container = &pod->containers[i];

		if (!container->has_run_as_user ||
		    container->run_as_user != pod->containers[0].run_as_user)
			return false;
	}
	if (pod->container_count == 0)
		return false;
	*ret = pod->containers[0].run_as_user;
	return true;
}

const char *pod_key(const struct pod *pod, char buffer[POD_KEY_BYTES])
{
	(void) put_pair(buffer, POD_KEY_BYTES, pod->object->meta.name_space, '/',
			pod->object->meta.name);
	return buffer;
}
