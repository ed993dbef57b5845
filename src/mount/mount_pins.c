/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_pins - mount namespaces that no process is in, and mounts that are in no namespace; see
 * mount_search.h
 *
 * Both are found by the descriptors, directories and maps of all processes. Of a mount that is in
 * no table the file system must be asked for its device: with no attribute wanted and no server to
 * be asked, which local file systems, tmpfs, NFS, FUSE and Ceph answer from memory. Whoever else
 * asks its server keeps this search, and with it the volume, waiting.
 */
#include "mount/mount_search.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "mount/mount.h"

#include <assert.h>
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { PINS_USEC = 20000000 }; /* what takes longer is an error: nobody knows then */

/* ---- a namespace without a process ---- */

struct visit {
	struct mount_search *search;
	int namespace_fd, proc_fd;
	const struct mount_holder *found;
	int result;
};

/* On a thread of its own, which ends in that namespace. The descriptor of /proc is ours still. */
static void *enter(void *userdata)
{
	struct visit *visit = userdata;
	cleanup_close int self_fd = -EBADF;

	if (unshare(CLONE_FS) < 0 || setns(visit->namespace_fd, CLONE_NEWNS) < 0) {
		visit->result = -errno;
		return NULL;
	}
	self_fd = openat(visit->proc_fd, "thread-self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	visit->result =
		self_fd < 0 ? -errno : mount_search_look_into(visit->search, self_fd, visit->found);
	return NULL;
}

static int look_into_kept(struct mount_search *search, int namespace_fd,
			  const struct mount_holder *found)
{
	cleanup_close int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct visit visit = { search, namespace_fd, proc_fd, found, 0 };
	pthread_t thread;
	int r;

	if (proc_fd < 0)
		return -errno;
	r = -pthread_create(&thread, NULL, enter, &visit);
	if (r < 0)
		return r == -EAGAIN ? -ENOMEM : r;
	(void) pthread_join(thread, NULL);
	if (visit.result == -EPERM || visit.result == -EACCES)
		search->hidden++;
	return mount_search_is_fatal(visit.result) ? visit.result : 0;
}

/* By a file that is mounted somewhere in our namespace. */
static int look_at_kept(struct mount_search *search)
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
		fd = open_host_path(kept->path, O_RDONLY, NULL);
		(void) snprintf(found.kept_at, sizeof(found.kept_at), "%s", kept->path);
		r = fd < 0 ? 0 : look_into_kept(search, fd, &found);
	}
	return r;
}

/* ---- what a process has ---- */

struct task {
	struct mount_search *search;
	struct mount_holder found; /* as for whatever is found of it */
	int fd;
	int result;
};

/* What could not be looked at for want of something of ours may be what is looked for. */
static void note_error(struct task *task, int error)
{
	if (process_error_is_ours(error))
		task->result = error;
}

/* A mount that no table has: detached, made since, or one of the kernel's own. */
static void look_at_unknown(struct task *task, const char *link, const char *path)
{
	cleanup_close int fd = openat(task->fd, link, O_PATH | O_CLOEXEC);
	struct mount_holder found = task->found;
	struct statx facts;

	if (fd < 0)
		note_error(task, -errno);
	if (fd < 0 ||
	    statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, 0, &facts) < 0)
		return;
	found.how = HELD_DETACHED;
	(void) snprintf(found.where, sizeof(found.where), "%s", path);
	for (size_t i = 0; i < task->search->count && task->result >= 0; i++) {
		dev_t device = makedev(facts.stx_dev_major, facts.stx_dev_minor);

		/* Of a mount in no namespace nobody can tell which part of a file system it shows.
		 */
		if (task->search->holders[i].device == device && device != 0 &&
		    mount_search_shows_all(&task->search->positions[i]))
			task->result = mount_search_add(task->search, i, &found);
	}
}

static bool read_link(int fd, const char *name, char path[PATH_MAX])
{
	ssize_t length = readlinkat(fd, name, path, PATH_MAX - 1);

	path[length > 0 ? length : 0] = '\0';
	return length > 0;
}

static void look_at_link(struct task *task, const char *link)
{
	char path[PATH_MAX];
	uint64_t mount_id;
	int r = process_link_mount(task->fd, link, &mount_id);

	note_error(task, r);
	if (r >= 0 && !mount_search_knows(task->search, mount_id) &&
	    read_link(task->fd, link, path))
		look_at_unknown(task, link, path);
}

static void look_at_namespace(struct task *task, int directory_fd, const char *name,
			      uint64_t mount_namespace)
{
	cleanup_close int fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC);
	struct mount_holder found = task->found;

	found.how = HELD_BY_DESCRIPTOR;
	found.mount_namespace = mount_namespace;
	if (fd >= 0)
		task->result = look_into_kept(task->search, fd, &found);
	else
		note_error(task, -errno);
}

static void look_at_descriptor(struct task *task, int directory_fd, const char *name)
{
	char path[PATH_MAX], link[300];
	uint64_t number;
	int r;

	if (!read_link(directory_fd, name, path))
		return;
	if (sscanf(path, "mnt:[%" SCNu64 "]", &number) == 1) {
		if (!mount_search_is_seen(task->search, number))
			look_at_namespace(task, directory_fd, name, number);
		return;
	}
	r = path[0] == '/' ? process_descriptor_mount(task->fd, name, &number) : -ENOENT;
	note_error(task, r);
	if (r < 0 || mount_search_knows(task->search, number))
		return;
	(void) snprintf(link, sizeof(link), "fd/%s", name);
	look_at_unknown(task, link, path);
}

static void look_at_descriptors(struct task *task)
{
	cleanup_closedir DIR *directory = NULL;
	const struct dirent *entry;
	int fd = process_open_directory(task->fd, "fd");

	directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		note_error(task, fd < 0 ? fd : -errno);
		(void) close_keep_errno(fd);
		return;
	}
	while (task->result >= 0 && (entry = readdir(directory)))
		if (isdigit((unsigned char) entry->d_name[0]))
			look_at_descriptor(task, dirfd(directory), entry->d_name);
}

static void look_at_map(const struct process_map *map, void *userdata)
{
	struct task *task = userdata;

	for (size_t i = 0; i < task->search->count; i++)
		if (task->search->holders[i].device == map->device)
			look_at_link(task, map->link);
}

static bool look_at_task(int task_fd, void *userdata)
{
	struct task *task = userdata;

	task->fd = task_fd;
	look_at_link(task, "cwd");
	look_at_link(task, "root");
	look_at_descriptors(task);
	return task->result >= 0;
}

static int look_at_process(struct mount_search *search, int proc_fd, const char *name)
{
	cleanup_close int fd = process_open_directory(proc_fd, name);
	struct task task = { .search = search,
			     .found = { .found = true, .pid_fd = -EBADF },
			     .fd = fd };

	task.found.pid = (pid_t) strtol(name, NULL, 10);
	note_error(&task, fd);
	if (fd < 0 || task.found.pid == getpid())
		return task.result;
	process_command(fd, task.found.command);
	if (look_at_task(fd, &task))
		note_error(&task, process_walk_threads(fd, task.found.pid, look_at_task, &task));
	task.fd = fd;
	look_at_link(&task, "exe");
	if (!process_is_stuck(fd))
		note_error(&task, process_walk_maps(fd, look_at_map, &task));
	return mount_search_is_fatal(task.result) ? task.result : 0;
}

int mount_pins_look(struct mount_search *search)
{
	cleanup_closedir DIR *proc = opendir("/proc");
	uint64_t end_usec = monotonic_usec() + PINS_USEC;
	const struct dirent *entry;
	int r = proc ? look_at_kept(search) : -errno;

	while (r >= 0 && (entry = readdir(proc))) {
		if (isdigit((unsigned char) entry->d_name[0]))
			r = look_at_process(search, dirfd(proc), entry->d_name);
		if (monotonic_usec() > end_usec)
			r = -ETIMEDOUT;
	}
	return r;
}
