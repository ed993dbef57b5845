/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_source - which one source a volume of a pod, or a PersistentVolume, has
 *
 * Only src/object/ uses it. Kubernetes drops a member it does not know and then gives a pod's
 * volume without a source an emptyDir, so that "hostpath:" silently keeps data in scratch space.
 * Here an unknown member that holds a map is a source too, which no plugin will claim.
 */
#pragma once

#include "object/schema/field.h"
#include "object/schema/schema.h"
#include "object/select/selector.h"

#include <stdbool.h>

struct volume_source_names {
	const char *const *others; /* members that are no sources; ended by NULL */
	const struct schema
		*schema; /* of the volume: its further objects are the sources we know */
};

/* The first source, or NULL. */
const struct cJSON *volume_source_first(const struct cJSON *volume,
					const struct volume_source_names *names);

/* There is exactly one and it is not spelt nearly like one we know. */
bool volume_source_validate(const struct field *volume, const struct volume_source_names *names);

/* hostPath and nfs are the same in pods and PersistentVolumes: fields, defaults and rules. */
bool host_path_validate(const struct field *source);
int host_path_set_defaults(struct cJSON *source);
bool nfs_validate(const struct field *source);

/* ---- nfs_source.c: the nfs source of a PersistentVolume or of a pod's volume, decoded ---- */

struct arena;
struct cJSON;

/* Lives as long as the object it came from. */
struct nfs_source {
	const char *server, *path;
	const char *export; /* "server:/path"; an IPv6 address in brackets */
	bool read_only;     /* counts in a pod's volume; of a PersistentVolume the claim's does */
};

/* Return: NULL only when there is no memory. */
const struct nfs_source *nfs_source_decode(const struct cJSON *source, struct arena *arena);

/* ---- flex_source.c: the flexVolume source of both, decoded ---- */

/* Lives as long as the object it came from; strings are "" where absent. */
struct flex_source {
	const char *driver; /* "podvol.io/luks" */
	const char *fs_type;
	bool read_only, has_secret; /* secretRef is there */
	struct labels options;      /* in their order */
};

/* Return: NULL only when there is no memory. */
const struct flex_source *flex_source_decode(const struct cJSON *source, struct arena *arena);
/* Its options as an object; for json_free(). NULL: no memory. */
struct cJSON *flex_source_options(const struct flex_source *flex);
