/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_pins - mount namespaces that no process is in, and mounts that are in no namespace; see
 * mount_search.h
 *
 * Both are found by the descriptors, directories and maps of all processes. For a mount in no table
 * statx() has to get the device from the file system: without attributes and without a server,
 * which local file systems, tmpfs, NFS, FUSE and Ceph serve from memory. Any other that contacts
 * its server delays this search, and with it the volume.
 */
#include "mount/holders/mount_search.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/directory.h"
#include "mount/holders/mount_holders.h"
#include "mount/mount.h"
#include "mount/path/safe_path.h"
#include "mount/table/superblock.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum {
	READS_MAX = 16,     /* at a number that stands for another file each time */
	READS_A_TIME = 256, /* descriptors between two reads of the clock */
};

/* ---- a namespace without a process ---- */

/* Opened for reading only when it is this namespace's file still: what took its place may be a
 * pipe, which keeps its reader waiting. Return: a descriptor; -ESTALE it is something else. */
static int open_namespace(int path_fd, uint64_t mount_namespace)
{
	const struct fd_path path = fd_path(path_fd);
	struct stat own;
	struct statx facts;
	int fd;

	if (stat("/proc/self/ns/mnt", &own) < 0 ||
	    statx(path_fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &facts) < 0)
		return -errno;
	if (makedev(facts.stx_dev_major, facts.stx_dev_minor) != own.st_dev ||
	    facts.stx_ino != mount_namespace)
		return -ESTALE;
	fd = open(path.text, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_kept(const struct kept_namespace *kept)
{
	cleanup_close int path_fd = open_host_path(kept->path, O_PATH, NULL);

	return path_fd < 0 ? path_fd : open_namespace(path_fd, kept->mount_namespace);
}

/* By a file that is mounted somewhere in our namespace. */
static int scan_kept(struct mount_search *search)
{
	int r = 0;

	for (size_t i = 0; i < search->kept_count && r >= 0; i++) {
		const struct kept_namespace *kept = &search->kept[i];
		struct mount_holder found = { .found = true,
					      .how = HELD_BY_MOUNT,
					      .pid_fd = -EBADF,
					      .mount_namespace = kept->mount_namespace };
		cleanup_close int fd = -EBADF;

		if (mount_search_is_seen(search, kept->mount_namespace))
			continue;
		fd = open_kept(kept);
		(void) snprintf(found.kept_at, sizeof(found.kept_at), "%s", kept->path);
		if (fd < 0 && !process_error_is_gone(fd))
			r = mount_search_failed(search, fd, NULL, found.kept_at);
		else if (fd >= 0)
			r = mount_search_scan(search, fd, &found);
	}
	return r;
}

/* ---- what a process has ---- */

struct task {
	struct mount_search *search;
	struct mount_holder found; /* as for whatever is found of it */
	int fd, process_fd;
	uint64_t since_usec; /* of this thread's processor, that is not counted yet */
	bool is_cut;         /* its owner has no more time */
	int result;
};

static uint64_t processor_usec(void)
{
	struct timespec used = { 0 };

	(void) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t) used.tv_sec * USEC_PER_SEC + (uint64_t) used.tv_nsec / 1000;
}

/* Since the last time. */
static void count_time(struct task *task)
{
	uint64_t now_usec = processor_usec();
	int r = mount_share_use_time(task->search, &task->found, now_usec - task->since_usec);

	task->since_usec = now_usec;
	if (r < 0)
		task->result = r;
}

/* Is there time for more of the process? One that ended needs none. */
static bool has_time(struct task *task)
{
	int r = 0;

	count_time(task);
	if (!task->is_cut && !mount_share_has_time(task->search, task->found.owner)) {
		task->is_cut = true;
		if (!process_has_ended(task->process_fd))
			r = mount_share_unsearched(task->search, &task->found, 0);
	}
	if (r < 0)
		task->result = r;
	return task->result >= 0 && !task->is_cut;
}

/* What could not be inspected may be the volume: for a local user's process that is a reason to
 * keep it, as that user may cause the error. A link to a file of a server that is away is none:
 * what is unstaged is no such file system, or was not found by its mounts either. */
static void note_error(struct task *task, int error, const char *what)
{
	error = process_error_of(task->fd, error);
	if (error >= 0 || process_error_is_gone(error) || error == -ESTALE || error == -ENOTCONN ||
	    error == -EHOSTDOWN || error == -ETIMEDOUT)
		return;
	if (task->found.owner == 0 || task->found.uid == (uid_t) -1 || process_error_is_ours(error))
		task->result = mount_search_failed(task->search, error, &task->found, what);
	else if (!task->is_cut)
		task->result = mount_share_unsearched(task->search, &task->found, error);
	task->is_cut = true;
}

/* Is the file in the searched part of its file system? Return: as file_within(). */
static int is_in_part(const struct mount_holder *asked, int fd)
{
	cleanup(directory_query_done) struct directory_query part = { 0 };
	int r;

	if (asked->directory)
		return file_within(asked->directory->fd, asked->directory->mount_fd, fd);
	if (!asked->mount_point)
		return 0;
	r = directory_query_open(open_host_path(asked->mount_point, O_PATH | O_DIRECTORY, NULL),
				 NULL, &part, NULL);
	return r < 0 ? r : file_within(part.directory.fd, part.directory.mount_fd, fd);
}

/* The kernel does not report which part of a file system a mount in no namespace shows: the file
 * that the process has there is compared instead. A dangling link is of a process that ended or
 * closed it. */
static bool uses(const struct task *task, size_t holder, const char *link,
		 struct mount_holder *found)
{
	cleanup_close int fd = -EBADF;
	int r;

	if (mount_search_shows_all(&task->search->positions[holder]))
		return true;
	fd = openat(task->fd, link, O_PATH | O_CLOEXEC);
	r = fd < 0 ? -errno : is_in_part(&task->search->holders[holder], fd);
	found->undecided = r < 0 ? r : 0;
	return r != 0 && !(fd < 0 && process_error_is_gone(r));
}

/* A mount that no table has: detached, made since, or one of the kernel's own. */
static void scan_unknown(struct task *task, const char *link, const char *path)
{
	int fd = openat(task->fd, link, O_PATH | O_CLOEXEC);
	struct mount_holder found = task->found;
	dev_t device = 0;
	int r = fd < 0 ? -errno : superblock_device_close(fd, &device);

	note_error(task, r, link);
	if (r < 0)
		return;
	found.how = HELD_DETACHED;
	(void) snprintf(found.where, sizeof(found.where), "%s", path);
	for (size_t i = 0; i < task->search->count && task->result >= 0; i++)
		if (device != 0 && task->search->holders[i].device == device &&
		    uses(task, i, link, &found))
			task->result = mount_search_add(task->search, i, &found);
}

static bool read_link(int fd, const char *name, char path[PATH_MAX])
{
	ssize_t length = readlinkat(fd, name, path, PATH_MAX - 1);

	/* Directories nested deep enough have such a path; it is a file all the same. */
	if (length < 0 && errno == ENAMETOOLONG)
		return snprintf(path, PATH_MAX, "/(a path too long to name)") > 0;
	path[length > 0 ? length : 0] = '\0';
	return length > 0;
}

static void scan_link(struct task *task, const char *link)
{
	char path[PATH_MAX];
	uint64_t mount_id;
	int r = process_link_mount(task->fd, link, &mount_id);

	note_error(task, r, link);
	if (r >= 0 && !mount_search_knows(task->search, mount_id) &&
	    read_link(task->fd, link, path))
		scan_unknown(task, link, path);
}

/* Return: true the number stands for another file by now, as a process that opens and closes many
 * has it: read it again. */
static bool scan_namespace(struct task *task, int directory_fd, const char *name,
			   uint64_t mount_namespace)
{
	cleanup_close int path_fd = openat(directory_fd, name, O_PATH | O_CLOEXEC);
	struct mount_holder found = task->found;
	cleanup_close int fd = path_fd < 0 ? -errno : open_namespace(path_fd, mount_namespace);

	if (fd == -ESTALE)
		return true;
	found.how = HELD_BY_DESCRIPTOR;
	found.mount_namespace = mount_namespace;
	if (fd >= 0)
		task->result = mount_search_scan(task->search, fd, &found);
	else
		note_error(task, fd, "a descriptor");
	return false;
}

static void scan_descriptor(struct task *task, int directory_fd, const char *name)
{
	char path[PATH_MAX], link[300];
	unsigned int reads = 0;
	uint64_t number;
	int r;

	for (;;) {
		if (!read_link(directory_fd, name, path)) {
			note_error(task, -errno, "a descriptor");
			return;
		}
		if (sscanf(path, "mnt:[%" SCNu64 "]", &number) != 1)
			break;
		if (mount_search_is_seen(task->search, number) ||
		    !scan_namespace(task, directory_fd, name, number))
			return;
		if (++reads == READS_MAX) {
			note_error(task, -EAGAIN, "a descriptor");
			return;
		}
	}
	r = path[0] == '/' ? process_descriptor_mount(task->fd, name, &number) : -ENOENT;
	note_error(task, r, "a descriptor");
	if (r < 0 || mount_search_knows(task->search, number))
		return;
	(void) snprintf(link, sizeof(link), "fd/%s", name);
	scan_unknown(task, link, path);
}

static void scan_descriptors(struct task *task)
{
	cleanup_closedir DIR *directory = NULL;
	const struct dirent *entry;
	unsigned int reads = 0;
	int fd = process_open_directory(task->fd, "fd"), more = 0;

	directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		note_error(task, fd < 0 ? fd : -errno, "the descriptors");
		(void) close_keep_errno(fd);
		return;
	}
	while (task->result >= 0 && (more = directory_next(directory, &entry)) > 0) {
		if (isdigit((unsigned char) entry->d_name[0]))
			scan_descriptor(task, dirfd(directory), entry->d_name);
		if (++reads % READS_A_TIME == 0 && !has_time(task))
			break;
	}
	note_error(task, more, "the descriptors");
}

/* A link is compared with all searched volumes at once. */
static void scan_map(const struct process_map *map, void *userdata)
{
	struct task *task = userdata;

	for (size_t i = 0; i < task->search->count; i++) {
		if (task->search->holders[i].device == map->device) {
			scan_link(task, map->link);
			break;
		}
	}
}

static bool scan_task(int task_fd, void *userdata)
{
	struct task *task = userdata;

	task->fd = task_fd;
	scan_link(task, "cwd");
	scan_link(task, "root");
	scan_descriptors(task);
	return has_time(task);
}

/* Who is charged for the time: the user who made its user namespace, or of its own uid in our own.
 * */
static void find_owner(struct mount_holder *process, int fd)
{
	process->uid = process_uid(fd);
	process->has_owner =
		process_namespace_owner(fd, &process->user_namespace, &process->owner) == 0;
	if (!process->has_owner || process->user_namespace == 0)
		process->owner = process->uid;
}

static int scan_process(struct mount_search *search, int proc_fd, const char *name)
{
	cleanup_close int fd = process_open_directory(proc_fd, name);
	struct task task = { .search = search,
			     .found = { .found = true, .pid_fd = -EBADF },
			     .fd = fd,
			     .process_fd = fd,
			     .since_usec = processor_usec() };
	uint64_t number;
	int r;

	task.found.pid = (pid_t) strtol(name, NULL, 10);
	if (fd < 0)
		return process_error_is_gone(fd)
			       ? 0
			       : mount_search_failed(search, fd, &task.found, "/proc");
	if (task.found.pid == getpid())
		return 0;
	r = process_error_of(fd, process_namespace(fd, &number));
	if (r == -EACCES || r == -EPERM)
		return 0; /* counted before; nothing of it can be read */
	if (process_error_is_gone(r) && process_has_ended(fd))
		return 0; /* a zombie stays until its parent reaps it */
	r = 0;
	process_command(fd, task.found.command);
	find_owner(&task.found, fd);
	if (has_time(&task) && scan_task(fd, &task))
		r = process_walk_threads(fd, task.found.pid, scan_task, &task);
	task.fd = fd;
	note_error(&task, r, "the threads");
	if (task.is_cut || task.result < 0)
		return task.result;
	scan_link(&task, "exe");
	if (!process_is_stuck(fd))
		note_error(&task, process_walk_maps(fd, scan_map, &task), "the memory map");
	count_time(&task);
	return task.result;
}

/* ---- namespaces that nothing leads to ---- */

static int scan_listed(int namespace_fd, uint64_t number, void *userdata)
{
	struct mount_search *search = userdata;
	const struct mount_holder found = {
		.found = true, .how = HELD_UNSEEN, .pid_fd = -EBADF, .mount_namespace = number
	};

	return mount_search_is_seen(search, number)
		       ? 0
		       : mount_search_scan(search, namespace_fd, &found);
}

/* Those that no process, descriptor or mount led to. */
static int scan_rest(struct mount_search *search)
{
	int r = mount_namespace_walk(scan_listed, search);

	return r == -EOPNOTSUPP ? search->hidden : r;
}

int mount_pins_search(struct mount_search *search)
{
	cleanup_closedir DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int r = proc ? scan_kept(search) : -errno, more = 0;

	while (r >= 0 && (more = directory_next(proc, &entry)) > 0)
		if (isdigit((unsigned char) entry->d_name[0]))
			r = scan_process(search, dirfd(proc), entry->d_name);
	if (more < 0)
		r = more;
	return r < 0 ? r : scan_rest(search);
}
