/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret - the entries of a Secret as files
 *
 * In memory only, and never swapped out where the kernel can promise that. What it does is
 * file_volume.h.
 */
#include "plugins/file_volume.h"

static const struct file_volume_kind kind = { "kubernetes.io/secret", true };

static bool can_support(const struct volume_spec *spec)
{
	return !spec->pv && spec->source && spec->source->source == SOURCE_SECRET;
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

const struct volume_plugin secret_volume_plugin = {
	.name = "kubernetes.io/secret",
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
