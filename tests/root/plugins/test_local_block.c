/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_local_block - local volumes in block mode: bind file, link and lock, on loop devices
 */
#include "tests/root/sandbox.h"
#include "tests/root/volume.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#define GLOBAL "root/plugins/kubernetes.io~local-volume/volumeDevices/pv1"
#define PODMAP "root/pods/u1/volumeDevices/kubernetes.io~local-volume"

struct fixture {
	struct test_volume volume;
	struct test_loop loop;
};

static void begin(struct fixture *fixture)
{
	test_loop_attach(&fixture->loop, "image", 4);
	test_volume_init(&fixture->volume, "kubernetes.io/local-volume", true);
	fixture->volume.pv.source = PV_SOURCE_LOCAL;
	fixture->volume.pv.local_path = fixture->loop.path;
	fixture->volume.spec.block = true;
}

static void end(struct fixture *fixture)
{
	test_volume_done(&fixture->volume);
	test_loop_detach(&fixture->loop);
}

static int map(struct fixture *fixture, const char *pod_uid)
{
	fixture->volume.request.pod_uid = pod_uid;
	return test_volume_run(&fixture->volume, fixture->volume.plugin->new_block_mapper);
}

/* Tried again while it is busy, as podvold does: a lock that another program has open at that
 * moment (this test elsewhere opens all loop devices) keeps the file that it is made of. */
static int unmap(struct fixture *fixture, const char *pod_uid)
{
	unsigned int moments = 0;
	int r;

	fixture->volume.request.pod_uid = pod_uid;
	do
		r = test_volume_run(&fixture->volume, fixture->volume.plugin->new_block_unmapper);
	while (r == -EBUSY && sandbox_wait(&moments));
	return r;
}

static int release(struct fixture *fixture)
{
	fixture->volume.request.device_path = fixture->loop.path;
	return test_volume_run(&fixture->volume, fixture->volume.plugin->new_device_unmapper);
}

static bool exists(const char *relative)
{
	return faccessat(AT_FDCWD, sandbox_path(relative), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* How many loop devices sit on this device. */
static unsigned int count_locks(const struct test_loop *loop)
{
	unsigned int count = 0;
	struct stat device, st;
	char path[64];

	assert_return_code(stat(loop->path, &device), errno);
	for (int i = 0; i < 64; i++) {
		struct loop_info64 info = { 0 };
		cleanup_close int fd = -EBADF;

		(void) snprintf(path, sizeof(path), "/sys/block/loop%d/loop/backing_file", i);
		if (stat(path, &st) < 0)
			continue;
		(void) snprintf(path, sizeof(path), "/dev/loop%d", i);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && ioctl(fd, LOOP_GET_STATUS64, &info) == 0 &&
		    info.lo_rdevice == device.st_rdev)
			count++;
	}
	return count;
}

/* One that another program has open at that moment goes when it is closed. */
static void expect_no_locks(const struct test_loop *loop)
{
	unsigned int moments = 0;

	while (count_locks(loop) > 0)
		assert_true(sandbox_wait(&moments));
}

static void expect_device(const char *relative, const struct test_loop *loop)
{
	struct stat device, st;

	assert_return_code(stat(loop->path, &device), errno);
	assert_return_code(stat(sandbox_path(relative), &st), errno);
	assert_true(S_ISBLK(st.st_mode));
	assert_int_equal(st.st_rdev, device.st_rdev);
}

/* case 66, and all the way back */
static void test_map_and_unmap(void **state)
{
	struct fixture fixture;
	char link[64];
	ssize_t length;

	begin(&fixture);
	assert_int_equal(map(&fixture, "u1"), STAGE_NEXT);
	assert_string_equal(fixture.volume.report.device_path, fixture.loop.path);
	expect_device(GLOBAL "/u1", &fixture.loop);
	expect_device(PODMAP "/pv1", &fixture.loop);
	length = readlink(sandbox_path(PODMAP "/pv1"), link, sizeof(link));
	assert_int_equal(length, strlen(fixture.loop.path));
	assert_memory_equal(link, fixture.loop.path, (size_t) length);
	assert_int_equal(count_locks(&fixture.loop), 1);

	assert_int_equal(release(&fixture), -EBUSY);
	assert_int_equal(unmap(&fixture, "u1"), STAGE_NEXT);
	expect_no_locks(&fixture.loop);
	assert_false(exists(GLOBAL "/u1"));
	assert_false(exists("root/pods/u1"));
	assert_int_equal(release(&fixture), STAGE_NEXT);
	assert_false(exists("root/plugins/kubernetes.io~local-volume"));
	end(&fixture);
}

/* After a crash the same comes again: from its beginning, and from its end. */
static void test_repetition(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	assert_int_equal(map(&fixture, "u1"), STAGE_NEXT);
	assert_int_equal(map(&fixture, "u1"), STAGE_NEXT);
	assert_int_equal(count_locks(&fixture.loop), 1);
	assert_int_equal(sandbox_mounts_below(sandbox_path("root")), 1);
	assert_int_equal(unmap(&fixture, "u1"), STAGE_NEXT);
	assert_int_equal(unmap(&fixture, "u1"), STAGE_NEXT);
	assert_int_equal(release(&fixture), STAGE_NEXT);
	assert_int_equal(release(&fixture), STAGE_NEXT);
	end(&fixture);
}

/* The bind file was taken away, and its lock lost its user: the pod's teardown finds it. */
static void test_lock_without_its_bind_file(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	assert_int_equal(map(&fixture, "u1"), STAGE_NEXT);
	assert_return_code(umount2(sandbox_path(GLOBAL "/u1"), MNT_DETACH), errno);
	assert_int_equal(count_locks(&fixture.loop), 1);
	/* wanted: the same lock, through what is bound again */
	assert_int_equal(map(&fixture, "u1"), STAGE_NEXT);
	expect_device(GLOBAL "/u1", &fixture.loop);
	assert_int_equal(count_locks(&fixture.loop), 1);
	/* wanted no more */
	assert_return_code(umount2(sandbox_path(GLOBAL "/u1"), MNT_DETACH), errno);
	assert_return_code(unlink(sandbox_path(GLOBAL "/u1")), errno);
	assert_int_equal(unmap(&fixture, "u1"), STAGE_NEXT);
	expect_no_locks(&fixture.loop);
	assert_int_equal(release(&fixture), STAGE_NEXT);
	end(&fixture);
}

/* The device stays locked as long as one pod has it. */
static void test_two_pods(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	assert_int_equal(map(&fixture, "u1"), STAGE_NEXT);
	assert_int_equal(map(&fixture, "u2"), STAGE_NEXT);
	assert_int_equal(unmap(&fixture, "u1"), STAGE_NEXT);
	assert_int_equal(count_locks(&fixture.loop), 1);
	expect_device(GLOBAL "/u2", &fixture.loop);
	assert_int_equal(release(&fixture), -EBUSY);
	assert_non_null(strstr(fixture.volume.report.failure.text, "/pv1/u2"));
	assert_int_equal(unmap(&fixture, "u2"), STAGE_NEXT);
	expect_no_locks(&fixture.loop);
	assert_int_equal(release(&fixture), STAGE_NEXT);
	end(&fixture);
}

/* What an administrator put in the link's place is left alone; a bind file without its mount goes.
 */
static void test_foreign_volumes_files(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	assert_int_equal(map(&fixture, "u1"), STAGE_NEXT);
	assert_return_code(unlink(sandbox_path(PODMAP "/pv1")), errno);
	sandbox_write(PODMAP "/pv1", "not ours");
	assert_int_equal(unmap(&fixture, "u1"), STAGE_NEXT);
	assert_true(sandbox_has(PODMAP "/pv1", "not ours"));

	sandbox_write(GLOBAL "/u1", "");
	assert_int_equal(unmap(&fixture, "u1"), STAGE_NEXT);
	assert_false(exists(GLOBAL "/u1"));
	assert_int_equal(map(&fixture, "u1"), -EEXIST);
	assert_int_equal(fixture.volume.report.error_class, ERROR_UNCERTAIN);
	assert_int_equal(unmap(&fixture, "u1"), STAGE_NEXT);
	assert_int_equal(release(&fixture), STAGE_NEXT);
	end(&fixture);
}

static void test_another_device_in_the_bind_file(void **state)
{
	struct fixture fixture;
	struct test_loop other;

	begin(&fixture);
	test_loop_attach(&other, "other", 4);
	assert_int_equal(map(&fixture, "u1"), STAGE_NEXT);
	fixture.volume.pv.local_path = other.path;
	assert_int_equal(map(&fixture, "u1"), -EBUSY);
	expect_device(GLOBAL "/u1", &fixture.loop);
	assert_int_equal(unmap(&fixture, "u1"), STAGE_NEXT);
	assert_int_equal(release(&fixture), STAGE_NEXT);
	test_loop_detach(&other);
	end(&fixture);
}

static void test_directories_and_busy_devices(void **state)
{
	struct fixture fixture;
	cleanup_close int fd = -EBADF;

	begin(&fixture);
	sandbox_mkdir("disk", 0755);
	fixture.volume.pv.local_path = sandbox_path("disk");
	assert_int_equal(map(&fixture, "u1"), -ENOTBLK);
	assert_false(exists("root/pods"));

	fd = open(fixture.loop.path, O_RDONLY | O_EXCL | O_CLOEXEC);
	assert_return_code(fd, errno);
	assert_int_equal(release(&fixture), -EBUSY);
	assert_int_equal(fixture.volume.report.error_class, ERROR_UNCERTAIN);
	fd = close_keep_errno(fd);
	assert_int_equal(release(&fixture), STAGE_NEXT);
	end(&fixture);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_map_and_unmap),
		SANDBOX_TEST(test_repetition),
		SANDBOX_TEST(test_lock_without_its_bind_file),
		SANDBOX_TEST(test_two_pods),
		SANDBOX_TEST(test_foreign_volumes_files),
		SANDBOX_TEST(test_another_device_in_the_bind_file),
		SANDBOX_TEST(test_directories_and_busy_devices),
	};

	return sandbox_run("local_block", tests, ARRAY_SIZE(tests));
}
