/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_plugin - the CSI plugin's table: what the loop asks about volumes of CSI drivers
 *
 * Which driver it is does not matter here: all of them are this one plugin. A volume of a claim is
 * one for all pods of the node, by driver and handle; one that is written out in a pod is the pod's
 * own.
 */
#include "plugins/csi.h"

#include "base/cleanup.h"
#include "object/json/json.h"
#include "plugins/layout.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const struct csi_source *source_of(const struct volume_spec *spec)
{
	if (spec->pv)
		return spec_pv(spec)->csi;
	return spec->source ? spec->source->csi : NULL;
}

static bool can_support(const struct volume_spec *spec)
{
	return source_of(spec) != NULL;
}

static int get_volume_name(const struct volume_spec *spec, char **ret, struct failure *reterr)
{
	const struct csi_source *source = source_of(spec);

	if (!source || !*source->driver || !*source->volume_handle)
		return failed_plain(reterr, -EINVAL, "volume '%s' names no driver or no handle",
				    spec->name);
	if (asprintf(ret, "%s^%s", source->driver, source->volume_handle) < 0)
		return failed(reterr, -ENOMEM, "cannot name volume '%s'", spec->name);
	return 0;
}

static bool inline_read_only(const struct volume_spec *spec)
{
	return spec->source->csi->read_only;
}

static struct volume_attributes get_attributes(const struct volume_spec *spec)
{
	return (struct volume_attributes){
		.read_only = spec->read_only,
		.managed = !spec->read_only,
		.selinux_relabel = true,
	};
}

static bool can_device_mount(const struct volume_spec *spec)
{
	return spec->pv != NULL;
}

static bool requires_remount(const struct volume_spec *spec, const struct object_finder *objects)
{
	const struct csi_source *source = source_of(spec);
	const struct object *driver;

	if (!source || !objects)
		return false;
	driver = objects->find(objects->userdata,
			       &(struct object_reference){ KIND_CSI_DRIVER, "", source->driver });
	return driver && driver->csi_driver->requires_republish;
}

/* ---- what it is made from ---- */

struct visiting {
	int (*visit)(const struct object_reference *reference, void *userdata);
	void *userdata;
};

static int visit_one(const struct visiting *visiting, enum object_kind kind, const char *name_space,
		     const char *name)
{
	const struct object_reference reference = { kind, name_space, name };

	return *name ? visiting->visit(&reference, visiting->userdata) : 0;
}

static int visit_attachment(const struct visiting *visiting, const struct csi_source *source,
			    const char *node_name)
{
	cleanup_free char *name =
		csi_attachment_name(source->volume_handle, source->driver, node_name);

	return name ? visit_one(visiting, KIND_VOLUME_ATTACHMENT, "", name) : -ENOMEM;
}

static int visit_secret(const struct visiting *visiting, const struct csi_secret_reference *secret)
{
	return visit_one(visiting, KIND_SECRET, secret->name_space, secret->name);
}

static int visit_for_pod(const struct visiting *visiting, const struct volume_spec *spec)
{
	const char *name_space = spec->pod->meta.name_space;
	int r = visit_one(visiting, KIND_SECRET, name_space,
			  spec->source->csi->node_publish_secret.name);

	return r != 0 ? r
		      : visit_one(visiting, KIND_SERVICE_ACCOUNT, name_space,
				  spec->pod->pod->service_account_name);
}

static int references(const struct volume_spec *spec, const char *node_name,
		      int (*visit)(const struct object_reference *reference, void *userdata),
		      void *userdata)
{
	const struct visiting visiting = { visit, userdata };
	const struct csi_source *source = source_of(spec);
	int r;

	assert(node_name && visit);
	if (!source)
		return 0;
	r = visit_one(&visiting, KIND_CSI_DRIVER, "", source->driver);
	if (r == 0 && !spec->pv)
		return visit_for_pod(&visiting, spec);
	if (r == 0)
		r = visit_attachment(&visiting, source, node_name);
	if (r == 0)
		r = visit_secret(&visiting, &source->node_stage_secret);
	if (r == 0)
		r = visit_secret(&visiting, &source->node_publish_secret);
	return r != 0 ? r : visit_secret(&visiting, &source->node_expand_secret);
}

/* ---- paths ---- */

static char *get_path(const struct volume_request *request)
{
	cleanup_free char *relative = NULL;
	bool block = request->spec && request->spec->block;
	int r = block ? layout_pod_path(request->pod_uid, "volumeDevices", CSI_PLUGIN_NAME,
					request->volume_name, &relative, NULL)
		      : csi_target_path(request->pod_uid, request->volume_name, &relative, NULL);

	return r < 0 ? NULL : layout_absolute(request->host->root_dir, relative);
}

static char *get_device_mount_path(const struct volume_request *request)
{
	const struct csi_source *source = request->spec ? source_of(request->spec) : NULL;
	cleanup_free char *relative = NULL;
	int r;

	if (!source || !request->spec->pv)
		return strdup("");
	r = request->spec->block
		    ? csi_block_path(CSI_BLOCK_MAP, request->volume_name, &relative, NULL)
		    : csi_staging_path(source->driver, source->volume_handle, &relative, NULL);
	return r < 0 ? NULL : layout_absolute(request->host->root_dir, relative);
}

/* "<driver>/<hash>", what a staging directory is called. */
static char *get_found_name(const char *unique_name)
{
	cleanup_free char *driver = NULL, *handle = NULL, *path = NULL;
	const char *end;

	if (csi_split_unique_name(unique_name, &driver, &handle) < 0 ||
	    csi_staging_path(driver, handle, &path, NULL) < 0)
		return strdup("");
	end = strrchr(path, '/');
	return strndup(path + strlen(CSI_BASE "/"), (size_t) (end - path) - strlen(CSI_BASE "/"));
}

/* ---- ConstructVolumeSpec ---- */

/* As much of a PersistentVolume as vol_data.json says, for who takes the volume down. */
static int make_volume(const struct vol_data *data, const char *name, bool block,
		       const struct object **ret, struct failure *reterr)
{
	cleanup_json struct cJSON *tree = json_new_object();
	struct cJSON *spec = json_add_object(tree, "spec");
	struct cJSON *csi = json_add_object(spec, "csi");

	(void) json_set_string(tree, "apiVersion", "v1");
	(void) json_set_string(tree, "kind", "PersistentVolume");
	(void) json_set_string(json_add_object(tree, "metadata"), "name", name);
	(void) json_set_string(json_add_object(spec, "capacity"), "storage", "1");
	(void) json_set_string(json_add_array(spec, "accessModes"), NULL, "ReadWriteOnce");
	(void) json_set_string(spec, "volumeMode", block ? "Block" : "Filesystem");
	(void) json_set_string(csi, "driver", data->driver_name);
	(void) json_set_string(csi, "volumeHandle", data->volume_handle);
	return tree ? object_from_json(tree, ret, reterr)
		    : failed(reterr, -ENOMEM, "cannot read volume '%s'", name);
}

/* "<driver>/<hash>" is what a staging directory is called; its volume has no other name. */
static int name_place(const char *pod_uid, const char *volume_name, bool block, char **ret_mount,
		      char **ret_data, struct failure *reterr)
{
	int r;

	if (block) {
		r = csi_block_path(CSI_BLOCK_STAGING, volume_name, ret_mount, reterr);
		return r < 0 ? r : csi_block_path(CSI_BLOCK_DATA, volume_name, ret_data, reterr);
	}
	if (*pod_uid) {
		r = csi_target_path(pod_uid, volume_name, ret_mount, reterr);
	} else {
		r = asprintf(ret_mount, CSI_BASE "/%s/globalmount", volume_name) < 0 ? -ENOMEM : 0;
		if (r == 0 && !csi_is_staging_path(*ret_mount))
			r = failed_plain(reterr, -EINVAL, "'%s' is not a staging directory",
					 volume_name);
	}
	if (r == 0 && !(*ret_data = csi_path_beside(*ret_mount, VOL_DATA_FILE)))
		r = failed(reterr, -ENOMEM, "cannot read volume '%s'", volume_name);
	return r;
}

static int construct_volume_spec(const struct plugin_host *host, const char *pod_uid,
				 const char *volume_name, bool block, struct volume_spec *ret,
				 struct failure *reterr)
{
	cleanup(vol_data_done) struct vol_data data = { .driver_name = NULL };
	cleanup_free char *mount_path = NULL, *data_path = NULL;
	struct csi_place place = { .host = host,
				   .kind = block      ? VOL_DATA_BLOCK
					   : *pod_uid ? VOL_DATA_POD
						      : VOL_DATA_STAGING };
	const struct object *pv = NULL;
	int r = name_place(pod_uid, volume_name, block, &mount_path, &data_path, reterr);

	place.mount_path = mount_path;
	place.data_path = data_path;
	if (r == 0)
		r = csi_data_read(&place, &data, reterr);
	if (r == -ENODATA)
		return failed_plain(reterr, -EINVAL, "'%s/%s' is missing", host->root_dir,
				    data_path);
	if (r < 0)
		return r;
	if (strcmp(data.lifecycle_mode, "Ephemeral") == 0) {
		*ret = (struct volume_spec){ .name = volume_name };
		return 0;
	}
	r = make_volume(&data, *pod_uid || block ? volume_name : strrchr(volume_name, '/') + 1,
			block, &pv, reterr);
	if (r == 0)
		*ret = (struct volume_spec){ .name = pv->meta.name, .pv = pv, .block = block };
	return r;
}

const struct volume_plugin csi_volume_plugin = {
	.name = CSI_PLUGIN_NAME,
	.can_support = can_support,
	.get_volume_name = get_volume_name,
	.get_attributes = get_attributes,
	.inline_read_only = inline_read_only,
	.requires_remount = requires_remount,
	.references = references,
	.supports_mount_options = true,
	.mounts_any_type = true,
	.can_device_mount = can_device_mount,
	.start_metrics = csi_start_metrics,
	.new_mounter = csi_new_mounter,
	.new_unmounter = csi_new_unmounter,
	.new_device_mounter = csi_new_device_mounter,
	.new_device_unmounter = csi_new_device_unmounter,
	.new_device_mapper = csi_new_device_mapper,
	.new_block_mapper = csi_new_block_mapper,
	.new_block_unmapper = csi_new_block_unmapper,
	.new_device_unmapper = csi_new_device_unmapper,
	.get_path = get_path,
	.get_device_mount_path = get_device_mount_path,
	.traits = VOLUME_GROWS | VOLUME_MAY_LACK_MOUNT,
	.get_found_name = get_found_name,
	.construct_volume_spec = construct_volume_spec,
};
