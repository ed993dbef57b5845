/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flex_source - the flexVolume source of a PersistentVolume or of a pod's volume; see
 * volume_source.h
 *
 * The same members in both. Which drivers there are is not judged here.
 */
#include "object/kinds/volume_source.h"

#include "object/json/arena.h"
#include "object/json/json.h"
#include "object/select/selector_json.h"

const struct flex_source *flex_source_decode(const struct cJSON *source, struct arena *arena)
{
	struct flex_source *flex = arena_array(arena, 1, sizeof(*flex));

	if (!flex)
		return NULL;
	*flex = (struct flex_source){
		.driver = arena_text(arena, source, "driver"),
		.fs_type = arena_text(arena, source, "fsType"),
		.read_only = json_bool(json_get(source, "readOnly"), false),
		.has_secret = json_get(source, "secretRef") != NULL,
		.options = labels_decode(json_get(source, "options"), arena),
	};
	return flex->driver && flex->fs_type ? flex : NULL;
}

struct cJSON *flex_source_options(const struct flex_source *flex)
{
	struct cJSON *options = json_new_object();

	for (size_t i = 0; i < flex->options.count; i++)
		(void) json_set_string(options, flex->options.labels[i].key,
				       flex->options.labels[i].value);
	return options;
}
