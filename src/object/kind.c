/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kind - the table of kinds; see kind.h
 */
#include "object/kind.h"

#include "base/cleanup.h"
#include "object/kinds.h"

#include <assert.h>
#include <string.h>

static const struct kind_row rows[] = {
	[KIND_POD] = {
		.kind = KIND_POD,
		.name = "Pod",
		.plural = "pods",
		.singular = "pod",
		.group = "",
		.version = "v1",
		.namespaced = true,
		.shape = &pod_shape,
		.set_defaults = pod_set_defaults,
		.validate = pod_validate,
		.validate_update = pod_validate_update,
		.decode = pod_decode,
		.columns = pod_columns,
		.column_count = POD_COLUMN_COUNT,
	},
	[KIND_PERSISTENT_VOLUME] = {
		.kind = KIND_PERSISTENT_VOLUME,
		.name = "PersistentVolume",
		.plural = "persistentvolumes",
		.singular = "persistentvolume",
		.group = "",
		.version = "v1",
		.namespaced = false,
		.shape = &persistent_volume_shape,
		.set_defaults = persistent_volume_set_defaults,
		.validate = persistent_volume_validate,
		.validate_update = persistent_volume_validate_update,
		.decode = persistent_volume_decode,
		.columns = persistent_volume_columns,
		.column_count = PERSISTENT_VOLUME_COLUMN_COUNT,
	},
	[KIND_PERSISTENT_VOLUME_CLAIM] = {
		.kind = KIND_PERSISTENT_VOLUME_CLAIM,
		.name = "PersistentVolumeClaim",
		.plural = "persistentvolumeclaims",
		.singular = "persistentvolumeclaim",
		.group = "",
		.version = "v1",
		.namespaced = true,
		.shape = &claim_shape,
		.set_defaults = claim_set_defaults,
		.validate = claim_validate,
		.validate_update = claim_validate_update,
		.decode = claim_decode,
		.columns = claim_columns,
		.column_count = CLAIM_COLUMN_COUNT,
	},
	[KIND_STORAGE_CLASS] = {
		.kind = KIND_STORAGE_CLASS,
		.name = "StorageClass",
		.plural = "storageclasses",
		.singular = "storageclass",
		.group = "storage.k8s.io",
		.version = "v1",
		.namespaced = false,
		.shape = &storage_class_shape,
		.set_defaults = storage_class_set_defaults,
		.validate = storage_class_validate,
		.validate_update = storage_class_validate_update,
		.decode = storage_class_decode,
		.columns = storage_class_columns,
		.column_count = STORAGE_CLASS_COLUMN_COUNT,
	},
};

static_assert(ARRAY_SIZE(rows) == KIND_COUNT, "one row per kind");

const struct kind_row *kind_row(enum object_kind kind)
{
	assert((unsigned int) kind < KIND_COUNT);
	return &rows[kind];
}

/* "v1" is the version of group "", "storage.k8s.io/v1" of the group before the slash. */
static bool is_version_of(const struct kind_row *row, const char *api_version)
{
	size_t length = strlen(row->group);

	if (length == 0)
		return strcmp(api_version, row->version) == 0;
	return strncmp(api_version, row->group, length) == 0 && api_version[length] == '/' &&
	       strcmp(api_version + length + 1, row->version) == 0;
}

const struct kind_row *kind_by_name(const char *api_version, const char *name)
{
	assert(api_version && name);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].name, name) == 0 && is_version_of(&rows[i], api_version))
			return &rows[i];
	}
	return NULL;
}
