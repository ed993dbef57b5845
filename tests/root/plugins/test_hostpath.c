/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hostpath - hostPath types that need root to make what is checked
 *
 * A device node needs no device behind it: it is looked at and never opened.
 */
#include "tests/root/sandbox.h"
#include "tests/root/volume.h"

#include "base/cleanup.h"
#include "base/syscalls.h"

#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>

static int check(const char *path, const char *type, struct test_volume *volume)
{
	volume->source.source = SOURCE_HOST_PATH;
	volume->source.host_path = path;
	volume->source.host_path_type = type;
	return test_volume_run(volume, volume->plugin->new_mounter);
}

/* case 33, case 34 */
static void test_block_device_nodes(void **state)
{
	struct test_volume volume;

	test_volume_init(&volume, "kubernetes.io/host-path", false);
	assert_return_code(mknod(sandbox_path("block"), S_IFBLK | 0600, makedev(259, 4095)), errno);
	assert_int_equal(check(sandbox_path("block"), "BlockDevice", &volume), 0);
	assert_true(check(sandbox_path("block"), "CharDevice", &volume) < 0);
	assert_non_null(strstr(volume.report.failure.text, "is not a character device"));
	test_volume_done(&volume);
}

/* case 38, case 39, pods come and go, the directory stays as its owner left it */
static void test_data_is_never_touched(void **state)
{
	struct test_volume volume;
	struct stat st;

	test_volume_init(&volume, "kubernetes.io/host-path", false);
	sandbox_mkdir("data", 0700);
	sandbox_write("data/file", "precious");
	assert_return_code(chown(sandbox_path("data"), 1, 2), errno);
	volume.pod.has_fs_group = true;
	volume.pod.fs_group = 1000;
	assert_int_equal(check(sandbox_path("data"), "DirectoryOrCreate", &volume), 0);
	assert_return_code(stat(sandbox_path("data"), &st), errno);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(st.st_uid, 1);
	assert_int_equal(st.st_gid, 2);
	assert_null(volume.plugin->new_unmounter);
	assert_true(sandbox_has("data/file", "precious"));
	test_volume_done(&volume);
}

/* Magic links mean this process's own descriptors, not what the author of the pod meant. */
static void test_magic_links_are_not_followed(void **state)
{
	static const struct open_how how = { .flags = O_PATH };
	struct test_volume volume;
	int fd = openat2(AT_FDCWD, "/", &how, sizeof(how));

	if (fd < 0 && errno == ENOSYS) {
		print_message("no openat2() here to tell magic links by\n");
		skip();
	}
	(void) close(fd);
	test_volume_init(&volume, "kubernetes.io/host-path", false);
	assert_true(check("/proc/self/fd/0", "CharDevice", &volume) < 0);
	assert_true(check("/proc/self/root/tmp", "Directory", &volume) < 0);
	assert_int_equal(check("/proc/self/attr", "Directory", &volume), 0);
	test_volume_done(&volume);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_block_device_nodes),
		SANDBOX_TEST(test_data_is_never_touched),
		SANDBOX_TEST(test_magic_links_are_not_followed),
	};

	return sandbox_run("hostpath", tests, ARRAY_SIZE(tests));
}
