/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drift_index - which of our mounts is meant: by name, by the kernel's id, by its place
 *
 * Keeps copies: the actual table may drop an entry at any step. What lies outside the root
 * directory (hostPath) is no managed mount and gets no entry.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "drift/drift_internal.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <assert.h>
#include <string.h>

struct drift_mount *drift_index_find(const struct drift *drift, const char *unique_name,
				     const char *pod_uid)
{
	size_t length;
	cleanup_free char *key = new_pair(unique_name, '\0', pod_uid ?: "", &length);
	struct drift_mount *mount = NULL;

	if (key)
		HASH_FIND(hh, drift->mounts, key, length, mount);
	return mount;
}

struct drift_mount *drift_index_by_id(const struct drift *drift, uint64_t mount_id)
{
	struct drift_mount *mount;

	/* Most that others take away is newer; thousands of entries are not in any cache. */
	if (mount_id > drift->newest_id)
		return NULL;
	HASH_FIND(by_id, drift->ids, &mount_id, sizeof(mount_id), mount);
	return mount;
}

struct drift_mount *drift_index_by_path(const struct drift *drift, const char *path)
{
	struct drift_mount *mount;

	HASH_FIND(by_path, drift->paths, path, strlen(path), mount);
	return mount;
}

static void mount_free(struct drift_mount *mount)
{
	free(mount->what);
	free(mount);
}

/* Without memory it is not watched: the volume itself is none the worse for it. */
static struct drift_mount *add(struct drift *drift, const char *unique_name, const char *pod_uid,
			       const char *path)
{
	size_t name = strlen(unique_name) + 1, uid = strlen(pod_uid) + 1, place = strlen(path) + 1;
	struct drift_mount *mount = calloc(1, sizeof(*mount) + name + uid + place);

	if (!mount)
		return NULL;
	mount->unique_name = memcpy(mount->bytes, unique_name, name);
	mount->pod_uid = memcpy(mount->bytes + name, pod_uid, uid);
	mount->path = memcpy(mount->bytes + name + uid, path, place);
	HASH_ADD(hh, drift->mounts, bytes, name + uid - 1, mount);
	if (!mount->hh.tbl) {
		mount_free(mount);
		return NULL;
	}
	HASH_ADD_KEYPTR(by_path, drift->paths, mount->path, strlen(mount->path), mount);
	return mount;
}

/* A place below the root directory, or NULL. */
static const char *place_of(const struct drift *drift, const struct actual_volume *volume,
			    const struct actual_pod *pod)
{
	const char *path = pod ? pod->path : volume->device_mount_path;
	size_t length = strlen(drift->options.root->path);

	if (!path || strncmp(path, drift->options.root->path, length) != 0 || path[length] != '/')
		return NULL;
	return path;
}

struct drift_mount *drift_index_ensure(struct drift *drift, const char *unique_name,
				       const char *pod_uid)
{
	const struct actual_volume *volume = actual_find(drift->options.actual, unique_name);
	const struct actual_pod *pod = volume && pod_uid ? actual_find_pod(volume, pod_uid) : NULL;
	struct drift_mount *mount = drift_index_find(drift, unique_name, pod_uid);
	const char *path;

	if (!volume || (pod_uid && !pod))
		return NULL;
	path = place_of(drift, volume, pod);
	if (mount && (!path || strcmp(mount->path, path) != 0)) {
		drift_index_remove(drift, mount); /* a driver's staging path may change */
		mount = NULL;
	}
	if (!mount && path)
		mount = add(drift, unique_name, pod_uid ?: "", path);
	if (mount)
		mount->read_only = pod && pod->read_only;
	return mount;
}

static int grow_known(struct drift *drift)
{
	uint32_t room = drift->known_room > 0 ? 2 * drift->known_room : 64;
	struct known_mount *known = reallocarray(drift->known, room, sizeof(*known));

	if (!known)
		return -ENOMEM;
	drift->known = known;
	drift->known_room = room;
	return 0;
}

/* At the end of the table; nothing when there is no memory. */
static void add_id(struct drift *drift, struct drift_mount *mount)
{
	if (drift->known_count == drift->known_room && grow_known(drift) < 0)
		return;
	HASH_ADD(by_id, drift->ids, mount_id, sizeof(mount->mount_id), mount);
	if (!mount->by_id.tbl)
		return;
	if (mount->mount_id > drift->newest_id)
		drift->newest_id = mount->mount_id;
	mount->known_at = drift->known_count;
	drift->known[drift->known_count++] = (struct known_mount){
		.mount_id = mount->mount_id,
		.place = mount_place_sum(mount->path),
	};
}

/* The last of the table takes its place. */
static void remove_id(struct drift *drift, struct drift_mount *mount)
{
	const struct known_mount *last = &drift->known[--drift->known_count];

	drift_index_by_id(drift, last->mount_id)->known_at = mount->known_at;
	drift->known[mount->known_at] = *last;
	HASH_DELETE(by_id, drift->ids, mount);
}

void drift_index_expect(struct drift *drift, const struct drift_mount *mount, bool as_expected)
{
	struct known_mount *known = &drift->known[mount->known_at];

	assert(known->mount_id == mount->mount_id);
	known->attributes = mount->attributes;
	known->expects = as_expected;
}

void drift_index_set_id(struct drift *drift, struct drift_mount *mount, uint64_t mount_id)
{
	if (mount->mount_id == mount_id)
		return;
	if (mount->by_id.tbl)
		remove_id(drift, mount);
	mount->by_id = (UT_hash_handle){ .tbl = NULL };
	mount->mount_id = mount_id;
	mount->attributes_known = mount->is_confirmed = false;
	mount->has_mount = mount->has_mount || mount_id != 0;
	if (mount_id != 0 && !drift_index_by_id(drift, mount_id))
		add_id(drift, mount);
	/* An id under which it is not found is not known. */
	if (mount_id != 0 && !drift_index_by_id(drift, mount_id))
		mount->mount_id = 0;
}

void drift_index_set_cover(struct drift *drift, struct drift_mount *mount, uint64_t cover_id)
{
	drift->covered += (cover_id != 0) - (mount->cover_id != 0);
	mount->cover_id = cover_id;
}

void drift_index_remove(struct drift *drift, struct drift_mount *mount)
{
	assert(mount);
	drift_index_set_id(drift, mount, 0);
	drift_index_set_cover(drift, mount, 0);
	retry_remove(drift->retries, &mount->retry);
	if (mount->by_path.tbl)
		HASH_DELETE(by_path, drift->paths, mount);
	HASH_DEL(drift->mounts, mount);
	mount_free(mount);
}
