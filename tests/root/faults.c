/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults - the nth system call or allocation fails, once; see faults.h
 */
#include "faults.h"

#include "base/syscalls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned int fails_at, seen;
static const char *last = "none";

void faults_arm(unsigned int nth)
{
	fails_at = nth;
	seen = 0;
}

bool faults_disarm(void)
{
	bool failed_one = seen >= fails_at;

	fails_at = 0;
	return failed_one;
}

const char *faults_last(void)
{
	return last;
}

static bool fails(const char *name, int error)
{
	if (fails_at == 0 || ++seen != fails_at)
		return false;
	last = name;
	errno = error;
	return true;
}

/* A wrapper of one call: its result type, name, failure, parameters and arguments. */
#define WRAP(type, name, failure, error, parameters, arguments)                                    \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		return fails(#name, error) ? (failure) : __real_##name arguments;                  \
	}

WRAP(int, openat2, -1, EIO, (int fd, const char *path, const struct open_how *how, size_t size),
     (fd, path, how, size))
WRAP(int, open_tree, -1, EIO, (int fd, const char *path, unsigned int flags), (fd, path, flags))
WRAP(int, mount_setattr, -1, EIO,
     (int fd, const char *path, unsigned int flags, struct mount_attr *attr, size_t size),
     (fd, path, flags, attr, size))
WRAP(int, move_mount, -1, EIO,
     (int from_fd, const char *from, int to_fd, const char *to, unsigned int flags),
     (from_fd, from, to_fd, to, flags))
WRAP(int, fsopen, -1, EIO, (const char *type, unsigned int flags), (type, flags))
WRAP(int, fsconfig, -1, EIO,
     (int fd, unsigned int command, const char *key, const void *value, int aux),
     (fd, command, key, value, aux))
WRAP(int, fsmount, -1, EIO, (int fd, unsigned int flags, unsigned int attributes),
     (fd, flags, attributes))
WRAP(int, umount2, -1, EIO, (const char *path, int flags), (path, flags))
WRAP(int, mkdirat, -1, EIO, (int fd, const char *path, mode_t mode), (fd, path, mode))
WRAP(int, unlinkat, -1, EIO, (int fd, const char *path, int flags), (fd, path, flags))
WRAP(int, fstat, -1, EIO, (int fd, struct stat *ret), (fd, ret))
WRAP(int, statx, -1, EIO,
     (int fd, const char *path, int flags, unsigned int mask, struct statx *ret),
     (fd, path, flags, mask, ret))
WRAP(int, fchownat, -1, EIO, (int fd, const char *path, uid_t uid, gid_t gid, int flags),
     (fd, path, uid, gid, flags))
WRAP(int, fchmodat2, -1, EIO, (int fd, const char *path, mode_t mode, unsigned int flags),
     (fd, path, mode, flags))
WRAP(int, flock, -1, EIO, (int fd, int operation), (fd, operation))
WRAP(ssize_t, readlink, -1, EIO, (const char *path, char *ret, size_t size), (path, ret, size))
WRAP(ssize_t, getdents64, -1, EIO, (int fd, void *ret, size_t size), (fd, ret, size))
WRAP(ssize_t, listmount, -1, EIO,
     (const struct mount_id_request *request, uint64_t *ids, size_t count, unsigned int flags),
     (request, ids, count, flags))
WRAP(int, statmount, -1, EIO,
     (const struct mount_id_request *request, void *ret, size_t size, unsigned int flags),
     (request, ret, size, flags))
WRAP(void *, malloc, NULL, ENOMEM, (size_t size), (size))
WRAP(void *, calloc, NULL, ENOMEM, (size_t count, size_t size), (count, size))
WRAP(void *, reallocarray, NULL, ENOMEM, (void *old, size_t count, size_t size), (old, count, size))
WRAP(char *, strdup, NULL, ENOMEM, (const char *text), (text))
WRAP(char *, strndup, NULL, ENOMEM, (const char *text, size_t size), (text, size))

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode);
int __real_openat(int fd, const char *path, int flags, mode_t mode);
int __wrap_openat(int fd, const char *path, int flags, mode_t mode);
int __wrap_asprintf(char **ret, const char *format, ...);

int __wrap_open(const char *path, int flags, mode_t mode)
{
	return fails("open", EIO) ? -1 : __real_open(path, flags, mode);
}

int __wrap_openat(int fd, const char *path, int flags, mode_t mode)
{
	return fails("openat", EIO) ? -1 : __real_openat(fd, path, flags, mode);
}

int __wrap_asprintf(char **ret, const char *format, ...)
{
	va_list arguments;
	int result;

	if (fails("asprintf", ENOMEM)) {
		*ret = NULL;
		return -1;
	}
	va_start(arguments, format);
	result = vasprintf(ret, format, arguments);
	va_end(arguments);
	return result;
}
