/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oci - what volumes add to the config.json of the OCI runtime specification
 *
 * Every mount is an rbind, as kubelet's are. Devices come twice, as nodes and as what the device
 * cgroup lets through, for the nodes alone would be refused. Propagation from or to the host also
 * needs a root file system that is not private, or the mount has no peer left when it is made.
 *
 * Relabelling for SELinux has no place in a config.json: engines do it before they write one.
 */
#include "container/format.h"

#include "object/json/json.h"

#include <assert.h>

enum { MODE_READ_WRITE = 0660, MODE_READ = 0440 };

static void add_mount(struct cJSON *list, const struct planned_mount *mount)
{
	struct cJSON *item = json_add_object(list, NULL), *options;

	(void) json_set_string(item, "destination", mount->container_path);
	(void) json_set_string(item, "type", "bind");
	(void) json_set_string(item, "source", mount->host_path);
	options = json_add_array(item, "options");
	(void) json_set_string(options, NULL, "rbind");
	(void) json_set_string(options, NULL, mount_propagation_option(mount->propagation));
	(void) json_set_string(options, NULL, mount->read_only ? "ro" : "rw");
	/* IfPossible as well: any kernel that podvol runs on can do it. */
	if (mount->recursive_read_only != RECURSIVE_READ_ONLY_DISABLED)
		(void) json_set_string(options, NULL, "rro");
	/* Without mappings of the mount itself, those of the container's user namespace hold. */
	json_format_add_options(options, mount);
}

static void add_device(struct cJSON *list, const struct planned_device *device)
{
	struct cJSON *item = json_add_object(list, NULL);

	(void) json_set_string(item, "path", device->container_path);
	(void) json_set_string(item, "type", "b");
	(void) json_set_int(item, "major", device->major);
	(void) json_set_int(item, "minor", device->minor);
	(void) json_set_int(item, "fileMode", device->read_only ? MODE_READ : MODE_READ_WRITE);
	(void) json_set_int(item, "uid", 0);
	(void) json_set_int(item, "gid", 0);
}

static void add_rule(struct cJSON *list, const struct planned_device *device)
{
	struct cJSON *item = json_add_object(list, NULL);

	(void) json_set_bool(item, "allow", true);
	(void) json_set_string(item, "type", "b");
	(void) json_set_int(item, "major", device->major);
	(void) json_set_int(item, "minor", device->minor);
	(void) json_set_string(item, "access", device->read_only ? "r" : "rwm");
}

/* The widest that a mount asks for; PROPAGATION_NONE leaves the runtime's default. */
static enum mount_propagation widest(const struct planned_container *container)
{
	enum mount_propagation found = PROPAGATION_NONE;

	for (size_t i = 0; i < container->mount_count; i++)
		if (container->mounts[i].propagation > found)
			found = container->mounts[i].propagation;
	return found;
}

static void add_linux(struct cJSON *tree, const struct planned_container *container)
{
	enum mount_propagation root = widest(container);
	struct cJSON *section, *devices, *rules;

	if (container->device_count == 0 && root == PROPAGATION_NONE)
		return;
	section = json_add_object(tree, "linux");
	if (root != PROPAGATION_NONE)
		(void) json_set_string(section, "rootfsPropagation",
				       mount_propagation_option(root));
	if (container->device_count == 0)
		return;
	devices = json_add_array(section, "devices");
	rules = json_add_array(json_add_object(section, "resources"), "devices");
	for (size_t i = 0; i < container->device_count; i++) {
		add_device(devices, &container->devices[i]);
		add_rule(rules, &container->devices[i]);
	}
}

struct cJSON *oci_format_tree(const struct container_plan *plan,
			      const struct planned_container *container)
{
	struct cJSON *tree = json_new_object(), *list;

	assert(plan && container);
	list = json_add_array(tree, "mounts");
	for (size_t i = 0; i < container->mount_count; i++)
		add_mount(list, &container->mounts[i]);
	add_linux(tree, container);
	if (plan->group_count == 0)
		return tree;
	list = json_add_array(json_add_object(json_add_object(tree, "process"), "user"),
			      "additionalGids");
	for (size_t i = 0; i < plan->group_count; i++)
		(void) json_set_int(list, NULL, plan->groups[i]);
	return tree;
}
