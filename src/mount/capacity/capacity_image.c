/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity_image - a volume is an image file in its directory; see capacity.h
 *
 * All of its blocks are taken when it is made: a claim that does not fit is refused then, and no
 * write in the volume fails later for want of room beneath it. What is mounted from it, and how, is
 * the local plugin's (plugins/local_device.c).
 */
#include "mount/capacity/capacity.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "mount/filesystem/loop_device.h"
#include "mount/mount.h"
#include "mount/remove/volume_directory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { IMAGE_MODE = 0600, IMAGE_BLOCK = 4096 };

static int open_image(int fd, int flags)
{
	cleanup_close int image_fd = openat(
		fd, CAPACITY_IMAGE_NAME, O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, IMAGE_MODE);
	struct stat status;

	if (image_fd < 0 || fstat(image_fd, &status) < 0)
		return -errno;
	return S_ISREG(status.st_mode) ? TAKE_FD(image_fd) : -ENOENT;
}

static int image_check(int base_fd, const char *path, struct failure *reterr)
{
	if (faccessat(AT_FDCWD, "/dev/loop-control", W_OK, 0) == 0)
		return 0;
	return failed_plain(reterr, -EOPNOTSUPP,
			    "no image can be mounted from '%s': there are no loop devices here",
			    path);
}

static bool image_is_in_force(int fd)
{
	cleanup_close int image_fd = open_image(fd, O_RDONLY);

	return image_fd >= 0;
}

/* A size that was not reached is given back, and what is in use is never cut. */
static int reserve(int image_fd, uint64_t bytes)
{
	struct stat status;

	if (fstat(image_fd, &status) < 0)
		return -errno;
	bytes = (bytes + IMAGE_BLOCK - 1) / IMAGE_BLOCK * IMAGE_BLOCK;
	if (status.st_size > (off_t) bytes)
		bytes = (uint64_t) status.st_size;
	if (fallocate(image_fd, 0, 0, (off_t) bytes) < 0) {
		int error = errno;

		if (ftruncate(image_fd, status.st_size) < 0)
			log_message(LOG_WARNING,
				    "cannot shorten an image to its old size, ignoring: %m");
		return -error;
	}
	return fsync(image_fd) < 0 ? -errno : 0;
}

static int image_set_limit(int fd, const char *path, uint64_t bytes, struct failure *reterr)
{
	cleanup_close int image_fd = open_image(fd, O_RDWR | O_CREAT);
	int result = image_fd < 0 ? image_fd : reserve(image_fd, bytes);

	if (result == 0 && fsync(fd) < 0)
		result = -errno;
	if (result == -ENOSPC)
		return failed_plain(reterr, result,
				    "there is no room for an image of %llu bytes in '%s'",
				    (unsigned long long) bytes, path);
	return result < 0 ? failed(reterr, result, "cannot create an image of %llu bytes in '%s'",
				   (unsigned long long) bytes, path)
			  : 0;
}

static int image_check_unused(int fd, const char *path, struct failure *reterr)
{
	cleanup_close int image_fd = open_image(fd, O_RDONLY);
	int result = image_fd < 0 ? 0 : loop_device_is_attached(image_fd);

	if (result < 0)
		return failed(reterr, result, "cannot determine whether the image in '%s' is used",
			      path);
	if (result > 0)
		return failed_plain(reterr, -EBUSY,
				    "the image in '%s' is attached to a loop device: it is mounted "
				    "somewhere, or being copied",
				    path);
	return 0;
}

static int image_unmake(int fd, const char *path, struct failure *reterr)
{
	int result = image_check_unused(fd, path, reterr);

	if (result < 0)
		return result;
	if (unlinkat(fd, CAPACITY_IMAGE_NAME, 0) < 0 && errno != ENOENT)
		return failed(reterr, -errno, "cannot remove the image in '%s'", path);
	return 0;
}

/* ---- for who mounts it ---- */

int capacity_image_of(int fd)
{
	return open_image(fd, O_RDWR);
}

int capacity_image_reserve(int image_fd)
{
	return reserve(image_fd, 0);
}

int capacity_image_open(const char *path, const char *mark, struct failure *reterr)
{
	cleanup_free char *above = strdup(path);
	cleanup_close int fd = -EBADF;
	char *name = above ? strrchr(above, '/') : NULL;
	int image_fd;

	if (!above)
		return failed(reterr, -ENOMEM, "cannot open '%s'", path);
	if (!name || strcmp(name + 1, CAPACITY_IMAGE_NAME) != 0)
		return failed_plain(reterr, -EINVAL, "'%s' is not the path of an image", path);
	*name = '\0';
	fd = open_host_path(above, O_RDONLY | O_DIRECTORY, reterr);
	if (fd < 0)
		return fd;
	if (volume_mark_of(fd, mark) != VOLUME_MARK_OURS)
		return failed_plain(reterr, -EPERM,
				    "'%s' does not bear the mark of this volume: its image is not "
				    "mounted",
				    above);
	image_fd = open_image(fd, O_RDWR);
	return image_fd < 0 ? failed(reterr, image_fd, "cannot open the image '%s'", path)
			    : image_fd;
}

const struct capacity_method capacity_image = {
	.word = CAPACITY_IMAGE,
	.check = image_check,
	.is_in_force = image_is_in_force,
	.set_limit = image_set_limit,
	.unmake = image_unmake,
	.check_unused = image_check_unused,
};
