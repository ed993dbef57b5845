/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_projects - a stand-in for the kernel's calls of project quotas; see fake_projects.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_projects.h"

#include "base/cleanup.h"
#include "base/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dqblk_xfs.h>
#include <linux/fs.h>
#include <linux/quota.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

struct fake_projects fake_projects;

static struct directory {
	int fd; /* O_PATH: its link count says whether it is there */
	ino_t inode;
	uint32_t number, flags;
} directories[64];
static size_t directory_count;

int __real_fstatfs(int fd, struct statfs *ret);
int __wrap_fstatfs(int fd, struct statfs *ret);
int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __real_quotactl_fd(unsigned int fd, unsigned int command, uint32_t id, void *address);
int __wrap_quotactl_fd(unsigned int fd, unsigned int command, uint32_t id, void *address);

void fake_projects_done(void)
{
	while (directory_count > 0)
		(void) close_keep_errno(directories[--directory_count].fd);
	fake_projects = (struct fake_projects){ .type = 0 };
}

void fake_projects_reset(void)
{
	fake_projects_done();
	fake_projects.type = FAKE_XFS_MAGIC;
	fake_projects.enforces = true;
}

static bool is_there(const struct directory *directory)
{
	struct stat status;

	return fstat(directory->fd, &status) == 0 && status.st_nlink > 0;
}

static struct directory *find(int fd)
{
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	for (size_t i = 0; i < directory_count; i++)
		if (directories[i].inode == status.st_ino && is_there(&directories[i]))
			return &directories[i];
	return NULL;
}

void fake_projects_set(int fd, uint32_t number, unsigned int flags)
{
	struct directory *directory = find(fd);
	struct stat status;

	if (!directory) {
		assert_true(directory_count < ARRAY_SIZE(directories));
		assert_int_equal(fstat(fd, &status), 0);
		directory = &directories[directory_count++];
		directory->fd = openat(fd, ".", O_PATH | O_CLOEXEC);
		directory->inode = status.st_ino;
		assert_true(directory->fd >= 0);
	}
	directory->number = number;
	directory->flags = flags;
}

uint32_t fake_projects_get(int fd)
{
	const struct directory *directory = find(fd);

	return directory ? directory->number : 0;
}

uint64_t *fake_projects_limit(uint32_t number)
{
	for (size_t i = 0; i < fake_projects.limit_count; i++)
		if (fake_projects.limited[i] == number)
			return &fake_projects.limits[i];
	return NULL;
}

/* A call that changes something; false: podvold is dead already. */
static bool begin_change(const char *what)
{
	size_t used = strlen(fake_projects.done);

	fake_projects.calls++;
	if (fake_projects.killed_at > 0 && fake_projects.calls >= fake_projects.killed_at) {
		errno = EIO;
		return false;
	}
	(void) snprintf(fake_projects.done + used, sizeof(fake_projects.done) - used, "%s ", what);
	return true;
}

int __wrap_fstatfs(int fd, struct statfs *ret)
{
	int r = __real_fstatfs(fd, ret);

	if (r == 0 && fake_projects.type)
		ret->f_type = fake_projects.type;
	return r;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	const struct directory *directory;
	struct fsxattr *attributes;
	va_list arguments;

	va_start(arguments, request);
	attributes = va_arg(arguments, struct fsxattr *);
	va_end(arguments);
	if (!fake_projects.type || (request != FS_IOC_FSGETXATTR && request != FS_IOC_FSSETXATTR))
		return __real_ioctl(fd, request, attributes);
	if (request == FS_IOC_FSSETXATTR) {
		if (!begin_change("number"))
			return -1;
		fake_projects_set(fd, attributes->fsx_projid, attributes->fsx_xflags);
		return 0;
	}
	directory = find(fd);
	*attributes = (struct fsxattr){ .fsx_projid = directory ? directory->number : 0,
					.fsx_xflags = directory ? directory->flags : 0 };
	return 0;
}

static int set_limit(uint32_t number, const struct fs_disk_quota *quota)
{
	uint64_t *limit = fake_projects_limit(number);

	if (!begin_change("limit"))
		return -1;
	assert_true(quota->d_fieldmask & FS_DQ_BHARD);
	assert_int_equal(quota->d_flags, FS_PROJ_QUOTA);
	assert_int_equal(quota->d_id, number);
	if (!limit) {
		assert_true(fake_projects.limit_count < ARRAY_SIZE(fake_projects.limits));
		fake_projects.limited[fake_projects.limit_count] = number;
		limit = &fake_projects.limits[fake_projects.limit_count++];
	}
	*limit = quota->d_blk_hardlimit;
	return 0;
}

static int get_quota(uint32_t number, struct fs_disk_quota *ret)
{
	const uint64_t *limit = fake_projects_limit(number);

	for (size_t i = 0; i < directory_count; i++)
		ret->d_icount += directories[i].number == number && is_there(&directories[i]);
	if (!limit && ret->d_icount == 0) {
		errno = ENOENT;
		return -1;
	}
	ret->d_blk_hardlimit = limit ? *limit : 0;
	ret->d_bcount = ret->d_icount > 0 ? fake_projects.used_blocks : 0;
	return 0;
}

int __wrap_quotactl_fd(unsigned int fd, unsigned int command, uint32_t id, void *address)
{
	if (!fake_projects.type)
		return __real_quotactl_fd(fd, command, id, address);
	if (command == QCMD(Q_XGETQSTATV, PRJQUOTA)) {
		struct fs_quota_statv *state = address;

		assert_int_equal(state->qs_version, FS_QSTATV_VERSION1);
		state->qs_flags = fake_projects.enforces ? FS_QUOTA_PDQ_ENFD : 0;
		return 0;
	}
	if (command == QCMD(Q_XSETQLIM, PRJQUOTA))
		return set_limit(id, address);
	assert_int_equal(command, QCMD(Q_XGETQUOTA, PRJQUOTA));
	return get_quota(id, address);
}
