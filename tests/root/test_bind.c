/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bind - bind mounts between pinned ends, on the real kernel
 */
#include "sandbox.h"

#include "base/cleanup.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

static int open_path(const char *relative)
{
	int fd = open(sandbox_path(relative), O_PATH | O_CLOEXEC);

	assert_return_code(fd, errno);
	return fd;
}

static int bind_paths(const char *source, const char *target,
		      const struct mount_attributes *attributes, struct failure *reterr)
{
	cleanup_close int source_fd = open_path(source);
	cleanup_close int target_fd = open_path(target);

	return bind_at(source_fd, target_fd, attributes, reterr);
}

static void unmount(const char *relative)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	struct failure failure = { 0 };

	assert_int_equal(place_open(sandbox_fd(), sandbox_dir(), relative, &place, &failure), 0);
	assert_int_equal(unmount_place(&place, 0, &failure), 0);
}

static void test_bind_shows_the_source(void **state)
{
	struct failure failure = { 0 };

	(void) state;
	sandbox_mkdir("source", 0755);
	sandbox_write("source/file", "data");
	sandbox_mkdir("target", 0750);

	assert_int_equal(bind_paths("source", "target", NULL, &failure), 0);
	assert_true(sandbox_has("target/file", "data"));
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 1);
	unmount("target");
	assert_false(sandbox_has("target/file", "data"));
}

static unsigned long flags_of(const char *relative)
{
	struct statvfs status;

	assert_return_code(statvfs(sandbox_path(relative), &status), errno);
	return status.f_flag;
}

/* case 92: kubelet binds and remounts; ours is one mount that appears with its attributes. */
static void test_bind_read_only(void **state)
{
	const struct mount_attributes read_only = { .set = MOUNT_ATTR_RDONLY };
	struct failure failure = { 0 };

	(void) state;
	sandbox_mkdir("source", 0755);
	sandbox_mkdir("target", 0750);

	assert_int_equal(bind_paths("source", "target", &read_only, &failure), 0);
	assert_true(flags_of("target") & ST_RDONLY);
	assert_false(flags_of("source") & ST_RDONLY);
	assert_int_equal(mkdir(sandbox_path("target/new"), 0700), -1);
	assert_int_equal(mkdir(sandbox_path("source/new"), 0700), 0);
	unmount("target");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_bind_shows_the_source),
		SANDBOX_TEST(test_bind_read_only),
	};

	return sandbox_run("bind", tests, ARRAY_SIZE(tests));
}
