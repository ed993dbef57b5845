/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind_staged - bind mounts for kernels and seccomp profiles without the newer mount calls
 *
 * Privileged: CAP_SYS_ADMIN. mount(2) can give a bind its attributes only after it was made, so it
 * is made where no process can reach it: on a private tmpfs over a directory of mode 0700 under
 * /run, one at a time under a lock. There it is remounted, and then moved to the target in one
 * step. What a killed process left on the staging directory is taken away by the next one. Refuses
 * attributes on recursive binds: submounts would be left without them.
 */
#include "mount/bind/bind_staged.h"

#include "base/cleanup.h"
#include "mount/path/safe_path.h"

#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#define STAGING_LOCK    "/run/podvol-bind"
#define STAGING_PRIVATE "/run/podvol-bind/private"
#define STAGING_MOUNT   "/run/podvol-bind/private/mount"

static const struct {
	uint64_t attribute;
	unsigned long mount_flag, statvfs_flag;
} flag_rows[] = {
	{ MOUNT_ATTR_RDONLY, MS_RDONLY, ST_RDONLY },
	{ MOUNT_ATTR_NOSUID, MS_NOSUID, ST_NOSUID },
	{ MOUNT_ATTR_NODEV, MS_NODEV, ST_NODEV },
	{ MOUNT_ATTR_NOEXEC, MS_NOEXEC, ST_NOEXEC },
	{ MOUNT_ATTR_NOATIME, MS_NOATIME, ST_NOATIME },
	{ MOUNT_ATTR_STRICTATIME, MS_STRICTATIME, 0 },
	{ MOUNT_ATTR_NODIRATIME, MS_NODIRATIME, ST_NODIRATIME },
	{ MOUNT_ATTR_NOSYMFOLLOW, 256 /* MS_NOSYMFOLLOW */, 8192 /* ST_NOSYMFOLLOW */ },
};

unsigned long attributes_to_mount_flags(uint64_t attributes)
{
	unsigned long flags = 0;

	for (size_t i = 0; i < ARRAY_SIZE(flag_rows); i++)
		if (attributes & flag_rows[i].attribute)
			flags |= flag_rows[i].mount_flag;
	return flags;
}

/* A remount replaces all flags, so those the source has must be named again. */
int flags_to_remount(const char *path, const struct mount_attributes *wanted,
		     unsigned long *ret_flags)
{
	struct statvfs status;
	uint64_t attributes = 0;

	if (statvfs(path, &status) < 0)
		return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(flag_rows); i++)
		if (status.f_flag & flag_rows[i].statvfs_flag)
			attributes |= flag_rows[i].attribute;
	*ret_flags = attributes_to_mount_flags((attributes & ~wanted->clear) | wanted->set);
	return 0;
}

static void take_down_staging(void)
{
	/* podvol made whatever is there: only this file mounts below a 0700 directory of root's. */
	while (umount2(STAGING_PRIVATE, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
		;
}

/* Lock the staging directory and mount a private tmpfs in it. */
static int set_up_staging(int *ret_lock_fd)
{
	cleanup_close int lock_fd = -EBADF;

	if (mkdir(STAGING_LOCK, 0700) < 0 && errno != EEXIST)
		return -errno;
	lock_fd = open(STAGING_LOCK, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (lock_fd < 0 || flock(lock_fd, LOCK_EX) < 0)
		return -errno;
	if (mkdir(STAGING_PRIVATE, 0700) < 0 && errno != EEXIST)
		return -errno;

	take_down_staging();
	if (mount("podvol", STAGING_PRIVATE, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  "mode=0700,size=64k") < 0)
		return -errno;
	/* A mount below a shared one cannot be moved away. */
	if (mount(NULL, STAGING_PRIVATE, NULL, MS_PRIVATE, NULL) < 0) {
		int error = -errno;

		take_down_staging();
		return error;
	}
	*ret_lock_fd = TAKE_FD(lock_fd);
	return 0;
}

static int make_staging_node(int source_fd)
{
	cleanup_close int fd = -EBADF;
	struct stat status;

	if (fstat(source_fd, &status) < 0)
		return -errno;
	if (S_ISDIR(status.st_mode))
		return mkdir(STAGING_MOUNT, 0700) < 0 ? -errno : 0;
	fd = open(STAGING_MOUNT, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : 0;
}

static int bind_and_move(int source_fd, int target_fd, const struct mount_attributes *attributes)
{
	unsigned long recursive = attributes->recursive ? MS_REC : 0;
	cleanup_close int mount_fd = -EBADF;
	unsigned long flags = 0;
	int result;

	result = make_staging_node(source_fd);
	if (result < 0)
		return result;
	if (mount(fd_path(source_fd).text, STAGING_MOUNT, NULL, MS_BIND | recursive, NULL) < 0)
		return -errno;
	result = flags_to_remount(STAGING_MOUNT, attributes, &flags);
	if (result < 0)
		return result;
	if ((attributes->set || attributes->clear) &&
	    mount(NULL, STAGING_MOUNT, NULL, MS_REMOUNT | MS_BIND | flags, NULL) < 0)
		return -errno;

	/* This descriptor goes with the mount to its new place, where no known path leads. */
	mount_fd = open(STAGING_MOUNT, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (mount_fd < 0)
		return -errno;
	if (attributes->own_group &&
	    mount(NULL, STAGING_MOUNT, NULL, MS_PRIVATE | recursive, NULL) < 0)
		return -errno;
	if (attributes->propagation == MS_SHARED &&
	    mount(NULL, STAGING_MOUNT, NULL, MS_SHARED | recursive, NULL) < 0)
		return -errno;
	if (mount(STAGING_MOUNT, fd_path(target_fd).text, NULL, MS_MOVE, NULL) < 0)
		return -errno;
	if (attributes->propagation && attributes->propagation != MS_SHARED &&
	    mount(NULL, fd_path(mount_fd).text, NULL, attributes->propagation | recursive, NULL) <
		    0) {
		result = -errno;
		(void) umount2(fd_path(mount_fd).text, MNT_DETACH);
	}
	return result;
}

int bind_staged(int source_fd, int target_fd, const struct mount_attributes *attributes,
		struct failure *reterr)
{
	bool plain = !attributes->set && !attributes->clear && !attributes->propagation;
	cleanup_close int lock_fd = -EBADF;
	int result;

	assert(source_fd >= 0 && target_fd >= 0 && attributes);
	if (plain) {
		unsigned long flags = MS_BIND | (attributes->recursive ? MS_REC : 0);

		if (mount(fd_path(source_fd).text, fd_path(target_fd).text, NULL, flags, NULL) < 0)
			return failed(reterr, -errno, "cannot bind the source to its target");
		return 0;
	}
	if (attributes->recursive && (attributes->set || attributes->clear))
		return failed_plain(reterr, -EOPNOTSUPP,
				    "mount attributes for a source with mounts below it need "
				    "mount_setattr (Linux 5.12)");

	result = set_up_staging(&lock_fd);
	if (result < 0)
		return failed(reterr, result, "cannot prepare '%s' for a bind mount", STAGING_LOCK);
	result = bind_and_move(source_fd, target_fd, attributes);
	take_down_staging();
	return result < 0 ? failed(reterr, result, "cannot bind the source to its target") : 0;
}
