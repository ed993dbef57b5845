/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscalls - system calls that glibc 2.36 lacks; see syscalls.h
 *
 * The numbers are the common ones of every architecture Debian 12 supports (added after their
 * unification).
 */
#include "base/syscalls.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd 443
#endif
#ifndef SYS_statmount
#define SYS_statmount 457
#endif
#ifndef SYS_listmount
#define SYS_listmount 458
#endif

int openat2(int dir_fd, const char *path, const struct open_how *how, size_t size)
{
	return (int) syscall(SYS_openat2, dir_fd, path, how, size);
}

int fchmodat2(int dir_fd, const char *path, mode_t mode, unsigned int flags)
{
	return (int) syscall(SYS_fchmodat2, dir_fd, path, mode, flags);
}

ssize_t listmount(const struct mount_id_request *request, uint64_t *ids, size_t count,
		  unsigned int flags)
{
	return syscall(SYS_listmount, request, ids, count, flags);
}

int statmount(const struct mount_id_request *request, void *buffer, size_t size, unsigned int flags)
{
	return (int) syscall(SYS_statmount, request, buffer, size, flags);
}

int kcmp(pid_t first, pid_t second, int type, unsigned long first_index, unsigned long second_index)
{
	return (int) syscall(SYS_kcmp, first, second, type, first_index, second_index);
}

int quotactl_fd(unsigned int fd, unsigned int command, uint32_t id, void *address)
{
	return (int) syscall(SYS_quotactl_fd, fd, command, id, address);
}

bool syscall_is_there(long number)
{
	return syscall(number, -1L, "", 0L, NULL, 0L) >= 0 || errno != ENOSYS;
}
