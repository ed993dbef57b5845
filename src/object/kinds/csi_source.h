/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_source - the csi source of a PersistentVolume or of a pod's volume, decoded
 *
 * Strings are "" where absent, arrays NULL with count 0; all live as long as the object they came
 * from.
 */
#pragma once

#include "object/object.h"

struct arena;

struct csi_secret_reference {
	const char *name_space; /* "" in a pod's volume: the pod's own */
	const char *name;       /* "": no secret is referenced */
};

struct csi_source {
	const char *driver;
	const char *volume_handle; /* "" in a pod's volume: it is made from pod and volume */
	const char *fs_type;       /* "" unset: the driver decides */
	bool read_only;
	struct labels attributes; /* volumeAttributes, in their order */
	/* The PersistentVolume's spec.mountOptions, never its annotation. */
	const char *const *mount_flags;
	size_t mount_flag_count;
	struct csi_secret_reference node_stage_secret, node_publish_secret, node_expand_secret;
	struct csi_secret_reference controller_publish_secret, controller_expand_secret;
};

/**
 * csi_source_decode - a source and the options that go with it
 * @source:        the value of "csi"; NULL gives an empty one
 * @mount_options: a list; NULL: none
 *
 * Return: NULL only when there is no memory.
 */
const struct csi_source *csi_source_decode(const struct cJSON *source,
					   const struct cJSON *mount_options, struct arena *arena);
