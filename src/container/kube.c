/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube - the pod for "podman kube play", with host paths in place of its volumes
 *
 * Of the pod what kube play reads: name, labels, annotations, spec. Each mount gets a hostPath
 * volume of its own, because a sub-path has a host path of its own. Options of a mount stand behind
 * a colon of mountPath. The groups of the plan take the place of fsGroup, which podman ignores.
 * Containers that are not in the plan, and ephemeral ones, are left out.
 */
#include "container/format.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "object/json/json.h"

#include <assert.h>
#include <string.h>

static void add_mount(struct cJSON *mounts, struct cJSON *volumes,
		      const struct planned_mount *mount)
{
	struct cJSON *item = json_add_object(mounts, NULL), *volume;
	cleanup_free char *path = NULL;
	char name[32], options[64];

	(void) snprintf(name, sizeof(name), "volume-%zu", json_count(volumes));
	(void) snprintf(options, sizeof(options), "%s%s%s%s", mount->noexec ? ",noexec" : "",
			mount->nosuid ? ",nosuid" : "", mount->nodev ? ",nodev" : "",
			mount->relabel ? ",z" : "");
	if (*options)
		options[0] = ':';
	path = new_text("%s%s", mount->container_path, options);
	(void) json_set_string(item, "name", name);
	if (path)
		(void) json_set_string(item, "mountPath", path);
	else
		(void) json_set(item, "mountPath", NULL);
	(void) json_set_bool(item, "readOnly", mount->read_only);
	(void) json_set_string(item, "mountPropagation",
			       mount_propagation_name(mount->propagation));
	volume = json_add_object(volumes, NULL);
	(void) json_set_string(volume, "name", name);
	(void) json_set_string(json_add_object(volume, "hostPath"), "path", mount->host_path);
}

static const struct planned_container *find_container(const struct container_plan *plan,
						      const char *name)
{
	for (size_t i = 0; i < plan->container_count; i++)
		if (strcmp(plan->containers[i].name, name) == 0)
			return &plan->containers[i];
	return NULL;
}

static void add_containers(struct cJSON *spec, struct cJSON *volumes, const char *key,
			   const struct container_plan *plan)
{
	struct cJSON *list = json_new_array();

	JSON_FOREACH (item, json_get(spec, key)) {
		const struct planned_container *planned =
			find_container(plan, json_text(item, "name"));
		struct cJSON *container = planned ? json_copy(item) : NULL, *mounts;

		if (!planned)
			continue;
		json_remove(container, "volumeMounts");
		mounts = json_add_array(container, "volumeMounts");
		for (size_t i = 0; i < planned->mount_count; i++)
			add_mount(mounts, volumes, &planned->mounts[i]);
		(void) json_set(list, NULL, container);
	}
	json_remove(spec, key);
	if (json_count(list) > 0)
		(void) json_set(spec, key, list);
	else
		json_free(list);
}

static void add_groups(struct cJSON *spec, const struct container_plan *plan)
{
	struct cJSON *security, *groups;

	if (plan->group_count == 0)
		return;
	security = json_ensure_object(spec, "securityContext");
	json_remove(security, "fsGroup");
	json_remove(security, "fsGroupChangePolicy");
	json_remove(security, "supplementalGroups");
	groups = json_add_array(security, "supplementalGroups");
	for (size_t i = 0; i < plan->group_count; i++)
		(void) json_set_int(groups, NULL, plan->groups[i]);
}

struct cJSON *kube_format_tree(const struct container_plan *plan,
			       const struct planned_container *container)
{
	static const char *const kept[] = { "name", "labels", "annotations" };
	cleanup_json struct cJSON *pod = NULL;
	struct cJSON *tree = json_new_object(), *metadata, *spec, *volumes;

	assert(plan && plan->object && !container);
	pod = object_tree(plan->object);
	(void) json_set_string(tree, "apiVersion", "v1");
	(void) json_set_string(tree, "kind", "Pod");
	metadata = json_add_object(tree, "metadata");
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		const struct cJSON *value = json_get(json_get(pod, "metadata"), kept[i]);

		if (value)
			(void) json_set(metadata, kept[i], json_copy(value));
	}
	spec = json_copy(json_get(pod, "spec"));
	(void) json_set(tree, "spec", spec);
	json_remove(spec, "volumes");
	json_remove(spec, "ephemeralContainers");
	volumes = json_new_array();
	add_containers(spec, volumes, "initContainers", plan);
	add_containers(spec, volumes, "containers", plan);
	(void) json_set(spec, "volumes", volumes);
	add_groups(spec, plan);
	return tree;
}
