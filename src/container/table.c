/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table - a line for each mount and device of each container, as people read it
 *
 * Makes the rows; who shows them decides on columns.
 */
#include "container/format.h"

#include "object/json/json.h"

#include <assert.h>
#include <stdio.h>

/* rw, ro, rro (recursively, or it fails), ro+ (recursively where that works) */
static const char *access_of(const struct planned_mount *mount)
{
	if (!mount->read_only)
		return "rw";
	if (mount->recursive_read_only == RECURSIVE_READ_ONLY_ENABLED)
		return "rro";
	return mount->recursive_read_only == RECURSIVE_READ_ONLY_IF_POSSIBLE ? "ro+" : "ro";
}

static void add_mount(struct cJSON *items, const struct planned_container *container,
		      const struct planned_mount *mount)
{
	struct cJSON *item = json_add_object(items, NULL);
	char options[64];

	(void) snprintf(options, sizeof(options), "%s%s%s%s%s", mount->idmap ? ",idmap" : "",
			mount->noexec ? ",noexec" : "", mount->nosuid ? ",nosuid" : "",
			mount->nodev ? ",nodev" : "", mount->relabel ? ",relabel" : "");
	(void) json_set_string(item, "container", container->name);
	(void) json_set_string(item, "volume", mount->name);
	(void) json_set_string(item, "containerPath", mount->container_path);
	(void) json_set_string(item, "hostPath", mount->image ? mount->image : mount->host_path);
	(void) json_set_string(item, "access", access_of(mount));
	(void) json_set_string(item, "propagation", mount_propagation_name(mount->propagation));
	(void) json_set_string(item, "subPath", mount->sub_path);
	(void) json_set_string(item, "options", *options ? options + 1 : "");
	(void) json_set_string(item, "type", container->type);
}

static void add_device(struct cJSON *items, const struct planned_container *container,
		       const struct planned_device *device)
{
	struct cJSON *item = json_add_object(items, NULL);
	char numbers[32];

	(void) snprintf(numbers, sizeof(numbers), "b %u:%u", device->major, device->minor);
	(void) json_set_string(item, "container", container->name);
	(void) json_set_string(item, "volume", device->name);
	(void) json_set_string(item, "containerPath", device->container_path);
	(void) json_set_string(item, "hostPath", device->host_path);
	(void) json_set_string(item, "access", device->read_only ? "r" : "mrw");
	(void) json_set_string(item, "options", numbers);
	(void) json_set_string(item, "type", container->type);
}

struct cJSON *table_format_tree(const struct container_plan *plan,
				const struct planned_container *container)
{
	struct cJSON *tree = json_new_object();
	struct cJSON *items = json_add_array(tree, "items");

	assert(plan);
	for (size_t i = 0; i < plan->container_count; i++) {
		const struct planned_container *one = &plan->containers[i];

		for (size_t k = 0; k < one->mount_count; k++)
			add_mount(items, one, &one->mounts[k]);
		for (size_t k = 0; k < one->device_count; k++)
			add_device(items, one, &one->devices[k]);
	}
	return tree;
}
