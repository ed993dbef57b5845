/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscalls - real functions for the system calls that glibc 2.36 has no wrapper for
 *
 * Each returns as its man page says (-1 and errno on failure), so that tests can interpose them at
 * link time like any other call, and nothing else in the program names a system call number.
 */
#pragma once

#include <linux/openat2.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* openat2(2), Linux 5.6: open with RESOLVE_BENEATH and its kin. */
int openat2(int dir_fd, const char *path, const struct open_how *how, size_t size);

/* fchmodat2(2), Linux 6.6: fchmodat(2) that honours AT_SYMLINK_NOFOLLOW and AT_EMPTY_PATH. */
int fchmodat2(int dir_fd, const char *path, mode_t mode, unsigned int flags);

/* struct mnt_id_req of linux/mount.h, Linux 6.8; Debian 12's headers lack it. */
struct mount_id_request {
	uint32_t size; /* sizeof(struct mount_id_request) */
	uint32_t spare;
	uint64_t mount_id; /* unique id as STATX_MNT_ID_UNIQUE gives it; LISTMOUNT_ROOT for
			      listmount */
	uint64_t param; /* statmount: STATMOUNT_* mask; listmount: list what comes after this id */
};

#define LISTMOUNT_ROOT UINT64_MAX

/* listmount(2), Linux 6.8: unique ids below @request->mount_id, in rising order. Returns how many.
 */
ssize_t listmount(const struct mount_id_request *request, uint64_t *ids, size_t count,
		  unsigned int flags);

/* statmount(2), Linux 6.8: @buffer begins with struct statmount (mount_table.c has its own copy).
 */
int statmount(const struct mount_id_request *request, void *buffer, size_t size,
	      unsigned int flags);

/* kcmp(2), Linux 3.5, KCMP_FILES, KCMP_FS, ...: 0 when two threads share it. */
int kcmp(pid_t first, pid_t second, int type, unsigned long first_index,
	 unsigned long second_index);

/* quotactl_fd(2), Linux 5.14: quotactl(2) for the file system that a descriptor lies on. */
int quotactl_fd(unsigned int fd, unsigned int command, uint32_t id, void *address);

/* Does the kernel have a call, and a filter let it through? Tried with arguments by which none
 * succeeds. */
bool syscall_is_there(long number);
