/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_system_fault - see file_system_fault.h
 */
#include "mount/file_system_fault.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/btrfs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { BTRFS_DEVICES_MAX = 64 /* that are asked */ };

uint64_t file_system_id(const int fsid[2])
{
	return (uint64_t) (uint32_t) fsid[0] << 32 | (uint32_t) fsid[1];
}

struct file_system_identity file_system_identify(int directory_fd, uint64_t device)
{
	struct statfs file_system;

	if (fstatfs(directory_fd, &file_system) < 0)
		return (struct file_system_identity){ 0 };
	return (struct file_system_identity){
		.id = file_system_id(file_system.f_fsid.__val),
		.device = device,
		.is_read_only = file_system.f_flags & ST_RDONLY,
	};
}

/* "/sys/dev/block/7:0" leads to "../../devices/virtual/block/loop0". */
int block_device_name(dev_t device, char ret[NAME_MAX + 1])
{
	char path[80], target[PATH_MAX];
	const char *name;
	ssize_t length;

	(void) snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(device), minor(device));
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return -errno;
	target[length] = '\0';
	name = strrchr(target, '/');
	if (!name || strlen(name + 1) > NAME_MAX)
		return -EBADMSG;
	(void) snprintf(ret, NAME_MAX + 1, "%s", name + 1);
	return 0;
}

static int open_ext4_counter(dev_t device)
{
	char name[NAME_MAX + 1], path[NAME_MAX + 64];
	int r = block_device_name(device, name), fd;

	if (r < 0)
		return r;
	(void) snprintf(path, sizeof(path), "/sys/fs/ext4/%s/errors_count", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Return: 0 also where nothing counts. */
static uint64_t count_ext4_errors(dev_t device)
{
	cleanup_close int fd = open_ext4_counter(device);
	char text[32];
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (length <= 0)
		return 0;
	text[length] = '\0';
	return strtoull(text, NULL, 10);
}

/* Of all devices; those that are missing are passed over. Return: 0 also where it cannot be asked.
 */
static uint64_t count_btrfs_errors(int directory_fd)
{
	cleanup_close int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct btrfs_ioctl_fs_info_args all = { .max_id = 0 };
	uint64_t errors = 0;

	if (fd < 0 || ioctl(fd, BTRFS_IOC_FS_INFO, &all) < 0)
		return 0;
	for (uint64_t id = 1; id <= all.max_id && id <= BTRFS_DEVICES_MAX; id++) {
		struct btrfs_ioctl_get_dev_stats one = { .devid = id,
							 .nr_items = BTRFS_DEV_STAT_VALUES_MAX };

		if (ioctl(fd, BTRFS_IOC_GET_DEV_STATS, &one) < 0)
			continue;
		for (size_t i = 0; i < BTRFS_DEV_STAT_VALUES_MAX; i++)
			errors += one.values[i];
	}
	return errors;
}

static uint64_t count_errors(int directory_fd, const struct statfs *file_system, dev_t device)
{
	if (file_system->f_type == EXT4_SUPER_MAGIC)
		return count_ext4_errors(device);
	return file_system->f_type == BTRFS_SUPER_MAGIC ? count_btrfs_errors(directory_fd) : 0;
}

static void check_state(const struct statfs *file_system, bool was_read_only,
			struct file_system_fault *ret)
{
	ret->is_read_only = file_system->f_flags & ST_RDONLY;
	if (ret->errors > 0)
		(void) snprintf(ret->text, sizeof(ret->text),
				"its file system has recorded %" PRIu64 " error%s; run %s",
				ret->errors, ret->errors > 1 ? "s" : "",
				file_system->f_type == BTRFS_SUPER_MAGIC
					? "btrfs device stats, then btrfs scrub"
					: "fsck");
	else if (ret->is_read_only && !was_read_only)
		(void) snprintf(ret->text, sizeof(ret->text), "its file system turned read-only");
}

/* A shutdown lasts: an error that the next call does not have was not one. Return: errno; 0. */
static int stat_error(int directory_fd, struct stat *ret)
{
	for (int i = 0; i < 2; i++)
		if (fstatat(directory_fd, "", ret, AT_EMPTY_PATH) == 0)
			return 0;
	return errno;
}

int file_system_fault_check(int directory_fd, bool was_read_only, struct file_system_fault *ret)
{
	struct statfs file_system;
	struct stat status;
	int error;

	assert(directory_fd >= 0 && ret);
	if (fstatfs(directory_fd, &file_system) < 0)
		return -errno;
	error = stat_error(directory_fd, &status);
	if (error != 0 && error != EIO && error != ESHUTDOWN)
		return -error;
	*ret = (struct file_system_fault){
		.id = file_system_id(file_system.f_fsid.__val),
		.is_reported = file_system.f_type == EXT4_SUPER_MAGIC,
		/* btrfs has several, and a number of none of them. */
		.has_device = file_system.f_type == BTRFS_SUPER_MAGIC || error != 0 ||
			      major(status.st_dev) != 0,
	};
	if (error == 0)
		ret->errors = count_errors(directory_fd, &file_system, status.st_dev);
	if (error != 0)
		(void) snprintf(ret->text, sizeof(ret->text), "its file system has shut down: %s",
				strerror(error));
	else
		check_state(&file_system, was_read_only, ret);
	return 0;
}
