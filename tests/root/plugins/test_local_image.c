/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_local_image - local volumes in images: made, mounted, grown, taken down and removed
 *
 * Through the directory's functions and the plugin's stages, on the kernel's loop devices.
 */
#include "tests/root/loop_image.h"
#include "tests/root/sandbox.h"
#include "tests/root/volume.h"

#include "base/cleanup.h"
#include "mount/capacity/capacity.h"
#include "mount/filesystem/loop_device.h"
#include "mount/remove/volume_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>

#define UID     "uid-1"
#define MIB     (1 << 20)
#define STAGING "root/plugins/kubernetes.io/local-volume/mounts/pv1"
#define TARGET  "root/pods/u1/volumes/kubernetes.io~local-volume/pv1"
#define IMAGE   "base/v/volume.img"

struct fixture {
	struct test_volume volume;
	struct volume_directory directory;
	struct persistent_volume_claim claim;
	struct object claim_object;
	char base[64], path[96];
};

static void begin_with(struct fixture *fixture, uint64_t bytes, const char *type)
{
	struct failure why = { .error = 0 };

	if (access("/dev/loop-control", W_OK) < 0) {
		print_message("# no loop devices here\n");
		skip();
	}
	*fixture = (struct fixture){ .directory = { .name = "v" } };
	(void) snprintf(fixture->base, sizeof(fixture->base), "%s", sandbox_path("base"));
	(void) snprintf(fixture->path, sizeof(fixture->path), "%s", sandbox_path(IMAGE));
	fixture->directory.base_path = fixture->base;
	fixture->directory.mark = UID;
	fixture->directory.capacity = CAPACITY_IMAGE;
	fixture->directory.bytes = bytes;
	if (volume_directory_make(&fixture->directory, 0770, &why) < 0)
		fail_msg("%s", why.text);
	test_volume_init(&fixture->volume, "kubernetes.io/local-volume", true);
	fixture->volume.pv.source = PV_SOURCE_LOCAL;
	fixture->volume.pv.local_path = fixture->path;
	fixture->volume.pv.fs_type = type;
	fixture->volume.pv.origin.capacity = CAPACITY_IMAGE;
	fixture->volume.pv_object.meta.uid = UID;
}

static void begin(struct fixture *fixture)
{
	begin_with(fixture, 16 * MIB, "ext4");
}

static void end(struct fixture *fixture)
{
	test_volume_done(&fixture->volume);
}

static int run(struct fixture *fixture, stage_list_fn *slot)
{
	return test_volume_run(&fixture->volume, slot);
}

static void mount_it(struct fixture *fixture)
{
	if (run(fixture, fixture->volume.plugin->new_device_mounter) != STAGE_NEXT)
		fail_msg("%s", fixture->volume.report.failure.text);
	if (run(fixture, fixture->volume.plugin->new_mounter) != STAGE_LIST_DONE)
		fail_msg("%s", fixture->volume.report.failure.text);
}

static void take_down(struct fixture *fixture)
{
	if (run(fixture, fixture->volume.plugin->new_unmounter) != STAGE_NEXT)
		fail_msg("%s", fixture->volume.report.failure.text);
	if (run(fixture, fixture->volume.plugin->new_device_unmounter) != STAGE_NEXT)
		fail_msg("%s", fixture->volume.report.failure.text);
}

static uint64_t blocks_of(const char *relative)
{
	struct stat status;

	assert_return_code(stat(sandbox_path(relative), &status), errno);
	return (uint64_t) status.st_blocks * 512;
}

static uint64_t size_of_target(void)
{
	struct statvfs status;

	assert_return_code(statvfs(sandbox_path(TARGET), &status), errno);
	return (uint64_t) status.f_blocks * status.f_frsize;
}

/* The kernel may let go of a device a moment after its last user did. */
static void wait_detached(void)
{
	cleanup_close int fd = open(sandbox_path(IMAGE), O_RDONLY | O_CLOEXEC);
	unsigned int moments = 0;

	while (loop_device_is_attached(fd) != 0)
		assert_true(sandbox_wait(&moments));
}

static void a_whole_life(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	assert_true(blocks_of(IMAGE) >= 16 * MIB);
	mount_it(&fixture);
	/* What mkfs gave back is taken again. */
	assert_true(blocks_of(IMAGE) >= 16 * MIB);
	assert_string_equal(fixture.volume.pv.local_path, fixture.path);
	sandbox_write(TARGET "/file", "data");
	assert_true(size_of_target() < 16 * MIB);
	/* The whole disk is not theirs. */
	assert_int_equal(run(&fixture, fixture.volume.plugin->new_device_mounter), STAGE_LIST_DONE);
	assert_string_equal(fixture.volume.report.device_path, fixture.path);
	assert_int_equal(volume_directory_remove(&fixture.directory, NULL), -EBUSY);
	take_down(&fixture);
	wait_detached();

	mount_it(&fixture);
	assert_true(sandbox_has(TARGET "/file", "data"));
	take_down(&fixture);
	wait_detached();
	assert_int_equal(volume_directory_remove(&fixture.directory, NULL), 0);
	assert_int_equal(access(sandbox_path("base/v"), F_OK), -1);
	end(&fixture);
}

static void it_holds_no_more_than_its_size(void **state)
{
	struct fixture fixture;
	cleanup_free char *block = calloc(1, MIB);
	int fd, written = 0;

	begin(&fixture);
	mount_it(&fixture);
	fd = open(sandbox_path(TARGET "/file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (written < 64 && write(fd, block, MIB) == MIB)
		written++;
	assert_int_equal(errno, ENOSPC);
	assert_in_range(written, 8, 16);
	(void) close(fd);
	take_down(&fixture);
	wait_detached();
	end(&fixture);
}

/* Others fill the file system beneath: what the volume was promised is its own. */
static void a_full_disk_beneath_harms_nothing(void **state)
{
	struct fixture fixture;
	cleanup_free char *block = calloc(1, MIB);
	int fd, written = 0;

	sandbox_mkdir("base", 0755);
	assert_return_code(mount("b", sandbox_path("base"), "tmpfs", 0, "size=24m"), errno);
	begin(&fixture);
	mount_it(&fixture);
	fd = open(sandbox_path("base/others"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (write(fd, block, 65536) > 0)
		continue;
	assert_int_equal(errno, ENOSPC);
	(void) close(fd);
	fd = open(sandbox_path(TARGET "/file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (written < 8 && write(fd, block, MIB) == MIB)
		written++;
	assert_int_equal(written, 8);
	assert_return_code(fsync(fd), errno);
	(void) close(fd);
	take_down(&fixture);
	wait_detached();
	assert_int_equal(volume_directory_remove(&fixture.directory, NULL), 0);
	end(&fixture);
	assert_return_code(umount(sandbox_path("base")), errno);
}

/* The staging path follows from the volume's name. */
static void it_is_taken_down_without_a_recorded_path(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	mount_it(&fixture);
	fixture.volume.request.device_mount_path = "";
	take_down(&fixture);
	wait_detached();
	end(&fixture);
}

/* The claim has less than its volume says. */
static void ask_for(struct fixture *fixture, uint64_t bytes)
{
	char text[32];

	(void) snprintf(text, sizeof(text), "%llu", (unsigned long long) bytes);
	assert_int_equal(quantity_parse(text, &fixture->volume.pv.capacity, NULL), 0);
	assert_int_equal(quantity_parse("1Mi", &fixture->claim.status_capacity, NULL), 0);
	fixture->claim_object.claim = &fixture->claim;
	fixture->volume.request.claim = &fixture->claim_object;
}

static void it_grows_while_it_is_used(const char *type, uint64_t bytes, uint64_t more)
{
	struct fixture fixture;
	uint64_t before;
	int fd;

	begin_with(&fixture, bytes, type);
	mount_it(&fixture);
	before = size_of_target();
	fd = open(sandbox_path(TARGET "/file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ask_for(&fixture, bytes + more);
	assert_int_equal(run(&fixture, fixture.volume.plugin->new_mounter), STAGE_LIST_DONE);
	assert_int_equal(fixture.volume.report.grown_bytes, bytes + more);
	assert_true(size_of_target() > before + more * 3 / 4);
	assert_int_equal(write(fd, "data", 4), 4);
	(void) close(fd);
	/* Once more changes nothing. */
	assert_int_equal(run(&fixture, fixture.volume.plugin->new_mounter), STAGE_LIST_DONE);
	take_down(&fixture);
	wait_detached();
	end(&fixture);
}

/* Else the kernel refuses to grow an ext4. */
static void need_resource_capability(void)
{
	const int capability = 24; /* CAP_SYS_RESOURCE */

	if (prctl(PR_CAPBSET_READ, capability) == 1)
		return;
	print_message("# without CAP_SYS_RESOURCE no ext4 can grow\n");
	skip();
}

static void an_ext4_grows(void **state)
{
	need_resource_capability();
	it_grows_while_it_is_used("ext4", 16 * MIB, 16 * MIB);
}

static void an_xfs_grows(void **state)
{
	it_grows_while_it_is_used("xfs", 304 * MIB, 32 * MIB);
}

static void one_that_grew_unused_is_so_large_when_mounted(void **state)
{
	struct fixture fixture;
	uint64_t before;

	begin_with(&fixture, 304 * MIB, "xfs");
	mount_it(&fixture);
	before = size_of_target();
	take_down(&fixture);
	wait_detached();
	fixture.directory.bytes = 336 * MIB;
	assert_int_equal(volume_directory_grow(&fixture.directory, NULL), 0);
	mount_it(&fixture);
	assert_true(size_of_target() > before + 24 * MIB);
	take_down(&fixture);
	wait_detached();
	end(&fixture);
}

/* case 475: it is mounted as large as it is. */
static void what_does_not_fit_does_not_grow(void **state)
{
	struct fixture fixture;
	uint64_t before;

	begin(&fixture);
	mount_it(&fixture);
	before = size_of_target();
	ask_for(&fixture, UINT64_C(1) << 50);
	assert_int_equal(run(&fixture, fixture.volume.plugin->new_mounter), STAGE_LIST_DONE);
	assert_int_equal(fixture.volume.report.grown_bytes, 0);
	assert_true(fixture.volume.report.growth_error < 0);
	assert_true(fixture.volume.report.grows_later);
	assert_int_equal(size_of_target(), before);
	/* Nor what is another volume's. */
	ask_for(&fixture, 32 * MIB);
	assert_int_equal(capacity_grow_at(fixture.path, "uid-2", 32 * MIB, NULL), -EPERM);
	assert_int_equal(capacity_grow_at(fixture.base, UID, 32 * MIB, NULL), -EPERM);
	assert_true(blocks_of(IMAGE) < 20 * MIB);
	take_down(&fixture);
	wait_detached();
	end(&fixture);
}

/* A path that was edited, or a copy of the volume: its directory is another's. */
static void what_is_not_its_own_is_not_mounted(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	fixture.volume.pv_object.meta.uid = "uid-2";
	assert_int_equal(run(&fixture, fixture.volume.plugin->new_device_mounter), -EPERM);
	fixture.volume.pv_object.meta.uid = UID;
	fixture.volume.pv.local_path = fixture.base;
	assert_int_equal(run(&fixture, fixture.volume.plugin->new_device_mounter), -EINVAL);
	/* A file is a source of such volumes only. */
	fixture.volume.pv.local_path = fixture.path;
	fixture.volume.pv.origin.capacity = "";
	assert_int_equal(run(&fixture, fixture.volume.plugin->new_device_mounter), -ENOTSUP);
	/* A link in the image's place leads nowhere. */
	fixture.volume.pv.origin.capacity = CAPACITY_IMAGE;
	assert_return_code(rename(fixture.path, sandbox_path("base/elsewhere")), errno);
	assert_return_code(symlink("../elsewhere", fixture.path), errno);
	assert_int_equal(run(&fixture, fixture.volume.plugin->new_device_mounter), -ELOOP);
	end(&fixture);
}

/* Two devices over one file would destroy it. */
static void what_somebody_else_attached_is_refused(void **state)
{
	struct fixture fixture;
	struct loop_image other;

	begin(&fixture);
	other = loop_image_over(IMAGE, false);
	assert_int_equal(run(&fixture, fixture.volume.plugin->new_device_mounter), -EBUSY);
	assert_non_null(strstr(fixture.volume.report.failure.text, "by another program"));
	assert_int_equal(volume_directory_remove(&fixture.directory, NULL), -EBUSY);
	assert_int_equal(volume_directory_unmake(&fixture.directory, NULL), -EBUSY);
	loop_image_done(&other);
	wait_detached();
	assert_int_equal(volume_directory_unmake(&fixture.directory, NULL), 0);
	assert_int_equal(access(sandbox_path("base/v"), F_OK), -1);
	end(&fixture);
}

/* As when a mkfs of a process that was killed goes on. */
static void a_device_from_before_is_taken_up(void **state)
{
	struct fixture fixture;
	cleanup_close int image = -EBADF, first = -EBADF, second = -EBADF;
	cleanup_free char *a = NULL, *b = NULL;

	begin(&fixture);
	image = open(fixture.path, O_RDWR | O_CLOEXEC);
	first = loop_device_open_image(image, fixture.path, &a, NULL);
	second = loop_device_open_image(image, fixture.path, &b, NULL);
	assert_return_code(first, errno);
	assert_return_code(second, errno);
	assert_string_equal(a, b);
	assert_true(loop_device_goes_by_itself(a));
	first = close_keep_errno(first);
	second = close_keep_errno(second);
	wait_detached();
	end(&fixture);
}

/* Its record is a path, its loop device bears a label of that. */
static void another_device_in_its_place_stays(void **state)
{
	struct loop_image other;
	struct fixture fixture;

	begin(&fixture);
	mount_it(&fixture);
	take_down(&fixture);
	wait_detached();
	other = loop_image_new("other", 16);
	loop_image_run((const char *const[]){ "/usr/sbin/mkfs.ext4", "-q", other.path, NULL });
	assert_return_code(mkdir(sandbox_path(STAGING), 0750), errno);
	assert_return_code(mount(other.path, sandbox_path(STAGING), "ext4", 0, NULL), errno);
	assert_string_equal(fixture.volume.device_path, fixture.path);
	assert_int_equal(run(&fixture, fixture.volume.plugin->new_device_unmounter), -ENOTEMPTY);
	assert_return_code(umount2(sandbox_path(STAGING), 0), errno);
	loop_image_done(&other);
	end(&fixture);
}

static void one_that_does_not_fit_leaves_nothing(void **state)
{
	struct fixture fixture = { .directory = { .name = "v" } };
	struct failure why = { .error = 0 };

	sandbox_mkdir("small", 0755);
	assert_return_code(mount("s", sandbox_path("small"), "tmpfs", 0, "size=4m"), errno);
	(void) snprintf(fixture.base, sizeof(fixture.base), "%s", sandbox_path("small"));
	fixture.directory = (struct volume_directory){ .base_path = fixture.base,
						       .name = "v",
						       .mark = UID,
						       .capacity = CAPACITY_IMAGE,
						       .bytes = 8 * MIB };
	assert_int_equal(volume_directory_make(&fixture.directory, 0770, &why), -ENOSPC);
	assert_non_null(strstr(why.text, "no room for an image of 8388608 bytes"));
	assert_int_equal(access(sandbox_path("small/v"), F_OK), -1);
	/* One that is there keeps its size when it cannot grow. */
	fixture.directory.bytes = 2 * MIB;
	assert_int_equal(volume_directory_make(&fixture.directory, 0770, NULL), 0);
	assert_int_equal(volume_directory_make(&fixture.directory, 0770, NULL), 0);
	fixture.directory.bytes = 8 * MIB;
	assert_int_equal(volume_directory_grow(&fixture.directory, NULL), -ENOSPC);
	assert_int_equal(blocks_of("small/v/volume.img"), 2 * MIB);
	assert_int_equal(volume_directory_unmake(&fixture.directory, NULL), 0);
	assert_return_code(umount(sandbox_path("small")), errno);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(a_whole_life),
		SANDBOX_TEST(it_holds_no_more_than_its_size),
		SANDBOX_TEST(a_full_disk_beneath_harms_nothing),
		SANDBOX_TEST(it_is_taken_down_without_a_recorded_path),
		SANDBOX_TEST(an_ext4_grows),
		SANDBOX_TEST(an_xfs_grows),
		SANDBOX_TEST(one_that_grew_unused_is_so_large_when_mounted),
		SANDBOX_TEST(what_does_not_fit_does_not_grow),
		SANDBOX_TEST(what_is_not_its_own_is_not_mounted),
		SANDBOX_TEST(what_somebody_else_attached_is_refused),
		SANDBOX_TEST(another_device_in_its_place_stays),
		SANDBOX_TEST(a_device_from_before_is_taken_up),
		SANDBOX_TEST(one_that_does_not_fit_leaves_nothing),
	};

	return sandbox_run("local_image", tests, ARRAY_SIZE(tests));
}
