/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy_holders - who keeps a mount from being unmounted; see busy_holders.h
 *
 * First the mounts that count are listed (busy_mounts.c), then everything that uses one of them:
 * loop devices and swap by name, processes by mount ids. Threads are inspected only where they do
 * not share directories and descriptors with the first one.
 */
#include "mount/holders/busy_holders.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/directory.h"
#include "mount/holders/busy_mounts.h"
#include "mount/table/mountinfo.h"

#include <assert.h>
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

enum { LINE_BYTES = PATH_MAX + 256 };

static const char *const kind_names[] = {
	[BUSY_WORKING_DIRECTORY] = "working directory",
	[BUSY_ROOT_DIRECTORY] = "root directory",
	[BUSY_EXECUTABLE] = "executable",
	[BUSY_OPEN_FILE] = "open file",
	[BUSY_MAPPED_FILE] = "mapped file",
	[BUSY_SOCKET] = "socket",
	[BUSY_NESTED_MOUNT] = "mount",
	[BUSY_LOOP_DEVICE] = "loop device",
	[BUSY_SWAP] = "swap",
};
static_assert(ARRAY_SIZE(kind_names) == BUSY_KIND_COUNT, "name every kind");

struct search {
	struct busy_query *queries;
	size_t count;
	const atomic_bool *cancelled;
	struct busy_mounts mounts;
	struct busy_sockets sockets;
	uint64_t own_namespace;
	uint64_t end_usec;
	size_t descriptors; /* looked at */
	size_t hidden;
	bool cut_short;
};

/* One process while it is inspected. */
struct subject {
	struct search *search;
	int process_fd;
	pid_t pid;
	uid_t uid;
	uint64_t mount_namespace;
	char command[COMMAND_BYTES];
	char executable[PATH_MAX]; /* of one in a volume; "" */
};

const char *busy_kind_name(enum busy_kind kind)
{
	assert(kind < BUSY_KIND_COUNT);
	return kind_names[kind];
}

/* ---- the list ---- */

static void append(struct busy_holders *holders, const struct busy_holder *holder)
{
	holders->total++;
	if (holders->count < BUSY_HOLDERS_MAX)
		holders->list[holders->count++] = *holder;
	else
		(void) close_keep_errno(holder->pid_fd);
}

/* The entry of this process and kind, which are the last ones. NULL: the list is full. */
static struct busy_holder *find_entry(struct busy_holders *holders, pid_t pid, enum busy_kind kind)
{
	for (size_t i = holders->count; i-- > 0 && holders->list[i].pid == pid;)
		if (holders->list[i].kind == kind)
			return &holders->list[i];
	return NULL;
}

static struct busy_holder make_entry(const struct subject *subject, enum busy_kind kind)
{
	uint64_t own = subject->search->own_namespace;
	struct busy_holder entry = {
		.kind = kind,
		.count = 1,
		.pid = subject->pid,
		.pid_fd = -EBADF,
		.uid = subject->uid,
		.mount_namespace = subject->mount_namespace == own ? 0 : subject->mount_namespace,
	};

	(void) snprintf(entry.command, sizeof(entry.command), "%s", subject->command);
	return entry;
}

/* The first one gives its name; one descriptor for a process, whatever the number of its entries.
 */
static void note_use(const struct subject *subject, enum busy_kind kind,
		     const struct busy_mount *mount, const char *path)
{
	struct busy_holders *holders = &subject->search->queries[mount->volume].holders;
	bool is_first = holders->last_pid != subject->pid;
	struct busy_holder *before, entry;

	if (is_first)
		holders->last_kinds = 0;
	holders->last_pid = subject->pid;
	if (holders->last_kinds & 1U << kind) {
		before = find_entry(holders, subject->pid, kind);
		if (before)
			before->count++;
		return;
	}
	holders->last_kinds |= 1U << kind;
	entry = make_entry(subject, kind);
	busy_mount_name(mount, path, entry.name, sizeof(entry.name));
	if (is_first && subject->pid != getpid() && holders->count < BUSY_HOLDERS_MAX)
		entry.pid_fd = process_pin(subject->pid, subject->mount_namespace);
	append(holders, &entry);
}

/* ---- one process ---- */

static bool read_link(int fd, const char *name, char path[PATH_MAX])
{
	ssize_t length = readlinkat(fd, name, path, PATH_MAX - 1);

	if (length < 0)
		return false;
	path[length] = '\0';
	return true;
}

static void scan_link(struct subject *subject, int task_fd, const char *link, enum busy_kind kind)
{
	const struct busy_mount *mount;
	uint64_t mount_id;
	char path[PATH_MAX];

	if (process_link_mount(task_fd, link, &mount_id) < 0)
		return;
	mount = busy_mounts_find(&subject->search->mounts, mount_id);
	if (!mount)
		return;
	if (!read_link(task_fd, link, path))
		path[0] = '\0';
	if (kind == BUSY_EXECUTABLE)
		memcpy(subject->executable, path, sizeof(path));
	note_use(subject, kind, mount, path);
}

/* What has neither a path nor a name in a volume, such as a pipe, is in no mount that counts. */
static void scan_descriptor(struct subject *subject, int task_fd, int directory_fd,
			    const char *name)
{
	const struct busy_socket *socket;
	const struct busy_mount *mount;
	uint64_t mount_id;
	char path[PATH_MAX];

	if (!read_link(directory_fd, name, path))
		return;
	socket = busy_sockets_find(&subject->search->sockets, path);
	if (socket)
		note_use(subject, BUSY_SOCKET, socket->mount, socket->path);
	if (path[0] != '/' || process_descriptor_mount(task_fd, name, &mount_id) < 0)
		return;
	mount = busy_mounts_find(&subject->search->mounts, mount_id);
	if (mount)
		note_use(subject, BUSY_OPEN_FILE, mount, path);
}

static bool is_cancelled(const struct search *search)
{
	return search->cancelled && atomic_load(search->cancelled);
}

static bool is_over(struct search *search)
{
	if (is_cancelled(search))
		return true;
	if (search->descriptors < BUSY_DESCRIPTORS_MAX && monotonic_usec() < search->end_usec)
		return false;
	search->cut_short = true;
	return true;
}

static int scan_descriptors(struct subject *subject, int task_fd)
{
	cleanup_closedir DIR *directory = NULL;
	const struct dirent *entry;
	int fd = process_open_directory(task_fd, "fd"), r;

	directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		(void) close_keep_errno(fd);
		return fd < 0 ? fd : -errno;
	}
	while ((r = directory_next(directory, &entry)) > 0) {
		if (!isdigit((unsigned char) entry->d_name[0]))
			continue;
		scan_descriptor(subject, task_fd, dirfd(directory), entry->d_name);
		if (subject->search->descriptors++ % 1024 == 1023 && is_over(subject->search))
			return 0;
	}
	return r;
}

/* What is mapped of an executable is reported so. */
static void scan_map(const struct process_map *map, void *userdata)
{
	struct subject *subject = userdata;
	const struct busy_mount *mount;
	uint64_t mount_id;

	if (strcmp(map->path, subject->executable) == 0 ||
	    !busy_mounts_has_device(&subject->search->mounts, map->device) ||
	    process_link_mount(subject->process_fd, map->link, &mount_id) < 0)
		return;
	mount = busy_mounts_find(&subject->search->mounts, mount_id);
	if (mount)
		note_use(subject, BUSY_MAPPED_FILE, mount, map->path);
}

static int scan_task(struct subject *subject, int task_fd)
{
	scan_link(subject, task_fd, "cwd", BUSY_WORKING_DIRECTORY);
	scan_link(subject, task_fd, "root", BUSY_ROOT_DIRECTORY);
	return scan_descriptors(subject, task_fd);
}

static bool scan_thread(int task_fd, void *userdata)
{
	struct subject *subject = userdata;

	(void) scan_task(subject, task_fd);
	return !is_over(subject->search);
}

/* It may end at any moment: a process that ended holds nothing. */
static int scan_process(struct search *search, int proc_fd, const char *name)
{
	cleanup_close int fd = process_open_directory(proc_fd, name);
	struct subject subject = { .search = search, .process_fd = fd };
	int r = fd;

	subject.pid = (pid_t) strtol(name, NULL, 10);
	if (r >= 0)
		r = process_namespace(fd, &subject.mount_namespace);
	if (fd >= 0 && (r >= 0 || r == -ENOENT)) {
		process_command(fd, subject.command);
		subject.uid = process_uid(fd);
		scan_link(&subject, fd, "exe", BUSY_EXECUTABLE);
		r = scan_task(&subject, fd);
		(void) process_walk_threads(fd, subject.pid, scan_thread, &subject);
		if (!process_is_stuck(fd))
			(void) process_walk_maps(fd, scan_map, &subject);
	}
	if (r == -EACCES || r == -EPERM)
		search->hidden++;
	return process_error_is_ours(r) ? r : 0;
}

static int scan_processes(struct search *search)
{
	cleanup_closedir DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int r = 0, more = 0;

	if (!proc)
		return -errno;
	while (r >= 0 && !is_over(search) && (more = directory_next(proc, &entry)) > 0)
		if (isdigit((unsigned char) entry->d_name[0]))
			r = scan_process(search, dirfd(proc), entry->d_name);
	if (r >= 0 && more < 0)
		return more;
	return r >= 0 && is_cancelled(search) ? -ECANCELED : r;
}

/* ---- what no process has ---- */

static void scan_nested(struct search *search)
{
	for (size_t i = 0; i < search->mounts.count; i++) {
		const struct busy_mount *mount = &search->mounts.list[i];
		struct busy_holder holder = { .kind = BUSY_NESTED_MOUNT,
					      .count = 1,
					      .pid_fd = -EBADF };

		if (!mount->is_nested)
			continue;
		(void) snprintf(holder.command, sizeof(holder.command), "%s", mount->type);
		busy_mount_name(mount, mount->mount_point, holder.name, sizeof(holder.name));
		append(&search->queries[mount->volume].holders, &holder);
	}
}

static void note_kernel_use(struct search *search, enum busy_kind kind, const char *by,
			    const char *path)
{
	const struct busy_mount *mount = busy_mounts_around(&search->mounts, path);
	struct busy_holder holder = { .kind = kind, .count = 1, .pid_fd = -EBADF };

	if (!mount)
		return;
	(void) snprintf(holder.command, sizeof(holder.command), "%s", by);
	busy_mount_name(mount, path, holder.name, sizeof(holder.name));
	append(&search->queries[mount->volume].holders, &holder);
}

/* By name: opening the device would access the file system below it. */
static int scan_loop_devices(struct search *search)
{
	cleanup_closedir DIR *block = opendir("/sys/block");
	const struct dirent *entry;
	int r = 0;

	while (block && (r = directory_next(block, &entry)) > 0) {
		char name[300], path[PATH_MAX + 1];
		cleanup_close int fd = -EBADF;
		ssize_t length;

		if (strncmp(entry->d_name, "loop", 4) != 0)
			continue;
		(void) snprintf(name, sizeof(name), "%s/loop/backing_file", entry->d_name);
		fd = openat(dirfd(block), name, O_RDONLY | O_CLOEXEC);
		length = fd < 0 ? -1 : read(fd, path, sizeof(path) - 1);
		path[length > 0 ? length : 0] = '\0';
		path[strcspn(path, "\n")] = '\0';
		note_kernel_use(search, BUSY_LOOP_DEVICE, entry->d_name, path);
	}
	return r;
}

/* The first word of each line but the first; a blank in it is written as \040. */
static void scan_swaps(struct search *search)
{
	cleanup_fclose FILE *file = fopen("/proc/swaps", "re");
	char line[LINE_BYTES];

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, " \t\n")] = '\0';
		mountinfo_unescape(line);
		note_kernel_use(search, BUSY_SWAP, "", line);
	}
}

/* ---- all ---- */

static int read_own_namespace(uint64_t *ret)
{
	cleanup_close int fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : process_namespace(fd, ret);
}

static int search_all(struct search *search)
{
	int r = read_own_namespace(&search->own_namespace);

	if (r >= 0)
		r = busy_mounts_read(search->queries, search->count, true, &search->mounts);
	if (r < 0 || search->mounts.count == 0)
		return r;
	scan_nested(search);
	r = scan_loop_devices(search);
	if (r < 0)
		return r;
	scan_swaps(search);
	r = busy_sockets_read(&search->mounts, &search->sockets);
	return r < 0 ? r : scan_processes(search);
}

int busy_holders_search(struct busy_query *queries, size_t count, const atomic_bool *cancelled,
			struct failure *reterr)
{
	struct search search = { .queries = queries,
				 .count = count,
				 .cancelled = cancelled,
				 .end_usec = monotonic_usec() + BUSY_SEARCH_USEC };
	int r;

	assert(queries || count == 0);
	for (size_t i = 0; i < count; i++)
		queries[i].holders = (struct busy_holders){ .count = 0 };
	r = search_all(&search);
	busy_sockets_free(&search.sockets);
	busy_mounts_free(&search.mounts);
	for (size_t i = 0; i < count; i++) {
		queries[i].holders.hidden = search.hidden;
		queries[i].holders.cut_short = search.cut_short;
		if (r < 0)
			busy_holders_done(&queries[i].holders);
	}
	return r < 0 ? failed(reterr, r, "cannot search for users of a volume") : 0;
}

void busy_holders_done(struct busy_holders *holders)
{
	assert(holders);
	for (size_t i = 0; i < holders->count; i++)
		(void) close_keep_errno(holders->list[i].pid_fd);
	*holders = (struct busy_holders){ .count = 0 };
}

/* ---- as text ---- */

static void print_more(const struct busy_holder *holder, char *text, size_t size)
{
	text[0] = '\0';
	if (holder->count > 1)
		(void) snprintf(text, size, " and %u more", holder->count - 1);
}

void busy_holder_print(const struct busy_holder *holder, char text[BUSY_TEXT_BYTES])
{
	const char *kind = busy_kind_name(holder->kind);
	char name[BUSY_NAME_BYTES + 4] = "", more[32], elsewhere[64] = "";

	if (*holder->name)
		(void) snprintf(name, sizeof(name), " '%s'", holder->name);
	if (holder->mount_namespace)
		(void) snprintf(elsewhere, sizeof(elsewhere), " in mount namespace %" PRIu64,
				holder->mount_namespace);
	print_more(holder, more, sizeof(more));
	if (holder->pid > 0)
		(void) snprintf(text, BUSY_TEXT_BYTES, "process %d '%s'%s: %s%s%s",
				(int) holder->pid, holder->command, elsewhere, kind, name, more);
	else if (holder->kind == BUSY_NESTED_MOUNT)
		(void) snprintf(text, BUSY_TEXT_BYTES, "%s (%s) is mounted in it",
				*name ? name + 1 : "''", holder->command);
	else
		(void) snprintf(text, BUSY_TEXT_BYTES, "%s%s%s on%s", kind,
				*holder->command ? " " : "", holder->command, name);
}
