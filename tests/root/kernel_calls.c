/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_calls - takes system calls away; see kernel_calls.h
 */
#include "kernel_calls.h"

#include "base/cleanup.h"
#include "base/syscalls.h"

#include <sys/mount.h>
#include <sys/statvfs.h>

static unsigned int taken_away;
static int openat2_error;
static struct kernel_call_counts counts;
static bool is_older; /* this kernel itself lacks one of them */

int __real_openat2(int dir_fd, const char *path, const struct open_how *how, size_t size);
int __real_open_tree(int dir_fd, const char *path, unsigned int flags);
int __real_mount_setattr(int dir_fd, const char *path, unsigned int flags, struct mount_attr *attr,
			 size_t size);
int __real_move_mount(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags);
int __real_fsopen(const char *type, unsigned int flags);
int __real_fchmodat2(int dir_fd, const char *path, mode_t mode, unsigned int flags);
ssize_t __real_listmount(const struct mount_id_request *request, uint64_t *ids, size_t count,
			 unsigned int flags);
int __real_statmount(const struct mount_id_request *request, void *buffer, size_t size,
		     unsigned int flags);
int __real_mount(const char *source, const char *target, const char *type, unsigned long flags,
		 const void *data);

int __wrap_openat2(int dir_fd, const char *path, const struct open_how *how, size_t size);
int __wrap_open_tree(int dir_fd, const char *path, unsigned int flags);
int __wrap_mount_setattr(int dir_fd, const char *path, unsigned int flags, struct mount_attr *attr,
			 size_t size);
int __wrap_move_mount(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags);
int __wrap_fsopen(const char *type, unsigned int flags);
int __wrap_fchmodat2(int dir_fd, const char *path, mode_t mode, unsigned int flags);
ssize_t __wrap_listmount(const struct mount_id_request *request, uint64_t *ids, size_t count,
			 unsigned int flags);
int __wrap_statmount(const struct mount_id_request *request, void *buffer, size_t size,
		     unsigned int flags);
int __wrap_mount(const char *source, const char *target, const char *type, unsigned long flags,
		 const void *data);

/* What the kernel answered: a fallback from a call that it lacks may hide those of the test. */
static int noted(int result)
{
	int error = errno;

	is_older = is_older || (result < 0 && error == ENOSYS);
	errno = error;
	return result;
}

static bool is_taken_away(unsigned int call)
{
	if (!(taken_away & call))
		return false;
	counts.missed++;
	errno = ENOSYS;
	return true;
}

int __wrap_openat2(int dir_fd, const char *path, const struct open_how *how, size_t size)
{
	counts.openat2++;
	if (is_taken_away(WITHOUT_OPENAT2))
		return -1;
	if (openat2_error) {
		errno = openat2_error;
		return -1;
	}
	return noted(__real_openat2(dir_fd, path, how, size));
}

int __wrap_open_tree(int dir_fd, const char *path, unsigned int flags)
{
	return is_taken_away(WITHOUT_OPEN_TREE) ? -1 : noted(__real_open_tree(dir_fd, path, flags));
}

int __wrap_mount_setattr(int dir_fd, const char *path, unsigned int flags, struct mount_attr *attr,
			 size_t size)
{
	return is_taken_away(WITHOUT_MOUNT_SETATTR)
		       ? -1
		       : noted(__real_mount_setattr(dir_fd, path, flags, attr, size));
}

int __wrap_move_mount(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags)
{
	struct statvfs status;
	int result;

	if (is_taken_away(WITHOUT_MOVE_MOUNT))
		return -1;
	counts.attached++;
	if (fstatvfs(from_fd, &status) == 0 && !(status.f_flag & ST_RDONLY))
		counts.attached_writable++;
	result = noted(__real_move_mount(from_fd, from, to_fd, to, flags));
	if (result < 0 && errno == ENOSYS)
		counts.attached = counts.attached_writable = 0;
	return result;
}

int __wrap_fsopen(const char *type, unsigned int flags)
{
	return is_taken_away(WITHOUT_FSOPEN) ? -1 : noted(__real_fsopen(type, flags));
}

int __wrap_fchmodat2(int dir_fd, const char *path, mode_t mode, unsigned int flags)
{
	return is_taken_away(WITHOUT_FCHMODAT2)
		       ? -1
		       : noted(__real_fchmodat2(dir_fd, path, mode, flags));
}

ssize_t __wrap_listmount(const struct mount_id_request *request, uint64_t *ids, size_t count,
			 unsigned int flags)
{
	return is_taken_away(WITHOUT_LISTMOUNT) ? -1 : __real_listmount(request, ids, count, flags);
}

int __wrap_statmount(const struct mount_id_request *request, void *buffer, size_t size,
		     unsigned int flags)
{
	return is_taken_away(WITHOUT_LISTMOUNT) ? -1
						: __real_statmount(request, buffer, size, flags);
}

int __wrap_mount(const char *source, const char *target, const char *type, unsigned long flags,
		 const void *data)
{
	struct statvfs status;

	if (flags & MS_MOVE) {
		counts.attached++;
		if (statvfs(source, &status) == 0 && !(status.f_flag & ST_RDONLY))
			counts.attached_writable++;
	}
	return __real_mount(source, target, type, flags, data);
}

void kernel_calls_take_away(unsigned int calls)
{
	taken_away = calls;
}

void kernel_calls_fail_openat2(int error)
{
	openat2_error = error;
}

struct kernel_call_counts *kernel_calls_counts(void)
{
	return &counts;
}

int kernel_calls_setup(void **state)
{
	unsigned int calls = (unsigned int) (uintptr_t) *state;

	/* The fallbacks prepare mounts below /run; this one goes with the namespace. */
	if (__real_mount("podvol-test", "/run", "tmpfs", 0, "mode=0755") < 0)
		return -1;
	*state = NULL;
	if (sandbox_setup(state) < 0)
		return -1;
	counts = (struct kernel_call_counts){ 0 };
	is_older = false;
	taken_away = calls;
	return 0;
}

int kernel_calls_teardown(void **state)
{
	bool missed = taken_away == 0 || counts.missed > 0 || is_older;
	unsigned int mounts_in_run = sandbox_mounts_below("/run/podvol-bind");
	int result;

	taken_away = 0;
	openat2_error = 0;
	result = sandbox_teardown(state);
	if (!missed)
		print_error("none of the calls that were taken away was missed\n");
	if (mounts_in_run > 0)
		print_error("%u mounts are left in /run\n", mounts_in_run);
	(void) umount2("/run", MNT_DETACH);
	return result == 0 && missed && mounts_in_run == 0 ? 0 : -1;
}
