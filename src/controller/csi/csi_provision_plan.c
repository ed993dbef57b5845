/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_provision_plan - what a driver is asked to make for a claim; see csi_provision_plan.h
 *
 * The volume that comes of it is made in csi_provision_volume.c.
 */
#include "controller/csi/csi_provision_plan.h"

#include "base/cleanup.h"
#include "controller/csi/topology.h"
#include "csi/csi_access.h"
#include "object/json/json.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *csi_volume_name(const struct object *claim, char buffer[CSI_VOLUME_NAME_BYTES])
{
	(void) snprintf(buffer, CSI_VOLUME_NAME_BYTES, "pvc-%s", claim->meta.uid);
	return buffer;
}

bool csi_should_provision(const struct persistent_volume_claim *claim,
			  const struct storage_class *storage_class, const char *node_name)
{
	if (!storage_class || strcmp(claim->storage_provisioner, storage_class->provisioner) != 0 ||
	    claim->volume_name[0] || claim->object->meta.deletes)
		return false;
	/* A node that was selected for a class that does not wait means the same. */
	if (storage_class->waits_for_first_consumer || claim->selected_node[0])
		return strcmp(claim->selected_node, node_name) == 0;
	return true;
}

/* ---- parameters ---- */

static bool is_fs_type(const char *key)
{
	return strcasecmp(key, "fstype") == 0 || strcmp(key, CSI_PARAMETER_PREFIX "fstype") == 0;
}

static int take_fs_type(struct csi_provision_plan *plan, const char *value, struct failure *reterr)
{
	if (plan->fs_type[0])
		return failed_plain(reterr, -EINVAL,
				    "more than one of the parameters fstype and %sfstype is given",
				    CSI_PARAMETER_PREFIX);
	plan->fs_type = value;
	return 0;
}

/* The old name of the file system's type stays the driver's, too. */
static int take_parameter(struct csi_provision_plan *plan, const struct cJSON *item,
			  struct failure *reterr)
{
	const char *key = json_key(item), *value = json_string(item, "");
	bool is_reserved = strncmp(key, CSI_PARAMETER_PREFIX, strlen(CSI_PARAMETER_PREFIX)) == 0;

	if (is_fs_type(key)) {
		int r = take_fs_type(plan, value, reterr);

		if (r < 0 || is_reserved)
			return r;
	}
	if (is_reserved && !csi_secret_is_parameter(key))
		return failed_plain(reterr, -EINVAL,
				    "parameter '%s' is unknown, and what begins with %s is "
				    "Kubernetes' own",
				    key, CSI_PARAMETER_PREFIX);
	if (!is_reserved && csi_map_set(&plan->parameters, key, value) < 0)
		return failed(reterr, -ENOMEM, "cannot plan a volume");
	return 0;
}

static int read_parameters(struct csi_provision_plan *plan, struct failure *reterr)
{
	const struct cJSON *parameters = json_get(plan->storage_class, "parameters");
	const struct csi_secret_query question = { parameters, plan->name, plan->claim };
	int r = 0;

	plan->fs_type = "";
	for (const struct cJSON *i = json_first(parameters); i && r == 0; i = json_next(i))
		r = take_parameter(plan, i, reterr);
	for (size_t use = 0; use < CSI_SECRET_USE_COUNT && r == 0; use++)
		r = csi_secret_resolve(&question, (enum csi_secret_use) use, &plan->secrets[use],
				       reterr);
	return r;
}

/* As external-provisioner: all of them, whatever their names. */
static int read_attributes(struct csi_provision_plan *plan,
			   const struct csi_provision_request *request, struct failure *reterr)
{
	cleanup_json struct cJSON *tree = NULL;
	const char *name = request->claim->attributes_class, *driver;
	int r = 0;

	plan->attributes_class = strdup(name);
	if (!plan->attributes_class)
		return failed(reterr, -ENOMEM, "cannot plan a volume");
	if (!name[0])
		return 0;
	assert(request->attributes_class);
	if (!csi_driver_can(request->driver, CSI_CAN_MODIFY_VOLUME))
		return failed_plain(reterr, -EOPNOTSUPP,
				    "driver '%s' knows no VolumeAttributesClass (no MODIFY_VOLUME)",
				    request->driver->name);
	tree = object_tree(request->attributes_class);
	driver = json_text(tree, "driverName");
	if (tree && strcmp(driver, request->driver->name) != 0)
		return failed_plain(reterr, -EINVAL, "VolumeAttributesClass '%s' is of driver '%s'",
				    name, driver);
	r = csi_map_add_parameters(&plan->mutable_parameters, tree, NULL);
	return tree && r == 0 ? 0 : failed(reterr, -ENOMEM, "cannot plan a volume");
}

/* ---- capabilities ---- */

static const struct {
	const char *name;
	enum access_mode mode;
} access_names[] = {
	{ "ReadWriteOnce", ACCESS_READ_WRITE_ONCE },
	{ "ReadOnlyMany", ACCESS_READ_ONLY_MANY },
	{ "ReadWriteMany", ACCESS_READ_WRITE_MANY },
	{ "ReadWriteOncePod", ACCESS_READ_WRITE_ONCE_POD },
};
static_assert(ARRAY_SIZE(access_names) == CSI_CAPABILITIES_MAX, "room for every access mode");

static enum access_mode access_mode_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(access_names); i++)
		if (strcmp(access_names[i].name, name) == 0)
			return access_names[i].mode;
	return 0;
}

static void read_modes(struct csi_provision_plan *plan, const struct csi_driver *driver)
{
	const struct cJSON *modes = json_get_path(plan->claim, "spec.accessModes");
	bool knows = csi_driver_can(driver, CSI_CAN_SINGLE_NODE_MULTI_WRITER);

	for (const struct cJSON *i = json_first(modes);
	     i && plan->mode_count < ARRAY_SIZE(plan->modes); i = json_next(i))
		plan->modes[plan->mode_count++] =
			csi_access_mode(access_mode_of(json_string(i, "")), knows);
	plan->is_read_only =
		plan->mode_count == 1 && csi_driver_can(driver, CSI_CAN_PUBLISH_READONLY) &&
		plan->modes[0] ==
			CSI__V1__VOLUME_CAPABILITY__ACCESS_MODE__MODE__MULTI_NODE_READER_ONLY;
}

static int read_mount_flags(struct csi_provision_plan *plan, struct failure *reterr)
{
	const struct cJSON *options = json_get(plan->storage_class, "mountOptions");

	plan->mount_flags = calloc(json_count(options) + 1, sizeof(*plan->mount_flags));
	if (!plan->mount_flags)
		return failed(reterr, -ENOMEM, "cannot plan a volume");
	JSON_FOREACH (i, options)
		plan->mount_flags[plan->mount_flag_count++] = json_string(i, "");
	return 0;
}

/* ---- where ---- */

/* One node: the volume must be reachable from it, whatever else the class allows. */
static int read_topology(struct csi_provision_plan *plan,
			 const struct csi_provision_request *request, struct failure *reterr)
{
	const struct csi_driver *driver = request->driver;
	cleanup_free struct label *labels = NULL;
	int r = 0;

	if (!(driver->plugin_capabilities & CSI_PLUGIN_VOLUME_ACCESSIBILITY_CONSTRAINTS))
		return 0;
	labels = calloc(driver->segment_count + 1, sizeof(*labels));
	if (!labels)
		return failed(reterr, -ENOMEM, "cannot plan a volume");
	for (size_t i = 0; i < driver->segment_count && r == 0; i++) {
		labels[i] = (struct label){ driver->segments[i].key, driver->segments[i].value };
		r = csi_map_set(&plan->segments, labels[i].key, labels[i].value);
	}
	if (r < 0)
		return failed(reterr, r, "cannot plan a volume");
	if (!topology_allows(request->storage_class,
			     &(struct labels){ labels, driver->segment_count }))
		return failed_plain(
			reterr, -ENODEV,
			"the class's allowedTopologies leave out where driver '%s' says "
			"that node '%s' is",
			driver->name, request->node_name);
	return 0;
}

/* ---- all ---- */

static int check_claim(const struct csi_provision_request *request, struct failure *reterr)
{
	const struct csi_driver *driver = request->driver;

	if (!csi_driver_can(driver, CSI_CAN_CREATE_DELETE_VOLUME))
		return failed_plain(reterr, -EOPNOTSUPP,
				    "driver '%s' cannot create volumes (no CREATE_DELETE_VOLUME)",
				    driver->name);
	if (request->claim->selector)
		return failed_plain(reterr, -EINVAL,
				    "a claim with a selector cannot be provisioned: a new volume "
				    "has no labels to select");
	return 0;
}

static int copy_request(struct csi_provision_plan *plan,
			const struct csi_provision_request *request, struct failure *reterr)
{
	(void) csi_volume_name(request->claim->object, plan->name);
	plan->claim = object_tree(request->claim->object);
	plan->claim_ref = json_new_object();
	object_write_reference(request->claim->object, plan->claim_ref);
	plan->storage_class = object_tree(request->storage_class->object);
	plan->driver = strdup(request->driver->name);
	plan->node_name = strdup(request->node_name);
	plan->content_kind = request->content.kind;
	plan->content = strdup(request->content.identifier ?: "");
	plan->bytes = quantity_value(&request->claim->request);
	plan->is_block = request->claim->mode == VOLUME_MODE_BLOCK;
	plan->reclaim_policy = request->storage_class->reclaim_policy;
	if (!plan->claim || !plan->claim_ref || !plan->storage_class || !plan->driver ||
	    !plan->node_name || !plan->content)
		return failed(reterr, -ENOMEM, "cannot plan a volume");
	return 0;
}

int csi_provision_plan_make(const struct csi_provision_request *request,
			    struct csi_provision_plan *ret, struct failure *reterr)
{
	int r;

	assert(request->claim && request->storage_class && request->driver && request->node_name);
	*ret = (struct csi_provision_plan){ .bytes = 0 };
	r = check_claim(request, reterr);
	if (r == 0)
		r = copy_request(ret, request, reterr);
	if (r == 0)
		r = read_parameters(ret, reterr);
	if (r == 0)
		r = read_attributes(ret, request, reterr);
	if (r == 0)
		r = read_mount_flags(ret, reterr);
	if (r == 0)
		r = read_topology(ret, request, reterr);
	if (r == 0)
		read_modes(ret, request->driver);
	return r;
}

void csi_provision_plan_done(struct csi_provision_plan *plan)
{
	json_free(plan->claim);
	json_free(plan->claim_ref);
	json_free(plan->storage_class);
	free(plan->driver);
	free(plan->node_name);
	free(plan->content);
	free(plan->mount_flags);
	free(plan->attributes_class);
	csi_map_done(&plan->parameters);
	csi_map_done(&plan->mutable_parameters);
	csi_map_done(&plan->segments);
	*plan = (struct csi_provision_plan){ .bytes = 0 };
}
