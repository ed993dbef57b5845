/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race_tree - a tree that is given to a group, or removed, while its owner changes it and mounts
 * what is outside over a directory in it; and both by name, as a script would
 */
#include "race_kinds.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>

/* The directory may have gone: a thread may rename another over it. */
static void mkdir_below(int fd, const char *name)
{
	if (mkdirat(fd, name, 0755) < 0 && errno != ENOENT)
		assert_int_equal(errno, EEXIST);
}

static void write_below(int fd, const char *name)
{
	int file_fd = openat(fd, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (file_fd >= 0)
		(void) close(file_fd);
}

/* "tree" as it begins; what is there is left, whatever the threads made of it. */
static void fill(void)
{
	cleanup_close int tree_fd = -EBADF, a_fd = -EBADF, sub_fd = -EBADF;

	mkdir_below(sandbox_fd(), "tree");
	tree_fd = openat(sandbox_fd(), "tree", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_return_code(tree_fd, errno);
	mkdir_below(tree_fd, "m");
	mkdir_below(tree_fd, "a");
	a_fd = openat(tree_fd, "a", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (a_fd < 0)
		return;
	mkdir_below(a_fd, "sub");
	(void) symlinkat(sandbox_path("outside"), a_fd, "link");
	sub_fd = openat(a_fd, "sub", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (sub_fd < 0)
		return;
	write_below(sub_fd, "x");
	mkdir_below(sub_fd, "sub");
}

static void prepare(void)
{
	log_open(LOG_EMERG); /* refusals by the thousand */
	fill();
}

static int own(unsigned int number)
{
	cleanup_close int fd = open(sandbox_path("tree"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct ownership_counts counts = { 0 };
	struct ownership ownership = { .gid = 1000 + number % 2 };

	assert_return_code(fd, errno);
	return ownership_apply(fd, &ownership, NULL, &counts, NULL);
}

/* ---- directories of root's that no other user may write to: entries are changed by name there.
 * But root in a container is root, too, so the threads exchange names as ever. ---- */

static void prepare_root_s(void)
{
	log_open(LOG_EMERG);
	sandbox_mkdir("tree", 0755);
	sandbox_write("tree/x", "data");
	assert_return_code(symlink("../outside/x", sandbox_path("tree/link")), errno);
}

/* Back to few bits, under whichever of the names the file has now. */
static void reset_mode(int tree_fd)
{
	static const char *const names[] = { "x", "link" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_close int fd = openat(tree_fd, names[i], O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

		if (fd >= 0)
			assert_return_code(fchmod(fd, 0600), errno);
	}
}

/* The bits of a read-only volume, so that the directory stays root's alone. */
static int own_root_s(unsigned int number)
{
	cleanup_close int fd = open(sandbox_path("tree"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ownership ownership = { .gid = 1000 + number % 2, .read_only_volume = true };
	struct ownership_counts counts = { 0 };
	int r;

	assert_return_code(fd, errno);
	reset_mode(fd);
	r = ownership_apply(fd, &ownership, NULL, &counts, NULL);
	return counts.ignored > 0 ? -ELOOP : r; /* a link was there when the mode was changed */
}

static int own_root_s_naively(unsigned int number)
{
	cleanup_close int fd = open(sandbox_path("tree"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat status;

	assert_return_code(fd, errno);
	reset_mode(fd);
	if (fstatat(fd, "x", &status, AT_SYMLINK_NOFOLLOW) < 0 || S_ISLNK(status.st_mode))
		return -ELOOP;
	race_pause();
	return fchmodat(fd, "x", 0640, 0) < 0 ? -errno : 0;
}

/* ---- a directory of another user: all of it needs a change, so that each is opened first ----
 */

static const char *const others_files[] = { "tree/a", "tree/b", "tree/m", "tree/x", "tree/z" };

static void prepare_others(void)
{

	log_open(LOG_EMERG);
	sandbox_mkdir("tree", 0775);
	assert_return_code(chown(sandbox_path("tree"), 1234, 0), errno);
	for (size_t i = 0; i < ARRAY_SIZE(others_files); i++)
		sandbox_write(others_files[i], "data");
	assert_return_code(symlink("../outside/x", sandbox_path("tree/link")), errno);
}

static int own_others(unsigned int number)
{
	cleanup_close int fd = open(sandbox_path("tree"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct ownership_counts counts = { 0 };
	struct ownership ownership = { .gid = 1000 + number % 2 };
	int r;

	assert_return_code(fd, errno);
	r = ownership_apply(fd, &ownership, NULL, &counts, NULL);
	/* The link and the directory beside them; one less when something is mounted on it. */
	return r >= 0 && counts.entries < ARRAY_SIZE(others_files) + 2 ? -EXDEV : r;
}

static int remove_tree(unsigned int number)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	int r;

	fill();
	if (number % 8 == 0)
		(void) sched_yield(); /* a mount may come on what was just made */
	r = place_open(sandbox_fd(), sandbox_dir(), "tree", &place, NULL);
	return r < 0 ? r : remove_empty_dir_contents(&place, NULL);
}

/* ---- by name ---- */

typedef void visit_fn(const char *path, bool is_directory);

/* Looks what it is, then goes on by name; children first. */
static void walk_naively(const char *path, visit_fn *visit)
{
	cleanup_closedir DIR *directory = NULL;
	const struct dirent *entry;
	struct stat status;

	if (lstat(path, &status) < 0)
		return;
	if (S_ISDIR(status.st_mode))
		directory = opendir(path);
	while (directory && (entry = readdir(directory))) {
		char child[512];

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		(void) snprintf(child, sizeof(child), "%s/%s", path, entry->d_name);
		walk_naively(child, visit);
	}
	visit(path, S_ISDIR(status.st_mode));
}

static unsigned int naive_gid;

static void own_naively_one(const char *path, bool is_directory)
{
	race_pause();
	(void) lchown(path, (uid_t) -1, naive_gid);
}

static int own_naively(unsigned int number)
{
	naive_gid = 1000 + number % 2;
	walk_naively(sandbox_path("tree"), own_naively_one);
	return 0;
}

static void remove_naively_one(const char *path, bool is_directory)
{
	race_pause();
	(void) unlinkat(AT_FDCWD, path, is_directory ? AT_REMOVEDIR : 0);
}

static int remove_naively(unsigned int number)
{
	fill();
	walk_naively(sandbox_path("tree"), remove_naively_one);
	return 0;
}

#define HOSTILE                                                                                    \
	.swaps = { { "tree/a/sub", "tree/a/link" } }, .moves = { { "tree/a", "tree/b" } },         \
	.prepare = prepare
/* A walk by name goes into any mount: that would be no fair test of the rest. */
#define HOSTILE_AND_MOUNTED HOSTILE, .cover = { "tree/m", "outside" }

const struct race race_ownership = {
	.name = "given to a group", .share = 1, HOSTILE_AND_MOUNTED, .attempt = own
};
const struct race race_ownership_by_name = { .name = "given to a group, in directories of root's",
					     .share = 1,
					     .swaps = { { "tree/x", "tree/link" } },
					     .prepare = prepare_root_s,
					     .attempt = own_root_s };
const struct race race_ownership_opened = {
	.name = "given to a group, in a directory of others",
	.share = 1,
	.swaps = { { "tree/x", "tree/link" } },
	.cover = { "tree/m", "outside/x" },
	.prepare = prepare_others,
	.attempt = own_others,
};
const struct race race_naive_mode = { .name = "naive: bits are added by name",
				      .swaps = { { "tree/x", "tree/link" } },
				      .prepare = prepare_root_s,
				      .attempt = own_root_s_naively,
				      .is_naive = true };
const struct race race_remove = {
	.name = "removed", .share = 1, HOSTILE_AND_MOUNTED, .attempt = remove_tree
};
const struct race race_naive_ownership = {
	.name = "naive: given to a group by name", HOSTILE, .attempt = own_naively, .is_naive = true
};
const struct race race_naive_remove = {
	.name = "naive: removed by name", HOSTILE, .attempt = remove_naively, .is_naive = true
};
