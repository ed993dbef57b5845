/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold_watch - is what a hold names alive, and tell when it is no more; see hold_watch.h
 *
 * All it reads are files of proc and of cgroup file systems, which answer without waiting for
 * anybody.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "inuse/hold_watch.h"

#include "base/cleanup.h"
#include "mount/mount.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define CGROUP_ROOT "/sys/fs/cgroup"

struct watched {
	struct hold_watch *watch;
	char id[HOLD_ID_BYTES];
	enum hold_kind kind;
	int fd;          /* a pidfd or cgroup.events */
	int parent_mark; /* of inotify, on the directory of the cgroup; -1 none */
	sd_event_source *source;
	UT_hash_handle hh; /* by id */
};

struct hold_watch {
	sd_event *event; /* borrowed */
	int64_t priority;
	void (*ended)(void *userdata, const char *id);
	void *userdata;
	struct watched *by_id;
	int removals_fd; /* inotify; made with the first cgroup */
	sd_event_source *removals;
};

/* ---- small files ---- */

/* From the beginning, as far as it fits. Return: 0 or negative errno. */
static int read_small(int fd, char *text, size_t bytes)
{
	ssize_t length = pread(fd, text, bytes - 1, 0);

	if (length < 0)
		return -errno;
	text[length] = '\0';
	return 0;
}

static int read_proc(pid_t pid, const char *name, char *text, size_t bytes)
{
	cleanup_close int fd = -EBADF;
	char path[64];

	(void) snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : read_small(fd, text, bytes);
}

void process_name(pid_t pid, char ret[PROCESS_NAME_BYTES])
{
	if (read_proc(pid, "comm", ret, PROCESS_NAME_BYTES) < 0 || *ret == '\0')
		(void) snprintf(ret, PROCESS_NAME_BYTES, "?");
	ret[strcspn(ret, "\n")] = '\0';
}

/* ---- processes ---- */

/* By how many clock ticks "since the boot" is later in our time namespace than in the first one:
 * the line "boottime SECONDS NANOSECONDS" of time_namespaces(7). Without such namespaces, none. */
static int read_boot_offset(int64_t *ret_ticks)
{
	const int64_t ticks_per_sec = sysconf(_SC_CLK_TCK);
	int64_t seconds, nanoseconds;
	char text[256], *at;
	int r = read_proc(getpid(), "timens_offsets", text, sizeof(text));

	*ret_ticks = 0;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	at = strstr(text, "boottime");
	if (!at)
		return 0;
	seconds = strtoll(at + strlen("boottime"), &at, 10);
	nanoseconds = strtoll(at, NULL, 10);
	if (__builtin_mul_overflow(seconds, ticks_per_sec, ret_ticks) ||
	    __builtin_add_overflow(*ret_ticks, nanoseconds / (1000000000 / ticks_per_sec),
				   ret_ticks))
		return -EIO;
	return 0;
}

/* Field 22 of proc(5)'s stat, as in the first time namespace: the next podvold may run in another
 * one. The name before it may hold anything, parentheses and blanks too. */
static int read_start_time(pid_t pid, uint64_t *ret)
{
	enum { FIELDS_AFTER_NAME = 20 };
	char text[1024], *at;
	int64_t offset;
	int r = read_proc(pid, "stat", text, sizeof(text));

	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	at = strrchr(text, ')');
	for (int i = 0; at && i < FIELDS_AFTER_NAME; i++)
		at = strchr(at + 1, ' ');
	if (!at)
		return -EIO;
	r = read_boot_offset(&offset);
	if (r < 0)
		return r;
	*ret = strtoull(at + 1, NULL, 10) - (uint64_t) offset;
	return 0;
}

bool hold_identity_is_of(const struct hold_identity *identity, const struct hold *hold)
{
	uint64_t apart = identity->start_time > hold->start_time
				 ? identity->start_time - hold->start_time
				 : hold->start_time - identity->start_time;

	return apart <= 1 && identity->cgroup_id == hold->cgroup_id;
}

static bool process_ended(int pidfd)
{
	struct pollfd poll_fd = { .fd = pidfd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) != 0;
}

/* The start time was that of the process behind the descriptor if that lives still: no other can
 * have had its number meanwhile. */
static int open_process(const struct hold *hold, struct hold_identity *ret, int *ret_fd,
			struct failure *reterr)
{
	cleanup_close int fd = pidfd_open(hold->pid, 0);
	int r;

	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return failed_plain(reterr, -EOPNOTSUPP,
				    "process %d cannot be watched: this kernel, or a filter of "
				    "system calls, has no pidfd_open; hold by cgroup instead",
				    (int) hold->pid);
	if (fd < 0 && (errno == EINVAL || errno == ENOENT))
		return failed_plain(reterr, -EINVAL, "%d is not a process but a thread of one",
				    (int) hold->pid);
	if (fd < 0 && errno != ESRCH)
		return failed(reterr, -errno, "cannot watch process %d", (int) hold->pid);
	r = fd < 0 ? -ESRCH : read_start_time(hold->pid, &ret->start_time);
	if (r >= 0 && process_ended(fd))
		r = -ESRCH;
	if (r == -ESRCH)
		return failed_plain(reterr, r, "process %d not found", (int) hold->pid);
	if (r < 0)
		return failed(reterr, r, "cannot inspect process %d", (int) hold->pid);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* ---- cgroups ---- */

/* The path below the root of all cgroups; NULL: it is not one of them. */
static const char *path_beneath(const char *path)
{
	size_t length = strlen(CGROUP_ROOT);

	if (strncmp(path, CGROUP_ROOT "/", length + 1) != 0)
		return NULL;
	path += length + 1;
	path += strspn(path, "/");
	return *path ? path : NULL;
}

static int refuse_cgroup(const char *path, struct failure *reterr)
{
	return failed_plain(reterr, -EINVAL,
			    "'%s' is not a cgroup of version 2 beneath " CGROUP_ROOT, path);
}

/* A descriptor stays with this cgroup when its name is given to another one. */
static int open_directory(const struct hold *hold, struct hold_identity *ret, int *ret_fd,
			  struct failure *reterr)
{
	const char *path = path_beneath(hold->cgroup);
	cleanup_close int root_fd = -EBADF, fd = -EBADF;
	struct statfs file_system;
	struct stat st;

	if (!path)
		return refuse_cgroup(hold->cgroup, reterr);
	root_fd = open(CGROUP_ROOT, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return failed(reterr, -errno, "cannot open '" CGROUP_ROOT "'");
	fd = open_beneath(root_fd, path, O_RDONLY | O_DIRECTORY, PATH_NO_SYMLINKS_ANY_MOUNT,
			  reterr);
	if (fd == -ENOENT || fd == -ENODEV)
		return failed_plain(reterr, -ESRCH, "cgroup '%s' not found", hold->cgroup);
	if (fd == -ELOOP || fd == -EXDEV || fd == -ENOTDIR)
		return refuse_cgroup(hold->cgroup, reterr);
	if (fd < 0)
		return fd;
	if (fstatfs(fd, &file_system) < 0 || fstat(fd, &st) < 0)
		return failed(reterr, -errno, "cannot inspect '%s'", hold->cgroup);
	if (file_system.f_type != CGROUP2_SUPER_MAGIC)
		return refuse_cgroup(hold->cgroup, reterr);
	ret->cgroup_id = st.st_ino;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* Return: 1 there is one; 0 none, or the cgroup was removed and has no such file any more; else as
 * the calls, and then it is unknown: that ends no hold. */
static int has_processes(int events_fd)
{
	char text[256];
	int r = read_small(events_fd, text, sizeof(text));

	if (r < 0)
		return r == -ENODEV ? 0 : r;
	return strstr(text, "populated 1") != NULL;
}

static int open_events(int directory_fd)
{
	int fd = openat(directory_fd, "cgroup.events", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_cgroup(const struct hold *hold, struct hold_identity *ret, int *ret_fd,
		       struct failure *reterr)
{
	cleanup_close int directory_fd = -EBADF, fd = -EBADF;
	int populated = 0, r = open_directory(hold, ret, &directory_fd, reterr);

	if (r < 0)
		return r;
	fd = open_events(directory_fd);
	if (fd == -ENOENT)
		return failed_plain(reterr, -EINVAL,
				    "'%s' is the root of its hierarchy: it never ends",
				    hold->cgroup);
	if (fd != -ENODEV)
		populated = fd < 0 ? fd : has_processes(fd);
	if (populated < 0)
		return failed(reterr, populated, "cannot watch cgroup '%s'", hold->cgroup);
	if (populated == 0)
		return failed_plain(reterr, -ESRCH, "there is no process in cgroup '%s'",
				    hold->cgroup);
	*ret_fd = TAKE_FD(directory_fd);
	return 0;
}

int hold_target_open(const struct hold *hold, struct hold_identity *ret, int *ret_fd,
		     struct failure *reterr)
{
	assert(hold && ret && ret_fd && hold->kind != HOLD_EXPLICIT);
	*ret = (struct hold_identity){ 0 };
	return hold->kind == HOLD_PROCESS ? open_process(hold, ret, ret_fd, reterr)
					  : open_cgroup(hold, ret, ret_fd, reterr);
}

/* ---- watching ---- */

int hold_watch_new(sd_event *event, int64_t priority, void (*ended)(void *userdata, const char *id),
		   void *userdata, struct hold_watch **ret)
{
	struct hold_watch *watch = calloc(1, sizeof(*watch));

	assert(event && ended && ret);
	if (!watch)
		return -ENOMEM;
	watch->event = event;
	watch->removals_fd = -EBADF;
	watch->priority = priority;
	watch->ended = ended;
	watch->userdata = userdata;
	*ret = watch;
	return 0;
}

static struct watched *find(const struct hold_watch *watch, const char *id)
{
	struct watched *watched;

	HASH_FIND_STR(watch->by_id, id, watched);
	return watched;
}

static bool is_marked(const struct hold_watch *watch, int mark)
{
	const struct watched *watched;

	for (watched = watch->by_id; watched; watched = watched->hh.next)
		if (watched->parent_mark == mark)
			return true;
	return false;
}

static void drop(struct watched *watched)
{
	struct hold_watch *watch = watched->watch;

	if (watched->hh.tbl)
		HASH_DEL(watch->by_id, watched);
	if (watched->parent_mark >= 0 && !is_marked(watch, watched->parent_mark))
		(void) inotify_rm_watch(watch->removals_fd, watched->parent_mark);
	sd_event_source_disable_unref(watched->source);
	(void) close_keep_errno(watched->fd);
	free(watched);
}

struct hold_watch *hold_watch_free(struct hold_watch *watch)
{
	struct watched *watched, *next;

	if (!watch)
		return NULL;
	HASH_ITER (hh, watch->by_id, watched, next)
		drop(watched);
	sd_event_source_disable_unref(watch->removals);
	(void) close_keep_errno(watch->removals_fd);
	free(watch);
	return NULL;
}

static void report_ended(struct watched *watched)
{
	struct hold_watch *watch = watched->watch;
	char id[HOLD_ID_BYTES];

	memcpy(id, watched->id, sizeof(id));
	drop(watched);
	watch->ended(watch->userdata, id);
}

/* A cgroup tells of every change of its file, "frozen" too. */
static int on_ready(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct watched *watched = userdata;

	if (watched->kind == HOLD_PROCESS || has_processes(fd) == 0)
		report_ended(watched);
	return 0;
}

/* One after the other from the beginning: the callback may change the table. */
static void check_cgroups(struct hold_watch *watch)
{
	struct watched *watched = watch->by_id;

	while (watched) {
		if (watched->kind == HOLD_CGROUP && has_processes(watched->fd) == 0) {
			report_ended(watched);
			watched = watch->by_id;
		} else {
			watched = watched->hh.next;
		}
	}
}

/* Which it was does not matter: a cgroup is removed seldom, and looking is a short read. */
static int on_removal(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	char buffer[4096];

	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
	check_cgroups(userdata);
	return 0;
}

static int open_removals(struct hold_watch *watch)
{
	int r;

	if (watch->removals)
		return 0;
	watch->removals_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (watch->removals_fd < 0)
		return -errno;
	r = sd_event_add_io(watch->event, &watch->removals, watch->removals_fd, EPOLLIN, on_removal,
			    watch);
	if (r >= 0)
		r = sd_event_source_set_priority(watch->removals, watch->priority);
	if (r < 0) {
		watch->removals = sd_event_source_disable_unref(watch->removals);
		watch->removals_fd = close_keep_errno(watch->removals_fd);
	}
	return r < 0 ? r : 0;
}

static int gone_or(int error)
{
	return error == -ENOENT || error == -ENODEV ? -ESRCH : error;
}

/* The kernel holds back a change of cgroup.events that follows another within 10 ms, and forgets it
 * when the cgroup is removed meanwhile: so its directory is watched, too. */
static int watch_cgroup(struct watched *watched, int directory_fd)
{
	cleanup_close int parent_fd = -EBADF;
	char parent[64];
	int r = open_removals(watched->watch);

	if (r < 0)
		return r;
	watched->fd = open_events(directory_fd);
	if (watched->fd < 0)
		return gone_or(watched->fd);
	parent_fd = openat(directory_fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (parent_fd < 0)
		return gone_or(-errno);
	(void) snprintf(parent, sizeof(parent), "/proc/self/fd/%d", parent_fd);
	watched->parent_mark =
		inotify_add_watch(watched->watch->removals_fd, parent, IN_DELETE | IN_ONLYDIR);
	if (watched->parent_mark < 0)
		return -errno;
	r = has_processes(watched->fd);
	return r == 0 ? -ESRCH : r;
}

static int start(struct watched *watched, int target_fd)
{
	struct hold_watch *watch = watched->watch;
	bool is_process = watched->kind == HOLD_PROCESS;
	int r = 0;

	if (is_process)
		watched->fd = target_fd;
	else
		r = watch_cgroup(watched, target_fd);
	if (!is_process)
		(void) close_keep_errno(target_fd);
	if (r >= 0)
		r = sd_event_add_io(watch->event, &watched->source, watched->fd,
				    is_process ? EPOLLIN : EPOLLPRI, on_ready, watched);
	if (r >= 0)
		r = sd_event_source_set_priority(watched->source, watch->priority);
	return r;
}

int hold_watch_add(struct hold_watch *watch, const struct hold *hold, int fd)
{
	struct watched *watched;
	int r;

	assert(watch && hold && hold->kind != HOLD_EXPLICIT && fd >= 0);
	assert(!find(watch, hold->id));
	watched = calloc(1, sizeof(*watched));
	if (!watched) {
		(void) close_keep_errno(fd);
		return -ENOMEM;
	}
	watched->watch = watch;
	watched->kind = hold->kind;
	watched->fd = -EBADF;
	watched->parent_mark = -1;
	memcpy(watched->id, hold->id, sizeof(watched->id));
	r = start(watched, fd);
	if (r >= 0) {
		HASH_ADD_STR(watch->by_id, id, watched);
		r = watched->hh.tbl ? 0 : -ENOMEM;
	}
	if (r < 0)
		drop(watched);
	return r < 0 ? r : 0;
}

void hold_watch_remove(struct hold_watch *watch, const char *id)
{
	struct watched *watched;

	assert(watch && id);
	watched = find(watch, id);
	if (watched)
		drop(watched);
}

bool hold_watch_has(const struct hold_watch *watch, const char *id)
{
	assert(watch && id);
	return find(watch, id) != NULL;
}
