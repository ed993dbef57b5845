/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_lock - one restore, copy or removal of a volume's directory at a time; see volume_lock.h
 *
 * A file is removed only by a process that holds it alone, and who got a lock on a file that
 * has no name any more tries again: so two never hold locks on two files of one name.
 */
#include "mount/remove/volume_lock.h"

#include "base/cleanup.h"
#include "mount/holders/process.h"
#include "mount/mount.h"
#include "mount/table/superblock.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum {
	LOCK_TRIES_MAX = 64, /* a file may go between its opening and its lock */
	HOLDER_BYTES = 64,
};

static int locks_fd = -EBADF;

int volume_locks_open(const char *run_dir, struct failure *reterr)
{
	cleanup_close int run_fd = -EBADF, fd = -EBADF;
	struct stat status;

	assert(run_dir);
	run_fd = make_host_directories(run_dir, 0755, reterr);
	if (run_fd < 0)
		return run_fd;
	if (mkdirat(run_fd, "volume-locks", 0700) < 0 && errno != EEXIST)
		return failed(reterr, -errno, "cannot make '%s/volume-locks'", run_dir);
	fd = openat(run_fd, "volume-locks", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) < 0)
		return failed(reterr, -errno, "cannot open '%s/volume-locks'", run_dir);
	if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)))
		return failed_plain(reterr, -EPERM,
				    "others can write to '%s/volume-locks': it must be root's, "
				    "with mode 0700",
				    run_dir);
	(void) close_keep_errno(locks_fd);
	locks_fd = TAKE_FD(fd);
	return 0;
}

static int name_lock(int fd, char ret[64])
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	(void) snprintf(ret, 64, "%llx-%llx", (unsigned long long) status.st_dev,
			(unsigned long long) status.st_ino);
	return 0;
}

/* Return: 1 it is locked; 0 its name went meanwhile; a negative errno. */
static int try_lock(const char *name, int operation, int *ret_fd)
{
	cleanup_close int fd =
		openat(locks_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat status;

	if (fd < 0)
		return -errno;
	if (flock(fd, operation | LOCK_NB) < 0) {
		int r = -errno;

		if (r == -EWOULDBLOCK)
			*ret_fd = TAKE_FD(fd); /* it says which process has it */
		return r;
	}
	if (fstat(fd, &status) < 0)
		return -errno;
	if (status.st_nlink == 0)
		return 0;
	*ret_fd = TAKE_FD(fd);
	return 1;
}

/* Without it the lock holds as well; of several readers the last one is named. */
static void write_holder(int fd)
{
	char text[HOLDER_BYTES] = "";

	(void) snprintf(text, sizeof(text), "process %d (%.20s)", (int) getpid(),
			program_invocation_short_name);
	if (write(fd, text, sizeof(text)) < 0)
		return;
}

/* "1: FLOCK  ADVISORY  WRITE 4711 fe:00:1450493 0 EOF"; one that waits has "->" before FLOCK. Of a
 * process of another PID namespace the number is 0. Return: 0 none is found. */
static pid_t kernels_holder(int fd)
{
	cleanup_fclose FILE *locks = fopen("/proc/locks", "re");
	unsigned int device_major, device_minor;
	unsigned long inode;
	struct stat status;
	char line[256];
	dev_t device;
	int pid;

	if (!locks || fstat(fd, &status) < 0 || superblock_device(fd, &device) < 0)
		return 0;
	while (fgets(line, sizeof(line), locks))
		if (sscanf(line, "%*u: FLOCK %*s %*s %d %x:%x:%lu ", &pid, &device_major,
			   &device_minor, &inode) == 4 &&
		    inode == status.st_ino && makedev(device_major, device_minor) == device)
			return pid;
	return 0;
}

/* As the kernel has it, who may have ended and left the lock to a child; else as it was written. */
static void name_holder(int fd, char text[HOLDER_BYTES + 1])
{
	char path[32], command[COMMAND_BYTES];
	cleanup_close int process_fd = -EBADF;
	pid_t pid = kernels_holder(fd);

	(void) snprintf(path, sizeof(path), "/proc/%d", (int) pid);
	process_fd = pid > 0 ? process_open_directory(AT_FDCWD, path) : -ESRCH;
	if (process_fd >= 0) {
		process_command(process_fd, command);
		(void) snprintf(text, HOLDER_BYTES, "process %d (%s)", (int) pid, command);
	} else if (read(fd, text, HOLDER_BYTES) <= 0 || text[0] == '\0') {
		(void) snprintf(text, HOLDER_BYTES, "another process");
	}
}

static int held(int fd, const char *path, struct failure *reterr)
{
	char text[HOLDER_BYTES + 1] = "";

	name_holder(fd, text);
	return failed_plain(reterr, -EBUSY,
			    "'%s' is being backed up, restored, copied or removed by %s", path,
			    text);
}

int volume_lock_take(int fd, enum volume_lock_kind kind, const char *path, int *ret_fd,
		     struct failure *reterr)
{
	cleanup_close int lock_fd = -EBADF;
	char name[64];
	int r;

	assert(fd >= 0 && path && ret_fd);
	if (locks_fd < 0)
		return failed_plain(reterr, -ENOLCK, "cannot lock '%s': no directory for locks",
				    path);
	r = name_lock(fd, name);
	for (int i = 0; r == 0 && i < LOCK_TRIES_MAX; i++)
		r = try_lock(name, kind == VOLUME_LOCK_SHARED ? LOCK_SH : LOCK_EX, &lock_fd);
	if (r == -EWOULDBLOCK)
		return held(lock_fd, path, reterr);
	if (r <= 0)
		return failed(reterr, r < 0 ? r : -EAGAIN, "cannot lock '%s'", path);
	write_holder(lock_fd);
	*ret_fd = TAKE_FD(lock_fd);
	return 0;
}

/* The name is found by the file, because the volume's directory may be gone. */
static void remove_file_of(int lock_fd)
{
	char link[64], path[256];
	const char *name;
	ssize_t length;

	(void) snprintf(link, sizeof(link), "/proc/self/fd/%d", lock_fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return;
	path[length] = '\0';
	name = strrchr(path, '/');
	if (name)
		(void) unlinkat(locks_fd, name + 1, 0);
}

int volume_lock_release(int lock_fd)
{
	if (lock_fd < 0)
		return -EBADF;
	if (flock(lock_fd, LOCK_EX | LOCK_NB) == 0)
		remove_file_of(lock_fd);
	(void) close_keep_errno(lock_fd);
	return -EBADF;
}

void volume_lock_releasep(int *lock_fd)
{
	*lock_fd = volume_lock_release(*lock_fd);
}
