/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_source - the csi source of a volume; see csi_source.h
 *
 * The same members in PersistentVolumes and in pods, which have fewer of them.
 */
#include "object/kinds/csi_source.h"

#include "object/json/arena.h"
#include "object/json/json.h"
#include "object/select/selector_json.h"

#include <assert.h>

static struct csi_secret_reference decode_secret(const struct cJSON *source, const char *key,
						 struct arena *arena)
{
	const struct cJSON *reference = json_get(source, key);

	return (struct csi_secret_reference){
		.name_space = arena_text(arena, reference, "namespace"),
		.name = arena_text(arena, reference, "name"),
	};
}

static void decode_flags(const struct cJSON *list, struct arena *arena, struct csi_source *csi)
{
	const char **flags = arena_array(arena, json_count(list), sizeof(*flags));
	size_t count = 0;

	for (const struct cJSON *item = json_first(list); item && flags; item = json_next(item))
		flags[count++] = arena_string(arena, json_string(item, ""));
	csi->mount_flags = flags;
	csi->mount_flag_count = count;
}

const struct csi_source *csi_source_decode(const struct cJSON *source,
					   const struct cJSON *mount_options, struct arena *arena)
{
	struct csi_source *csi = arena_array(arena, 1, sizeof(*csi));

	assert(arena);
	if (!csi)
		return NULL;
	*csi = (struct csi_source){
		.driver = arena_text(arena, source, "driver"),
		.volume_handle = arena_text(arena, source, "volumeHandle"),
		.fs_type = arena_text(arena, source, "fsType"),
		.read_only = json_bool(json_get(source, "readOnly"), false),
		.attributes = labels_decode(json_get(source, "volumeAttributes"), arena),
		.node_stage_secret = decode_secret(source, "nodeStageSecretRef", arena),
		.node_publish_secret = decode_secret(source, "nodePublishSecretRef", arena),
		.node_expand_secret = decode_secret(source, "nodeExpandSecretRef", arena),
		.controller_publish_secret =
			decode_secret(source, "controllerPublishSecretRef", arena),
		.controller_expand_secret =
			decode_secret(source, "controllerExpandSecretRef", arena),
	};
	decode_flags(mount_options, arena, csi);
	return csi;
}
