/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nfs_source - the nfs source of a PersistentVolume or of a pod's volume, decoded
 */
#ifndef PODVOL_OBJECT_NFS_SOURCE_H
#define PODVOL_OBJECT_NFS_SOURCE_H

#include <stdbool.h>

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

#endif
