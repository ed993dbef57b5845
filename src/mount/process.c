/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process - what /proc says of one process or thread; see process.h
 *
 * Attributes are never asked for, because some file systems ask their server even when told not to:
 * the number of a mount is read from what /proc says of a descriptor.
 */
#include "mount/process.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/pidfd.h>

enum { READ_FIRST_BYTES = 16384, FACTS_BYTES = 1024 };

int process_open_directory(int fd, const char *name)
{
	int opened = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return opened < 0 ? -errno : opened;
}

int process_namespace(int process_fd, uint64_t *ret)
{
	char link[64];
	ssize_t length = readlinkat(process_fd, "ns/mnt", link, sizeof(link) - 1);

	if (length < 0)
		return -errno;
	link[length] = '\0';
	return sscanf(link, "mnt:[%" SCNu64 "]", ret) == 1 ? 0 : -EIO;
}

/* A short file in one read, ended by NUL. */
static int read_short(int fd, const char *name, char *text, size_t size)
{
	cleanup_close int file_fd = openat(fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (file_fd < 0)
		return -errno;
	length = read(file_fd, text, size - 1);
	if (length < 0)
		return -errno;
	text[length] = '\0';
	return 0;
}

void process_command(int process_fd, char command[COMMAND_BYTES])
{
	if (read_short(process_fd, "comm", command, COMMAND_BYTES) < 0)
		command[0] = '\0';
	command[strcspn(command, "\n")] = '\0';
}

int process_mounts(int process_fd, char **ret)
{
	cleanup_close int fd = openat(process_fd, "mountinfo", O_RDONLY | O_CLOEXEC);
	cleanup_free char *text = NULL;
	size_t used = 0, capacity = READ_FIRST_BYTES;
	ssize_t got = 1;

	if (fd < 0)
		return -errno;
	while (got > 0) {
		char *grown = text && used + 1 < capacity ? text : realloc(text, capacity *= 2);

		if (!grown)
			return -ENOMEM;
		text = grown;
		got = read(fd, text + used, capacity - used - 1);
		if (got < 0)
			return -errno;
		used += (size_t) got;
		if (used > MOUNT_TABLE_BYTES_MAX)
			return -E2BIG;
	}
	text[used] = '\0';
	*ret = TAKE_PTR(text);
	return 0;
}

int process_pin(pid_t pid, uint64_t mount_namespace)
{
	cleanup_close int pid_fd = pidfd_open(pid, 0);
	cleanup_close int process_fd = -EBADF;
	uint64_t now = 0;
	char path[32];

	if (pid_fd < 0)
		return -EBADF;
	(void) snprintf(path, sizeof(path), "/proc/%d", (int) pid);
	process_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (process_fd < 0 || process_namespace(process_fd, &now) < 0 || now != mount_namespace)
		return -EBADF;
	return TAKE_FD(pid_fd);
}

/* ---- mounts of what a process has ---- */

/* "mnt_id:\t29" on a line of its own. */
static int parse_mount(const char *facts, uint64_t *ret)
{
	const char *line = strstr(facts, "mnt_id:");

	return line && sscanf(line, "mnt_id: %" SCNu64, ret) == 1 ? 0 : -ENODATA;
}

int process_descriptor_mount(int process_fd, const char *fd, uint64_t *ret)
{
	char name[64], facts[FACTS_BYTES];
	int r;

	if (snprintf(name, sizeof(name), "fdinfo/%s", fd) >= (int) sizeof(name))
		return -ENAMETOOLONG;
	r = read_short(process_fd, name, facts, sizeof(facts));
	return r < 0 ? r : parse_mount(facts, ret);
}

int process_link_mount(int process_fd, const char *link, uint64_t *ret)
{
	cleanup_close int fd = openat(process_fd, link, O_PATH | O_CLOEXEC);
	char name[64], facts[FACTS_BYTES];
	int r;

	if (fd < 0)
		return -errno;
	(void) snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", fd);
	r = read_short(AT_FDCWD, name, facts, sizeof(facts));
	return r < 0 ? r : parse_mount(facts, ret);
}

/* The state follows the command, which may hold anything. */
static bool is_uninterruptible(int task_fd)
{
	char text[FACTS_BYTES];
	const char *end;

	if (read_short(task_fd, "stat", text, sizeof(text)) < 0)
		return false;
	end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'D';
}

bool process_is_stuck(int process_fd)
{
	cleanup_closedir DIR *threads = NULL;
	const struct dirent *entry;
	int fd = process_open_directory(process_fd, "task");

	threads = fd < 0 ? NULL : fdopendir(fd);
	if (!threads) {
		(void) close_keep_errno(fd);
		return is_uninterruptible(process_fd);
	}
	while ((entry = readdir(threads))) {
		cleanup_close int task_fd = -EBADF;

		if (!isdigit((unsigned char) entry->d_name[0]))
			continue;
		task_fd = process_open_directory(dirfd(threads), entry->d_name);
		if (task_fd >= 0 && is_uninterruptible(task_fd))
			return true;
	}
	return false;
}

/* ---- a table of mounts as text ---- */

char *table_copy_line(const char *line)
{
	return strndup(line, strcspn(line, "\n"));
}

const char *table_next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

int array_grow(void **array, size_t *capacity, size_t count, size_t size)
{
	size_t larger = *capacity ? 2 * *capacity : 16;
	void *grown;

	if (count < *capacity)
		return 0;
	grown = reallocarray(*array, larger, size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*capacity = larger;
	return 0;
}
