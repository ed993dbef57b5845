/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json - the whole plan as it is: what other programs read, and the only format without a runtime
 *
 * Nothing is refused: whatever a path holds can be written as a JSON string.
 */
#include "container/format.h"

#include "object/json/json.h"

#include <assert.h>

void json_format_add_options(struct cJSON *options, const struct planned_mount *mount)
{
	if (mount->idmap)
		(void) json_set_string(options, NULL, "idmap");
	if (mount->noexec)
		(void) json_set_string(options, NULL, "noexec");
	if (mount->nosuid)
		(void) json_set_string(options, NULL, "nosuid");
	if (mount->nodev)
		(void) json_set_string(options, NULL, "nodev");
}

static void add_mount(struct cJSON *list, const struct planned_mount *mount)
{
	struct cJSON *item = json_add_object(list, NULL), *options;

	(void) json_set_string(item, "name", mount->name);
	(void) json_set_string(item, "hostPath", mount->host_path);
	if (mount->image)
		(void) json_set_string(item, "image", mount->image);
	(void) json_set_string(item, "containerPath", mount->container_path);
	(void) json_set_bool(item, "readOnly", mount->read_only);
	(void) json_set_string(item, "recursiveReadOnly",
			       recursive_read_only_name(mount->recursive_read_only));
	(void) json_set_string(item, "propagation", mount_propagation_name(mount->propagation));
	if (*mount->sub_path)
		(void) json_set_string(item, "subPath", mount->sub_path);
	(void) json_set_bool(item, "selinuxRelabel", mount->relabel);
	options = json_add_array(item, "options");
	json_format_add_options(options, mount);
}

static void add_device(struct cJSON *list, const struct planned_device *device)
{
	struct cJSON *item = json_add_object(list, NULL);

	(void) json_set_string(item, "name", device->name);
	(void) json_set_string(item, "hostPath", device->host_path);
	(void) json_set_string(item, "containerPath", device->container_path);
	(void) json_set_string(item, "permissions", device->read_only ? "r" : "mrw");
	(void) json_set_string(item, "type", "b");
	(void) json_set_int(item, "major", device->major);
	(void) json_set_int(item, "minor", device->minor);
}

static void add_container(struct cJSON *list, const struct planned_container *container)
{
	struct cJSON *item = json_add_object(list, NULL), *inner;

	(void) json_set_string(item, "name", container->name);
	(void) json_set_string(item, "type", container->type);
	inner = json_add_array(item, "mounts");
	for (size_t i = 0; i < container->mount_count; i++)
		add_mount(inner, &container->mounts[i]);
	inner = json_add_array(item, "devices");
	for (size_t i = 0; i < container->device_count; i++)
		add_device(inner, &container->devices[i]);
}

struct cJSON *json_format_tree(const struct container_plan *plan,
			       const struct planned_container *container)
{
	struct cJSON *tree = json_new_object(), *list;

	assert(plan);
	(void) json_set_string(tree, "pod", plan->pod);
	(void) json_set_string(tree, "podUID", plan->pod_uid);
	list = json_add_array(tree, "supplementalGroups");
	for (size_t i = 0; i < plan->group_count; i++)
		(void) json_set_int(list, NULL, plan->groups[i]);
	list = json_add_array(tree, "containers");
	for (size_t i = 0; i < plan->container_count; i++)
		add_container(list, &plan->containers[i]);
	return tree;
}
