/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_lock - one podvold to a directory; see directory_lock.h
 */
#include "mount/remove/directory_lock.h"

#include "base/cleanup.h"
#include "mount/mount.h"
#include "mount/path/safe_path.h"
#include "mount/remove/volume_lock.h"
#include "mount/table/superblock.h"

#include <assert.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Where SQLite's locks are in each of its files: pending, reserved and shared ones. */
enum { SQLITE_LOCKS_START = 0x40000000, SQLITE_LOCKS_LENGTH = 512 };

enum {
	STATE_DIR_MODE = 0700,
	RUN_DIR_MODE = 0711, /* sockets and links are reached; who opens it could lock it */
};

/* The pid as /proc/locks tells; 0 when it does not, as for subvolumes of btrfs. */
static int owner_of(int fd)
{
	cleanup_fclose FILE *locks = fopen("/proc/locks", "re");
	unsigned int device_major, device_minor;
	unsigned long inode;
	struct stat status;
	dev_t device;
	char line[256];
	int pid;

	assert(fd >= 0);
	if (!locks || fstat(fd, &status) < 0 || superblock_device(fd, &device) < 0)
		return 0;
	while (fgets(line, sizeof(line), locks))
		if (sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%lu", &pid, &device_major,
			   &device_minor, &inode) == 4 &&
		    inode == status.st_ino && makedev(device_major, device_minor) == device)
			return pid;
	return 0;
}

/* Reported with its process: the usual cause is a second service. */
static int locked_by_another(int fd, const char *kind, const char *path, struct failure *reterr)
{
	int pid = owner_of(fd);

	if (pid > 0)
		return failed_plain(reterr, -EBUSY,
				    "process %d uses %s directory '%s' already: stop it first, "
				    "or use another %s",
				    pid, kind, path, kind);
	return failed_plain(reterr, -EBUSY,
			    "another process uses %s directory '%s' already: stop it first, or "
			    "use another %s",
			    kind, path, kind);
}

int directory_lock(int fd, const char *kind, const char *path, struct lock_holder **ret,
		   struct failure *reterr)
{
	cleanup_close int own_fd = -EBADF;
	int r;

	assert(fd >= 0 && kind && path && ret);
	own_fd = open(fd_path(fd).text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (own_fd < 0)
		return failed(reterr, -errno, "cannot open %s directory '%s'", kind, path);
	if (flock(own_fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? locked_by_another(own_fd, kind, path, reterr)
					    : failed(reterr, -errno,
						     "cannot lock %s directory '%s'", kind, path);
	r = lock_holder_new(own_fd, ret);
	if (r < 0)
		return failed(reterr, r, "cannot keep %s directory '%s' locked", kind, path);
	(void) TAKE_FD(own_fd);
	return 0;
}

static int database_lock(const char *directory, const char *name, struct lock_holder **ret,
			 struct failure *reterr)
{
	struct flock locks = { .l_type = F_WRLCK,
			       .l_whence = SEEK_SET,
			       .l_start = SQLITE_LOCKS_START,
			       .l_len = SQLITE_LOCKS_LENGTH };
	cleanup_close int directory_fd = -EBADF, fd = -EBADF;
	int r;

	directory_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = directory_fd < 0 ? -1 : openat(directory_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return failed(reterr, -errno, "cannot open '%s/%s' to lock it", directory, name);
	if (fcntl(fd, F_OFD_SETLK, &locks) < 0)
		return errno == EAGAIN || errno == EACCES
			       ? failed_plain(reterr, -EBUSY,
					      "another program has '%s/%s' open: close it first",
					      directory, name)
			       : failed(reterr, -errno, "cannot lock '%s/%s'", directory, name);
	r = lock_holder_new(fd, ret);
	if (r < 0)
		return failed(reterr, r, "cannot keep '%s/%s' locked", directory, name);
	(void) TAKE_FD(fd);
	return 0;
}

/* ---- podvold's own ---- */

/* Who can write there can put a store of their own in place of this one. */
static int check_private(int fd, const char *kind, const char *path, struct failure *reterr)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return failed(reterr, -errno, "cannot inspect the %s directory '%s'", kind, path);
	if (status.st_uid != 0 && status.st_uid != geteuid())
		return failed_plain(reterr, -EPERM,
				    "%s directory '%s' belongs to uid %u, not root: chown it, or "
				    "give --%s-dir another",
				    kind, path, (unsigned int) status.st_uid, kind);
	if (status.st_mode & (S_IWGRP | S_IWOTH))
		return failed_plain(reterr, -EPERM,
				    "%s directory '%s' can be written by others (mode %04o): chmod "
				    "go-w it, or give --%s-dir another",
				    kind, path, (unsigned int) (status.st_mode & 07777), kind);
	return 0;
}

int own_directories_make(const char *state_dir, const char *run_dir, struct failure *reterr)
{
	cleanup_close int state_fd = -EBADF, run_fd = -EBADF;

	state_fd = make_host_directories(state_dir, STATE_DIR_MODE, reterr);
	if (state_fd < 0)
		return state_fd;
	run_fd = make_host_directories(run_dir, RUN_DIR_MODE, reterr);
	return run_fd < 0 ? run_fd : volume_locks_open(run_dir, reterr);
}

static int lock_own(const char *path, mode_t mode, const char *kind, struct lock_holder **ret,
		    struct failure *reterr)
{
	cleanup_close int fd = make_host_directories(path, mode, reterr);
	int r = fd < 0 ? fd : check_private(fd, kind, path, reterr);

	return r < 0 ? r : directory_lock(fd, kind, path, ret, reterr);
}

int own_directories_lock(struct own_locks *locks, const char *state_dir, const char *run_dir,
			 struct failure *reterr)
{
	int r = lock_own(state_dir, STATE_DIR_MODE, "state", &locks->state, reterr);

	return r < 0 ? r : lock_own(run_dir, RUN_DIR_MODE, "run", &locks->run, reterr);
}

int own_databases_lock(struct own_locks *locks, const char *store_dir, const char *run_dir,
		       struct failure *reterr)
{
	int r = store_dir ? database_lock(store_dir, "store.db", &locks->store, reterr) : 0;

	return r < 0 ? r : database_lock(run_dir, "ledger.db", &locks->ledger, reterr);
}

void own_locks_done(struct own_locks *locks)
{
	locks->ledger = lock_holder_free(locks->ledger);
	locks->store = lock_holder_free(locks->store);
	locks->run = lock_holder_free(locks->run);
	locks->state = lock_holder_free(locks->state);
}
