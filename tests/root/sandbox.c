/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox - a mount namespace and a directory of their own for tests; see sandbox.h
 *
 * Uses none of the code under test. Never touches a mount outside its namespace, nor a file outside
 * its mkdtemp directory.
 */
#include "sandbox.h"

#include "base/cleanup.h"
#include "mount/remove/volume_lock.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>

static struct {
	char dir[64];
	int fd;
	unsigned int fds_before;
} sandbox = { .fd = -EBADF };

const char *sandbox_dir(void)
{
	return sandbox.dir;
}

int sandbox_fd(void)
{
	return sandbox.fd;
}

const char *sandbox_path(const char *relative)
{
	static char buffers[8][PATH_MAX];
	static unsigned int turn;
	char *buffer = buffers[turn++ % ARRAY_SIZE(buffers)];

	(void) snprintf(buffer, sizeof(buffers[0]), "%s/%s", sandbox.dir, relative);
	return buffer;
}

void sandbox_mkdir(const char *relative, unsigned int mode)
{
	assert_return_code(mkdir(sandbox_path(relative), 0700), errno);
	assert_return_code(chmod(sandbox_path(relative), mode), errno);
}

void sandbox_write(const char *relative, const char *text)
{
	int fd = open(sandbox_path(relative), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_return_code(fd, errno);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void) close(fd);
}

bool sandbox_has(const char *relative, const char *text)
{
	cleanup_close int fd = open(sandbox_path(relative), O_RDONLY | O_CLOEXEC);
	char got[256];
	ssize_t length;

	if (fd < 0)
		return false;
	length = read(fd, got, sizeof(got));
	return length == (ssize_t) strlen(text) && memcmp(got, text, strlen(text)) == 0;
}

bool sandbox_wait(unsigned int *moments)
{
	(void) nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	return ++*moments < 60000;
}

unsigned int sandbox_mounts_below(const char *path)
{
	FILE *mountinfo = fopen("/proc/self/mountinfo", "re");
	size_t length = strlen(path);
	unsigned int count = 0;
	char line[8192], point[4096];

	assert_non_null(mountinfo);
	while (fgets(line, sizeof(line), mountinfo))
		if (sscanf(line, "%*s %*s %*s %*s %4095s", point) == 1 &&
		    strncmp(point, path, length) == 0 &&
		    (point[length] == '\0' || point[length] == '/'))
			count++;
	(void) fclose(mountinfo);
	return count;
}

unsigned int sandbox_open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	(void) closedir(dir);
	return count;
}

int sandbox_setup(void **state)
{
	if (mount("podvol-test", sandbox.dir, "tmpfs", 0, "mode=0755") < 0) {
		print_error("cannot mount a tmpfs on '%s': %s\n", sandbox.dir, strerror(errno));
		return -1;
	}
	sandbox.fd = open(sandbox.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* Before the count: it stays open until the next test replaces it. */
	if (volume_locks_open(sandbox.dir, NULL) < 0) {
		print_error("cannot make a directory for locks in '%s'\n", sandbox.dir);
		return -1;
	}
	sandbox.fds_before = sandbox_open_fds();
	return sandbox.fd < 0 ? -1 : 0;
}

int sandbox_teardown(void **state)
{
	unsigned int fds = sandbox_open_fds();
	unsigned int mounts = sandbox_mounts_below(sandbox.dir);
	int result = 0;

	if (fds != sandbox.fds_before) {
		print_error("descriptors: %u before, %u after\n", sandbox.fds_before, fds);
		result = -1;
	}
	if (mounts != 1) {
		print_error("%u mounts are left in the sandbox\n", mounts - 1);
		result = -1;
	}
	sandbox.fd = close_keep_errno(sandbox.fd);
	while (umount2(sandbox.dir, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
		;
	return result;
}

static int enter_namespace(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -errno;
	return 0;
}

const char *sandbox_enter(void)
{
	static char why[128];
	int result;

	if (geteuid() != 0)
		return "needs root: mounts in a namespace of its own";
	result = enter_namespace();
	if (result < 0) {
		(void) snprintf(why, sizeof(why), "needs a mount namespace of its own: %s",
				strerror(-result));
		return why;
	}
	(void) snprintf(sandbox.dir, sizeof(sandbox.dir), "/tmp/podvol-test-XXXXXX");
	if (!mkdtemp(sandbox.dir)) {
		printf("Bail out! cannot make a directory: %s\n", strerror(errno));
		exit(1);
	}
	return NULL;
}

void sandbox_leave(void)
{
	(void) rmdir(sandbox.dir);
}

int sandbox_run(const char *name, const struct CMUnitTest *tests, size_t count)
{
	const char *why_not = sandbox_enter();
	int result;

	if (why_not) {
		printf("1..0 # SKIP %s\n", why_not);
		return 0;
	}
	result = _cmocka_run_group_tests(name, tests, count, NULL, NULL);
	sandbox_leave();
	return result;
}
