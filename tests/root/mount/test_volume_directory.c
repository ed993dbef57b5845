/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_volume_directory - directories of volumes: made once, marked, and removed only by their mark
 */
#include "tests/root/sandbox.h"
#include "tests/root/tree.h"

#include "base/cleanup.h"
#include "mount/mount.h"
#include "mount/remove/volume_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MARK  "uid-1"
#define OTHER "uid-2"

static struct volume_directory directory(const char *name, const char *mark)
{
	return (struct volume_directory){ .base_path = sandbox_path("base"),
					  .name = name,
					  .mark = mark };
}

static int make(const char *name, const char *mark, struct failure *why)
{
	const struct volume_directory made = directory(name, mark);

	return volume_directory_make(&made, 0770, why);
}

static int take_away(const char *name, const char *mark, struct failure *why)
{
	const struct volume_directory gone = directory(name, mark);

	return volume_directory_remove(&gone, why);
}

static int unmake(const char *name, const char *mark)
{
	const struct volume_directory gone = directory(name, mark);

	return volume_directory_unmake(&gone, NULL);
}

static bool is_there(const char *relative)
{
	return faccessat(sandbox_fd(), relative, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static unsigned int mode_of(const char *relative)
{
	struct stat status;

	assert_return_code(stat(sandbox_path(relative), &status), errno);
	return status.st_mode & 07777;
}

static int choose(const char *const *paths, size_t count, const char *name, uint64_t bytes,
		  size_t *ret_index, struct failure *why)
{
	const struct volume_order wish = { .base_paths = paths,
					   .count = count,
					   .name = name,
					   .capacity = "none",
					   .bytes = bytes };
	struct volume_choice choice = { .index = *ret_index };
	int r = volume_directory_choose(&wish, &choice, why);

	*ret_index = choice.index;
	return r;
}

/* ---- making ---- */

static void it_is_made_with_mode_and_mark(void **state)
{
	char mark[32] = "";

	assert_int_equal(make("v", MARK, NULL), 0);
	assert_int_equal(mode_of("base/v"), 0770);
	assert_int_equal(mode_of("base"), 0755);
	assert_int_equal(
		getxattr(sandbox_path("base/v"), VOLUME_DIRECTORY_MARK, mark, sizeof(mark)),
		strlen(MARK));
	assert_string_equal(mark, MARK);
	/* Once more, as after a kill. */
	assert_int_equal(make("v", MARK, NULL), 0);
	assert_int_equal(make("a/b/v", MARK, NULL), 0);
	assert_int_equal(mode_of("base/a/b"), 0755);
}

/* As long as a uid may be, and one that differs in its last byte. */
static void the_whole_mark_counts(void **state)
{
	char mark[VOLUME_MARK_BYTES], other[VOLUME_MARK_BYTES];

	memset(mark, 'a', sizeof(mark) - 1);
	mark[sizeof(mark) - 1] = '\0';
	memcpy(other, mark, sizeof(mark));
	other[sizeof(other) - 2] = 'b';
	assert_int_equal(strlen(mark), 128);
	assert_int_equal(make("v", mark, NULL), 0);
	assert_int_equal(make("v", other, NULL), -EEXIST);
	assert_int_equal(take_away("v", other, NULL), -EPERM);
	assert_int_equal(take_away("v", mark, NULL), 0);
}

static void what_is_there_already_is_kept(void **state)
{
	struct failure why = { .error = 0 };

	sandbox_mkdir("base", 0755);
	sandbox_mkdir("base/full", 0755);
	sandbox_write("base/full/file", "data");
	sandbox_write("base/file", "data");
	sandbox_mkdir("base/empty", 0700);
	assert_return_code(symlink("full", sandbox_path("base/link")), errno);
	assert_int_equal(make("full", MARK, &why), -EEXIST);
	assert_non_null(strstr(why.text, "not empty"));
	assert_int_equal(mode_of("base/full"), 0755);
	assert_int_equal(make("file", MARK, NULL), -ENOTDIR);
	assert_int_equal(make("link", MARK, NULL), -ELOOP);
	assert_int_equal(make("link/v", MARK, NULL), -ELOOP);
	assert_true(sandbox_has("base/full/file", "data"));
	/* Nothing of anybody's is in it. */
	assert_int_equal(make("empty", MARK, NULL), 0);
	assert_int_equal(make("empty", OTHER, &why), -EEXIST);
	assert_non_null(strstr(why.text, "another volume"));
	assert_int_equal(make("../out", MARK, NULL), -EXDEV);
	assert_false(is_there("out"));
}

/* Its maker would own what a pod is given. */
static void only_roots_empty_directory_is_taken(void **state)
{
	cleanup_free char *copy = strdup(sandbox_path("base"));
	const char *const path = copy;
	const struct volume_order wish = {
		.base_paths = &path, .count = 1, .name = "theirs", .capacity = "none"
	};
	struct volume_choice choice;
	struct failure why = { .error = 0 };

	sandbox_mkdir("base", 0755);
	sandbox_mkdir("base/theirs", 0755);
	assert_return_code(chown(sandbox_path("base/theirs"), 1000, 0), errno);
	assert_int_equal(volume_directory_choose(&wish, &choice, &why), -EEXIST);
	assert_non_null(strstr(why.text, "belongs to uid 1000: it must be root's"));
	assert_int_equal(make("theirs", MARK, &why), -EEXIST);
	assert_int_equal(mode_of("base/theirs"), 0755);
	assert_return_code(chown(sandbox_path("base/theirs"), 0, 0), errno);
	assert_int_equal(volume_directory_choose(&wish, &choice, &why), 0);
	assert_int_equal(make("theirs", MARK, NULL), 0);
}

static void set(const char *relative, uid_t uid, gid_t gid, mode_t mode)
{
	assert_return_code(chown(sandbox_path(relative), uid, gid), errno);
	assert_return_code(chmod(sandbox_path(relative), mode), errno);
}

/* A difference from Kubernetes. */
static void test_base_path_of_others_is_refused(void **state)
{
	static const struct {
		const char *relative;
		uid_t uid;
		gid_t gid;
		mode_t mode;
		bool refused;
	} rows[] = {
		{ "above/base", 0, 0, 0755, false },    { "above/base", 0, 0, 0777, true },
		{ "above/base", 0, 0, 01777, false },   { "above/base", 0, 1000, 0775, true },
		{ "above/base", 0, 0, 0775, false },    { "above/base", 1000, 0, 0755, true },
		{ "above/base", 0, 1000, 0750, false }, { "above", 0, 0, 0777, true },
		{ "above", 0, 0, 01777, false },        { "above", 1000, 0, 0755, true },
		{ "above", 1000, 0, 01777, true },      { "above", 0, 0, 0755, false },
	};
	cleanup_free char *copy = strdup(sandbox_path("above/base"));
	const char *const path = copy;
	const struct volume_order wish = {
		.base_paths = &path, .count = 1, .name = "v", .capacity = "none"
	};
	const struct volume_directory made = { .base_path = path, .name = "v", .mark = MARK };

	sandbox_mkdir("above", 0755);
	sandbox_mkdir("above/base", 0755);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int expected = rows[i].refused ? -EPERM : 0;
		struct failure why = { .error = 0 };
		struct volume_choice choice;

		print_message("# %s %u %u %o\n", rows[i].relative, rows[i].uid, rows[i].gid,
			      rows[i].mode);
		set("above", 0, 0, 0755);
		set("above/base", 0, 0, 0755);
		set(rows[i].relative, rows[i].uid, rows[i].gid, rows[i].mode);
		assert_int_equal(volume_directory_choose(&wish, &choice, &why), expected);
		assert_int_equal(volume_directory_make(&made, 0770, &why), expected);
		assert_int_equal(is_there("above/base/v"), !rows[i].refused);
		if (rows[i].refused)
			assert_non_null(strstr(why.text, "others than root may write in"));
		else
			assert_int_equal(volume_directory_unmake(&made, NULL), 0);
	}
}

static void a_base_path_is_chosen_by_its_room(void **state)
{
	const char *paths[3];
	struct failure why = { .error = 0 };
	size_t index = 9;

	sandbox_mkdir("small", 0755);
	sandbox_mkdir("large", 0755);
	assert_return_code(mount("s", sandbox_path("small"), "tmpfs", 0, "size=1m"), errno);
	assert_return_code(mount("l", sandbox_path("large"), "tmpfs", 0, "size=8m"), errno);
	paths[0] = sandbox_path("small");
	paths[1] = sandbox_path("large");
	assert_int_equal(choose(paths, 2, "v", 1 << 19, &index, NULL), 0);
	assert_int_equal(index, 1);
	assert_int_equal(choose(paths, 1, "v", 1 << 19, &index, NULL), 0);
	assert_int_equal(index, 0);
	assert_int_equal(choose(paths, 2, "v", 1 << 24, &index, &why), -ENOSPC);
	assert_non_null(strstr(why.text, "16777216 bytes are asked for"));
	/* Where foreign data stands already, none is put. */
	sandbox_mkdir("large/v", 0755);
	sandbox_write("large/v/file", "data");
	assert_int_equal(choose(paths, 2, "v", 1 << 19, &index, NULL), 0);
	assert_int_equal(index, 0);
	assert_return_code(umount(sandbox_path("small")), errno);
	assert_return_code(umount(sandbox_path("large")), errno);
}

static void a_file_system_without_marks_is_refused(void **state)
{
	const struct volume_directory there = { .base_path = "/proc/self",
						.name = "v",
						.mark = MARK };

	assert_true(volume_directory_make(&there, 0770, NULL) < 0);
}

/* ---- taking away ---- */

static void it_goes_with_all_that_is_in_it(void **state)
{
	assert_int_equal(make("v", MARK, NULL), 0);
	sandbox_mkdir("base/v/a", 0755);
	sandbox_mkdir("base/v/a/b", 0);
	sandbox_write("base/v/a/file", "data");
	sandbox_write("keep", "data");
	assert_return_code(symlink(sandbox_path("keep"), sandbox_path("base/v/link")), errno);
	assert_return_code(symlink(sandbox_dir(), sandbox_path("base/v/up")), errno);
	assert_int_equal(take_away("v", MARK, NULL), 0);
	assert_false(is_there("base/v"));
	assert_true(sandbox_has("keep", "data"));
	assert_int_equal(take_away("v", MARK, NULL), 0); /* gone is fine */
	assert_int_equal(take_away("a/v", MARK, NULL), 0);
}

static void without_its_mark_it_stays(void **state)
{
	struct failure why = { .error = 0 };

	assert_int_equal(make("v", MARK, NULL), 0);
	sandbox_write("base/v/file", "data");
	assert_int_equal(take_away("v", OTHER, &why), -EPERM);
	assert_non_null(strstr(why.text, "does not bear the mark"));
	sandbox_mkdir("base/plain", 0755);
	sandbox_write("base/plain/file", "data");
	assert_int_equal(take_away("plain", MARK, NULL), -EPERM);
	/* Half a mark is none, and a longer one is another. */
	assert_int_equal(take_away("v", "uid", NULL), -EPERM);
	assert_int_equal(take_away("v", "uid-11", NULL), -EPERM);
	assert_true(sandbox_has("base/v/file", "data"));
	assert_true(sandbox_has("base/plain/file", "data"));
}

static void links_lead_nowhere(void **state)
{
	assert_int_equal(make("v", MARK, NULL), 0);
	sandbox_write("base/v/file", "data");
	assert_return_code(symlink("v", sandbox_path("base/link")), errno);
	assert_return_code(symlink(".", sandbox_path("base/here")), errno);
	assert_int_equal(take_away("link", MARK, NULL), -ELOOP);
	assert_int_equal(take_away("here/v", MARK, NULL), -ELOOP);
	assert_true(take_away("../base/v", MARK, NULL) < 0);
	assert_true(take_away("v/..", MARK, NULL) < 0);
	assert_true(take_away("v/.", MARK, NULL) < 0);
	assert_true(sandbox_has("base/v/file", "data"));
}

/* Deeper than one walk goes. */
static void however_deep_it_is_it_goes(void **state)
{
	assert_int_equal(make("v", MARK, NULL), 0);
	tree_make_deep("base/v", 66000);
	assert_int_equal(take_away("v", MARK, NULL), 0);
	assert_false(is_there("base/v"));
}

static void a_mount_anywhere_keeps_all(void **state)
{
	struct failure why = { .error = 0 };

	assert_int_equal(make("v", MARK, NULL), 0);
	sandbox_write("base/v/0", "data");
	sandbox_mkdir("base/v/z", 0755);
	sandbox_mkdir("base/v/z/deep", 0755);
	sandbox_mkdir("keep", 0755);
	sandbox_write("keep/file", "data");
	assert_return_code(
		mount(sandbox_path("keep"), sandbox_path("base/v/z/deep"), NULL, MS_BIND, NULL),
		errno);
	assert_int_equal(take_away("v", MARK, &why), -EXDEV);
	assert_true(sandbox_has("base/v/0", "data")); /* nothing of it went before */
	assert_true(sandbox_has("keep/file", "data"));
	assert_return_code(umount(sandbox_path("base/v/z/deep")), errno);
	/* Mounted on itself, and a file in it. */
	assert_return_code(
		mount(sandbox_path("base/v"), sandbox_path("base/v"), NULL, MS_BIND, NULL), errno);
	assert_int_equal(take_away("v", MARK, NULL), -EXDEV);
	assert_return_code(umount(sandbox_path("base/v")), errno);
	assert_return_code(
		mount(sandbox_path("keep/file"), sandbox_path("base/v/0"), NULL, MS_BIND, NULL),
		errno);
	assert_int_equal(take_away("v", MARK, NULL), -EXDEV);
	assert_return_code(umount(sandbox_path("base/v/0")), errno);
	assert_int_equal(take_away("v", MARK, NULL), 0);
	assert_true(sandbox_has("keep/file", "data"));
}

/* Bound somewhere else: what is in it is seen there, too. */
static void a_bind_elsewhere_keeps_all(void **state)
{
	static const char *const sources[] = { "base/v", "base/v/sub" };
	struct failure why = { .error = 0 };

	assert_int_equal(make("v", MARK, NULL), 0);
	assert_int_equal(make("v2", OTHER, NULL), 0);
	sandbox_mkdir("base/v/sub", 0755);
	sandbox_write("base/v/file", "data");
	sandbox_mkdir("elsewhere", 0755);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		assert_return_code(mount(sandbox_path(sources[i]), sandbox_path("elsewhere"), NULL,
					 MS_BIND, NULL),
				   errno);
		assert_int_equal(take_away("v", MARK, &why), -EBUSY);
		assert_non_null(strstr(why.text, "/elsewhere'"));
		assert_true(sandbox_has("base/v/file", "data"));
		/* A name that only begins alike is another directory. */
		assert_int_equal(take_away("v2", OTHER, NULL), 0);
		assert_return_code(umount(sandbox_path("elsewhere")), errno);
	}
	assert_int_equal(take_away("v", MARK, NULL), 0);
}

/* A container that kept its copy of the mount when the host's was taken away. */
static void a_bind_in_another_namespace_keeps_all(void **state)
{
	struct failure why = { .error = 0 };
	int ready[2], end[2];
	char word = 0;
	pid_t child;

	assert_int_equal(make("v", MARK, NULL), 0);
	sandbox_write("base/v/file", "data");
	sandbox_mkdir("inside", 0755);
	assert_return_code(pipe(ready), errno);
	assert_return_code(pipe(end), errno);
	child = fork();
	if (child == 0) {
		(void) close(end[1]);
		word = unshare(CLONE_NEWNS) == 0 &&
		       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		       mount(sandbox_path("base/v"), sandbox_path("inside"), NULL, MS_BIND, NULL) ==
			       0;
		(void) !write(ready[1], &word, 1);
		(void) !read(end[0], &word, 1);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &word, 1), 1);
	assert_int_equal(word, 1);
	assert_int_equal(take_away("v", MARK, &why), -EBUSY);
	assert_non_null(strstr(why.text, "in mount namespace"));
	assert_true(sandbox_has("base/v/file", "data"));
	(void) close(end[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(take_away("v", MARK, NULL), 0);
	(void) close(end[0]);
	(void) close(ready[0]);
	(void) close(ready[1]);
}

static void a_base_path_that_is_missing_is_no_success(void **state)
{
	assert_int_equal(take_away("v", MARK, NULL), -ENOENT);
}

/* The disk that the base path is a mount point of is not mounted, or is again. */
static void what_is_on_a_disk_that_is_away_is_not_gone(void **state)
{
	struct failure why = { .error = 0 };

	sandbox_mkdir("base", 0755);
	sandbox_mkdir("away", 0755);
	assert_return_code(mount("disk", sandbox_path("base"), "tmpfs", 0, NULL), errno);
	assert_int_equal(make("v", MARK, NULL), 0);
	assert_int_equal(make("a/w", OTHER, NULL), 0);
	assert_return_code(mount(sandbox_path("base"), sandbox_path("away"), NULL, MS_MOVE, NULL),
			   errno);
	assert_int_equal(take_away("v", MARK, &why), -ENODEV);
	assert_non_null(strstr(why.text, "is its disk mounted?"));
	assert_int_equal(take_away("a/w", OTHER, NULL), -ENODEV);
	assert_return_code(mount(sandbox_path("away"), sandbox_path("base"), NULL, MS_MOVE, NULL),
			   errno);
	assert_int_equal(take_away("v", MARK, NULL), 0);
	assert_false(is_there("base/v"));
	/* Killed after that, it is gone all the same. */
	assert_int_equal(take_away("v", MARK, NULL), 0);
	assert_return_code(umount(sandbox_path("base")), errno);
}

static void what_was_never_used_is_taken_back(void **state)
{
	assert_int_equal(make("v", MARK, NULL), 0);
	assert_int_equal(unmake("v", OTHER), -EPERM);
	sandbox_write("base/v/file", "data");
	assert_int_equal(unmake("v", MARK), -ENOTEMPTY);
	assert_true(sandbox_has("base/v/file", "data"));
	assert_return_code(unlink(sandbox_path("base/v/file")), errno);
	assert_int_equal(unmake("v", MARK), 0);
	assert_false(is_there("base/v"));
	assert_int_equal(unmake("v", MARK), 0);
	/* Killed between mkdir and mark; and a foreign empty directory. */
	sandbox_mkdir("base/v", 0);
	assert_int_equal(unmake("v", MARK), 0);
	assert_false(is_there("base/v"));
	sandbox_mkdir("base/w", 0755);
	assert_int_equal(unmake("w", MARK), -EPERM);
	assert_true(is_there("base/w"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(it_is_made_with_mode_and_mark),
		SANDBOX_TEST(the_whole_mark_counts),
		SANDBOX_TEST(what_is_there_already_is_kept),
		SANDBOX_TEST(only_roots_empty_directory_is_taken),
		SANDBOX_TEST(test_base_path_of_others_is_refused),
		SANDBOX_TEST(a_base_path_is_chosen_by_its_room),
		SANDBOX_TEST(a_file_system_without_marks_is_refused),
		SANDBOX_TEST(it_goes_with_all_that_is_in_it),
		SANDBOX_TEST(without_its_mark_it_stays),
		SANDBOX_TEST(links_lead_nowhere),
		SANDBOX_TEST(a_mount_anywhere_keeps_all),
		SANDBOX_TEST(however_deep_it_is_it_goes),
		SANDBOX_TEST(a_bind_elsewhere_keeps_all),
		SANDBOX_TEST(a_bind_in_another_namespace_keeps_all),
		SANDBOX_TEST(a_base_path_that_is_missing_is_no_success),
		SANDBOX_TEST(what_is_on_a_disk_that_is_away_is_not_gone),
		SANDBOX_TEST(what_was_never_used_is_taken_back),
	};

	return sandbox_run("volume_directory", tests, ARRAY_SIZE(tests));
}
