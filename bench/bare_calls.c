/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare_calls - the same directories and mounts by system calls alone: what the kernel itself costs
 */
#include "bench/bench.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

static void check(int result, const char *what, const char *path)
{
	if (result < 0)
		bench_fail("%s '%s': %s", what, path, strerror(errno));
}

/* Every level of @target below "pods": made here, as for every pod. */
static void make_levels(int root_fd, char *target)
{
	for (char *slash = strchr(target, '/'); slash;) {
		char *next = strchr(slash + 1, '/');

		if (next)
			*next = '\0';
		check(mkdirat(root_fd, target, 0750), "mkdir", target);
		if (next)
			*next = '/';
		slash = next;
	}
}

static void remove_levels(int root_fd, char *target)
{
	char *slash;

	do {
		check(unlinkat(root_fd, target, AT_REMOVEDIR), "rmdir", target);
		slash = strrchr(target, '/');
		*slash = '\0';
	} while (strchr(target, '/'));
}

static void bind_by_descriptor(int root_fd, const char *source, const char *target)
{
	cleanup_close int source_fd = open(source, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int target_fd = openat(root_fd, target, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int tree_fd = -EBADF;

	check(source_fd, "open", source);
	check(target_fd, "open", target);
	tree_fd = open_tree(source_fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	check(tree_fd, "open_tree", source);
	check(move_mount(tree_fd, "", target_fd, "",
			 MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH),
	      "move_mount", target);
}

/* The root directory, with an empty "pods" in it. */
static int open_root(const struct bench_place *place, bool own_mount, char root[BENCH_PATH_BYTES])
{
	char pods[BENCH_PATH_BYTES];
	int fd;

	bench_path(root, place->disk, "root");
	check(mkdir(root, 0750), "mkdir", root);
	if (own_mount) {
		check(mount(root, root, NULL, MS_BIND, NULL), "bind", root);
		check(mount(NULL, root, NULL, MS_SHARED, NULL), "share", root);
	}
	bench_path(pods, root, "pods");
	check(mkdir(pods, 0750), "mkdir", pods);
	fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	check(fd, "open", root);
	return fd;
}

static void set_up(const struct bench_place *place, int root_fd, const char *root,
		   unsigned int index)
{
	char source[BENCH_PATH_BYTES], target[BENCH_PATH_BYTES], absolute[BENCH_PATH_BYTES];
	char name[16];

	bench_volume_name(name, index);
	bench_path(source, place->sources, "%s", name);
	bench_target(target, index);
	make_levels(root_fd, target);
	if (!root) {
		bind_by_descriptor(root_fd, source, target);
		return;
	}
	bench_path(absolute, root, "%s", target);
	check(mount(source, absolute, NULL, MS_BIND, NULL), "bind", absolute);
}

static void tear_down(int root_fd, const char *root, unsigned int index)
{
	char target[BENCH_PATH_BYTES], absolute[BENCH_PATH_BYTES];

	bench_target(target, index);
	bench_path(absolute, root, "%s", target);
	check(umount2(absolute, UMOUNT_NOFOLLOW), "umount", absolute);
	remove_levels(root_fd, target);
}

static void run(const struct bench_place *place, unsigned int count, bool own_mount,
		struct bench_result *ret)
{
	char root[BENCH_PATH_BYTES];
	cleanup_close int root_fd = open_root(place, own_mount, root);
	double begun = bench_now_usec();

	for (unsigned int i = 0; i < count; i++)
		set_up(place, root_fd, own_mount ? NULL : root, i);
	ret->mount_usec = bench_now_usec() - begun;

	begun = bench_now_usec();
	for (unsigned int i = 0; i < count; i++)
		tear_down(root_fd, root, i);
	ret->unmount_usec = bench_now_usec() - begun;
}

void bare_calls(const struct bench_place *place, unsigned int count, struct bench_result *ret)
{
	run(place, count, true, ret);
}

void plain_calls(const struct bench_place *place, unsigned int count, struct bench_result *ret)
{
	run(place, count, false, ret);
}
