/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy_mounts - the mounts of volumes; see busy_mounts.h
 *
 * What is mounted under a name is not always in the mount of that name: a mount made there before
 * lies below it, hidden. So nesting goes by the number of the parent and not by the path.
 */
#include "mount/holders/busy_mounts.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/path.h"
#include "mount/holders/busy_holders.h"
#include "mount/holders/mount_holders.h"
#include "mount/holders/process.h"
#include "mount/table/mountinfo.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>

/* ---- the list ---- */

/* A mount that may be one of them, until its parent is known. */
static int add(struct busy_mounts *mounts, size_t volume, const struct mountinfo_line *line)
{
	struct busy_mount *mount;
	int r = ARRAY_ROOM(mounts->list, mounts->count, mounts->capacity, 16);

	if (r < 0)
		return r;
	if (mounts->count == BUSY_MOUNTS_MAX)
		return -E2BIG;
	mount = &mounts->list[mounts->count];
	*mount = (struct busy_mount){
		.mount_id = line->mount_id,
		.parent_id = line->parent_id,
		.volume = volume,
		.device = line->device,
		.mount_point = strdup(line->mount_point),
		.type = line->type ? strdup(line->type) : NULL,
	};
	mounts->count++; /* from here on its texts are freed with the list */
	return mount->mount_point && (mount->type || !line->type) ? 0 : -ENOMEM;
}

static void free_texts(struct busy_mount *mount)
{
	free(mount->mount_point);
	free(mount->type);
}

void busy_mounts_free(struct busy_mounts *mounts)
{
	assert(mounts);
	for (size_t i = 0; i < mounts->count; i++)
		free_texts(&mounts->list[i]);
	free(mounts->list);
	*mounts = (struct busy_mounts){ .count = 0 };
}

static int compare(const void *left, const void *right)
{
	uint64_t a = ((const struct busy_mount *) left)->mount_id;
	uint64_t b = ((const struct busy_mount *) right)->mount_id;

	return (a > b) - (a < b);
}

const struct busy_mount *busy_mounts_find(const struct busy_mounts *mounts, uint64_t mount_id)
{
	const struct busy_mount wanted = { .mount_id = mount_id };

	return bsearch(&wanted, mounts->list, mounts->count, sizeof(wanted), compare);
}

static void sort(struct busy_mounts *mounts)
{
	if (mounts->count > 0)
		qsort(mounts->list, mounts->count, sizeof(*mounts->list), compare);
}

bool busy_mounts_has_device(const struct busy_mounts *mounts, dev_t device)
{
	for (size_t i = 0; i < mounts->count; i++)
		if (mounts->list[i].device == device)
			return true;
	return false;
}

/* ---- names ---- */

const struct busy_mount *busy_mounts_around(const struct busy_mounts *mounts, const char *path)
{
	const struct busy_mount *best = NULL;

	for (size_t i = 0; i < mounts->count; i++) {
		const struct busy_mount *mount = &mounts->list[i];

		if (!mount->is_copy && path_is_below(path, mount->mount_point) &&
		    (!best || strlen(mount->mount_point) > strlen(best->mount_point)))
			best = mount;
	}
	return best;
}

void busy_mount_name(const struct busy_mount *mount, const char *path, char *name, size_t size)
{
	const char *within = path;

	if (strncmp(path, mount->mount_point, mount->base) == 0) {
		if (path[mount->base] == '\0')
			within = "";
		else if (path[mount->base] == '/')
			within = path + mount->base + 1;
	}
	(void) snprintf(name, size, "%s", within);
}

/* ---- reading ---- */

/* Volumes do not lie in each other: the first that fits is the one. */
static bool find_volume(const struct busy_query *queries, size_t count, const char *mount_point,
			size_t *ret)
{
	for (size_t i = 0; i < count; i++) {
		const struct busy_query *query = &queries[i];

		*ret = i;
		if (strcmp(mount_point, query->mount_point) == 0 ||
		    path_is_below(mount_point, query->mount_point) ||
		    (query->folder && path_is_below(mount_point, query->folder)))
			return true;
	}
	return false;
}

static int read_below(const char *table, const struct busy_query *queries, size_t count,
		      struct busy_mounts *ret)
{
	int r = 0;

	for (const char *line = table; r >= 0 && *line; line = table_next_line(line)) {
		cleanup_free char *copy = table_copy_line(line);
		struct mountinfo_line mount;
		size_t volume;

		if (!copy)
			return -ENOMEM;
		if (mountinfo_parse(copy, &mount) == 0 &&
		    find_volume(queries, count, mount.mount_point, &volume))
			r = add(ret, volume, &mount);
	}
	sort(ret);
	return r;
}

/* The volume's own: on the very place, or the outermost ones in the folder. */
static void mark_own(struct busy_mounts *mounts, const struct busy_query *queries)
{
	for (size_t i = 0; i < mounts->count; i++) {
		struct busy_mount *mount = &mounts->list[i];
		const struct busy_query *query = &queries[mount->volume];

		if (strcmp(mount->mount_point, query->mount_point) == 0 ||
		    (query->folder && path_is_below(mount->mount_point, query->folder) &&
		     !busy_mounts_find(mounts, mount->parent_id)))
			mount->base = strlen(mount->mount_point);
	}
}

/* A parent may stand after its child: mounts can be moved. Each round finds one more or is the
 * last. */
static void mark_nested(struct busy_mounts *mounts)
{
	bool found = true;

	while (found) {
		found = false;
		for (size_t i = 0; i < mounts->count; i++) {
			struct busy_mount *mount = &mounts->list[i];
			const struct busy_mount *parent =
				mount->base > 0 ? NULL : busy_mounts_find(mounts, mount->parent_id);

			if (!parent || parent->base == 0)
				continue;
			mount->base = parent->base;
			mount->is_nested = true;
			found = true;
		}
	}
}

static void drop_others(struct busy_mounts *mounts)
{
	size_t kept = 0;

	for (size_t i = 0; i < mounts->count; i++)
		if (mounts->list[i].base > 0)
			mounts->list[kept++] = mounts->list[i];
		else
			free_texts(&mounts->list[i]);
	mounts->count = kept;
}

static int add_copies(struct busy_mounts *mounts)
{
	cleanup_free const char **points = calloc(mounts->count + 1, sizeof(*points));
	cleanup_free size_t *volumes = calloc(mounts->count + 1, sizeof(*volumes));
	cleanup_free struct mount_copy *copies = NULL;
	size_t count = 0, point_count = 0;
	int r = points && volumes ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < mounts->count; i++)
		if (!mounts->list[i].is_nested) {
			volumes[point_count] = mounts->list[i].volume;
			points[point_count++] = mounts->list[i].mount_point;
		}
	if (r >= 0)
		r = mount_holders_copies(points, point_count, &copies, &count, NULL);
	for (size_t i = 0; r >= 0 && i < count; i++) {
		const struct mountinfo_line line = { .mount_id = copies[i].mount_id,
						     .device = copies[i].device,
						     .mount_point = copies[i].where };
		struct busy_mount *mount;

		r = add(mounts, volumes[copies[i].of], &line);
		mount = &mounts->list[mounts->count - 1];
		mount->base = r < 0 ? 0 : strlen(mount->mount_point);
		mount->is_copy = true;
	}
	return r;
}

int busy_mounts_read(const struct busy_query *queries, size_t count, bool copies,
		     struct busy_mounts *ret)
{
	cleanup_close int fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *table = NULL;
	int r = fd < 0 ? -errno : process_mounts(fd, MOUNT_TABLE_BYTES_MAX, &table);

	assert((queries || count == 0) && ret);
	*ret = (struct busy_mounts){ .count = 0 };
	if (r >= 0)
		r = read_below(table, queries, count, ret);
	mark_own(ret, queries);
	mark_nested(ret);
	drop_others(ret);
	if (r >= 0 && copies && ret->count > 0)
		r = add_copies(ret);
	sort(ret);
	if (r < 0)
		busy_mounts_free(ret);
	return r;
}
