/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory - readdir(3) that tells the end of a directory from a failure
 *
 * What decides by what is not there must know the difference.
 */
#pragma once

#include <dirent.h>
#include <errno.h>

/* Return: 1 with an entry, borrowed until the next; 0 at the end; a negative errno. */
static inline int directory_next(DIR *directory, const struct dirent **ret)
{
	errno = 0;
	*ret = readdir(directory);
	return *ret ? 1 : -errno;
}
