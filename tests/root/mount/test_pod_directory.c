/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pod_directory - of an unknown pod what is empty goes, and nothing else
 */
#include "tests/root/sandbox.h"

#include "base/cleanup.h"
#include "mount/path/safe_path.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define POD  "pods/u1"
#define ROOM POD "/volumes/kubernetes.io~empty-dir/room"
#define CSI  POD "/volumes/kubernetes.io~csi/pvc-1"

/* Every level that is missing. */
static void make(const char *path)
{
	char part[256];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		(void) snprintf(part, sizeof(part), "%.*s", (int) (slash - path), path);
		assert_true(mkdirat(sandbox_fd(), part, 0750) == 0 || errno == EEXIST);
	}
	assert_true(mkdirat(sandbox_fd(), path, 0750) == 0 || errno == EEXIST);
}

static bool is_there(const char *path)
{
	return faccessat(sandbox_fd(), path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int clean(struct failure *failure)
{
	unsigned int fds = sandbox_open_fds();
	int r;

	*failure = (struct failure){ .error = 0 };
	r = pod_directory_clean(sandbox_fd(), sandbox_dir(), "u1", failure);
	assert_int_equal(sandbox_open_fds(), fds);
	assert_true(r == 0 || failure->text[0] != '\0');
	return r;
}

static void expect_gone(void)
{
	struct failure failure;

	assert_int_equal(clean(&failure), 0);
	assert_false(is_there(POD));
	assert_true(is_there("pods"));
}

/* It stays, whatever else went, and says why. */
static void expect_kept(int error, const char *path, const char *why)
{
	struct failure failure;

	assert_int_equal(clean(&failure), error);
	assert_non_null(strstr(failure.text, why));
	assert_true(is_there(path));
	assert_true(is_there(POD));
}

static void test_no_directory_is_fine(void **state)
{
	struct failure failure;

	assert_int_equal(clean(&failure), 0);
}

/* case 358, case 361, case 364 and all that an agent makes beside volumes */
static void test_what_is_empty_goes(void **state)
{
	make(POD);
	expect_gone();
	make(POD "/volumes");
	expect_gone();
	make(ROOM);
	make(CSI "/mount");
	make(POD "/volumeDevices/kubernetes.io~csi");
	make(POD "/containers/main");
	make(POD "/volume-subpaths/room/main/1");
	sandbox_write(POD "/volume-subpaths/room/main/0", "");
	make(POD "/plugins/kubernetes.io~empty-dir/room");
	sandbox_write(POD "/plugins/kubernetes.io~empty-dir/room/ready", "");
	sandbox_write(POD "/etc-hosts", "# Kubernetes-managed hosts file.\n127.0.0.1 localhost\n");
	expect_gone();
}

/* case 359 */
static void test_data_stays(void **state)
{
	make(ROOM);
	sandbox_write(ROOM "/file", "data");
	sandbox_write(POD "/etc-hosts", "# Kubernetes-managed hosts file\n");
	expect_kept(-ENOTEMPTY, ROOM "/file", "room' is not empty");
	assert_true(is_there(POD "/etc-hosts")); /* an error among volumes ends it */
	assert_true(sandbox_has(ROOM "/file", "data"));
}

/* Empty, and below what is an agent's own: it is not looked at. */
static void test_nothing_is_opened_below_a_volume(void **state)
{
	make(ROOM "/a/b");
	expect_kept(-ENOTEMPTY, ROOM "/a/b", "room' is not empty");
	sandbox_write(ROOM "/a/empty", "");
	expect_kept(-ENOTEMPTY, ROOM "/a/empty", "room' is not empty");
}

static void test_what_else_has_content_stays(void **state)
{
	static const char *const files[] = {
		CSI "/vol_data.json",
		POD "/containers/main/log",
		POD "/volume-subpaths/room/main/0",
		POD "/plugins/kubernetes.io~empty-dir/room/ready",
		POD "/etc-hosts",
		POD "/notes",
	};

	make(CSI);
	make(POD "/containers/main");
	make(POD "/volume-subpaths/room/main");
	make(POD "/plugins/kubernetes.io~empty-dir/room");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		sandbox_write(files[i], "mine");
		expect_kept(-ENOTEMPTY, files[i], "it stays");
		assert_int_equal(unlinkat(sandbox_fd(), files[i], 0), 0);
		make(CSI);
		make(POD "/containers/main");
		make(POD "/volume-subpaths/room/main");
		make(POD "/plugins/kubernetes.io~empty-dir/room");
	}
	expect_gone();
}

static void test_links_stay_and_are_not_followed(void **state)
{
	static const char *const links[] = {
		POD "/volumes/kubernetes.io~empty-dir/room",
		POD "/volumes/kubernetes.io~x",
		POD "/volumeDevices/kubernetes.io~csi/pv",
		POD "/volumes",
		POD "/containers",
		POD "/etc-hosts",
	};

	make("elsewhere/plugin/volume");
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		char *parent = strndupa(links[i], (size_t) (strrchr(links[i], '/') - links[i]));
		struct failure failure;

		make(parent);
		assert_int_equal(symlinkat(sandbox_path("elsewhere"), sandbox_fd(), links[i]), 0);
		assert_true(clean(&failure) < 0);
		assert_true(is_there(links[i]));
		assert_true(is_there("elsewhere/plugin/volume"));
		assert_int_equal(unlinkat(sandbox_fd(), links[i], 0), 0);
	}
}

/* case 360, case 362: wherever it is, nothing at all is touched */
static void test_mounts_stay_and_keep_the_rest(void **state)
{
	static const char *const points[] = {
		ROOM,
		CSI "/mount",
		POD "/volumes",
		POD "/volumes/kubernetes.io~empty-dir",
		POD "/volume-subpaths/room/main/0",
		POD "/plugins/example.com~x/mounted",
		POD "/containers/main",
	};

	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		make(POD "/volumes/kubernetes.io~empty-dir/other");
		make(points[i]);
		assert_int_equal(mount("none", sandbox_path(points[i]), "tmpfs", 0, NULL), 0);
		expect_kept(-EBUSY, points[i], "is a mount point");
		assert_int_equal(sandbox_mounts_below(sandbox_path(points[i])), 1);
		assert_int_equal(umount(sandbox_path(points[i])), 0);
		assert_true(is_there(POD "/volumes/kubernetes.io~empty-dir/other"));
	}
	make(POD);
	assert_int_equal(mount("none", sandbox_path(POD), "tmpfs", 0, NULL), 0);
	{
		struct failure failure;

		assert_int_equal(clean(&failure), -EXDEV);
	}
	assert_int_equal(umount(sandbox_path(POD)), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_no_directory_is_fine),
		SANDBOX_TEST(test_what_is_empty_goes),
		SANDBOX_TEST(test_data_stays),
		SANDBOX_TEST(test_nothing_is_opened_below_a_volume),
		SANDBOX_TEST(test_what_else_has_content_stays),
		SANDBOX_TEST(test_links_stay_and_are_not_followed),
		SANDBOX_TEST(test_mounts_stay_and_keep_the_rest),
	};

	return sandbox_run("pod_directory", tests, ARRAY_SIZE(tests));
}
