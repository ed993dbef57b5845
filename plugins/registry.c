/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry - the plugins there are, and which of them a volume belongs to
 *
 * A new plugin is its file and one line here. Nothing is loaded into podvold at run time; programs
 * that root added are one of them, exec.
 */
#include "plugins/plugin.h"

#include "base/cleanup.h"

#include <assert.h>
#include <string.h>

/* clang-format off */
#define PLUGINS(PLUGIN) \
	PLUGIN(config_map) \
	PLUGIN(csi) \
	PLUGIN(downward_api) \
	PLUGIN(empty_dir) \
	PLUGIN(exec) \
	PLUGIN(host_path) \
	PLUGIN(image) \
	PLUGIN(local) \
	PLUGIN(nfs) \
	PLUGIN(projected) \
	PLUGIN(secret) \
	/* in the order of their names */
/* clang-format on */

#define PLUGIN_DECLARATION(NAME) extern const struct volume_plugin NAME##_volume_plugin;
#define PLUGIN_ENTRY(NAME)       &NAME##_volume_plugin,

PLUGINS(PLUGIN_DECLARATION)

static const struct volume_plugin *const plugins[] = { PLUGINS(PLUGIN_ENTRY) NULL };

const struct volume_plugin *const *plugin_list(void)
{
	return plugins;
}

const struct volume_plugin *plugin_by_name(const char *name)
{
	assert(name);
	for (const struct volume_plugin *const *plugin = plugins; *plugin; plugin++)
		if (strcmp((*plugin)->name, name) == 0)
			return *plugin;
	return NULL;
}

/* "hostPath", as the manifest has it. */
static const char *source_key(const struct volume_spec *spec)
{
	if (spec_pv(spec))
		return spec_pv(spec)->source_key;
	return spec->source ? spec->source->source_key : "";
}

int plugin_for_spec(const struct volume_spec *spec, const struct volume_plugin **ret,
		    struct failure *reterr)
{
	return plugin_claim(plugins, spec, ret, reterr);
}

int plugin_claim(const struct volume_plugin *const *list, const struct volume_spec *spec,
		 const struct volume_plugin **ret, struct failure *reterr)
{
	const struct volume_plugin *found = NULL;

	assert(list && spec && spec->name && ret);

	for (const struct volume_plugin *const *plugin = list; *plugin; plugin++) {
		if (!(*plugin)->can_support(spec))
			continue;
		if (found)
			return failed_plain(reterr, -ENOTUNIQ,
					    "volume '%s' is claimed by two plugins: %s and %s",
					    spec->name, found->name, (*plugin)->name);
		found = *plugin;
	}
	if (!found)
		return failed_plain(reterr, -ENOENT,
				    "no volume plugin for volume '%s' with source '%s'", spec->name,
				    source_key(spec));
	*ret = found;
	return 0;
}

int plugin_unique_name(const struct volume_plugin *plugin, const struct volume_spec *spec,
		       const char *pod_uid, char **ret, struct failure *reterr)
{
	cleanup_free char *name = NULL;
	int r;

	assert(plugin && spec && ret);

	if (plugin->can_device_mount && plugin->can_device_mount(spec)) {
		r = plugin->get_volume_name(spec, &name, reterr);
		if (r < 0)
			return r;
		r = asprintf(ret, "%s/%s", plugin->name, name);
	} else {
		assert(pod_uid);
		r = asprintf(ret, "%s/%s-%s", plugin->name, pod_uid, spec->name);
	}
	return r < 0 ? failed(reterr, -ENOMEM, "cannot name volume '%s'", spec->name) : 0;
}
