/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_subpath_clean - the binds of a volume of a pod taken away, in any order and state
 */
#include "tests/root/subpath_world.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

static void bind_for(const char *container, size_t mount_index, const char *sub_path)
{
	struct subpath_request request = subpath_world_request(sub_path);

	request.container = container;
	request.mount_index = mount_index;
	assert_int_equal(subpath_world_bind_request(&request), 0);
}

static unsigned int mounts_in_pod(void)
{
	return sandbox_mounts_below(sandbox_path(POD_DIR));
}

static void make_target_parents(void)
{
	sandbox_mkdir(SUBPATHS, 0750);
	sandbox_mkdir(SUBPATHS "/data", 0750);
	sandbox_mkdir(SUBPATHS "/data/main", 0750);
}

static void test_case_213_nothing_there(void **state)
{
	assert_int_equal(subpath_world_clean("data"), 0);
	assert_true(sandbox_is_there(VOLUME));
}

static void test_case_214_not_mounted(void **state)
{
	make_target_parents();
	sandbox_mkdir(SUBPATHS "/data/main/0", 0750);
	sandbox_write(SUBPATHS "/data/main/1", "");
	assert_int_equal(subpath_world_clean("data"), 0);
	assert_false(sandbox_is_there(SUBPATHS));
	assert_true(sandbox_is_there(VOLUME));
}

static void test_case_215_a_mount(void **state)
{
	bind_for("main", 0, "dir");
	assert_int_equal(subpath_world_clean("data"), 0);
	assert_false(sandbox_is_there(SUBPATHS));
	assert_int_equal(mounts_in_pod(), 0);
	assert_true(sandbox_is_there(VOLUME "/dir"));
}

static void test_case_216_many(void **state)
{
	sandbox_write(VOLUME "/file", "text");
	bind_for("main", 0, "a");
	bind_for("main", 7, "file");
	bind_for("init", 1, "a");
	bind_for("init", 2, "a/b/c");
	assert_int_equal(mounts_in_pod(), 4);
	assert_int_equal(subpath_world_clean("data"), 0);
	assert_int_equal(mounts_in_pod(), 0);
	assert_false(sandbox_is_there(SUBPATHS));
	assert_true(sandbox_has(VOLUME "/file", "text"));
	assert_true(sandbox_is_there(VOLUME "/a/b/c"));
}

static void test_case_217_a_file_instead_of_a_container(void **state)
{
	bind_for("main", 0, "dir");
	sandbox_write(SUBPATHS "/data/file", "whose?");
	assert_int_equal(subpath_world_clean("data"), -ENOTEMPTY);
	assert_int_equal(subpath_world_failure()->error, -ENOTEMPTY);
	assert_true(sandbox_has(SUBPATHS "/data/file", "whose?"));
	assert_false(sandbox_is_there(SUBPATHS "/data/main"));
	assert_int_equal(mounts_in_pod(), 0);
}

static void test_case_218_another_volume_s(void **state)
{
	struct subpath_request other = subpath_world_request("dir");

	other.volume_name = "other";
	assert_int_equal(subpath_world_bind_request(&other), 0);
	bind_for("main", 0, "dir");
	assert_int_equal(subpath_world_clean("data"), 0);
	assert_false(sandbox_is_there(SUBPATHS "/data"));
	assert_int_equal(sandbox_mounts_below(sandbox_path(SUBPATHS "/other/main/0")), 1);
	assert_int_equal(subpath_world_clean("other"), 0);
	assert_false(sandbox_is_there(SUBPATHS));
}

static void test_case_219_the_user_s_data(void **state)
{
	struct stat before, after;

	bind_for("main", 0, "dir");
	sandbox_mkdir(VOLUME "/dir/deep", 0755);
	sandbox_write(VOLUME "/dir/deep/file", "data");
	assert_return_code(stat(sandbox_path(VOLUME "/dir/deep"), &before), errno);
	assert_int_equal(subpath_world_clean("data"), 0);
	assert_true(sandbox_has(VOLUME "/dir/deep/file", "data"));
	assert_return_code(stat(sandbox_path(VOLUME "/dir/deep"), &after), errno);
	assert_int_equal(before.st_atim.tv_nsec, after.st_atim.tv_nsec);
}

/* As an NFS server that is gone: every look at the mount is an error of the kernel's own. */
static void test_case_220_a_dead_server(void **state)
{
	char options[128];
	int fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fuse_fd < 0) {
		print_message("# no /dev/fuse here\n");
		skip();
	}
	bind_for("main", 1, "dir");
	sandbox_mkdir(TARGET, 0750);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse_fd);
	assert_return_code(mount("dead", sandbox_path(TARGET), "fuse", 0, options), errno);
	(void) close(fuse_fd);
	assert_int_equal(access(sandbox_path(TARGET "/x"), F_OK), -1);
	assert_int_equal(errno, ENOTCONN);
	assert_int_equal(subpath_world_clean("data"), 0);
	assert_false(sandbox_is_there(SUBPATHS));
	assert_int_equal(mounts_in_pod(), 0);
}

static void test_the_source_was_deleted(void **state)
{
	sandbox_write(VOLUME "/file", "");
	bind_for("main", 0, "dir");
	bind_for("main", 1, "file");
	assert_return_code(rmdir(sandbox_path(VOLUME "/dir")), errno);
	assert_return_code(unlink(sandbox_path(VOLUME "/file")), errno);
	assert_int_equal(subpath_world_clean("data"), 0);
	assert_false(sandbox_is_there(SUBPATHS));
}

/* In another mount namespace the target may be removed, which takes the mount along here. */
static void test_a_target_is_gone(void **state)
{
	bind_for("main", 0, "dir");
	bind_for("main", 1, "dir");
	assert_return_code(umount(sandbox_path(TARGET)), errno);
	assert_return_code(rmdir(sandbox_path(TARGET)), errno);
	assert_int_equal(subpath_world_clean("data"), 0);
	assert_false(sandbox_is_there(SUBPATHS));
}

static void test_a_read_only_volume(void **state)
{
	bind_for("main", 0, "dir");
	assert_return_code(mount(sandbox_path(VOLUME), sandbox_path(VOLUME), NULL, MS_BIND, NULL),
			   errno);
	assert_return_code(
		mount(NULL, sandbox_path(VOLUME), NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL),
		errno);
	assert_int_equal(subpath_world_clean("data"), 0);
	assert_false(sandbox_is_there(SUBPATHS));
	assert_return_code(umount(sandbox_path(VOLUME)), errno);
}

static void test_stacked_mounts(void **state)
{
	bind_for("main", 0, "dir");
	for (int i = 0; i < 3; i++)
		assert_return_code(mount("none", sandbox_path(TARGET), "tmpfs", 0, NULL), errno);
	assert_int_equal(subpath_world_clean("data"), 0);
	assert_int_equal(mounts_in_pod(), 0);
}

/* It keeps only itself: the others go, and the next time it goes, too. */
static void test_a_busy_one(void **state)
{
	int fd;

	bind_for("main", 0, "dir");
	bind_for("main", 1, "dir");
	bind_for("init", 0, "dir");
	fd = open(sandbox_path(TARGET), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_return_code(fd, errno);
	assert_int_equal(subpath_world_clean("data"), -EBUSY);
	assert_non_null(strstr(subpath_world_failure()->text, "main/0"));
	assert_int_equal(mounts_in_pod(), 1);
	assert_false(sandbox_is_there(SUBPATHS "/data/init"));
	(void) close(fd);
	assert_int_equal(subpath_world_clean("data"), 0);
	assert_false(sandbox_is_there(SUBPATHS));
}

static void test_foreign_volumes_stay(void **state)
{
	bind_for("main", 0, "dir");
	sandbox_write(SUBPATHS "/data/main/notes", "mine");
	sandbox_mkdir(SUBPATHS "/data/main/full", 0755);
	sandbox_write(SUBPATHS "/data/main/full/file", "mine, too");
	subpath_world_link("/", SUBPATHS "/data/main/link");
	subpath_world_link(sandbox_path("outside"), SUBPATHS "/data/linked");
	assert_int_equal(subpath_world_clean("data"), -ENOTEMPTY);
	assert_true(sandbox_has(SUBPATHS "/data/main/notes", "mine"));
	assert_true(sandbox_has(SUBPATHS "/data/main/full/file", "mine, too"));
	assert_true(sandbox_is_there(SUBPATHS "/data/main/link"));
	assert_true(sandbox_is_there(SUBPATHS "/data/linked"));
	assert_int_equal(mounts_in_pod(), 0);
}

/* A mount where only our directories are is nothing that we made. */
static void test_a_mount_on_a_container_s_directory(void **state)
{
	bind_for("main", 0, "dir");
	assert_return_code(mount("none", sandbox_path(SUBPATHS "/data"), "tmpfs", 0, NULL), errno);
	sandbox_mkdir(SUBPATHS "/data/x", 0755);
	sandbox_write(SUBPATHS "/data/x/y", "");
	assert_int_equal(subpath_world_clean("data"), -EXDEV);
	assert_true(sandbox_is_there(SUBPATHS "/data/x/y"));
	assert_return_code(umount(sandbox_path(SUBPATHS "/data")), errno);
	assert_int_equal(subpath_world_clean("data"), 0);
}

/* A pod with nothing but hostPaths has no other directory. */
static void test_the_pod_s_directory_goes_when_empty(void **state)
{
	bind_for("main", 0, "dir");
	assert_return_code(rmdir(sandbox_path(VOLUME "/dir")), errno);
	assert_return_code(rmdir(sandbox_path(VOLUME)), errno);
	assert_return_code(rmdir(sandbox_path(POD_DIR "/volumes/kubernetes.io~empty-dir")), errno);
	assert_return_code(rmdir(sandbox_path(POD_DIR "/volumes")), errno);
	assert_int_equal(subpath_world_clean("data"), 0);
	assert_false(sandbox_is_there(POD_DIR));
	assert_true(sandbox_is_there(ROOT "/pods"));
}

/* Killed between two removals. */
static void test_half_removed_before(void **state)
{
	sandbox_mkdir(SUBPATHS, 0750);
	assert_int_equal(subpath_world_clean("data"), 0);
	assert_false(sandbox_is_there(SUBPATHS));
}

static void test_the_root_was_named_by_a_link(void **state)
{
	struct subpath_request request = subpath_world_request("dir");
	struct mount_root root = { .fd = -EBADF };
	struct failure failure = { .error = 0 };
	char volume[512];

	subpath_world_link(ROOT, "link-to-root");
	assert_int_equal(mount_root_open(sandbox_path("link-to-root"), &root, &failure), 0);
	request.root_fd = root.fd;
	request.root_path = root.path;
	(void) snprintf(volume, sizeof(volume), "%s/pods/u1/volumes/kubernetes.io~empty-dir/data",
			root.path);
	request.volume_path = volume;
	assert_int_equal(subpath_world_bind_request(&request), 0);
	assert_int_equal(sandbox_mounts_below(sandbox_path(TARGET)), 1);
	assert_int_equal(subpath_clean(root.fd, root.path, "u1", "data", &failure), 0);
	assert_false(sandbox_is_there(SUBPATHS));
	assert_int_equal(mount_root_undo(&root, NULL), 0);
	mount_root_done(&root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SUBPATH_TEST(test_case_213_nothing_there),
		SUBPATH_TEST(test_case_214_not_mounted),
		SUBPATH_TEST(test_case_215_a_mount),
		SUBPATH_TEST(test_case_216_many),
		SUBPATH_TEST_WITHOUT(WITHOUT_OPENAT2, test_case_216_many),
		SUBPATH_TEST(test_case_217_a_file_instead_of_a_container),
		SUBPATH_TEST_WITHOUT(WITHOUT_OPENAT2, test_case_217_a_file_instead_of_a_container),
		SUBPATH_TEST(test_case_218_another_volume_s),
		SUBPATH_TEST(test_case_219_the_user_s_data),
		SUBPATH_TEST(test_case_220_a_dead_server),
		SUBPATH_TEST(test_the_source_was_deleted),
		SUBPATH_TEST(test_a_target_is_gone),
		SUBPATH_TEST(test_a_read_only_volume),
		SUBPATH_TEST(test_stacked_mounts),
		SUBPATH_TEST(test_a_busy_one),
		SUBPATH_TEST(test_foreign_volumes_stay),
		SUBPATH_TEST_WITHOUT(WITHOUT_OPENAT2, test_foreign_volumes_stay),
		SUBPATH_TEST(test_a_mount_on_a_container_s_directory),
		SUBPATH_TEST_WITHOUT(WITHOUT_OPENAT2, test_a_mount_on_a_container_s_directory),
		SUBPATH_TEST(test_the_pod_s_directory_goes_when_empty),
		SUBPATH_TEST(test_half_removed_before),
		SUBPATH_TEST(test_the_root_was_named_by_a_link),
	};

	return sandbox_run("subpath_clean", tests, ARRAY_SIZE(tests));
}
