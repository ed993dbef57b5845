/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_plan_plugin - a class of podvol/local whose volumes an executable plugin makes
 *
 * The volume's source is flexVolume, as one of the plugin's that root wrote. All parameters but the
 * plugin's name and fsType are its options. Refused is what only directories have.
 */
#include "controller/local/local_flavour.h"

#include <errno.h>
#include <string.h>

static const char *const of_directories[] = { "basePaths", "capacity", "podvol.io/directory-mode" };

static void add_options(const struct local_sources *sources, struct cJSON *flex)
{
	struct cJSON *options = json_add_object(flex, "options");

	JSON_FOREACH (item, json_get(sources->storage_class, "parameters"))
		if (strcmp(json_key(item), "plugin") != 0 && strcmp(json_key(item), "fsType") != 0)
			(void) json_set(options, json_key(item), json_copy(item));
}

int local_read_plugin(const struct local_sources *sources, struct local_plan *plan,
		      struct failure *reterr)
{
	const char *name = local_parameter(sources, "plugin");
	const char *fs_type = local_parameter(sources, "fsType");
	struct cJSON *flex;

	for (size_t i = 0; i < ARRAY_SIZE(of_directories); i++)
		if (local_parameter(sources, of_directories[i])[0])
			return failed_plain(reterr, -EINVAL,
					    "parameter %s cannot be combined with plugin",
					    of_directories[i]);
	if (!sources->request)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "plugins do not say how much room is left");
	if (sources->request->move_name)
		return failed_plain(reterr, -EINVAL,
				    "volumes cannot be moved to a class of an executable plugin");
	if (asprintf(&plan->base_paths[0], LOCAL_PLUGIN_PREFIX "%s", name) < 0) {
		plan->base_paths[0] = NULL;
		return failed(reterr, -ENOMEM, "cannot plan a volume");
	}
	plan->base_count = 1;
	(void) snprintf(plan->capacity, sizeof(plan->capacity), "%s", LOCAL_PLUGIN);
	flex = json_add_object(json_ensure_object(plan->volume, "spec"), "flexVolume");
	(void) json_set_string(flex, "driver", plan->base_paths[0]);
	if (fs_type[0])
		(void) json_set_string(flex, "fsType", fs_type);
	add_options(sources, flex);
	return 0;
}
