/* SPDX-License-Identifier: Apache-2.0 */
/*
 * versions - the server's resourceVersion of each object that is mirrored, by uid
 *
 * The store has versions of its own, so a write that expects one needs the server's. In memory:
 * what a process before mirrored has none until the server shows it again.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "cluster/cluster_internal.h"

struct version {
	UT_hash_handle hh; /* by uid */
	uint64_t number;
	char uid[];
};

void versions_note(struct cluster *cluster, const struct object *object)
{
	size_t length = strlen(object->meta.uid);
	struct version *version;

	HASH_FIND_STR(cluster->versions, object->meta.uid, version);
	if (!version) {
		version = calloc(1, sizeof(*version) + length + 1);
		if (!version)
			return; /* its writes name none */
		memcpy(version->uid, object->meta.uid, length);
		HASH_ADD_KEYPTR(hh, cluster->versions, version->uid, length, version);
		if (!version->hh.tbl) {
			free(version);
			return;
		}
	}
	version->number = object->meta.resource_version;
}

void versions_forget(struct cluster *cluster, const char *uid)
{
	struct version *version;

	HASH_FIND_STR(cluster->versions, uid, version);
	if (!version)
		return;
	HASH_DEL(cluster->versions, version);
	free(version);
}

uint64_t versions_find(const struct cluster *cluster, const char *uid)
{
	struct version *version;

	HASH_FIND_STR(cluster->versions, uid, version);
	return version ? version->number : 0;
}

void versions_free(struct cluster *cluster)
{
	struct version *version, *next;

	HASH_ITER (hh, cluster->versions, version, next) {
		HASH_DEL(cluster->versions, version);
		free(version);
	}
}
