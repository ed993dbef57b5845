/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_plugin - the table of executable plugins: what the loop asks about their volumes
 *
 * Which plugin it is does not matter here: all of them are this one. Directories say too little of
 * a volume to take one over that is not podvold's, so none is constructed from them.
 */
#include "plugins/exec/exec.h"

#include "base/cleanup.h"
#include "object/kinds/volume_source.h"
#include "plugins/layout.h"
#include "plugins/pod_target.h"

#include <stdio.h>
#include <string.h>

static const struct flex_source *source_of(const struct volume_spec *spec)
{
	if (spec->pv)
		return spec_pv(spec)->program.flex;
	return spec->source ? spec->source->flex : NULL;
}

static bool can_support(const struct volume_spec *spec)
{
	const struct flex_source *source = source_of(spec);

	return source && exec_name_of(source->driver);
}

static int get_volume_name(const struct volume_spec *spec, char **ret, struct failure *reterr)
{
	const struct flex_source *source = source_of(spec);
	const char *name = source ? exec_name_of(source->driver) : NULL;
	int r;

	if (!name)
		return failed_plain(reterr, -EINVAL, "volume '%s' names no plugin", spec->name);
	if (spec->pv)
		r = asprintf(ret, "%s^%s", name, spec->name);
	else
		r = asprintf(ret, "%s^%s-%s", name, spec->pod->meta.uid, spec->name);
	return r < 0 ? failed(reterr, -ENOMEM, "cannot name volume '%s'", spec->name) : 0;
}

static const char *get_source(const struct volume_spec *spec)
{
	return source_of(spec)->driver;
}

static bool inline_read_only(const struct volume_spec *spec)
{
	return source_of(spec)->read_only;
}

static struct volume_attributes get_attributes(const struct volume_spec *spec)
{
	return (struct volume_attributes){ .read_only = spec->read_only,
					   .managed = !spec->read_only };
}

static bool can_device_mount(const struct volume_spec *spec)
{
	return source_of(spec) != NULL;
}

static char *get_device_mount_path(const struct volume_request *request)
{
	cleanup_free char *name = NULL, *relative = NULL;

	if (!request->spec || get_volume_name(request->spec, &name, NULL) < 0 ||
	    layout_child(EXEC_STAGING_BASE, name, &relative, NULL) < 0)
		return strdup("");
	return layout_absolute(request->host->root_dir, relative);
}

/* "<plugin>^<handle>", what a staging directory is called. */
static char *get_found_name(const char *unique_name)
{
	size_t length = strlen(EXEC_PLUGIN_NAME "/");

	return strdup(strncmp(unique_name, EXEC_PLUGIN_NAME "/", length) == 0 ? unique_name + length
									      : "");
}

const struct volume_plugin exec_volume_plugin = {
	.name = EXEC_PLUGIN_NAME,
	.can_support = can_support,
	.get_volume_name = get_volume_name,
	.get_attributes = get_attributes,
	.get_source = get_source,
	.inline_read_only = inline_read_only,
	.supports_mount_options = true,
	.mounts_any_type = true,
	.can_device_mount = can_device_mount,
	.new_mounter = exec_new_mounter,
	.new_unmounter = exec_new_unmounter,
	.new_device_mounter = exec_new_device_mounter,
	.new_device_unmounter = exec_new_device_unmounter,
	.get_path = pod_target_get_path,
	.get_device_mount_path = get_device_mount_path,
	.ask_metrics = exec_request_metrics,
	.traits = VOLUME_GROWS,
	.get_found_name = get_found_name,
};
