/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_file_volume - the teardown of a secret overwrites what podvold wrote, and nobody else's
 * files
 */
#include "volume.h"

#include "base/cleanup.h"

#include <sys/mount.h>

#define PATH   "pods/u1/volumes/kubernetes.io~secret/scratch"
#define VOLUME "root/" PATH

static void begin(struct test_volume *volume)
{
	cleanup_close int fd = -EBADF;

	test_volume_init(volume, "kubernetes.io/secret", false);
	fd = make_directories(volume->host.root_fd, PATH, 0755, NULL);
	assert_true(fd >= 0);
}

static int tear_down(struct test_volume *volume)
{
	return test_volume_run(volume, volume->plugin->new_unmounter);
}

/* Somebody hid the volume: what is seen in its place is theirs. */
static void test_what_others_mounted_is_not_overwritten(void **state)
{
	struct test_volume volume;

	begin(&volume);
	sandbox_mkdir("theirs", 0755);
	sandbox_mkdir("theirs/sub", 0755);
	sandbox_write("theirs/file", "theirs");
	sandbox_write("theirs/sub/file", "theirs, too");
	assert_return_code(mount(sandbox_path("theirs"), sandbox_path(VOLUME), NULL, MS_BIND, NULL),
			   errno);
	(void) tear_down(&volume);
	assert_true(sandbox_has("theirs/file", "theirs"));
	assert_true(sandbox_has("theirs/sub/file", "theirs, too"));
	assert_int_equal(sandbox_mounts_below(sandbox_path(VOLUME)), 0);
	test_volume_done(&volume);
}

/* A file system that no emptyDir has is not even taken away. */
static void test_another_file_system_is_left(void **state)
{
	struct test_volume volume;

	begin(&volume);
	assert_return_code(mount("proc", sandbox_path(VOLUME), "proc", 0, NULL), errno);
	assert_int_equal(tear_down(&volume), -EBUSY);
	assert_int_equal(sandbox_mounts_below(sandbox_path(VOLUME)), 1);
	assert_return_code(umount2(sandbox_path(VOLUME), 0), errno);
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	test_volume_done(&volume);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_what_others_mounted_is_not_overwritten),
		SANDBOX_TEST(test_another_file_system_is_left),
	};

	return sandbox_run("file_volume", tests, ARRAY_SIZE(tests));
}
