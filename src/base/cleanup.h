/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cleanup - variables that free what they own when they go out of scope
 *
 * An owned descriptor is -EBADF when empty, an owned pointer NULL; ownership leaves a variable by
 * TAKE_FD or TAKE_PTR, never by copying it. No macro here returns or jumps.
 */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define cleanup(function) __attribute__((cleanup(function)))
#define cleanup_free      cleanup(cleanup_free_pointer)
#define cleanup_close     cleanup(cleanup_close_fd)
#define cleanup_fclose    cleanup(cleanup_fclose_file)
#define cleanup_closedir  cleanup(cleanup_closedir_dir)

/* Close, keeping errno: what failed before matters, not the close. */
static inline int close_keep_errno(int fd)
{
	int saved = errno;

	if (fd >= 0)
		(void) close(fd);
	errno = saved;
	return -EBADF;
}

static inline void cleanup_free_pointer(void *pointer)
{
	free(*(void **) pointer);
}

static inline void cleanup_close_fd(const int *fd)
{
	(void) close_keep_errno(*fd);
}

static inline void cleanup_fclose_file(FILE **file)
{
	if (*file)
		(void) fclose(*file);
}

static inline void cleanup_closedir_dir(DIR **dir)
{
	if (*dir)
		(void) closedir(*dir);
}

static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -EBADF;
	return taken;
}

#define TAKE_FD(fd) take_fd(&(fd))

#define TAKE_PTR(pointer)                                                                          \
	({                                                                                         \
		__typeof__(pointer) taken_ = (pointer);                                            \
		(pointer) = NULL;                                                                  \
		taken_;                                                                            \
	})
