/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stuck_unmount - unmount a volume that is in use; see stuck_unmount.h
 *
 * A detached tree takes what is nested in it along, and that may be a disk that others mounted
 * there and expect to keep: so it is looked for first. One that appears between the look and the
 * call goes too.
 */
#include "mount/bind/stuck_unmount.h"

#include "base/cleanup.h"
#include "mount/holders/busy_holders.h"
#include "mount/holders/busy_mounts.h"
#include "mount/mount.h"

#include <assert.h>
#include <string.h>
#include <sys/mount.h>

static int flags_of(enum unmount_manner manner)
{
	return manner == UNMOUNT_LAZY ? MNT_DETACH : MNT_FORCE;
}

/* Relative to the root; NULL: it is not below it. */
static const char *below_root(const char *root_path, const char *mount_point)
{
	size_t length = strlen(root_path);

	if (strncmp(mount_point, root_path, length) != 0 || mount_point[length] != '/')
		return NULL;
	return mount_point + length + 1;
}

static bool is_own(const struct stuck_volume *volume, const struct busy_mount *mount)
{
	if (!volume->memory_only || strcmp(mount->mount_point, volume->mount_point) != 0)
		return true;
	return strcmp(mount->type, "tmpfs") == 0 || strcmp(mount->type, "hugetlbfs") == 0;
}

static int check_nested(const struct busy_mounts *mounts, struct failure *reterr)
{
	for (size_t i = 0; i < mounts->count; i++)
		if (mounts->list[i].is_nested)
			return failed_plain(reterr, -EBUSY,
					    "'%s' is mounted in the volume: it stays as it is",
					    mounts->list[i].mount_point);
	return 0;
}

static int take_away(const struct place *place, enum unmount_manner manner, unsigned int *used,
		     struct failure *reterr)
{
	int r = unmount_place(place, 0, reterr);

	if (r != -EBUSY)
		return r == -EINVAL ? 0 : r; /* already unmounted */
	++*used;
	return unmount_place(place, flags_of(manner), reterr);
}

int stuck_unmount(int root_fd, const char *root_path, const struct stuck_volume *volume,
		  enum unmount_manner manner, unsigned int *ret_used, struct failure *reterr)
{
	const struct busy_query query = { .mount_point = volume->mount_point,
					  .folder = volume->folder };
	cleanup(busy_mounts_free) struct busy_mounts mounts = { .count = 0 };
	int r;

	assert(root_fd >= 0 && root_path && manner != UNMOUNT_WAIT && ret_used);
	*ret_used = 0;
	r = busy_mounts_read(&query, 1, false, &mounts);
	if (r < 0)
		return failed(reterr, r, "cannot read what is mounted at '%s'",
			      volume->mount_point);
	r = check_nested(&mounts, reterr);
	for (size_t i = 0; i < mounts.count && r >= 0; i++) {
		const struct busy_mount *mount = &mounts.list[i];
		const char *relative = below_root(root_path, mount->mount_point);
		cleanup(place_done) struct place place = PLACE_EMPTY;

		if (!relative || !is_own(volume, mount))
			continue;
		r = place_open(root_fd, root_path, relative, &place, reterr);
		if (r >= 0)
			r = take_away(&place, manner, ret_used, reterr);
	}
	return r < 0 ? r : 0;
}
