/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_walk - openat2's rules by hand, for kernels and seccomp profiles without it, and where it
 * gives up
 *
 * One openat(O_PATH | O_NOFOLLOW) per component; what was opened is looked at afterwards, through
 * its own descriptor. Every level stays pinned on a stack, and ".." goes back on that stack instead
 * of asking the file system, so a directory that is moved out meanwhile takes no walk along.
 * Symbolic links are read and walked here, where the policy allows them; absolute ones lead out.
 */
#include "mount/path/safe_path.h"

#include "base/cleanup.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

enum {
	WALK_DEPTH_MAX = 128, /* pinned levels; deeper is -ENAMETOOLONG */
	WALK_LINKS_MAX = 40,  /* symbolic links in all, as the kernel has it */
};

struct walk {
	int fds[WALK_DEPTH_MAX]; /* [0] is the root */
	unsigned int depth;      /* how many are open */
	unsigned int links;
	uint64_t mount_id; /* of the root */
	char *rest;        /* what is still to be walked */
};

static void walk_done(struct walk *walk)
{
	while (walk->depth > 0)
		(void) close_keep_errno(walk->fds[--walk->depth]);
	free(walk->rest);
}

static int stat_fd(int fd, struct statx *ret)
{
	int flags = AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;

	return statx(fd, "", flags, STATX_TYPE | STATX_MNT_ID, ret) < 0 ? -errno : 0;
}

static int walk_push(struct walk *walk, int fd)
{
	if (walk->depth == WALK_DEPTH_MAX) {
		(void) close_keep_errno(fd);
		return -ENAMETOOLONG;
	}
	walk->fds[walk->depth++] = fd;
	return 0;
}

/* Cut the next component off walk->rest into @name; false at the end. */
static bool walk_next(struct walk *walk, char name[NAME_MAX + 2])
{
	const char *begin = walk->rest + strspn(walk->rest, "/");
	size_t length = strcspn(begin, "/");
	size_t kept = length < NAME_MAX + 1 ? length : NAME_MAX + 1; /* too long stays too long */

	memcpy(name, begin, kept);
	name[kept] = '\0';
	begin += length;
	memmove(walk->rest, begin, strlen(begin) + 1);
	return length > 0;
}

static bool walk_is_at_end(const struct walk *walk)
{
	return walk->rest[strspn(walk->rest, "/")] == '\0';
}

/* Put what the link says before the rest. */
static int walk_follow(struct walk *walk, int link_fd)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(link_fd, "", target, sizeof(target) - 1);
	char *joined;

	if (length < 0)
		return -errno;
	target[length] = '\0';
	if (*target == '/')
		return -EXDEV;
	if (++walk->links > WALK_LINKS_MAX)
		return -ELOOP;
	if (asprintf(&joined, "%s/%s", target, walk->rest) < 0)
		return -ENOMEM;
	free(walk->rest);
	walk->rest = joined;
	return 0;
}

static int walk_into(struct walk *walk, const char *name, int flags, enum path_policy policy)
{
	bool open_link = (flags & O_PATH) && (flags & O_NOFOLLOW) && walk_is_at_end(walk);
	cleanup_close int fd = -EBADF;
	struct statx status;
	int result;

	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0) {
		if (walk->depth == 1)
			return -EXDEV;
		(void) close_keep_errno(walk->fds[--walk->depth]);
		return 0;
	}

	fd = openat(walk->fds[walk->depth - 1], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	result = stat_fd(fd, &status);
	if (result < 0)
		return result;
	if (policy == PATH_NO_SYMLINKS && status.stx_mnt_id != walk->mount_id)
		return -EXDEV;
	if (!S_ISLNK(status.stx_mode) || open_link)
		return walk_push(walk, TAKE_FD(fd));
	if (policy != PATH_BENEATH || ((flags & O_NOFOLLOW) && walk_is_at_end(walk)))
		return -ELOOP;
	return walk_follow(walk, fd);
}

/* What was found, opened the way the caller wants it: through its descriptor, not its name. */
static int walk_finish(struct walk *walk, int flags)
{
	int found_fd = walk->fds[walk->depth - 1];
	struct statx status;
	int fd, result;

	result = stat_fd(found_fd, &status);
	if (result < 0)
		return result;
	if (S_ISLNK(status.stx_mode)) {
		walk->depth--;
		return found_fd;
	}
	fd = open(fd_path(found_fd).text, (flags & ~O_NOFOLLOW) | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int path_walk(int root_fd, const char *path, int flags, enum path_policy policy)
{
	cleanup(walk_done) struct walk walk = { .rest = strdup(path) };
	char name[NAME_MAX + 2];
	struct statx status;
	int result;

	assert(root_fd >= 0);
	if (!walk.rest)
		return -ENOMEM;
	if (*path == '/')
		return -EXDEV;

	result = openat(root_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (result < 0)
		return -errno;
	(void) walk_push(&walk, result);
	result = stat_fd(walk.fds[0], &status);
	if (result < 0)
		return result;
	walk.mount_id = status.stx_mnt_id;

	while (walk_next(&walk, name)) {
		result = walk_into(&walk, name, flags, policy);
		if (result < 0)
			return result;
	}
	return walk_finish(&walk, flags);
}
