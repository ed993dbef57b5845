/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cri - what volumes add to a ContainerConfig of the Container Runtime Interface, as JSON
 *
 * Names are those of the .proto file and enums are numbers, which both protobuf's own JSON reader
 * and a plain one of the generated structures take. noexec, nosuid and nodev have no field: a CRI
 * runtime keeps the host's mount flags by itself.
 */
#include "container/format.h"

#include "object/json/json.h"

#include <assert.h>

/* runtime.v1.MountPropagation: PROPAGATION_PRIVATE, _HOST_TO_CONTAINER, _BIDIRECTIONAL */
static const int propagation_numbers[] = {
	[PROPAGATION_NONE] = 0,
	[PROPAGATION_HOST_TO_CONTAINER] = 1,
	[PROPAGATION_BIDIRECTIONAL] = 2,
};

/* Both ends begin at 0 in the container, as kubelet's ranges do. */
static void add_mapping(struct cJSON *mount, const char *field, const struct id_range *range)
{
	struct cJSON *item = json_add_object(json_add_array(mount, field), NULL);

	(void) json_set_int(item, "host_id", range->first);
	(void) json_set_int(item, "container_id", 0);
	(void) json_set_int(item, "length", range->count);
}

static void add_mount(struct cJSON *list, const struct planned_mount *mount,
		      const struct id_range *user_namespace)
{
	struct cJSON *item = json_add_object(list, NULL);

	(void) json_set_string(item, "container_path", mount->container_path);
	(void) json_set_string(item, "host_path", mount->host_path);
	if (mount->image) {
		(void) json_set_string(json_add_object(item, "image"), "image", mount->image);
		(void) json_set_string(item, "image_sub_path", mount->sub_path);
	}
	(void) json_set_bool(item, "readonly", mount->read_only);
	(void) json_set_bool(item, "selinux_relabel", mount->relabel);
	(void) json_set_int(item, "propagation", propagation_numbers[mount->propagation]);
	/* IfPossible as well: any kernel that podvol runs on can do it. */
	(void) json_set_bool(item, "recursive_read_only",
			     mount->recursive_read_only != RECURSIVE_READ_ONLY_DISABLED);
	if (!mount->idmap)
		return;
	add_mapping(item, "uidMappings", user_namespace);
	add_mapping(item, "gidMappings", user_namespace);
}

static void add_device(struct cJSON *list, const struct planned_device *device)
{
	struct cJSON *item = json_add_object(list, NULL);

	(void) json_set_string(item, "container_path", device->container_path);
	(void) json_set_string(item, "host_path", device->host_path);
	(void) json_set_string(item, "permissions", device->read_only ? "r" : "mrw");
}

struct cJSON *cri_format_tree(const struct container_plan *plan,
			      const struct planned_container *container)
{
	struct cJSON *tree = json_new_object(), *list;

	assert(plan && container);
	(void) json_set_string(json_add_object(tree, "metadata"), "name", container->name);
	list = json_add_array(tree, "mounts");
	for (size_t i = 0; i < container->mount_count; i++)
		add_mount(list, &container->mounts[i], &plan->user_namespace);
	list = json_add_array(tree, "devices");
	for (size_t i = 0; i < container->device_count; i++)
		add_device(list, &container->devices[i]);
	if (plan->group_count == 0)
		return tree;
	list = json_add_array(json_add_object(json_add_object(tree, "linux"), "security_context"),
			      "supplemental_groups");
	for (size_t i = 0; i < plan->group_count; i++)
		(void) json_set_int(list, NULL, plan->groups[i]);
	return tree;
}
