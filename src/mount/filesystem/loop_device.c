/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_device - a read-only loop device as a lock on a bind file, and one over an image
 *
 * While a lock is attached the block device behind the file stays open and cannot be taken away. It
 * carries a label made of the bind file's path, because inodes say too little: any other
 * loop device of the same disk has the same inode, and a bind file that was taken
 * away has none. So a loop device is podvol's by its label; one without is foreign and
 * is never touched.
 */
#include "base/fnv1a.h"
#include "mount/filesystem/loop_device.h"
#include "mount/mount.h"

#include "base/cleanup.h"
#include "base/directory.h"
#include "mount/path/safe_path.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>

/* Others take free numbers, too, between our asking and our taking. */
enum { ATTACH_ATTEMPTS_MAX = 32 };

#define LABEL_PREFIX "podvol:"

/* A path may be longer than the kernel keeps of a name: its sum (FNV-1a) is always whole. */
static void print_label(const char *file_path, char ret[LO_NAME_SIZE])
{
	uint64_t sum = fnv1a_add_text(FNV1A_FIRST, file_path);

	(void) snprintf(ret, LO_NAME_SIZE, LABEL_PREFIX "%016llx", (unsigned long long) sum);
}

/* What a loop device is looked for by. */
struct loop_user {
	const char *file_path;
	struct stat file; /* st_ino 0: it is not there any more */
	char label[LO_NAME_SIZE];
	/* The label is enough: a lock of what was there before is no lock, but must go, too. */
	bool by_label;
	bool is_image; /* not a lock: writable, and gone with its last user */
	bool by_file;  /* foreign ones too */
};

static int user_init(int file_fd, const char *file_path, struct loop_user *ret)
{
	*ret = (struct loop_user){ .file_path = file_path };
	print_label(file_path, ret->label);
	return file_fd >= 0 && fstat(file_fd, &ret->file) < 0 ? -errno : 0;
}

/* Older releases, and kubelet, leave as much of the path as fits. */
static bool has_path_as_name(const char *name, const char *file_path)
{
	return strncmp(name, file_path, LO_NAME_SIZE - 1) == 0;
}

/* Is this loop device the lock of that file? 1 yes, 0 no (or of nothing), -errno. One that was
 * attached through another pod's bind file of the same disk is this one's, too. */
static int belongs_to(int loop_fd, const struct loop_user *user)
{
	struct loop_info64 info;
	const char *name = (const char *) info.lo_file_name;

	if (ioctl(loop_fd, LOOP_GET_STATUS64, &info) < 0)
		return errno == ENXIO ? 0 : -errno;
	info.lo_file_name[LO_NAME_SIZE - 1] = '\0';
	if (user->by_label && strcmp(name, user->label) == 0)
		return 1;
	if (user->by_file)
		return info.lo_inode == user->file.st_ino && info.lo_device == user->file.st_dev;
	return user->file.st_ino != 0 && info.lo_inode == user->file.st_ino &&
	       info.lo_device == user->file.st_dev &&
	       (strncmp(name, LABEL_PREFIX, strlen(LABEL_PREFIX)) == 0 ||
		has_path_as_name(name, user->file_path));
}

/* "loop7" and nothing else. */
static bool is_loop_name(const char *name)
{
	return strncmp(name, "loop", 4) == 0 && name[4] != '\0' &&
	       name[4 + strspn(name + 4, "0123456789")] == '\0';
}

/* Only attached ones have this file; asking sysfs first spares opening all the others. */
static bool is_attached(int sys_block_fd, const char *name)
{
	char path[300];

	(void) snprintf(path, sizeof(path), "%s/loop/backing_file", name);
	return faccessat(sys_block_fd, path, F_OK, 0) == 0;
}

/* Then it may still be podvol's. */
static bool may_open_later(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == EINTR ||
	       error == EIO;
}

/* The next loop device of this user in the directory: its descriptor, -ENOENT, or an error. */
static int next_loop(DIR *sys_block, const struct loop_user *user, char path[300])
{
	const struct dirent *entry;
	int more;

	while ((more = directory_next(sys_block, &entry)) > 0) {
		cleanup_close int fd = -EBADF;
		int result;

		if (!is_loop_name(entry->d_name) || !is_attached(dirfd(sys_block), entry->d_name))
			continue;
		(void) snprintf(path, 300, "/dev/%s", entry->d_name);
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0 && may_open_later(errno))
			return -errno;
		if (fd < 0)
			continue; /* detached meanwhile, or its node is not there: not podvol's */
		result = belongs_to(fd, user);
		if (result != 0)
			return result < 0 ? result : TAKE_FD(fd);
	}
	return more < 0 ? more : -ENOENT;
}

/* Return: the descriptor of a new device; -EBUSY another process took the number. */
static int attach_free(int control_fd, int file_fd, const struct loop_user *user, char path[300])
{
	struct loop_config config = { .info.lo_flags = user->is_image ? LO_FLAGS_AUTOCLEAR |
										LO_FLAGS_DIRECT_IO
								      : LO_FLAGS_READ_ONLY };
	cleanup_close int loop_fd = -EBADF;
	int number = ioctl(control_fd, LOOP_CTL_GET_FREE);

	if (number < 0)
		return -errno;
	(void) snprintf(path, 300, "/dev/loop%d", number);
	loop_fd = open(path, (user->is_image ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC);
	if (loop_fd < 0)
		return -errno;
	config.fd = (uint32_t) file_fd;
	memcpy(config.info.lo_file_name, user->label, sizeof(user->label));
	return ioctl(loop_fd, LOOP_CONFIGURE, &config) < 0 ? -errno : TAKE_FD(loop_fd);
}

static int attach(int file_fd, const struct loop_user *user, char path[300])
{
	cleanup_close int control_fd = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	cleanup_close int open_fd = -EBADF;
	int result;

	if (control_fd < 0)
		return -errno;
	/* The caller may hold it by O_PATH; the loop device works through what it is given. */
	open_fd = open(fd_path(file_fd).text,
		       (user->is_image ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC);
	if (open_fd < 0)
		return -errno;
	for (int attempt = 0; attempt < ATTACH_ATTEMPTS_MAX; attempt++) {
		result = attach_free(control_fd, open_fd, user, path);
		if (result != -EBUSY)
			return result;
	}
	return -EBUSY;
}

int loop_device_attach(int file_fd, const char *file_path, char **ret_path, struct failure *reterr)
{
	cleanup_closedir DIR *sys_block = opendir("/sys/block");
	cleanup_close int found_fd = -EBADF;
	struct loop_user user;
	char path[300];

	assert(file_fd >= 0 && file_path && ret_path);
	if (!sys_block || user_init(file_fd, file_path, &user) < 0)
		return failed(reterr, -errno, "cannot search for a loop device of '%s'", file_path);

	found_fd = next_loop(sys_block, &user, path);
	if (found_fd == -ENOENT)
		found_fd = attach(file_fd, &user, path);
	if (found_fd < 0)
		return failed(reterr, found_fd, "cannot attach a loop device to '%s'", file_path);

	*ret_path = strdup(path);
	return *ret_path ? 0 : failed(reterr, -ENOMEM, "cannot keep '%s'", path);
}

int loop_device_detach(int file_fd, const char *file_path, struct failure *reterr)
{
	cleanup_closedir DIR *sys_block = opendir("/sys/block");
	struct loop_user user;
	char path[300];

	assert(file_path);
	if (!sys_block || user_init(file_fd, file_path, &user) < 0)
		return failed(reterr, -errno, "cannot search for a loop device of '%s'", file_path);

	user.by_label = true;
	for (;;) {
		cleanup_close int loop_fd = next_loop(sys_block, &user, path);

		if (loop_fd == -ENOENT)
			return 0;
		if (loop_fd < 0)
			return failed(reterr, loop_fd, "cannot search for a loop device of '%s'",
				      file_path);
		if (ioctl(loop_fd, LOOP_CLR_FD) < 0 && errno != ENXIO)
			return failed(reterr, -errno, "cannot detach '%s' from '%s'", path,
				      file_path);
	}
}

/* ---- over images ---- */

/* With our label, and as we make them: else a foreign one would write to the same file. */
static bool is_our_image(int loop_fd, const struct loop_user *user)
{
	struct loop_info64 info;

	if (ioctl(loop_fd, LOOP_GET_STATUS64, &info) < 0)
		return false;
	info.lo_file_name[LO_NAME_SIZE - 1] = '\0';
	return strcmp((const char *) info.lo_file_name, user->label) == 0 &&
	       (info.lo_flags & (LO_FLAGS_AUTOCLEAR | LO_FLAGS_READ_ONLY)) == LO_FLAGS_AUTOCLEAR;
}

/* Any loop device of the file. Return: its descriptor; -ENOENT; else as the calls. */
static int find_image(int file_fd, const char *file_path, struct loop_user *user, char path[300])
{
	cleanup_closedir DIR *sys_block = opendir("/sys/block");
	int result = sys_block ? user_init(file_fd, file_path, user) : -errno;

	user->is_image = true;
	user->by_file = true;
	return result < 0 ? result : next_loop(sys_block, user, path);
}

/* A pod's mount and a copy may look for it at the same time: who comes second must find what the
 * first one attached. The lock is the file's, and held for no longer than that. */
static int find_or_attach(int file_fd, const char *file_path, struct loop_user *user,
			  char path[300])
{
	int loop_fd;

	if (flock(file_fd, LOCK_EX) < 0)
		return -errno;
	loop_fd = find_image(file_fd, file_path, user, path);
	if (loop_fd == -ENOENT)
		loop_fd = attach(file_fd, user, path);
	(void) flock(file_fd, LOCK_UN);
	return loop_fd;
}

int loop_device_open_image(int file_fd, const char *file_path, char **ret_path,
			   struct failure *reterr)
{
	cleanup_close int loop_fd = -EBADF;
	struct loop_user user = { .is_image = false };
	char path[300];

	assert(file_fd >= 0 && file_path && ret_path);
	loop_fd = find_or_attach(file_fd, file_path, &user, path);
	if (loop_fd >= 0 && !is_our_image(loop_fd, &user))
		return failed_plain(reterr, -EBUSY, "'%s' is attached to '%s' by another program",
				    file_path, path);
	if (loop_fd < 0)
		return failed(reterr, loop_fd, "cannot attach a loop device to '%s'", file_path);
	*ret_path = strdup(path);
	return *ret_path ? TAKE_FD(loop_fd) : failed(reterr, -ENOMEM, "cannot keep '%s'", path);
}

int loop_device_is_attached(int file_fd)
{
	struct loop_user user;
	char path[300];
	cleanup_close int loop_fd = find_image(file_fd, "", &user, path);

	if (loop_fd == -ENOENT)
		return 0;
	return loop_fd < 0 ? loop_fd : 1;
}

int loop_device_grow(int loop_fd)
{
	return ioctl(loop_fd, LOOP_SET_CAPACITY) < 0 ? -errno : 0;
}

dev_t loop_device_number(int file_fd)
{
	struct loop_user user;
	struct stat status;
	char path[300];
	cleanup_close int loop_fd = find_image(file_fd, "", &user, path);

	return loop_fd >= 0 && fstat(loop_fd, &status) == 0 ? status.st_rdev : 0;
}

bool loop_device_goes_by_itself(const char *device_path)
{
	cleanup_close int loop_fd = open(device_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct loop_info64 info;

	return loop_fd >= 0 && ioctl(loop_fd, LOOP_GET_STATUS64, &info) == 0 &&
	       info.lo_flags & LO_FLAGS_AUTOCLEAR;
}

bool loop_device_has_image(const char *device_path, dev_t number, const char *image_path)
{
	struct loop_user user = { .is_image = true };
	cleanup_close int loop_fd = -EBADF;
	struct stat status;

	if (strncmp(device_path, "/dev/loop", strlen("/dev/loop")) != 0)
		return false;
	loop_fd = open(device_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	print_label(image_path, user.label);
	return loop_fd >= 0 && fstat(loop_fd, &status) == 0 && status.st_rdev == number &&
	       is_our_image(loop_fd, &user);
}
