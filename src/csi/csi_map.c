/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_map - maps of strings in messages to drivers; see csi_map.h
 */
#include "csi/csi_map.h"

#include "object/json/base64.h"
#include "object/json/json.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What csi_map_fill() relies on. */
#define SAME_SCHEMA(type)                                                                          \
	static_assert(sizeof(type) == sizeof(struct csi_map_entry) &&                              \
			      offsetof(type, key) == offsetof(struct csi_map_entry, key) &&        \
			      offsetof(type, value) == offsetof(struct csi_map_entry, value),      \
		      "entries of every map have one shape")
SAME_SCHEMA(Csi__V1__NodeStageVolumeRequest__PublishContextEntry);
SAME_SCHEMA(Csi__V1__NodeStageVolumeRequest__SecretsEntry);
SAME_SCHEMA(Csi__V1__NodeStageVolumeRequest__VolumeContextEntry);
SAME_SCHEMA(Csi__V1__NodePublishVolumeRequest__PublishContextEntry);
SAME_SCHEMA(Csi__V1__NodePublishVolumeRequest__SecretsEntry);
SAME_SCHEMA(Csi__V1__NodePublishVolumeRequest__VolumeContextEntry);
SAME_SCHEMA(Csi__V1__NodeExpandVolumeRequest__SecretsEntry);
SAME_SCHEMA(Csi__V1__CreateVolumeRequest__ParametersEntry);
SAME_SCHEMA(Csi__V1__CreateVolumeRequest__SecretsEntry);
SAME_SCHEMA(Csi__V1__DeleteVolumeRequest__SecretsEntry);
SAME_SCHEMA(Csi__V1__ControllerPublishVolumeRequest__SecretsEntry);
SAME_SCHEMA(Csi__V1__ControllerPublishVolumeRequest__VolumeContextEntry);
SAME_SCHEMA(Csi__V1__ControllerUnpublishVolumeRequest__SecretsEntry);
SAME_SCHEMA(Csi__V1__CreateSnapshotRequest__ParametersEntry);
SAME_SCHEMA(Csi__V1__CreateSnapshotRequest__SecretsEntry);
SAME_SCHEMA(Csi__V1__DeleteSnapshotRequest__SecretsEntry);
SAME_SCHEMA(Csi__V1__ListSnapshotsRequest__SecretsEntry);
SAME_SCHEMA(Csi__V1__CreateVolumeGroupSnapshotRequest__ParametersEntry);
SAME_SCHEMA(Csi__V1__CreateVolumeGroupSnapshotRequest__SecretsEntry);
SAME_SCHEMA(Csi__V1__DeleteVolumeGroupSnapshotRequest__SecretsEntry);
SAME_SCHEMA(Csi__V1__ControllerExpandVolumeRequest__SecretsEntry);
SAME_SCHEMA(Csi__V1__GetCapacityRequest__ParametersEntry);
SAME_SCHEMA(Csi__V1__Topology__SegmentsEntry);

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void csi_map_done(struct csi_map *map)
{
	assert(map);
	for (size_t i = 0; i < map->count; i++) {
		free(map->pairs[i].key);
		wipe(map->pairs[i].value);
	}
	free(map->pairs);
	free(map->pointers);
	*map = (struct csi_map){ .pairs = NULL };
}

static struct csi_map_entry *find(const struct csi_map *map, const char *key)
{
	for (size_t i = 0; i < map->count; i++)
		if (strcmp(map->pairs[i].key, key) == 0)
			return &map->pairs[i];
	return NULL;
}

static int append(struct csi_map *map, char *key, char *value)
{
	struct csi_map_entry *grown = reallocarray(map->pairs, map->count + 1, sizeof(*map->pairs));

	if (!grown)
		return -ENOMEM;
	map->pairs = grown;
	map->pairs[map->count++] = (struct csi_map_entry){ .key = key, .value = value };
	return 0;
}

int csi_map_set(struct csi_map *map, const char *key, const char *value)
{
	struct csi_map_entry *known;
	char *copy, *name;

	assert(map && key && value);
	known = find(map, key);
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	if (known) {
		wipe(known->value);
		known->value = copy;
		return 0;
	}
	name = strdup(key);
	if (name && append(map, name, copy) == 0)
		return 0;
	free(name);
	wipe(copy);
	return -ENOMEM;
}

int csi_map_add_labels(struct csi_map *map, const struct labels *labels)
{
	int r = 0;

	assert(map && labels);
	for (size_t i = 0; i < labels->count && r == 0; i++)
		r = csi_map_set(map, labels->labels[i].key, labels->labels[i].value);
	return r;
}

int csi_map_add_parameters(struct csi_map *map, const struct cJSON *class, const char *but)
{
	int r = 0;

	for (const struct cJSON *i = json_first(json_get(class, "parameters")); i && r == 0;
	     i = json_next(i))
		if (!but || strncmp(json_key(i), but, strlen(but)) != 0)
			r = csi_map_set(map, json_key(i), json_string(i, ""));
	return r;
}

int csi_map_add_secret(struct csi_map *map, const struct object *secret, struct failure *reterr)
{
	cleanup_json struct cJSON *tree = object_tree(secret);
	int r = tree ? 0 : -ENOMEM;

	assert(map && secret->kind == KIND_SECRET);
	for (const struct cJSON *item = json_first(json_get(tree, "data")); item && r == 0;
	     item = json_next(item)) {
		char *text = NULL;

		r = base64_decode_text(json_string(item, ""), &text);
		if (r == -EINVAL || r == -EILSEQ)
			return failed_plain(reterr, -EINVAL,
					    "entry '%s' of secret '%s/%s' is not text, and CSI "
					    "sends only text",
					    json_key(item), secret->meta.name_space,
					    secret->meta.name);
		if (r == 0)
			r = csi_map_set(map, json_key(item), text);
		wipe(text);
	}
	return r < 0 ? failed(reterr, r, "cannot read a secret") : 0;
}

int csi_map_fill(struct csi_map *map, const ProtobufCMessageDescriptor *entry, size_t *ret_count,
		 void *ret_entries)
{
	assert(map && entry && ret_count && ret_entries);
	assert(entry->sizeof_message == sizeof(struct csi_map_entry));

	free(map->pointers);
	map->pointers = calloc(map->count + 1, sizeof(struct csi_map_entry *));
	if (!map->pointers)
		return -ENOMEM;
	for (size_t i = 0; i < map->count; i++) {
		map->pairs[i].base = (ProtobufCMessage) PROTOBUF_C_MESSAGE_INIT(entry);
		map->pointers[i] = &map->pairs[i];
	}
	*ret_count = map->count;
	memcpy(ret_entries, &map->pointers, sizeof(map->pointers));
	return 0;
}
