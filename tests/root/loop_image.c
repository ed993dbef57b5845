/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_image - loop devices over sparse files; see loop_image.h
 */
#include "loop_image.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <spawn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int attach_free(int control_fd, int file_fd, bool read_only, char path[32])
{
	struct loop_config config = {
		.fd = (uint32_t) file_fd,
		.info.lo_flags = LO_FLAGS_AUTOCLEAR | (read_only ? LO_FLAGS_READ_ONLY : 0),
	};
	int number = ioctl(control_fd, LOOP_CTL_GET_FREE);
	int fd;

	assert_return_code(number, errno);
	snprintf(path, 32, "/dev/loop%d", number);
	fd = open(path, (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	if (fd >= 0 && ioctl(fd, LOOP_CONFIGURE, &config) < 0)
		fd = close_keep_errno(fd);
	return fd;
}

struct loop_image loop_image_over(const char *relative, bool read_only)
{
	cleanup_close int control_fd = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	cleanup_close int file_fd = open(sandbox_path(relative), O_RDWR | O_CLOEXEC);
	struct loop_image image = { .fd = -EBADF };

	if (control_fd < 0) {
		print_message("# no loop devices here\n");
		skip();
	}
	assert_return_code(file_fd, errno);
	for (int attempt = 0; attempt < 20 && image.fd < 0; attempt++)
		image.fd = attach_free(control_fd, file_fd, read_only, image.path);
	assert_return_code(image.fd, errno);
	return image;
}

struct loop_image loop_image_new(const char *relative, unsigned int mebibytes)
{
	int fd = open(sandbox_path(relative), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_return_code(fd, errno);
	assert_return_code(ftruncate(fd, (off_t) mebibytes << 20), errno);
	(void) close(fd);
	return loop_image_over(relative, false);
}

void loop_image_done(struct loop_image *image)
{
	image->fd = close_keep_errno(image->fd);
}

void loop_image_run(const char *const *argv)
{
	static char *const environment[] = { "PATH=/usr/sbin:/sbin:/usr/bin:/bin", NULL };
	posix_spawn_file_actions_t actions;
	int status;
	pid_t pid;

	assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
	assert_int_equal(posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0),
			 0);
	assert_int_equal(posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0),
			 0);
	assert_int_equal(
		posix_spawn(&pid, argv[0], &actions, NULL, (char *const *) argv, environment), 0);
	(void) posix_spawn_file_actions_destroy(&actions);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status != 0)
		fail_msg("%s ended with status %#x", argv[0], (unsigned int) status);
}

void loop_image_format(const char *relative, const char *program)
{
	const char *const argv[] = { program, sandbox_path(relative), NULL };

	loop_image_run(argv);
}

/* Is it attached to a file of this device, or to that block device? */
static bool is_over(int fd, dev_t file_system, dev_t device)
{
	struct loop_info64 info;

	if (ioctl(fd, LOOP_GET_STATUS64, &info) < 0)
		return false;
	return info.lo_device == file_system || (device && info.lo_rdevice == device);
}

/* Calls @visit with each of them; before that with those that lock it. Return: how many. */
static unsigned int for_each_over(dev_t file_system, dev_t device, void (*visit)(int fd))
{
	unsigned int count = 0;
	char path[64];

	for (int number = 0; number < 256; number++) {
		cleanup_close int fd = -EBADF;
		struct stat status;

		snprintf(path, sizeof(path), "/sys/block/loop%d/loop/backing_file", number);
		if (access(path, F_OK) < 0)
			continue;
		snprintf(path, sizeof(path), "/dev/loop%d", number);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &status) < 0 || !is_over(fd, file_system, device))
			continue;
		if (device == 0)
			count += for_each_over(0, status.st_rdev, visit);
		if (visit)
			visit(fd);
		count++;
	}
	return count;
}

static void detach(int fd)
{
	(void) ioctl(fd, LOOP_CLR_FD);
}

unsigned int loop_image_count(void)
{
	struct stat status;

	return fstat(sandbox_fd(), &status) == 0 ? for_each_over(status.st_dev, 0, NULL) : 0;
}

int loop_image_teardown(void **state)
{
	struct stat status;

	if (fstat(sandbox_fd(), &status) == 0)
		(void) for_each_over(status.st_dev, 0, detach);
	return sandbox_teardown(state);
}
