/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tmpfs - a pod's own tmpfs of a given size: a complete plugin with an inline source
 *
 * Example for HACKING.md; addition.patch has the rest of it: the plugin's line in the registry and
 * its source in the schema. As `tmpfs: {size: 64Mi}` in spec.volumes of a pod. The size is the
 * schema's to check; a foreign tmpfs at the same place is refused by scratch.h.
 */
#include "plugins/scratch.h"

#include "base/cleanup.h"
#include "plugins/pod_target.h"

#include <string.h>

static bool can_support(const struct volume_spec *spec)
{
	return spec->source && strcmp(spec->source->source_key, "tmpfs") == 0;
}

static int get_volume_name(const struct volume_spec *spec, char **ret, struct failure *reterr)
{
	*ret = strdup(spec->name);
	return *ret ? 0 : failed(reterr, -ENOMEM, "cannot name volume '%s'", spec->name);
}

static const char *get_source(const struct volume_spec *spec)
{
	return pod_volume_field(spec->source, "size");
}

static struct volume_attributes get_attributes(const struct volume_spec *spec)
{
	return (struct volume_attributes){ .managed = true, .selinux_relabel = true };
}

static bool lives_in_mount(const struct volume_spec *spec)
{
	return true;
}

/* ---- the stages of a set-up: each is safe to repeat ---- */

static void free_data(void *data)
{
	scratch_done(data);
	free(data);
}

static int look(void *data, struct stage_report *report)
{
	return scratch_check(data, report);
}

static int make(void *data, struct stage_report *report)
{
	return scratch_make(data, report);
}

static int mark_ready(void *data, struct stage_report *report)
{
	return scratch_mark_ready(data, report);
}

static int new_mounter(const struct volume_request *request, struct stage_list *ret,
		       struct failure *reterr)
{
	static const struct stage stages[] = {
		{ .name = "check the directory", .place = STAGE_WORKER, .run = look },
		{ .name = "mount the tmpfs", .place = STAGE_WORKER, .run = make },
		{ .name = "mark it ready", .place = STAGE_WORKER, .run = mark_ready },
	};
	struct scratch *scratch = calloc(1, sizeof(*scratch));
	struct quantity size;
	int r;

	if (!scratch)
		return failed(reterr, -ENOMEM, "cannot prepare volume '%s'", request->spec->name);
	*scratch = SCRATCH_EMPTY;
	*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), scratch, free_data };
	r = quantity_parse(pod_volume_field(request->spec->source, "size"), &size, reterr);
	if (r == 0)
		r = scratch_init_for(scratch, request, "", reterr);
	if (r == 0)
		scratch_use_memory(scratch, quantity_value(&size));
	else
		stage_list_done(ret);
	return r;
}

static int new_unmounter(const struct volume_request *request, struct stage_list *ret,
			 struct failure *reterr)
{
	return scratch_new_unmounter(request, "", NULL, ret, reterr);
}

const struct volume_plugin tmpfs_volume_plugin = {
	.name = "example.com/tmpfs",
	.can_support = can_support,
	.get_volume_name = get_volume_name,
	.get_source = get_source,
	.get_attributes = get_attributes,
	.lives_in_mount = lives_in_mount,
	.new_mounter = new_mounter,
	.new_unmounter = new_unmounter,
	.get_path = pod_target_get_path,
	.construct_volume_spec = pod_target_construct_volume_spec,
};
