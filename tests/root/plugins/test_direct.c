/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_direct - one volume mounted and unmounted with no daemon
 *
 * /run is a tmpfs of the test's own namespace meanwhile.
 */
#include "tests/root/sandbox.h"
#include "tests/root/volume.h"

#include "base/cleanup.h"
#include "cli/direct/direct.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

static struct failure why;

static void begin(void)
{
	assert_return_code(mount("run", "/run", "tmpfs", 0, "mode=0755"), errno);
	sandbox_mkdir("target", 0755);
	sandbox_mkdir("disk", 0755);
	sandbox_write("disk/file", "data");
	sandbox_mkdir("root", 0750);
	why = (struct failure){ 0 };
}

/* Of the private root directory nothing may be left in /run. */
static void end(void)
{
	DIR *dir = opendir("/run");
	const struct dirent *entry;
	unsigned int left = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		left += strncmp(entry->d_name, "podvolctl-", 10) == 0;
	(void) closedir(dir);
	assert_int_equal(left, 0);
	assert_return_code(umount2("/run", 0), errno);
}

/* @lines: of the spec, indented by two blanks. */
static const char *manifest(const char *lines)
{
	char text[2048];

	(void) snprintf(text, sizeof(text),
			"apiVersion: v1\nkind: PersistentVolume\nmetadata:\n  name: pv1\nspec:\n"
			"  capacity:\n    storage: 1Gi\n  accessModes: [ReadWriteOnce]\n%s",
			lines);
	sandbox_write("pv.yaml", text);
	return sandbox_path("pv.yaml");
}

static const char *local_manifest(const char *path, const char *more)
{
	char lines[1024];

	(void) snprintf(lines, sizeof(lines),
			"  local:\n    path: %s\n"
			"  nodeAffinity:\n    required:\n      nodeSelectorTerms:\n"
			"      - matchExpressions:\n        - {key: a, operator: Exists}\n%s",
			path, more);
	return manifest(lines);
}

static int mount_direct(const char *file, const char *target)
{
	return direct_mount(file, target, sandbox_path("root"), &why);
}

static int unmount_direct(const char *target)
{
	return direct_unmount(target, sandbox_path("root"), &why);
}

static void test_directory(void **state)
{
	begin();
	assert_int_equal(
		mount_direct(local_manifest(sandbox_path("disk"), ""), sandbox_path("target")), 0);
	assert_true(sandbox_has("target/file", "data"));
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 1);

	assert_int_equal(mount_direct(sandbox_path("pv.yaml"), sandbox_path("target")), -EBUSY);
	assert_non_null(strstr(why.text, "mounted already"));
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 1);

	assert_int_equal(unmount_direct(sandbox_path("target/")), 0);
	assert_int_equal(unmount_direct(sandbox_path("target")), -EINVAL);
	assert_non_null(strstr(why.text, "nothing is mounted"));
	assert_int_equal(mount_direct(sandbox_path("pv.yaml"), sandbox_path("none")), -ENOENT);
	assert_non_null(strstr(why.text, "/none' does not exist: make a directory"));
	assert_int_equal(access(sandbox_path("target"), F_OK), 0);
	assert_true(sandbox_has("disk/file", "data"));
	end();
}

/* case 53, the plugin's options arrive at the target */
static void test_mount_options(void **state)
{
	struct statvfs status;

	begin();
	assert_int_equal(
		mount_direct(local_manifest(sandbox_path("disk"), "  mountOptions: [ro, noexec]\n"),
			     sandbox_path("target")),
		0);
	assert_return_code(statvfs(sandbox_path("target"), &status), errno);
	assert_true(status.f_flag & ST_RDONLY);
	assert_true(status.f_flag & ST_NOEXEC);
	assert_int_equal(unmount_direct(sandbox_path("target")), 0);
	end();
}

static void test_device(void **state)
{
	struct test_loop loop;

	begin();
	test_loop_attach(&loop, "image", 32);
	assert_int_equal(mount_direct(local_manifest(loop.path, ""), sandbox_path("target")), 0);
	sandbox_write("target/file", "on the device");
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 1);
	assert_int_equal(unmount_direct(sandbox_path("target")), 0);
	assert_int_equal(mount_direct(sandbox_path("pv.yaml"), sandbox_path("target")), 0);
	assert_true(sandbox_has("target/file", "on the device"));
	assert_int_equal(unmount_direct(sandbox_path("target")), 0);
	test_loop_detach(&loop);
	end();
}

/* case 37, options of a volume that takes none */
static void test_host_path(void **state)
{
	char lines[512];

	begin();
	(void) snprintf(lines, sizeof(lines), "  hostPath:\n    path: %s\n    type: Directory\n",
			sandbox_path("disk"));
	assert_int_equal(mount_direct(manifest(lines), sandbox_path("target")), 0);
	assert_true(sandbox_has("target/file", "data"));
	assert_int_equal(unmount_direct(sandbox_path("target")), 0);

	(void) snprintf(lines, sizeof(lines), "  hostPath:\n    path: %s\n    type: File\n",
			sandbox_path("disk"));
	assert_true(mount_direct(manifest(lines), sandbox_path("target")) < 0);
	assert_non_null(strstr(why.text, "is not a file"));

	(void) snprintf(lines, sizeof(lines),
			"  hostPath:\n    path: %s\n  mountOptions: [noatime]\n",
			sandbox_path("disk"));
	assert_int_equal(mount_direct(manifest(lines), sandbox_path("target")), -EINVAL);
	assert_non_null(strstr(why.text, "mount options are not supported"));
	end();
}

/* A volume that is a file wants a file to cover. */
static void test_files_on_files(void **state)
{
	char lines[512];

	begin();
	sandbox_write("plain", "");
	(void) snprintf(lines, sizeof(lines), "  hostPath:\n    path: %s\n    type: File\n",
			sandbox_path("disk/file"));
	assert_int_equal(mount_direct(manifest(lines), sandbox_path("target")), -EISDIR);
	assert_int_equal(mount_direct(sandbox_path("pv.yaml"), sandbox_path("plain")), 0);
	assert_true(sandbox_has("plain", "data"));
	assert_int_equal(unmount_direct(sandbox_path("plain")), 0);
	end();
}

static void test_manifests_that_say_something_else(void **state)
{
	begin();
	assert_int_equal(mount_direct(sandbox_path("nowhere.yaml"), sandbox_path("target")),
			 -ENOENT);
	sandbox_write("none.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
				   "spec: {containers: [{name: c, image: i}]}\n");
	assert_int_equal(mount_direct(sandbox_path("none.yaml"), sandbox_path("target")), -EINVAL);
	assert_non_null(strstr(why.text, "no PersistentVolume"));
	sandbox_write("bad.yaml", "kind: [\n");
	assert_true(mount_direct(sandbox_path("bad.yaml"), sandbox_path("target")) < 0);
	assert_non_null(strstr(why.text, "bad.yaml"));
	assert_true(mount_direct(local_manifest(sandbox_path("disk"), "  volumeMode: Block\n"),
				 sandbox_path("target")) < 0);
	assert_non_null(strstr(why.text, "block mode"));
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 0);
	end();
}

static void test_targets_that_are_none(void **state)
{
	begin();
	(void) local_manifest(sandbox_path("disk"), "");
	assert_int_equal(mount_direct(sandbox_path("pv.yaml"), sandbox_path("nowhere")), -ENOENT);
	assert_int_equal(access(sandbox_path("nowhere"), F_OK), -1);
	assert_int_equal(mount_direct(sandbox_path("pv.yaml"), "/"), -EINVAL);
	assert_int_equal(mount_direct(sandbox_path("pv.yaml"), sandbox_path("disk/file")),
			 -ENOTDIR);
	assert_return_code(symlink("target", sandbox_path("link")), errno);
	assert_int_equal(mount_direct(sandbox_path("pv.yaml"), sandbox_path("link")), 0);
	assert_true(sandbox_has("target/file", "data"));
	assert_return_code(chdir(sandbox_dir()), errno);
	assert_int_equal(unmount_direct("target"), 0);
	assert_return_code(chdir("/"), errno);
	end();
}

/* Below the root directory of a daemon that runs nothing is mounted or unmounted behind its back.
 */
static void test_lock_of_the_root_directory(void **state)
{
	cleanup_close int lock_fd = -EBADF;
	begin();
	(void) local_manifest(sandbox_path("disk"), "");
	sandbox_mkdir("root/target", 0755);
	assert_int_equal(mount_direct(sandbox_path("pv.yaml"), sandbox_path("root/target")), 0);

	lock_fd = open(sandbox_path("root"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_return_code(flock(lock_fd, LOCK_EX | LOCK_NB), errno);
	assert_int_equal(unmount_direct(sandbox_path("root/target")), -EBUSY);
	assert_non_null(strstr(why.text, "a running podvold uses"));
	assert_int_equal(mount_direct(sandbox_path("pv.yaml"), sandbox_path("root/target")),
			 -EBUSY);
	assert_int_equal(mount_direct(sandbox_path("pv.yaml"), sandbox_path("target")), 0);
	assert_int_equal(unmount_direct(sandbox_path("target")), 0);

	lock_fd = close_keep_errno(lock_fd);
	assert_int_equal(unmount_direct(sandbox_path("root/target")), 0);
	end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_directory),
		SANDBOX_TEST(test_mount_options),
		SANDBOX_TEST(test_device),
		SANDBOX_TEST(test_host_path),
		SANDBOX_TEST(test_files_on_files),
		SANDBOX_TEST(test_manifests_that_say_something_else),
		SANDBOX_TEST(test_targets_that_are_none),
		SANDBOX_TEST(test_lock_of_the_root_directory),
	};

	return sandbox_run("direct", tests, ARRAY_SIZE(tests));
}
