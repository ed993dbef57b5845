/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image - the files of an OCI image: kubelet's image plugin
 *
 * Nothing is mounted, made or removed here: the runtime pulls the image and
 * mounts it, by the reference that container_plan.h gives it. A node without a runtime for images
 * learns it when the mounts of a container are asked for, in the words of that runtime.
 */
#include "plugins/pod_target.h"

#include "base/cleanup.h"

#include <assert.h>
#include <string.h>

static bool image_can_support(const struct volume_spec *spec)
{
	return !spec_pv(spec) && spec->source && spec->source->source == SOURCE_IMAGE;
}

static int image_get_volume_name(const struct volume_spec *spec, char **ret, struct failure *reterr)
{
	*ret = strdup(spec->source->image);
	return *ret ? 0 : failed(reterr, -ENOMEM, "cannot name volume '%s'", spec->name);
}

static struct volume_attributes image_get_attributes(const struct volume_spec *spec)
{
	return (struct volume_attributes){ .read_only = true,
					   .managed = true,
					   .selinux_relabel = true };
}

static int leave_to_runtime(void *data, struct stage_report *report)
{
	return STAGE_NEXT;
}

static int image_new_mounter(const struct volume_request *request, struct stage_list *ret,
			     struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("leave it to the runtime", leave_to_runtime),
	};

	assert(request->spec);
	*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), NULL, NULL };
	return 0;
}

const struct volume_plugin image_volume_plugin = {
	.name = "kubernetes.io/image",
	.can_support = image_can_support,
	.get_volume_name = image_get_volume_name,
	.get_attributes = image_get_attributes,
	.new_mounter = image_new_mounter,
	.get_path = pod_target_get_path,
};
