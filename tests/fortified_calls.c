/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fortified_calls - checked variants that FORTIFY puts in place of calls, made into these calls
 * again
 *
 * A test that wraps read(2) must see all reads, also those that the compiler turned into
 * __read_chk(). The linker brings them here (--wrap, for all tests); each checks what the C library
 * checks and makes the plain call, which the test may have wrapped. Refuses what overflows: it ends
 * the program.
 */
#undef _FORTIFY_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* The linker looks for a wrapper in place of whatever a shared library calls, too. */
#pragma GCC visibility push(default)

/* A call that fills a buffer: its result type, name, parameters, arguments; the length asked for.
 */
#define FORTIFIED(type, name, parameters, arguments, length)                                       \
	type __wrap___##name##_chk parameters;                                                     \
	type __wrap___##name##_chk parameters                                                      \
	{                                                                                          \
		if ((length) > space)                                                              \
			abort();                                                                   \
		return name arguments;                                                             \
	}

FORTIFIED(ssize_t, read, (int fd, void *buffer, size_t length, size_t space), (fd, buffer, length),
	  length)
FORTIFIED(ssize_t, pread, (int fd, void *buffer, size_t length, off_t offset, size_t space),
	  (fd, buffer, length, offset), length)
FORTIFIED(ssize_t, recv, (int fd, void *buffer, size_t length, size_t space, int flags),
	  (fd, buffer, length, flags), length)
FORTIFIED(ssize_t, readlink, (const char *path, char *buffer, size_t length, size_t space),
	  (path, buffer, length), length)
FORTIFIED(ssize_t, readlinkat,
	  (int fd, const char *path, char *buffer, size_t length, size_t space),
	  (fd, path, buffer, length), length)
FORTIFIED(int, poll, (struct pollfd * fds, nfds_t count, int timeout, size_t space),
	  (fds, count, timeout), count * sizeof(*fds))

int __wrap___open_2(const char *path, int flags);
int __wrap___open_2(const char *path, int flags)
{
	return open(path, flags);
}

int __wrap___openat_2(int fd, const char *path, int flags);
int __wrap___openat_2(int fd, const char *path, int flags)
{
	return openat(fd, path, flags);
}

int __wrap___vasprintf_chk(char **ret, int flag, const char *format, va_list values)
	__attribute__((format(printf, 3, 0)));
int __wrap___vasprintf_chk(char **ret, int flag, const char *format, va_list values)
{
	return vasprintf(ret, format, values);
}

int __wrap___asprintf_chk(char **ret, int flag, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int __wrap___asprintf_chk(char **ret, int flag, const char *format, ...)
{
	va_list values;
	int length;

	va_start(values, format);
	length = vasprintf(ret, format, values);
	va_end(values);
	return length;
}
