/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_device - a read-only loop device as a lock on a bind file
 *
 * While one is attached the block device behind the file stays open and cannot be taken away. A
 * loop device belongs to a file when device and inode match, never by its name alone. Nothing that
 * is attached to another file is touched.
 */
#include "mount/mount.h"

#include "base/cleanup.h"
#include "mount/safe_path.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

/* Others take free numbers, too, between our asking and our taking. */
enum { ATTACH_ATTEMPTS_MAX = 32 };

/* Is this loop device attached to that file? 1 yes, 0 no (or to nothing), -errno. */
static int belongs_to(int loop_fd, const struct stat *file)
{
	struct loop_info64 info;

	if (ioctl(loop_fd, LOOP_GET_STATUS64, &info) < 0)
		return errno == ENXIO ? 0 : -errno;
	return info.lo_inode == file->st_ino && info.lo_device == file->st_dev;
}

/* "loop7" and nothing else. */
static bool is_loop_name(const char *name)
{
	return strncmp(name, "loop", 4) == 0 && name[4] != '\0' &&
	       name[4 + strspn(name + 4, "0123456789")] == '\0';
}

/* Only attached ones have this file; asking sysfs first spares opening all the others. */
static bool is_attached(int sys_block_fd, const char *name)
{
	char path[300];

	(void) snprintf(path, sizeof(path), "%s/loop/backing_file", name);
	return faccessat(sys_block_fd, path, F_OK, 0) == 0;
}

/* The next loop device of this file in the directory: its descriptor, -ENOENT, or an error. */
static int next_loop(DIR *sys_block, const struct stat *file, char path[300])
{
	const struct dirent *entry;

	while ((entry = readdir(sys_block))) {
		cleanup_close int fd = -EBADF;
		int result;

		if (!is_loop_name(entry->d_name) || !is_attached(dirfd(sys_block), entry->d_name))
			continue;
		(void) snprintf(path, 300, "/dev/%s", entry->d_name);
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			continue; /* detached meanwhile, or its node is not there: not ours */
		result = belongs_to(fd, file);
		if (result != 0)
			return result < 0 ? result : TAKE_FD(fd);
	}
	return -ENOENT;
}

static int attach_free(int control_fd, int file_fd, const char *file_path, char path[300])
{
	struct loop_config config = { .info.lo_flags = LO_FLAGS_READ_ONLY };
	cleanup_close int loop_fd = -EBADF;
	int number = ioctl(control_fd, LOOP_CTL_GET_FREE);

	if (number < 0)
		return -errno;
	(void) snprintf(path, 300, "/dev/loop%d", number);
	loop_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (loop_fd < 0)
		return -errno;
	config.fd = (uint32_t) file_fd;
	(void) snprintf((char *) config.info.lo_file_name, sizeof(config.info.lo_file_name), "%s",
			file_path);
	return ioctl(loop_fd, LOOP_CONFIGURE, &config) < 0 ? -errno : 0;
}

static int attach(int file_fd, const char *file_path, char path[300])
{
	cleanup_close int control_fd = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	cleanup_close int readable_fd = -EBADF;
	int result;

	if (control_fd < 0)
		return -errno;
	/* The caller may hold it by O_PATH; the loop device reads through what it is given. */
	readable_fd = open(fd_path(file_fd).text, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (readable_fd < 0)
		return -errno;
	for (int attempt = 0; attempt < ATTACH_ATTEMPTS_MAX; attempt++) {
		result = attach_free(control_fd, readable_fd, file_path, path);
		if (result != -EBUSY)
			return result;
	}
	return -EBUSY;
}

int loop_device_attach(int file_fd, const char *file_path, char **ret_path, struct failure *reterr)
{
	cleanup_closedir DIR *sys_block = opendir("/sys/block");
	cleanup_close int found_fd = -EBADF;
	struct stat file;
	char path[300];
	int result;

	assert(file_fd >= 0 && file_path && ret_path);
	if (!sys_block || fstat(file_fd, &file) < 0)
		return failed(reterr, -errno, "cannot look for a loop device of '%s'", file_path);

	found_fd = next_loop(sys_block, &file, path);
	result = found_fd == -ENOENT ? attach(file_fd, file_path, path) : found_fd;
	if (result < 0)
		return failed(reterr, result, "cannot attach a loop device to '%s'", file_path);

	*ret_path = strdup(path);
	return *ret_path ? 0 : failed(reterr, -ENOMEM, "cannot keep '%s'", path);
}

int loop_device_detach(int file_fd, const char *file_path, struct failure *reterr)
{
	cleanup_closedir DIR *sys_block = opendir("/sys/block");
	struct stat file;
	char path[300];

	assert(file_fd >= 0 && file_path);
	if (!sys_block || fstat(file_fd, &file) < 0)
		return failed(reterr, -errno, "cannot look for a loop device of '%s'", file_path);

	for (;;) {
		cleanup_close int loop_fd = next_loop(sys_block, &file, path);

		if (loop_fd == -ENOENT)
			return 0;
		if (loop_fd < 0)
			return failed(reterr, loop_fd, "cannot look for a loop device of '%s'",
				      file_path);
		if (ioctl(loop_fd, LOOP_CLR_FD) < 0 && errno != ENXIO)
			return failed(reterr, -errno, "cannot detach '%s' from '%s'", path,
				      file_path);
	}
}
