/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race_subpath - sub-paths of a volume whose owner changes it all the time; and the same as one
 * would write it who has not heard of CVE-2017-1002101 and CVE-2021-25741
 */
#include "race_kinds.h"

#include "base/cleanup.h"
#include "mount/path/subpath.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define VOLUME "root/pods/u1/volumes/kubernetes.io~empty-dir/data"
#define TARGET "root/pods/u1/volume-subpaths/data/main/0"

static int root_fd = -EBADF, volume_fd = -EBADF, sub_fds[2] = { -EBADF, -EBADF };
static char root_path[128], volume_path[256], target_path[256];

static int open_path(const char *relative)
{
	int fd = open(sandbox_path(relative), O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_return_code(fd, errno);
	return fd;
}

/* Two of the kind, so that one is always there when they are exchanged. */
static void make_parent(const char *relative)
{
	char path[128];

	sandbox_mkdir(relative, 0755);
	(void) snprintf(path, sizeof(path), "%s/sub", relative);
	sandbox_mkdir(path, 0755);
	(void) snprintf(path, sizeof(path), "%s/link", relative);
	assert_return_code(symlink(sandbox_path("outside"), sandbox_path(path)), errno);
	(void) snprintf(path, sizeof(path), "%s/relative", relative);
	assert_return_code(symlink("../../../../../../../outside", sandbox_path(path)), errno);
}

static void prepare(void)
{
	static const char *const directories[] = {
		"root",
		"root/pods",
		"root/pods/u1",
		"root/pods/u1/volumes",
		"root/pods/u1/volumes/kubernetes.io~empty-dir",
		VOLUME,
		VOLUME "/m",
		"decoy",
		"target",
	};

	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		sandbox_mkdir(directories[i], 0755);
	make_parent(VOLUME "/a");
	make_parent(VOLUME "/b");
	root_fd = open_path("root");
	volume_fd = open_path(VOLUME);
	sub_fds[0] = open_path(VOLUME "/a/sub");
	sub_fds[1] = open_path(VOLUME "/b/sub");
	(void) snprintf(root_path, sizeof(root_path), "%s", sandbox_path("root"));
	(void) snprintf(volume_path, sizeof(volume_path), "%s", sandbox_path(VOLUME));
	(void) snprintf(target_path, sizeof(target_path), "%s", sandbox_path(TARGET));
}

static void finish(void)
{
	root_fd = close_keep_errno(root_fd);
	volume_fd = close_keep_errno(volume_fd);
	sub_fds[0] = close_keep_errno(sub_fds[0]);
	sub_fds[1] = close_keep_errno(sub_fds[1]);
}

static bool shows_outside(const char *path)
{
	char secret[512];

	(void) snprintf(secret, sizeof(secret), "%s/secret", path);
	return access(secret, F_OK) == 0;
}

static int bind_ours(unsigned int number)
{
	static const char *const paths[] = { "a/sub", "a/sub/made", "a/link", "m" };
	cleanup(subpath_done) struct subpath subpath = SUBPATH_EMPTY;
	const struct subpath_request request = {
		.root_fd = root_fd,
		.root_path = root_path,
		.pod_uid = "u1",
		.volume_name = "data",
		.container = "main",
		.volume_path = volume_path,
		.sub_path = paths[number % ARRAY_SIZE(paths)],
	};
	int r = subpath_open(&request, &subpath, NULL);

	if (r >= 0)
		r = subpath_bind(&subpath, NULL);
	if (r >= 0 && shows_outside(target_path))
		race_escaped();
	subpath_done(&subpath);
	assert_int_equal(subpath_clean(root_fd, root_path, "u1", "data", NULL), 0);
	return r;
}

/* Through descriptors, so that there is something to make again. */
static void take_away(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(sub_fds); i++) {
		(void) unlinkat(sub_fds[i], "made/deep", AT_REMOVEDIR);
		(void) unlinkat(sub_fds[i], "made", AT_REMOVEDIR);
	}
}

static int make_ours(unsigned int number)
{
	static const char *const paths[] = { "a/sub/made/deep", "a/link/made/deep",
					     "a/relative/made" };
	cleanup_close int fd =
		subpath_make_directories(volume_fd, paths[number % ARRAY_SIZE(paths)], 02775, NULL);

	take_away();
	return fd < 0 ? fd : 0;
}

/* Resolve, compare, use the name: the check of old. */
static bool naive_check(const char *path)
{
	char resolved[PATH_MAX];

	return realpath(path, resolved) && strncmp(resolved, volume_path, strlen(volume_path)) == 0;
}

static int bind_naively(unsigned int number)
{
	char path[512];

	(void) snprintf(path, sizeof(path), "%s/a/sub", volume_path);
	if (!naive_check(path))
		return -EXDEV;
	race_pause();
	if (mount(path, sandbox_path("target"), NULL, MS_BIND, NULL) < 0)
		return -errno;
	if (shows_outside(sandbox_path("target")))
		race_escaped();
	(void) umount2(sandbox_path("target"), MNT_DETACH);
	return 0;
}

static int make_naively(unsigned int number)
{
	char path[512];

	(void) snprintf(path, sizeof(path), "%s/a/sub", volume_path);
	if (!naive_check(path))
		return -EXDEV;
	race_pause();
	(void) strncat(path, "/made", sizeof(path) - strlen(path) - 1);
	if (mkdir(path, 0775) < 0)
		return -errno;
	take_away();
	return 0;
}

#define HOSTILE                                                                                    \
	.swaps = { { VOLUME "/a/sub", VOLUME "/a/link" },                                          \
		   { VOLUME "/a", VOLUME "/b" },                                                   \
		   { VOLUME "/a/sub", VOLUME "/a/relative" } },                                    \
	.moves = { { VOLUME "/b/sub", VOLUME "/b/away" } }, .cover = { VOLUME "/m", "decoy" },     \
	.prepare = prepare, .finish = finish

const struct race race_subpath_bind = {
	.name = "sub-path bound", .share = 1, HOSTILE, .attempt = bind_ours
};
const struct race race_subpath_make = {
	.name = "sub-path made", .share = 8, HOSTILE, .attempt = make_ours
};
const struct race race_naive_bind = {
	.name = "naive: bound by name", HOSTILE, .attempt = bind_naively, .is_naive = true
};
const struct race race_naive_make = {
	.name = "naive: made by name", HOSTILE, .attempt = make_naively, .is_naive = true
};
