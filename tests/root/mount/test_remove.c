/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_remove - what removal removes, and above all what it does not
 */
#include "tests/root/kernel_calls.h"
#include "tests/root/tree.h"

#include "base/cleanup.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

static void open_place(const char *relative, struct place *ret)
{
	assert_int_equal(place_open(sandbox_fd(), sandbox_dir(), relative, ret, NULL), 0);
}

static int remove_contents(const char *relative, struct failure *reterr)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;

	open_place(relative, &place);
	return remove_empty_dir_contents(&place, reterr);
}

static bool is_there(const char *relative)
{
	return faccessat(sandbox_fd(), relative, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void test_one_directory(void **state)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	struct failure failure = { 0 };

	sandbox_mkdir("dir", 0750);
	sandbox_write("dir/file", "data");
	open_place("dir", &place);
	assert_int_equal(remove_directory(&place, &failure), -ENOTEMPTY);
	assert_true(sandbox_has("dir/file", "data"));
	assert_int_equal(remove_file(&place, &failure), -EISDIR);
	assert_return_code(unlink(sandbox_path("dir/file")), errno);
	assert_int_equal(remove_directory(&place, &failure), 0);
	assert_false(is_there("dir"));
	assert_int_equal(remove_directory(&place, &failure), 0); /* gone is fine */
	assert_int_equal(remove_file(&place, &failure), 0);
}

static void test_one_file(void **state)
{
	cleanup(place_done) struct place file = PLACE_EMPTY, link = PLACE_EMPTY;
	struct failure failure = { 0 };

	sandbox_write("file", "data");
	assert_return_code(symlink("file", sandbox_path("link")), errno);
	open_place("file", &file);
	open_place("link", &link);
	assert_int_equal(remove_directory(&file, &failure), -ENOTDIR);
	assert_int_equal(remove_file(&link, &failure), 0);
	assert_true(sandbox_has("file", "data"));
	assert_int_equal(remove_file(&file, &failure), 0);
	assert_false(is_there("file"));
}

static void test_a_mount_point_is_not_removed(void **state)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	struct failure failure = { 0 };

	sandbox_mkdir("dir", 0750);
	assert_return_code(mount("none", sandbox_path("dir"), "tmpfs", 0, NULL), errno);
	open_place("dir", &place);
	assert_int_equal(remove_directory(&place, &failure), -EBUSY);
	assert_return_code(umount2(sandbox_path("dir"), 0), errno);
}

static void test_empty_parents(void **state)
{
	for (const char *const *path =
		     (const char *const[]){ "a", "a/b", "a/b/c", "a/b/c/d", NULL };
	     *path; path++)
		sandbox_mkdir(*path, 0750);
	assert_int_equal(remove_empty_parents(sandbox_fd(), "a/b/c/d/gone", 2, NULL), 0);
	assert_false(is_there("a/b/c"));
	assert_true(is_there("a/b"));

	sandbox_mkdir("a/b/c", 0750);
	sandbox_write("a/b/file", "");
	assert_int_equal(remove_empty_parents(sandbox_fd(), "a/b/c/gone", 0, NULL), 0);
	assert_false(is_there("a/b/c"));
	assert_true(is_there("a/b")); /* not empty */

	assert_return_code(unlink(sandbox_path("a/b/file")), errno);
	assert_int_equal(remove_empty_parents(sandbox_fd(), "a/b/gone", 0, NULL), 0);
	assert_false(is_there("a"));
	assert_int_equal(remove_empty_parents(sandbox_fd(), "gone", 0, NULL), 0);
	assert_int_equal(remove_empty_parents(sandbox_fd(), "missing/too/gone", 0, NULL), 0);

	/* As after a crash between two levels: what is there above the missing ones goes. */
	sandbox_mkdir("a", 0750);
	assert_int_equal(remove_empty_parents(sandbox_fd(), "a/b/c/d/gone", 0, NULL), 0);
	assert_false(is_there("a"));
}

static void test_parents_behind_a_link_stay(void **state)
{
	sandbox_mkdir("elsewhere", 0750);
	sandbox_mkdir("elsewhere/sub", 0750);
	sandbox_mkdir("a", 0750);
	assert_return_code(symlink("../elsewhere", sandbox_path("a/link")), errno);
	assert_int_equal(remove_empty_parents(sandbox_fd(), "a/link/sub/gone", 0, NULL), 0);
	assert_true(is_there("elsewhere/sub"));
}

static void test_contents_of_an_empty_dir(void **state)
{
	struct failure failure = { 0 };

	sandbox_mkdir("empty", 0777);
	sandbox_mkdir("empty/sub", 0000);
	sandbox_write("empty/sub/file", "");
	sandbox_write("empty/file", "");
	assert_return_code(mkfifo(sandbox_path("empty/fifo"), 0600), errno);
	assert_return_code(symlink("/etc", sandbox_path("empty/link")), errno);
	for (int i = 0; i < 3000; i++) {
		char name[64];

		snprintf(name, sizeof(name), "empty/sub/a file with a longer name %d", i);
		sandbox_write(name, "");
	}
	assert_int_equal(remove_contents("empty", &failure), 0);
	assert_false(is_there("empty"));
	assert_int_equal(access("/etc/passwd", F_OK), 0);
	assert_int_equal(remove_contents("empty", &failure), 0); /* gone is fine */
}

static void test_links_are_not_followed(void **state)
{
	struct failure failure = { 0 };

	sandbox_mkdir("outside", 0755);
	sandbox_write("outside/file", "data");
	sandbox_mkdir("empty", 0777);
	assert_return_code(symlink("../outside", sandbox_path("empty/directory")), errno);
	assert_return_code(symlink("../outside/file", sandbox_path("empty/file")), errno);
	assert_int_equal(remove_contents("empty", &failure), 0);
	assert_true(sandbox_has("outside/file", "data"));

	/* The emptyDir itself as a link: nothing of where it leads is touched. */
	assert_return_code(symlink("outside", sandbox_path("empty")), errno);
	assert_true(remove_contents("empty", &failure) < 0);
	assert_true(sandbox_has("outside/file", "data"));
}

static void test_nothing_across_a_mount(void **state)
{
	struct failure failure = { 0 };

	sandbox_mkdir("outside", 0755);
	sandbox_write("outside/file", "data");
	sandbox_mkdir("empty", 0777);
	sandbox_mkdir("empty/a", 0755);
	sandbox_mkdir("empty/a/mount", 0755);
	assert_return_code(
		mount(sandbox_path("outside"), sandbox_path("empty/a/mount"), NULL, MS_BIND, NULL),
		errno);
	assert_int_equal(remove_contents("empty", &failure), -EXDEV);
	assert_non_null(strstr(failure.text, "mount"));
	assert_true(sandbox_has("outside/file", "data"));
	assert_return_code(umount2(sandbox_path("empty/a/mount"), 0), errno);

	sandbox_write("empty/bound", "");
	assert_return_code(mount(sandbox_path("outside/file"), sandbox_path("empty/bound"), NULL,
				 MS_BIND, NULL),
			   errno);
	assert_int_equal(remove_contents("empty", &failure), -EXDEV);
	assert_true(sandbox_has("outside/file", "data"));
	assert_return_code(umount2(sandbox_path("empty/bound"), 0), errno);

	/* A Memory emptyDir that is still mounted: its unmount is the caller's business. */
	assert_return_code(mount("none", sandbox_path("empty"), "tmpfs", 0, NULL), errno);
	sandbox_write("empty/kept", "kept");
	assert_int_equal(remove_contents("empty", &failure), -EXDEV);
	assert_true(sandbox_has("empty/kept", "kept"));
	assert_return_code(umount2(sandbox_path("empty"), 0), errno);
}

/* Deeper than there are descriptors, as a pod may make it. */
static void test_a_very_deep_tree(void **state)
{
	struct failure failure = { 0 };

	sandbox_mkdir("empty", 0777);
	tree_make_deep("empty", 5000);
	tree_limit_descriptors(100);
	assert_int_equal(remove_contents("empty", &failure), 0);
	tree_limit_descriptors(0);
	assert_false(is_there("empty"));
}

/* Deeper than one walk goes. */
static void test_66000_nested_directories(void **state)
{
	struct failure failure = { 0 };

	sandbox_mkdir("empty", 0777);
	sandbox_mkdir("empty/.podvol-removing-0", 0777); /* a name that is taken */
	sandbox_write("empty/.podvol-removing-0/file", "");
	tree_make_deep("empty", 66000);
	tree_limit_descriptors(100);
	assert_int_equal(remove_contents("empty", &failure), 0);
	tree_limit_descriptors(0);
	assert_false(is_there("empty"));
}

struct mover {
	atomic_bool end;
	unsigned int moves;
};

/* What a container with the volume around it can do: directories go out and come back in. */
static void *move_about(void *userdata)
{
	struct mover *mover = userdata;
	char inside[PATH_MAX], outside[PATH_MAX];

	(void) snprintf(inside, sizeof(inside), "%s/empty/a/b", sandbox_dir());
	(void) snprintf(outside, sizeof(outside), "%s/outside/b", sandbox_dir());
	while (!atomic_load(&mover->end)) {
		if (rename(inside, outside) == 0)
			mover->moves++;
		(void) rename(outside, inside);
	}
	return NULL;
}

static void move_in(void)
{
	char from[PATH_MAX], to[PATH_MAX];

	(void) snprintf(from, sizeof(from), "%s/made", sandbox_dir());
	(void) snprintf(to, sizeof(to), "%s/empty/a/b", sandbox_dir());
	(void) rename(from, to);
}

static void test_directories_that_are_moved_meanwhile(void **state)
{
	struct mover mover = { .moves = 0 };
	pthread_t thread;

	sandbox_mkdir("outside", 0755);
	sandbox_mkdir("outside/beside", 0755);
	sandbox_write("outside/beside/file", "data");
	sandbox_write("outside/file", "data");
	assert_int_equal(pthread_create(&thread, NULL, move_about, &mover), 0);
	for (int turn = 0; turn < 200 || (mover.moves < 100 && turn < 100000); turn++) {
		sandbox_mkdir("empty", 0777);
		sandbox_mkdir("empty/a", 0777);
		/* Where it is not moved while it is made; fails beside one that was moved back. */
		if (!is_there("made")) {
			sandbox_mkdir("made", 0777);
			tree_make_deep("made", 60); /* more than are open at a time */
		}
		move_in();
		while (is_there("empty"))
			(void) remove_contents("empty", NULL);
		(void) remove_contents("outside/b", NULL);
		assert_true(sandbox_has("outside/file", "data"));
		assert_true(sandbox_has("outside/beside/file", "data"));
	}
	atomic_store(&mover.end, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(mover.moves > 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_one_directory),
		SANDBOX_TEST(test_one_file),
		SANDBOX_TEST(test_a_mount_point_is_not_removed),
		SANDBOX_TEST(test_empty_parents),
		SANDBOX_TEST(test_parents_behind_a_link_stay),
		SANDBOX_TEST(test_contents_of_an_empty_dir),
		SANDBOX_TEST_WITHOUT(WITHOUT_OPENAT2, test_contents_of_an_empty_dir),
		SANDBOX_TEST(test_links_are_not_followed),
		SANDBOX_TEST_WITHOUT(WITHOUT_OPENAT2, test_links_are_not_followed),
		SANDBOX_TEST(test_nothing_across_a_mount),
		SANDBOX_TEST_WITHOUT(WITHOUT_OPENAT2, test_nothing_across_a_mount),
		SANDBOX_TEST(test_a_very_deep_tree),
		SANDBOX_TEST(test_66000_nested_directories),
		SANDBOX_TEST(test_directories_that_are_moved_meanwhile),
	};

	return sandbox_run("remove", tests, ARRAY_SIZE(tests));
}
