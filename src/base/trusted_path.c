/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trusted_path - walk from the root, a link at a time; see trusted_path.h
 *
 * Each step is looked at in a directory that was looked at before, so none can change in between.
 */
#include "base/trusted_path.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

static int check_step(const char *step, const struct stat *status, enum trust trust,
		      struct failure *reterr)
{
	bool is_link = S_ISLNK(status->st_mode), is_root = trust == TRUST_ROOT;
	bool is_sticky = !is_root && S_ISDIR(status->st_mode) && (status->st_mode & S_ISVTX);
	bool is_writable = !is_link && !is_sticky && (status->st_mode & (S_IWGRP | S_IWOTH));

	if (is_link && is_root)
		return failed_plain(reterr, -EPERM, "'%s' is a symbolic link", step);
	if (!is_writable && (status->st_uid == 0 || (!is_root && status->st_uid == geteuid())))
		return 0;
	return failed_plain(reterr, -EPERM,
			    "'%s' can be written by others (mode %04o, uid %u): chown root and "
			    "chmod go-w",
			    step, (unsigned int) status->st_mode & 07777, status->st_uid);
}

/* Return: 0: all of it is right; the length of the path up to a symbolic link; a negative errno. */
static int walk(const char *path, enum trust trust, struct failure *reterr)
{
	for (size_t length = 1;; length += strcspn(path + length, "/")) {
		char step[PATH_MAX];
		struct stat status;
		int r;

		(void) snprintf(step, sizeof(step), "%.*s", (int) length, path);
		if (lstat(step, &status) < 0)
			return failed(reterr, -errno, "'%s'", step);
		r = check_step(step, &status, trust, reterr);
		if (r < 0)
			return r;
		if (S_ISLNK(status.st_mode))
			return (int) length;
		if (path[length] == '\0')
			return 0;
		length += strspn(path + length, "/");
	}
}

/* Puts what the link at the first @length bytes leads to in place of it. */
static int follow(char path[PATH_MAX], size_t length, struct failure *reterr)
{
	char step[PATH_MAX], target[PATH_MAX], rest[PATH_MAX];
	ssize_t n;
	int done;

	(void) snprintf(step, sizeof(step), "%.*s", (int) length, path);
	(void) snprintf(rest, sizeof(rest), "%s", path + length);
	n = readlink(step, target, sizeof(target) - 1);
	if (n < 0)
		return failed(reterr, -errno, "'%s'", step);
	target[n] = '\0';
	*strrchr(step, '/') = '\0';
	done = snprintf(path, PATH_MAX, "%s%s%s%s", *target == '/' ? "" : step,
			*target == '/' ? "" : "/", target, rest);
	return done < PATH_MAX ? 0 : failed(reterr, -ENAMETOOLONG, "'%s'", target);
}

int trusted_path_check(const char *path, enum trust trust, struct failure *reterr)
{
	char now[PATH_MAX];
	int r;

	assert(path && *path == '/');
	if (snprintf(now, sizeof(now), "%s", path) >= PATH_MAX)
		return failed(reterr, -ENAMETOOLONG, "'%s'", path);
	for (unsigned int links = 0; links < LINKS_MAX; links++) {
		r = walk(now, trust, reterr);
		if (r <= 0)
			return r;
		r = follow(now, (size_t) r, reterr);
		if (r < 0)
			return r;
	}
	return failed(reterr, -ELOOP, "'%s'", path);
}
