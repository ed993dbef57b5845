/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_found - mounts among the volume directories: seen, never entered
 */
#include "tests/root/sandbox.h"

#include "base/cleanup.h"
#include "state/found.h"

#include <string.h>
#include <sys/mount.h>

static const struct found_volume *find(const struct found_list *found, const char *volume_name)
{
	for (size_t i = 0; i < found->count; i++)
		if (strcmp(found->volumes[i].volume_name, volume_name) == 0)
			return &found->volumes[i];
	return NULL;
}

static void make_plugin_directory(const char *pod)
{
	char path[128];

	(void) snprintf(path, sizeof(path), "pods/%s", pod);
	sandbox_mkdir(path, 0750);
	(void) snprintf(path, sizeof(path), "pods/%s/volumes", pod);
	sandbox_mkdir(path, 0750);
	(void) snprintf(path, sizeof(path), "pods/%s/volumes/plugin", pod);
	sandbox_mkdir(path, 0750);
}

static void make_tree(void)
{
	sandbox_mkdir("pods", 0750);
	make_plugin_directory("a");
	sandbox_mkdir("pods/a/volumes/plugin/plain", 0750);
	sandbox_mkdir("pods/a/volumes/plugin/tmpfs", 0750);
	sandbox_mkdir("pods/a/volumes/plugin/bind", 0750);
}

static void mount_tmpfs(const char *relative)
{
	assert_int_equal(mount("none", sandbox_path(relative), "tmpfs", 0, NULL), 0);
}

static void test_mounted_volumes_are_marked(void **state)
{
	struct found_list found;

	make_tree();
	sandbox_mkdir("source", 0750);
	mount_tmpfs("pods/a/volumes/plugin/tmpfs");
	assert_int_equal(mount(sandbox_path("source"), sandbox_path("pods/a/volumes/plugin/bind"),
			       NULL, MS_BIND, NULL),
			 0);

	assert_int_equal(found_read(sandbox_fd(), &found, NULL), 0);
	assert_int_equal(found.count, 3);
	assert_false(find(&found, "plain")->is_mount_point);
	assert_true(find(&found, "tmpfs")->is_mount_point);
	assert_true(find(&found, "bind")->is_mount_point);
	found_list_done(&found);

	assert_int_equal(umount(sandbox_path("pods/a/volumes/plugin/bind")), 0);
	assert_int_equal(umount(sandbox_path("pods/a/volumes/plugin/tmpfs")), 0);
}

static void test_mounts_above_volumes_are_not_entered(void **state)
{
	struct found_list found;

	make_tree();
	make_plugin_directory("b");
	mount_tmpfs("pods/b/volumes/plugin");
	sandbox_mkdir("pods/b/volumes/plugin/hidden", 0750);
	make_plugin_directory("c");
	mount_tmpfs("pods/c");
	sandbox_mkdir("pods/c/volumes", 0750);
	sandbox_mkdir("pods/c/volumes/plugin", 0750);
	sandbox_mkdir("pods/c/volumes/plugin/hidden", 0750);

	assert_int_equal(found_read(sandbox_fd(), &found, NULL), 0);
	assert_int_equal(found.count, 3);
	assert_null(find(&found, "hidden"));
	found_list_done(&found);

	assert_int_equal(umount(sandbox_path("pods/b/volumes/plugin")), 0);
	assert_int_equal(umount(sandbox_path("pods/c")), 0);
}

static void test_pods_that_is_a_mount_is_an_error(void **state)
{
	struct failure failure = { 0 };
	struct found_list found;

	sandbox_mkdir("pods", 0750);
	mount_tmpfs("pods");
	assert_int_equal(found_read(sandbox_fd(), &found, &failure), -EXDEV);
	assert_int_equal(failure.error, -EXDEV);
	found_list_done(&found);
	assert_int_equal(umount(sandbox_path("pods")), 0);
}

static void test_unmounting_is_not_hindered(void **state)
{
	struct found_list found;

	make_tree();
	mount_tmpfs("pods/a/volumes/plugin/tmpfs");
	assert_int_equal(found_read(sandbox_fd(), &found, NULL), 0);
	assert_int_equal(umount(sandbox_path("pods/a/volumes/plugin/tmpfs")), 0);
	found_list_done(&found);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_mounted_volumes_are_marked),
		SANDBOX_TEST(test_mounts_above_volumes_are_not_entered),
		SANDBOX_TEST(test_pods_that_is_a_mount_is_an_error),
		SANDBOX_TEST(test_unmounting_is_not_hindered),
	};

	return sandbox_run("found", tests, ARRAY_SIZE(tests));
}
