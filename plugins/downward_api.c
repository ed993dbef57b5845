/* SPDX-License-Identifier: Apache-2.0 */
/*
 * downward_api - fields of the pod itself as files
 *
 * In memory, as in kubelet. A change of the pod is a change of the files. What it does is
 * file_volume.h.
 */
#include "plugins/file_volume.h"

static const struct file_volume_kind kind = { "kubernetes.io/downward-api", true };

static bool can_support(const struct volume_spec *spec)
{
	return !spec->pv && spec->source && spec->source->source == SOURCE_DOWNWARD_API;
}

static int new_mounter(const struct volume_request *request, struct stage_list *ret,
		       struct failure *reterr)
{
	return file_volume_new_mounter(&kind, request, ret, reterr);
}

static int new_unmounter(const struct volume_request *request, struct stage_list *ret,
			 struct failure *reterr)
{
	return file_volume_new_unmounter(&kind, request, ret, reterr);
}

static char *get_path(const struct volume_request *request)
{
	return file_volume_get_path(&kind, request);
}

const struct volume_plugin downward_api_volume_plugin = {
	.name = "kubernetes.io/downward-api",
	.can_support = can_support,
	.get_volume_name = file_volume_get_volume_name,
	.get_attributes = file_volume_get_attributes,
	.requires_remount = file_volume_requires_remount,
	.references = file_volume_references,
	.new_mounter = new_mounter,
	.new_unmounter = new_unmounter,
	.get_path = get_path,
	.construct_volume_spec = file_volume_construct_volume_spec,
};
