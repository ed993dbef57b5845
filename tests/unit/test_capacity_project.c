/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_capacity_project - project quotas of xfs and ext4, against a stand-in for the kernel's calls
 *
 * Shows that the calls are those of the man pages, in a safe order; not that a kernel does what it
 * is asked for.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/syscalls.h"
#include "mount/capacity/capacity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dqblk_xfs.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/quota.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define XFS_MAGIC 0x58465342
#define FIRST     0x70000000u

/* A file system of two directories. */
static struct {
	long type;
	bool enforces;
	ino_t inodes[2];
	uint32_t project[2], flags[2];
	uint32_t limited[4]; /* which projects have a limit, and which */
	uint64_t limits[4];
	size_t count;
	uint64_t used_blocks;
	int set_error; /* of the next Q_XSETQLIM */
	char calls[256];
} fake;

static char top[] = "/tmp/podvol-project-XXXXXX";

static void note(const char *what)
{
	size_t used = strlen(fake.calls);

	(void) snprintf(fake.calls + used, sizeof(fake.calls) - used, "%s ", what);
}

int __wrap_fstatfs(int fd, struct statfs *ret);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_quotactl_fd(unsigned int fd, unsigned int command, uint32_t id, void *address);

int __wrap_fstatfs(int fd, struct statfs *ret)
{
	*ret = (struct statfs){ .f_type = fake.type };
	return 0;
}

static size_t index_of(int fd)
{
	struct stat status;

	assert_return_code(fstat(fd, &status), errno);
	for (size_t i = 0; i < ARRAY_SIZE(fake.inodes); i++) {
		if (fake.inodes[i] == 0)
			fake.inodes[i] = status.st_ino;
		if (fake.inodes[i] == status.st_ino)
			return i;
	}
	fail();
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct fsxattr *attributes;
	va_list arguments;
	size_t at = index_of(fd);

	va_start(arguments, request);
	attributes = va_arg(arguments, struct fsxattr *);
	va_end(arguments);
	if (request == FS_IOC_FSGETXATTR) {
		*attributes = (struct fsxattr){ .fsx_projid = fake.project[at],
						.fsx_xflags = fake.flags[at] };
		return 0;
	}
	assert_int_equal(request, FS_IOC_FSSETXATTR);
	note("number");
	fake.project[at] = attributes->fsx_projid;
	fake.flags[at] = attributes->fsx_xflags;
	return 0;
}

static uint64_t *limit_of(uint32_t project)
{
	for (size_t i = 0; i < fake.count; i++)
		if (fake.limited[i] == project)
			return &fake.limits[i];
	return NULL;
}

static int set_limit(uint32_t project, const struct fs_disk_quota *quota)
{
	uint64_t *limit = limit_of(project);

	note("limit");
	if (fake.set_error) {
		errno = fake.set_error;
		fake.set_error = 0;
		return -1;
	}
	assert_true(quota->d_fieldmask & FS_DQ_BHARD);
	assert_int_equal(quota->d_flags, FS_PROJ_QUOTA);
	assert_int_equal(quota->d_id, project);
	if (!limit) {
		assert_true(fake.count < ARRAY_SIZE(fake.limits));
		fake.limited[fake.count] = project;
		limit = &fake.limits[fake.count++];
	}
	*limit = quota->d_blk_hardlimit;
	return 0;
}

int __wrap_quotactl_fd(unsigned int fd, unsigned int command, uint32_t id, void *address)
{
	struct fs_disk_quota *quota = address;

	if (command == QCMD(Q_XGETQSTATV, PRJQUOTA)) {
		struct fs_quota_statv *state = address;

		assert_int_equal(state->qs_version, FS_QSTATV_VERSION1);
		state->qs_flags = fake.enforces ? FS_QUOTA_PDQ_ENFD : 0;
		return 0;
	}
	if (command == QCMD(Q_XSETQLIM, PRJQUOTA))
		return set_limit(id, quota);
	assert_int_equal(command, QCMD(Q_XGETQUOTA, PRJQUOTA));
	if (!limit_of(id)) {
		errno = ENOENT;
		return -1;
	}
	quota->d_blk_hardlimit = *limit_of(id);
	quota->d_bcount = fake.used_blocks;
	return 0;
}

static int setup(void **state)
{
	memset(&fake, 0, sizeof(fake));
	fake.type = XFS_MAGIC;
	fake.enforces = true;
	return 0;
}

static int open_directory(const char *name)
{
	char path[64];

	(void) snprintf(path, sizeof(path), "%s/%s", top, name);
	(void) mkdir(path, 0700);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void it_is_found_where_quotas_are_enforced(void **state)
{
	cleanup_close int fd = open_directory("a");
	const struct capacity_method *method = NULL;
	struct failure why = { .error = 0 };

	assert_int_equal(capacity_find(CAPACITY_QUOTA, fd, "/b", &method, NULL), 0);
	assert_ptr_equal(method, &capacity_project);
	fake.type = EXT4_SUPER_MAGIC;
	assert_int_equal(capacity_find(CAPACITY_QUOTA, fd, "/b", &method, NULL), 0);
	assert_ptr_equal(method, &capacity_project);
	fake.enforces = false;
	assert_int_equal(capacity_find(CAPACITY_QUOTA, fd, "/b", &method, &why), -EOPNOTSUPP);
	assert_non_null(strstr(why.text, "prjquota"));
	fake.type = TMPFS_MAGIC;
	assert_int_equal(capacity_find(CAPACITY_QUOTA, fd, "/b", &method, &why), -EOPNOTSUPP);
	assert_non_null(strstr(why.text, "btrfs, xfs and ext4"));
	assert_int_equal(capacity_find("quotas", fd, "/b", &method, &why), -EINVAL);
	assert_int_equal(capacity_find(CAPACITY_NONE, fd, "/b", &method, &why), 0);
	assert_null(method);
}

static void the_directory_has_its_number_before_its_limit(void **state)
{
	cleanup_close int fd = open_directory("a");
	struct capacity_usage usage;

	assert_false(capacity_project.is_in_force(fd));
	assert_int_equal(capacity_project.read_usage(fd, &usage), -ENODATA);
	assert_int_equal(capacity_project.set_limit(fd, "a", 1000000, NULL), 0);
	assert_string_equal(fake.calls, "number limit ");
	assert_true(fake.project[0] >= FIRST);
	assert_true(fake.flags[0] & FS_XFLAG_PROJINHERIT);
	assert_true(capacity_project.is_in_force(fd));
	fake.used_blocks = 8;
	assert_int_equal(capacity_project.read_usage(fd, &usage), 0);
	assert_int_equal(usage.limit_bytes, 1954 * 512); /* rounded up */
	assert_int_equal(usage.used_bytes, 4096);
	/* Growing keeps the number. */
	assert_int_equal(capacity_project.set_limit(fd, "a", 2000384, NULL), 0);
	assert_string_equal(fake.calls, "number limit limit ");
	assert_int_equal(*limit_of(fake.project[0]), 3907);
}

static void a_kill_before_the_limit_leaves_no_second_number(void **state)
{
	cleanup_close int fd = open_directory("a");
	struct failure why = { .error = 0 };
	uint32_t number;

	fake.set_error = EIO;
	assert_int_equal(capacity_project.set_limit(fd, "a", 1024, &why), -EIO);
	number = fake.project[0];
	assert_int_equal(capacity_project.set_limit(fd, "a", 1024, NULL), 0);
	assert_int_equal(fake.project[0], number);
	assert_int_equal(fake.count, 1);
}

static void no_two_have_the_same_number(void **state)
{
	cleanup_close int first = open_directory("a"), second = open_directory("b");
	struct stat status;

	/* Somebody has the number that the second would get. */
	assert_return_code(fstat(second, &status), errno);
	fake.limited[0] = FIRST + (uint32_t) (status.st_ino % 0x0fffff00u);
	fake.limits[0] = 1;
	fake.count = 1;
	assert_int_equal(capacity_project.set_limit(second, "b", 1024, NULL), 0);
	assert_int_not_equal(fake.project[0], fake.limited[0]);
	assert_int_equal(fake.limits[0], 1);
	assert_int_equal(capacity_project.set_limit(first, "a", 1024, NULL), 0);
	assert_int_not_equal(fake.project[0], fake.project[1]);
}

static void an_administrators_project_is_never_touched(void **state)
{
	cleanup_close int fd = open_directory("a");

	/* Inherited from the base path. */
	fake.project[0] = 42;
	fake.limited[0] = 42;
	fake.limits[0] = 7;
	fake.count = 1;
	assert_false(capacity_project.is_in_force(fd));
	capacity_project.forget(fd, capacity_project.number(fd));
	assert_int_equal(fake.limits[0], 7);
	assert_int_equal(capacity_project.set_limit(fd, "a", 1024, NULL), 0);
	assert_int_not_equal(fake.project[0], 42);
	assert_int_equal(fake.limits[0], 7);
}

static void a_number_that_is_forgotten_has_no_limit(void **state)
{
	cleanup_close int fd = open_directory("a");

	assert_int_equal(capacity_project.set_limit(fd, "a", 1024, NULL), 0);
	capacity_project.forget(fd, capacity_project.number(fd));
	assert_int_equal(fake.limits[0], 0);
}

static int make_top(void **state)
{
	return mkdtemp(top) ? 0 : -1;
}

static int remove_top(void **state)
{
	cleanup_close int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void) unlinkat(fd, "a", AT_REMOVEDIR);
	(void) unlinkat(fd, "b", AT_REMOVEDIR);
	return rmdir(top);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(it_is_found_where_quotas_are_enforced, setup),
		cmocka_unit_test_setup(the_directory_has_its_number_before_its_limit, setup),
		cmocka_unit_test_setup(a_kill_before_the_limit_leaves_no_second_number, setup),
		cmocka_unit_test_setup(no_two_have_the_same_number, setup),
		cmocka_unit_test_setup(an_administrators_project_is_never_touched, setup),
		cmocka_unit_test_setup(a_number_that_is_forgotten_has_no_limit, setup),
	};

	return cmocka_run_group_tests_name("capacity_project", tests, make_top, remove_top);
}
