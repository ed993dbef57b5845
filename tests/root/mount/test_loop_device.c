/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_loop_device - the loop device that locks a bind file: attached once, found by inode
 */
#include "tests/root/loop_image.h"

#include "base/cleanup.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>

static int open_path(const char *relative)
{
	int fd = open(sandbox_path(relative), O_PATH | O_CLOEXEC);

	assert_return_code(fd, errno);
	return fd;
}

/* What was opened by O_PATH, to read from. */
static int open_again(int fd)
{
	char name[64];

	(void) snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return open(name, O_RDONLY | O_CLOEXEC);
}

static bool is_attached(const char *path)
{
	char name[128];

	snprintf(name, sizeof(name), "/sys/block/%s/loop/backing_file", path + strlen("/dev/"));
	return access(name, F_OK) == 0;
}

/* With its last descriptor, which another test that looks through all devices may have. */
static bool is_detached_soon(const char *path)
{
	unsigned int moments = 0;

	while (is_attached(path) && sandbox_wait(&moments))
		continue;
	return !is_attached(path);
}

static char *attach(int fd)
{
	struct failure failure = { 0 };
	char *path = NULL;

	if (loop_device_attach(fd, "/some/bind/file", &path, &failure) < 0)
		fail_msg("%s", failure.text);
	return path;
}

static void make_backing(const char *relative)
{
	sandbox_write(relative, "");
	assert_return_code(truncate(sandbox_path(relative), 1 << 20), errno);
}

static void need_loop_devices(void)
{
	if (access("/dev/loop-control", R_OK | W_OK) == 0)
		return;
	print_message("# no loop devices here\n");
	skip();
}

static void test_attach_once_and_detach(void **state)
{
	cleanup_close int fd = -EBADF;
	cleanup_free char *first = NULL, *second = NULL;
	struct failure failure = { 0 };

	need_loop_devices();
	make_backing("file");
	fd = open_path("file");
	first = attach(fd);
	assert_true(is_attached(first));
	second = attach(fd);
	assert_string_equal(first, second);

	assert_int_equal(loop_device_detach(fd, "/some/bind/file", &failure), 0);
	assert_true(is_detached_soon(first));
	assert_int_equal(loop_device_detach(fd, "/some/bind/file", &failure), 0); /* none is fine */
}

static void test_it_is_read_only(void **state)
{
	cleanup_close int fd = -EBADF, loop_fd = -EBADF;
	cleanup_free char *path = NULL;
	int read_only = 0;

	need_loop_devices();
	make_backing("file");
	fd = open_path("file");
	path = attach(fd);
	loop_fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_return_code(loop_fd, errno);
	assert_return_code(ioctl(loop_fd, BLKROGET, &read_only), errno);
	(void) close(TAKE_FD(loop_fd));
	assert_int_equal(loop_device_detach(fd, "file", NULL), 0);
	assert_int_equal(read_only, 1);
}

/* Another file under the name the first one had is another file. */
static void test_it_belongs_to_the_inode(void **state)
{
	cleanup_close int fd = -EBADF, other_fd = -EBADF;
	cleanup_free char *path = NULL, *other = NULL;

	need_loop_devices();
	make_backing("file");
	fd = open_path("file");
	path = attach(fd);
	assert_return_code(rename(sandbox_path("file"), sandbox_path("renamed")), errno);
	make_backing("file");
	other_fd = open_path("file");
	assert_int_equal(loop_device_detach(other_fd, "file", NULL), 0);
	assert_true(is_attached(path));
	other = attach(other_fd);
	assert_string_not_equal(path, other);
	assert_int_equal(loop_device_detach(fd, "renamed", NULL), 0);
	assert_true(is_detached_soon(path));
	assert_true(is_attached(other));
	assert_int_equal(loop_device_detach(other_fd, "file", NULL), 0);
	assert_true(is_detached_soon(other));
}

/* A foreign loop device on the same file, under its own name; its descriptor. */
static int attach_theirs(int fd, const char *name, char path[64])
{
	cleanup_close int control_fd = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	cleanup_close int file_fd = open_again(fd), loop_fd = -EBADF;
	struct loop_config config = { .fd = (uint32_t) file_fd,
				      .info.lo_flags = LO_FLAGS_READ_ONLY };

	assert_return_code(control_fd, errno);
	(void) snprintf((char *) config.info.lo_file_name, LO_NAME_SIZE, "%s", name);
	for (int i = 0; i < 32; i++) {
		(void) snprintf(path, 64, "/dev/loop%d", ioctl(control_fd, LOOP_CTL_GET_FREE));
		loop_fd = open(path, O_RDONLY | O_CLOEXEC);
		if (loop_fd >= 0 && ioctl(loop_fd, LOOP_CONFIGURE, &config) == 0)
			return TAKE_FD(loop_fd);
		loop_fd = close_keep_errno(loop_fd);
	}
	fail_msg("no free loop device");
	return -EBADF;
}

static void test_foreign_volumes_are_left_alone(void **state)
{
	cleanup_close int fd = -EBADF, their_fd = -EBADF;
	cleanup_free char *ours = NULL;
	char theirs[64];

	need_loop_devices();
	make_backing("file");
	fd = open_path("file");
	their_fd = attach_theirs(fd, "/srv/somebody/file", theirs);
	ours = attach(fd); /* theirs may go at any time: it locks nothing of podvold's */
	assert_string_not_equal(ours, theirs);
	assert_int_equal(loop_device_detach(fd, "/some/bind/file", NULL), 0);
	assert_true(is_detached_soon(ours));
	assert_true(is_attached(theirs));
	assert_return_code(ioctl(their_fd, LOOP_CLR_FD), errno);
}

/* As kubelet and older releases leave it: as much of the path as fits. */
static void test_path_as_name_is_a_lock_too(void **state)
{
	static const char path[] = "/var/lib/kubelet/plugins/kubernetes.io~local-volume/"
				   "volumeDevices/pv/7c0d3f5e";
	cleanup_close int fd = -EBADF, their_fd = -EBADF;
	char theirs[64];

	need_loop_devices();
	make_backing("file");
	fd = open_path("file");
	their_fd = attach_theirs(fd, path, theirs);
	assert_int_equal(loop_device_detach(fd, "/other/place", NULL), 0);
	assert_true(is_attached(theirs));
	(void) close(TAKE_FD(their_fd)); /* detached at once, and not when it is closed */
	assert_int_equal(loop_device_detach(fd, path, NULL), 0);
	assert_true(is_detached_soon(theirs));
}

static void test_it_is_found_when_its_file_has_gone(void **state)
{
	cleanup_close int fd = -EBADF, other_fd = -EBADF;
	cleanup_free char *path = NULL, *other = NULL;

	need_loop_devices();
	make_backing("file");
	make_backing("other");
	fd = open_path("file");
	other_fd = open_path("other");
	path = attach(fd);
	assert_int_equal(loop_device_attach(other_fd, "/some/bind/other", &other, NULL), 0);
	(void) close(TAKE_FD(fd));
	assert_return_code(unlink(sandbox_path("file")), errno);

	assert_int_equal(loop_device_detach(-EBADF, "/some/bind", NULL), 0);
	assert_true(is_attached(path));
	assert_int_equal(loop_device_detach(-EBADF, "/some/bind/file", NULL), 0);
	assert_true(is_detached_soon(path));
	assert_true(is_attached(other));
	assert_int_equal(loop_device_detach(other_fd, "/some/bind/other", NULL), 0);
}

/* As block mode has it: a device node bound over a file. The device cannot be taken away. */
static void test_it_locks_a_device(void **state)
{
	struct loop_image image = loop_image_new("image", 8);
	cleanup_close int bind_fd = -EBADF;
	cleanup_free char *path = NULL;
	char backing[64];

	sandbox_write("bind", "");
	assert_return_code(mount(image.path, sandbox_path("bind"), NULL, MS_BIND, NULL), errno);
	bind_fd = open_path("bind");
	path = attach(bind_fd);
	assert_string_not_equal(path, image.path);
	snprintf(backing, sizeof(backing), "%s", image.path);
	loop_image_done(&image); /* would detach itself now */
	assert_true(is_attached(backing));

	assert_int_equal(loop_device_detach(bind_fd, "bind", NULL), 0);
	assert_true(is_detached_soon(path));
	(void) close(TAKE_FD(bind_fd));
	assert_return_code(umount2(sandbox_path("bind"), 0), errno);
	assert_true(is_detached_soon(backing));
}

#define LOOP_TEST(function)                                                                        \
	cmocka_unit_test_setup_teardown(function, sandbox_setup, loop_image_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		LOOP_TEST(test_attach_once_and_detach),
		LOOP_TEST(test_it_is_read_only),
		LOOP_TEST(test_it_belongs_to_the_inode),
		LOOP_TEST(test_foreign_volumes_are_left_alone),
		LOOP_TEST(test_path_as_name_is_a_lock_too),
		LOOP_TEST(test_it_is_found_when_its_file_has_gone),
		LOOP_TEST(test_it_locks_a_device),
	};

	return sandbox_run("loop_device", tests, ARRAY_SIZE(tests));
}
