/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_found - volume directories are listed, nothing else is touched; mounts are in tests/root
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "object/kinds/vol_data.h"
#include "state/found.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

struct tree {
	char path[64];
	int fd;
	struct found_list found;
};

static bool statx_fails;      /* for names that begin with "dead" */
static int going_fd = -EBADF; /* where "going" and the directory above go when they are looked at */

int __real_statx(int fd, const char *path, int flags, unsigned int mask, struct statx *ret);
int __wrap_statx(int fd, const char *path, int flags, unsigned int mask, struct statx *ret);

int __wrap_statx(int fd, const char *path, int flags, unsigned int mask, struct statx *ret)
{
	assert_true(flags & AT_SYMLINK_NOFOLLOW);
	assert_true(flags & AT_NO_AUTOMOUNT);
	assert_true(flags & AT_STATX_DONT_SYNC);
	if (statx_fails && strncmp(path, "dead", 4) == 0) {
		errno = ESTALE;
		return -1;
	}
	if (going_fd >= 0 && strcmp(path, "going") == 0) {
		assert_int_equal(unlinkat(going_fd, "above/going", AT_REMOVEDIR), 0);
		assert_int_equal(unlinkat(going_fd, "above", AT_REMOVEDIR), 0);
	}
	return __real_statx(fd, path, flags, mask, ret);
}

static int setup(void **state)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	assert_non_null(tree);
	(void) snprintf(tree->path, sizeof(tree->path), "/tmp/podvol-found-XXXXXX");
	assert_non_null(mkdtemp(tree->path));
	tree->fd = open(tree->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(tree->fd >= 0);
	*state = tree;
	return 0;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	return remove(path);
}

static int teardown(void **state)
{
	struct tree *tree = *state;

	found_list_done(&tree->found);
	(void) close(tree->fd);
	assert_int_equal(nftw(tree->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
	free(tree);
	return 0;
}

static void make(const struct tree *tree, const char *path)
{
	char part[256];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		(void) snprintf(part, sizeof(part), "%.*s", (int) (slash - path), path);
		assert_true(mkdirat(tree->fd, part, 0750) == 0 || errno == EEXIST);
	}
	assert_int_equal(mkdirat(tree->fd, path, 0750), 0);
}

static void make_file_at(const struct tree *tree, const char *path)
{
	cleanup_close int fd = openat(tree->fd, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
}

static const struct found_volume *find(const struct tree *tree, const char *pod_uid,
				       const char *volume_name)
{
	for (size_t i = 0; i < tree->found.count; i++)
		if (strcmp(tree->found.volumes[i].pod_uid, pod_uid) == 0 &&
		    strcmp(tree->found.volumes[i].volume_name, volume_name) == 0)
			return &tree->found.volumes[i];
	return NULL;
}

static void expect_found(struct tree *tree, size_t count)
{
	struct failure failure = { 0 };

	assert_int_equal(found_read(tree->fd, &tree->found, &failure), 0);
	assert_int_equal(failure.error, 0);
	assert_int_equal(tree->found.count, count);
}

static void test_no_pods_no_volumes(void **state)
{
	expect_found(*state, 0);
}

static void test_volumes_of_both_kinds_are_found(void **state)
{
	struct tree *tree = *state;

	make(tree, "pods/a/volumes/kubernetes.io~local-volume/pv");
	make(tree, "pods/a/volumes/kubernetes.io~empty-dir/scratch");
	make(tree, "pods/a/volumeDevices/kubernetes.io~local-volume");
	assert_int_equal(symlinkat("/dev/null", tree->fd,
				   "pods/a/volumeDevices/kubernetes.io~local-volume/raw"),
			 0);
	make(tree, "pods/b/volumes/example.com~two~tildes/x");
	make(tree, "pods/c/etc-hosts");
	make(tree, "plugins/kubernetes.io/local-volume/mounts/pv");
	expect_found(tree, 4);

	assert_string_equal(find(tree, "a", "pv")->plugin_name, "kubernetes.io/local-volume");
	assert_false(find(tree, "a", "pv")->block);
	assert_false(find(tree, "a", "pv")->is_mount_point);
	assert_string_equal(find(tree, "a", "scratch")->plugin_name, "kubernetes.io/empty-dir");
	assert_true(find(tree, "a", "raw")->block);
	assert_string_equal(find(tree, "b", "x")->plugin_name, "example.com/two/tildes");
}

/* Whatever is below them: that is where the user's data shows. */
static void test_sub_paths_are_found(void **state)
{
	struct tree *tree = *state;

	make(tree, "pods/a/volume-subpaths/scratch/main/0");
	make(tree, "pods/a/volume-subpaths/scratch/side/1");
	make(tree, "pods/b/volumes/example.com~x/scratch");
	expect_found(tree, 2);
	assert_true(find(tree, "a", "scratch")->sub_paths);
	assert_false(find(tree, "a", "scratch")->block);
	assert_string_equal(find(tree, "a", "scratch")->plugin_name, "");
	assert_false(find(tree, "b", "scratch")->sub_paths);
}

static void test_links_and_files_on_the_way_are_passed_over(void **state)
{
	struct tree *tree = *state;

	make(tree, "elsewhere/volumes/plugin/secret");
	make(tree, "pods/a/volumes/plugin/good");
	assert_int_equal(symlinkat("../elsewhere", tree->fd, "pods/link"), 0);
	make(tree, "pods/b");
	assert_int_equal(symlinkat("../../elsewhere/volumes", tree->fd, "pods/b/volumes"), 0);
	assert_int_equal(
		symlinkat("../../../elsewhere/volumes/plugin", tree->fd, "pods/a/volumes/link"), 0);
	make_file_at(tree, "pods/file");
	make_file_at(tree, "pods/a/volumes/file");
	expect_found(tree, 1);
	assert_non_null(find(tree, "a", "good"));
}

static void test_pods_that_is_no_directory_is_nothing(void **state)
{
	struct tree *tree = *state;

	make_file_at(tree, "pods");
	expect_found(tree, 0);
}

static void test_volume_that_cannot_be_examined_counts_as_mounted(void **state)
{
	struct tree *tree = *state;

	make(tree, "pods/a/volumes/plugin/dead-server");
	make(tree, "pods/a/volumes/plugin/good");
	make(tree, "pods/a/volumes/dead-plugin/lost");
	make(tree, "pods/dead-pod/volumes/plugin/lost");
	statx_fails = true;
	expect_found(tree, 2);
	statx_fails = false;
	assert_true(find(tree, "a", "dead-server")->is_mount_point);
	assert_false(find(tree, "a", "good")->is_mount_point);
}

static void test_unreadable_pods_directory_is_an_error(void **state)
{
	struct tree *tree = *state;
	struct failure failure = { 0 };
	struct found_list found;
	cleanup_close int file_fd = -EBADF;

	make_file_at(tree, "file");
	file_fd = openat(tree->fd, "file", O_RDONLY | O_CLOEXEC);
	assert_int_equal(found_read(file_fd, &found, &failure), -ENOTDIR);
	assert_non_null(strstr(failure.text, "cannot read the directory 'pods'"));
	found_list_done(&found);
}

static void test_volumes_are_never_opened(void **state)
{
	struct tree *tree = *state;

	/* It may not be opened, and is not: not even root could list what is not a directory. */
	make(tree, "pods/a/volumes/plugin");
	assert_int_equal(mkfifoat(tree->fd, "pods/a/volumes/plugin/pipe", 0600), 0);
	expect_found(tree, 1);
}

/* ---- CSI volumes, and what is staged ---- */

#define CSI        "pods/a/volumes/kubernetes.io~csi/"
#define DATA(name) "{\"driverName\":\"d\",\"volumeHandle\":\"h\",\"specVolID\":\"" name "\"}"

static void write_file_at(const struct tree *tree, const char *path, const char *text)
{
	cleanup_close int fd =
		openat(tree->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t) strlen(text));
}

static void test_csi_volumes_tell_driver_and_handle(void **state)
{
	struct tree *tree = *state;

	make(tree, CSI "pvc-1/mount");
	write_file_at(tree, CSI "pvc-1/vol_data.json", DATA("pvc-1"));
	expect_found(tree, 1);
	assert_string_equal(find(tree, "a", "pvc-1")->plugin_name, "kubernetes.io/csi");
	assert_string_equal(find(tree, "a", "pvc-1")->driver_name, "d");
	assert_string_equal(find(tree, "a", "pvc-1")->volume_handle, "h");
	assert_string_equal(find(tree, "a", "pvc-1")->problem, "");
}

static void test_what_is_not_understood_is_said(void **state)
{
	struct tree *tree = *state;
	cleanup_free char *large = calloc(1, VOL_DATA_BYTES_MAX + 2);

	make(tree, CSI "missing");
	make(tree, CSI "torn");
	write_file_at(tree, CSI "torn/vol_data.json", "{");
	make(tree, CSI "other");
	write_file_at(tree, CSI "other/vol_data.json", DATA("pvc-1"));
	make(tree, CSI "link");
	assert_int_equal(symlinkat("/etc/passwd", tree->fd, CSI "link/vol_data.json"), 0);
	make(tree, CSI "fifo");
	assert_int_equal(mkfifoat(tree->fd, CSI "fifo/vol_data.json", 0600), 0);
	make(tree, CSI "large");
	assert_non_null(large);
	memset(large, ' ', VOL_DATA_BYTES_MAX + 1);
	write_file_at(tree, CSI "large/vol_data.json", large);
	expect_found(tree, 6);

	assert_string_equal(find(tree, "a", "missing")->problem, "there is no vol_data.json");
	assert_non_null(strstr(find(tree, "a", "torn")->problem, "line 1"));
	assert_non_null(strstr(find(tree, "a", "other")->problem, "names volume 'pvc-1'"));
	assert_string_equal(find(tree, "a", "other")->driver_name, "");
	assert_non_null(strstr(find(tree, "a", "link")->problem, "is not a plain file"));
	assert_non_null(strstr(find(tree, "a", "fifo")->problem, "is not a plain file"));
	assert_string_not_equal(find(tree, "a", "large")->problem, "");
}

static void test_staged_csi_volumes(void **state)
{
	struct tree *tree = *state;

	make(tree, "plugins/kubernetes.io/csi/d/0123/globalmount");
	write_file_at(tree, "plugins/kubernetes.io/csi/d/0123/vol_data.json",
		      "{\"driverName\":\"d\",\"volumeHandle\":\"h\"}");
	make(tree, "plugins/kubernetes.io/csi/e/0123/globalmount"); /* the same handle */
	make(tree, "plugins/kubernetes.io/csi/volumeDevices/pvc-2/data");
	write_file_at(tree, "plugins/kubernetes.io/csi/volumeDevices/pvc-2/data/vol_data.json",
		      DATA("pvc-2"));
	make(tree, "plugins/kubernetes.io/csi/volumeDevices/staging/pvc-2");
	make(tree, "plugins/d/csi.sock");
	expect_found(tree, 3);
	assert_non_null(find(tree, "", "e/0123"));
	assert_string_equal(find(tree, "", "d/0123")->volume_handle, "h");
	assert_false(find(tree, "", "d/0123")->block);
	assert_string_equal(find(tree, "", "pvc-2")->driver_name, "d");
	assert_true(find(tree, "", "pvc-2")->block);
}

static void test_maps_with_bind_files_are_staged(void **state)
{
	struct tree *tree = *state;

	make(tree, "plugins/kubernetes.io~local-volume/volumeDevices/raw");
	make(tree, "plugins/kubernetes.io~local-volume/volumeDevices/empty");
	make_file_at(tree, "plugins/kubernetes.io~local-volume/volumeDevices/raw/u1");
	make_file_at(tree, "plugins/kubernetes.io~local-volume/volumeDevices/raw/u2");
	expect_found(tree, 1);
	assert_string_equal(find(tree, "", "raw")->plugin_name, "kubernetes.io/local-volume");
	assert_true(find(tree, "", "raw")->block);
}

static void test_every_pod_directory_is_listed(void **state)
{
	struct tree *tree = *state;

	make(tree, "pods/a/volumes");
	make(tree, "pods/b");
	make_file_at(tree, "pods/file");
	expect_found(tree, 0);
	assert_int_equal(tree->found.pod_count, 2);
}

/* As another agent may do; the kernel reports -ENOENT for the rest of that directory. */
static void test_directory_that_goes_while_it_is_read(void **state)
{
	struct tree *tree = *state;

	make(tree, "pods/a/volumes/above/going");
	make(tree, "pods/b");
	going_fd = openat(tree->fd, "pods/a/volumes", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(going_fd >= 0);
	expect_found(tree, 0);
	assert_int_equal(tree->found.pod_count, 2);
	(void) close(going_fd);
	going_fd = -EBADF;
}

int main(void)
{
#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH_TREE(test_no_pods_no_volumes),
		WITH_TREE(test_volumes_of_both_kinds_are_found),
		WITH_TREE(test_sub_paths_are_found),
		WITH_TREE(test_links_and_files_on_the_way_are_passed_over),
		WITH_TREE(test_pods_that_is_no_directory_is_nothing),
		WITH_TREE(test_volume_that_cannot_be_examined_counts_as_mounted),
		WITH_TREE(test_unreadable_pods_directory_is_an_error),
		WITH_TREE(test_volumes_are_never_opened),
		WITH_TREE(test_csi_volumes_tell_driver_and_handle),
		WITH_TREE(test_what_is_not_understood_is_said),
		WITH_TREE(test_staged_csi_volumes),
		WITH_TREE(test_maps_with_bind_files_are_staged),
		WITH_TREE(test_every_pod_directory_is_listed),
		WITH_TREE(test_directory_that_goes_while_it_is_read),
	};

	return cmocka_run_group_tests_name("found", tests, NULL, NULL);
}
