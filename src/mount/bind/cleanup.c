/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cleanup - take a mount point away: unmount, then one rmdir or unlink
 *
 * Looks by statx only, which asks no server; an error that says the server is gone leads straight
 * to the unmount. Never detaches lazily: what is in use stays and is reported. Never removes what
 * is in a directory.
 */
#include "mount/mount.h"

#include <assert.h>
#include <errno.h>

/* Mounts stacked on one place; more would mean that another process mounts as fast as we unmount.
 */
enum { STACK_MAX = 64 };

/* 1 something was unmounted or has to be looked at again, 0 nothing is mounted here. */
static int unmount_top(const struct place *place, struct mount_facts *ret_facts,
		       struct failure *reterr)
{
	int result = place_facts(place, ret_facts, reterr);

	if (result == 0 && !ret_facts->is_mount_root)
		return 0;
	if (result < 0 && !is_corrupted_mount_error(result))
		return result;
	result = unmount_place(place, 0, reterr);
	return result < 0 ? result : 1;
}

/* Only what podvol makes to mount on: an empty directory, or an empty file for the sub-path of a
 * file. A link or a file with content is foreign. */
static int remove_target(const struct place *place, const struct mount_facts *facts,
			 struct failure *reterr)
{
	if (S_ISDIR(facts->mode))
		return remove_directory(place, reterr);
	if (S_ISREG(facts->mode) && facts->bytes == 0)
		return remove_file(place, reterr);
	return failed_plain(reterr, -ENOTEMPTY,
			    "'%s' is %s, which podvol did not put there: it stays", place->path,
			    S_ISLNK(facts->mode)   ? "a symbolic link"
			    : S_ISREG(facts->mode) ? "a file with content"
						   : "a special file");
}

int cleanup_mount_point(const struct place *place, struct failure *reterr)
{
	struct mount_facts facts;

	assert(place && place->parent_fd >= 0 && place->name);

	for (int level = 0; level < STACK_MAX; level++) {
		int result = unmount_top(place, &facts, reterr);

		if (result == -ENOENT)
			return 0;
		if (result < 0)
			return result;
		if (result == 0)
			return remove_target(place, &facts, reterr);
	}
	return failed_plain(reterr, -EBUSY, "'%s' is still a mount point after %d unmounts",
			    place->path, STACK_MAX);
}
