/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_force - which holders of a volume a forced unstage may go past; see mount_force.h
 *
 * A process belongs to a container when it or one of its parents does: it may leave for another
 * mount namespace, and its parents stay. One whose parent ended belongs to the first process of its
 * PID namespace, or is known by its cgroup.
 */
#include "mount/holders/mount_force.h"

#include "base/cleanup.h"
#include "base/directory.h"
#include "mount/holders/process.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PARENTS_MAX = 4096 };

/* ---- who belongs to containers ---- */

struct member {
	struct mount_containers *containers;
	int result;
};

static bool add_task(int task_fd, void *userdata)
{
	struct member *member = userdata;
	uint64_t mount_namespace;
	int r = process_error_of(task_fd, process_namespace(task_fd, &mount_namespace));

	if (r >= 0)
		r = namespace_set_add(&member->containers->namespaces, mount_namespace);
	member->result = process_error_is_gone(r) ? 0 : r;
	return member->result >= 0;
}

/* One whose first thread ended lives on in the others. */
static int add_process(struct mount_containers *containers, pid_t pid)
{
	struct member member = { .containers = containers };
	cleanup_close int fd = -EBADF;
	uint64_t ignored;
	char path[32];
	int r = 0;

	(void) snprintf(path, sizeof(path), "/proc/%d", (int) pid);
	fd = process_open_directory(AT_FDCWD, path);
	if (fd < 0)
		return process_error_is_gone(fd) ? 0 : fd;
	if (process_has_ended(fd))
		return 0;
	if (add_task(fd, &member) && process_error_is_gone(process_namespace(fd, &ignored)))
		r = process_walk_threads(fd, pid, add_task, &member);
	if (r >= 0)
		r = member.result;
	return r < 0 ? r : namespace_set_add(&containers->pids, (uint64_t) pid);
}

/* Those of a threaded cgroup (EOPNOTSUPP) are listed by the one above it. */
static int add_processes(struct mount_containers *containers, int directory_fd, unsigned int depth)
{
	int fd = openat(directory_fd, "cgroup.procs", O_RDONLY | O_CLOEXEC), pid, r = 0;
	cleanup_fclose FILE *file = fd < 0 ? NULL : fdopen(fd, "re");

	if (!file) {
		r = -errno;
		(void) close_keep_errno(fd);
		return r;
	}
	while (r >= 0 && fscanf(file, "%d", &pid) == 1)
		r = pid > 0 ? add_process(containers, pid) : -ESRCH;
	if (r >= 0 && ferror(file))
		r = errno == EOPNOTSUPP && depth > 0 ? 0 : -errno;
	return r == -ESRCH ? -EXDEV : r; /* of another PID namespace: its number is unknown here */
}

static bool is_cgroup_gone(int error)
{
	return error == -ENOENT || error == -ENODEV;
}

static int add_cgroup(struct mount_containers *containers, int directory_fd, unsigned int depth)
{
	cleanup_closedir DIR *directory = NULL;
	const struct dirent *entry;
	int fd, more = 0, r = depth < CONTAINER_CGROUPS_DEEP_MAX ? 0 : -ELOOP;

	if (r >= 0)
		r = add_processes(containers, directory_fd, depth);
	if (r < 0)
		return is_cgroup_gone(r) ? 0 : r;
	fd = process_open_directory(directory_fd, ".");
	directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		r = fd < 0 ? fd : -errno;
		(void) close_keep_errno(fd);
		return is_cgroup_gone(r) ? 0 : r;
	}
	while (r >= 0 && (more = directory_next(directory, &entry)) > 0) {
		cleanup_close int below_fd = -EBADF;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		below_fd = process_open_directory(dirfd(directory), entry->d_name);
		if (below_fd >= 0)
			r = add_cgroup(containers, below_fd, depth + 1);
		else if (!is_cgroup_gone(below_fd))
			r = below_fd;
	}
	return more < 0 && !is_cgroup_gone(more) ? more : r;
}

static int add_container(struct mount_containers *containers,
			 const struct mount_container *container)
{
	cleanup_close int fd = -EBADF;

	if (container->pid > 0)
		return add_process(containers, container->pid);
	fd = process_open_directory(AT_FDCWD, container->cgroup);
	if (fd < 0)
		return is_cgroup_gone(fd) ? 0 : fd;
	return add_cgroup(containers, fd, 0);
}

int mount_containers_read(const struct mount_container *list, size_t count,
			  struct mount_containers *ret, struct failure *reterr)
{
	assert((list || count == 0) && ret);
	*ret = (struct mount_containers){ 0 };
	for (size_t i = 0; i < count; i++) {
		int r = add_container(ret, &list[i]);

		if (r < 0 && list[i].pid > 0)
			return failed(reterr, r, "cannot inspect process %d of a held container",
				      (int) list[i].pid);
		if (r < 0)
			return failed(reterr, r,
				      "cannot determine which processes are in cgroup '%s'",
				      list[i].cgroup);
	}
	return 0;
}

void mount_containers_done(struct mount_containers *containers)
{
	namespace_set_done(&containers->pids);
	namespace_set_done(&containers->namespaces);
}

/* ---- who may be passed ---- */

/* Return: its parent; 0 none; else as the calls. */
static pid_t parent_of(pid_t pid)
{
	char path[48], facts[1024];
	const char *line;
	int parent, r;

	(void) snprintf(path, sizeof(path), "/proc/%d/status", (int) pid);
	r = process_read_short(AT_FDCWD, path, facts, sizeof(facts));
	if (r < 0)
		return r;
	line = strstr(facts, "\nPPid:");
	return line && sscanf(line, "\nPPid: %d", &parent) == 1 ? parent : -EIO;
}

/* What cannot be read may be in one. */
static bool is_of_container(const struct mount_containers *containers, pid_t pid)
{
	for (unsigned int i = 0; i < PARENTS_MAX; i++) {
		if (namespace_set_has(&containers->pids, (uint64_t) pid))
			return true;
		pid = parent_of(pid);
		if (pid <= 0)
			return pid < 0;
	}
	return true;
}

const struct mount_container *mount_container_of(const struct mount_container *list, size_t count,
						 const struct mount_holder *holder)
{
	assert((list || count == 0) && holder);
	for (size_t i = 0; i < count; i++) {
		cleanup(mount_containers_done) struct mount_containers one = { 0 };

		if (mount_containers_read(&list[i], 1, &one, NULL) < 0)
			continue;
		if (namespace_set_has(&one.namespaces, holder->mount_namespace) ||
		    (holder->pid > 0 && is_of_container(&one, holder->pid)))
			return &list[i];
	}
	return NULL;
}

static bool is_own_namespace(uint64_t mount_namespace)
{
	struct stat own;

	return stat("/proc/self/ns/mnt", &own) == 0 && own.st_ino == mount_namespace;
}

/* In a user namespace that a local user made; or as such a user in our own one. There a process
 * with mounts of its own may be a container's that no hold names: what it has mounted or open is
 * never passed, and what was not searched is, for it has no mounts that were not searched. */
static bool is_of_local_user(int process_fd, uint64_t mount_namespace, enum mount_held how)
{
	uid_t uid = process_uid(process_fd), owner;
	uint64_t user_namespace;

	if (process_namespace_owner(process_fd, &user_namespace, &owner) < 0)
		return false;
	if (user_namespace != 0)
		return owner != 0;
	if (uid == 0 || uid == (uid_t) -1)
		return false;
	return how == HELD_UNSEARCHED || is_own_namespace(mount_namespace);
}

/* One that cannot be looked at is never passed. A container may share the host's mounts; that makes
 * no other process of the host its own. */
static bool passes_process(const struct mount_containers *containers,
			   const struct mount_holder *holder)
{
	cleanup_close int fd = -EBADF;
	uint64_t mount_namespace;
	char path[32];

	(void) snprintf(path, sizeof(path), "/proc/%d", (int) holder->pid);
	fd = process_open_directory(AT_FDCWD, path);
	return fd >= 0 && process_namespace(fd, &mount_namespace) >= 0 &&
	       is_of_local_user(fd, mount_namespace, holder->how) &&
	       (is_own_namespace(mount_namespace) ||
		!namespace_set_has(&containers->namespaces, mount_namespace)) &&
	       !is_of_container(containers, holder->pid);
}

/* Is the mount namespace of a local user, and of no container? */
static bool passes_namespace(const struct mount_containers *containers,
			     const struct mount_holder *holder)
{
	return holder->has_owner && holder->user_namespace != 0 && holder->owner != 0 &&
	       !namespace_set_has(&containers->namespaces, holder->mount_namespace);
}

bool mount_force_passes(const struct mount_containers *containers,
			const struct mount_holder *holder)
{
	assert(containers && holder);
	switch (holder->how) {
	case HELD_BY_PROCESS:
	case HELD_BY_DESCRIPTOR:
	case HELD_UNSEEN:
	case HELD_UNREAD:
		return passes_namespace(containers, holder) &&
		       (holder->pid == 0 || passes_process(containers, holder));
	case HELD_DETACHED:
	case HELD_UNSEARCHED:
		return passes_process(containers, holder);
	case HELD_BY_MOUNT:
	case HELD_HERE:
		return false;
	}
	return false;
}

void mount_passed_note(struct mount_passed *passed, const struct mount_holder *holder)
{
	size_t used = strlen(passed->text);
	char one[128];

	passed->count++;
	if (holder->pid > 0 && holder->pid == passed->named)
		return;
	passed->named = holder->pid;
	if (holder->pid > 0 && holder->user_namespace == 0)
		(void) snprintf(one, sizeof(one), "process %d (uid %u)", (int) holder->pid,
				(unsigned int) holder->uid);
	else if (holder->pid > 0)
		(void) snprintf(
			one, sizeof(one), "process %d (uid %u, user namespace %llu of uid %u)",
			(int) holder->pid, (unsigned int) holder->uid,
			(unsigned long long) holder->user_namespace, (unsigned int) holder->owner);
	else
		(void) snprintf(
			one, sizeof(one), "mount namespace %llu (user namespace %llu of uid %u)",
			(unsigned long long) holder->mount_namespace,
			(unsigned long long) holder->user_namespace, (unsigned int) holder->owner);
	passed->is_cut |= used + strlen(one) + 2 >= sizeof(passed->text);
	if (!passed->is_cut)
		(void) snprintf(passed->text + used, sizeof(passed->text) - used, "%s%s",
				used > 0 ? ", " : "", one);
}
