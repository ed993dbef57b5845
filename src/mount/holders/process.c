/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process - one process or thread in /proc; see process.h
 *
 * Never calls stat(), because some file systems contact their server even with AT_STATX_DONT_SYNC:
 * the id of a mount is read from fdinfo.
 */
#include "mount/holders/process.h"

#include "base/cleanup.h"
#include "base/directory.h"
#include "base/syscalls.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { READ_FIRST_BYTES = 16384, FACTS_BYTES = 1024, LINE_BYTES = PATH_MAX + 256 };

int process_open_directory(int fd, const char *name)
{
	int opened = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return opened < 0 ? -errno : opened;
}

int process_error_of(int process_fd, int error)
{
	char command[COMMAND_BYTES];

	if (error >= 0 || process_error_is_gone(error))
		return error;
	if (process_error_is_gone(process_read_short(process_fd, "comm", command, sizeof(command))))
		return -ESRCH;
	return error;
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

int process_read_short(int fd, const char *name, char *text, size_t size)
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
	if (process_read_short(process_fd, "comm", command, COMMAND_BYTES) < 0)
		command[0] = '\0';
	command[strcspn(command, "\n")] = '\0';
}

uid_t process_uid(int process_fd)
{
	char facts[FACTS_BYTES];
	const char *line;
	unsigned int uid;

	if (process_read_short(process_fd, "status", facts, sizeof(facts)) < 0)
		return (uid_t) -1;
	line = strstr(facts, "\nUid:");
	return line && sscanf(line, "\nUid: %u", &uid) == 1 ? uid : (uid_t) -1;
}

int process_mounts(int process_fd, size_t bytes_max, char **ret)
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
		if (used > bytes_max)
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

	if (pid_fd >= 0 && mount_namespace == 0)
		return TAKE_FD(pid_fd);

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
	r = process_read_short(process_fd, name, facts, sizeof(facts));
	return r < 0 ? r : parse_mount(facts, ret);
}

/* One call instead of the five of an open file's facts: a handle that has no room says EOVERFLOW,
 * and in which mount the file is. No inode is asked for anything. Return: false: not so (a file
 * system without handles, or an error). */
static bool read_handle_mount(int process_fd, const char *link, uint64_t *ret)
{
	struct file_handle no_room = { .handle_bytes = 0 };
	int mount_id = -1;

	if (name_to_handle_at(process_fd, link, &no_room, &mount_id, AT_SYMLINK_FOLLOW) < 0 &&
	    errno != EOVERFLOW)
		return false;
	*ret = (uint64_t) mount_id;
	return mount_id >= 0;
}

int process_link_mount(int process_fd, const char *link, uint64_t *ret)
{
	char name[64], facts[FACTS_BYTES];
	cleanup_close int fd = -EBADF;
	int r;

	if (read_handle_mount(process_fd, link, ret))
		return 0;
	fd = openat(process_fd, link, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	(void) snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", fd);
	r = process_read_short(AT_FDCWD, name, facts, sizeof(facts));
	return r < 0 ? r : parse_mount(facts, ret);
}

/* The state follows the command, which may hold anything. @ret_threads: of its process. Return: 0;
 * else as the calls. */
static int read_state(int task_fd, char *ret, long *ret_threads)
{
	char text[FACTS_BYTES];
	const char *end;
	int r = process_read_short(task_fd, "stat", text, sizeof(text));

	if (r < 0)
		return r;
	end = strrchr(text, ')');
	if (!end ||
	    sscanf(end, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
		   ret, ret_threads) != 2)
		return -EIO;
	return 0;
}

static bool is_uninterruptible(int task_fd)
{
	char state;
	long threads;

	return read_state(task_fd, &state, &threads) == 0 && state == 'D';
}

/* Without threads the kernel is about to put another one in its place, as execve(2) does. */
bool process_has_ended(int process_fd)
{
	char state;
	long threads;
	int r = read_state(process_fd, &state, &threads);

	return r < 0 ? process_error_is_gone(r) : state == 'Z' && threads == 1;
}

/* One that cannot be inspected may be stuck. */
bool process_is_stuck(int process_fd)
{
	cleanup_closedir DIR *threads = NULL;
	const struct dirent *entry;
	int fd = process_open_directory(process_fd, "task"), r;

	threads = fd < 0 ? NULL : fdopendir(fd);
	if (!threads) {
		(void) close_keep_errno(fd);
		return is_uninterruptible(process_fd);
	}
	while ((r = directory_next(threads, &entry)) > 0) {
		cleanup_close int task_fd = -EBADF;

		if (!isdigit((unsigned char) entry->d_name[0]))
			continue;
		task_fd = process_open_directory(dirfd(threads), entry->d_name);
		if (task_fd >= 0 && is_uninterruptible(task_fd))
			return true;
	}
	return r < 0;
}

/* ---- threads and maps ---- */

/* The first thread may have ended while others run: then nothing is shared with it. */
static bool shares_all(pid_t pid, pid_t thread)
{
	return kcmp(pid, thread, KCMP_FILES, 0, 0) == 0 && kcmp(pid, thread, KCMP_FS, 0, 0) == 0;
}

/* Return: 1, 0; else as the call. */
static int has_threads(int process_fd)
{
	struct stat st;

	if (fstatat(process_fd, "task", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	/* ".", "..", and one for each thread. */
	return st.st_nlink > 3;
}

/* Return: 1 continue, 0; else the error of the calls. */
static int visit_thread(int directory_fd, pid_t pid, const char *name,
			bool (*visit)(int task_fd, void *userdata), void *userdata)
{
	pid_t thread = (pid_t) strtol(name, NULL, 10);
	cleanup_close int task_fd = -EBADF;

	if (thread == 0 || thread == pid || shares_all(pid, thread))
		return 1;
	task_fd = process_open_directory(directory_fd, name);
	if (task_fd < 0)
		return process_error_is_gone(task_fd) ? 1 : task_fd;
	return visit(task_fd, userdata);
}

int process_walk_threads(int process_fd, pid_t pid, bool (*visit)(int task_fd, void *userdata),
			 void *userdata)
{
	cleanup_closedir DIR *threads = NULL;
	const struct dirent *entry;
	int r = has_threads(process_fd), more = 0;
	int fd = r > 0 ? process_open_directory(process_fd, "task") : -ENOENT;

	threads = fd < 0 ? NULL : fdopendir(fd);
	if (r > 0 && !threads)
		r = fd < 0 ? fd : -errno;
	if (!threads)
		(void) close_keep_errno(fd);
	while (threads && r > 0 && (more = directory_next(threads, &entry)) > 0)
		r = visit_thread(fd, pid, entry->d_name, visit, userdata);
	if (r >= 0)
		r = more;
	return r < 0 && !process_error_is_gone(r) ? r : 0;
}

/* "55d0c-55d0e r-xp 00000000 fd:01 1835 /usr/bin/sleep" */
static bool parse_map(const char *line, struct process_map *ret)
{
	unsigned long start, end, inode;
	unsigned int device_major, device_minor;
	int at = 0;

	if (sscanf(line, "%lx-%lx %*s %*x %x:%x %lu %n", &start, &end, &device_major, &device_minor,
		   &inode, &at) != 5 ||
	    inode == 0 || at == 0)
		return false;
	ret->device = makedev(device_major, device_minor);
	ret->path = line + at;
	(void) snprintf(ret->link, sizeof(ret->link), "map_files/%lx-%lx", start, end);
	return true;
}

int process_walk_maps(int process_fd, void (*visit)(const struct process_map *map, void *userdata),
		      void *userdata)
{
	int fd = openat(process_fd, "maps", O_RDONLY | O_CLOEXEC);
	cleanup_fclose FILE *file = fd < 0 ? NULL : fdopen(fd, "re");
	char line[LINE_BYTES], before[LINE_BYTES] = "";
	struct process_map map;

	if (!file) {
		int r = -errno;

		(void) close_keep_errno(fd);
		return process_error_is_gone(r) ? 0 : r;
	}
	errno = 0;
	while (fgets(line, sizeof(line), file)) {
		const char *path = strchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		if (!path || strcmp(path, before) == 0)
			continue;
		(void) snprintf(before, sizeof(before), "%s", path);
		if (parse_map(line, &map))
			visit(&map, userdata);
		errno = 0;
	}
	if (!ferror(file))
		return 0;
	return errno > 0 ? -errno : -EIO;
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
