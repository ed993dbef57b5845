/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_holders - which processes in other mount namespaces keep a file system mounted; see
 * mount_holders.h
 *
 * Tables of mounts are read as text, which looks up no path: a dead server behind one of the mounts
 * stops nothing here. A mount C elsewhere goes with our mount M when C's parent receives what
 * happens to M's parent (the same peer group, or a slave of it, directly or through other groups)
 * and C is at the same place within it: then umount(M) is umount(C), too.
 */
#include "mount/holders/mount_holders.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/directory.h"
#include "mount/holders/mount_search.h"
#include "mount/holders/process.h"
#include "mount/path/subpath.h"
#include "mount/table/mountinfo.h"

#include <assert.h>
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define PLUGINS_FOLDER "/plugins/kubernetes.io/"

/* ---- tables as text ---- */

/* The device of a line without taking it apart. */
static dev_t device_of(const char *line)
{
	unsigned int device_major, device_minor;

	if (sscanf(line, "%*u %*u %u:%u", &device_major, &device_minor) != 2)
		return 0;
	return makedev(device_major, device_minor);
}

static bool has_id(const char *line, uint64_t mount_id)
{
	return strtoull(line, NULL, 10) == mount_id;
}

/* Where a mount point is in the file system of its parent mount. */
static void place_within(const struct mountinfo_line *mount, const struct mountinfo_line *parent,
			 char place[PLACE_BYTES])
{
	size_t length = strcmp(parent->mount_point, "/") == 0 ? 0 : strlen(parent->mount_point);
	const char *root = strcmp(parent->root, "/") == 0 ? "" : parent->root;

	(void) snprintf(place, PLACE_BYTES, "%s%s", root,
			strncmp(mount->mount_point, parent->mount_point, length) == 0
				? mount->mount_point + length
				: mount->mount_point);
}

/* The parent may stand anywhere in the table, or not in it at all. */
static int find_position(const char *table, const struct mountinfo_line *mount,
			 struct position *ret)
{
	*ret = (struct position){ 0 };
	for (const char *line = table; *line; line = table_next_line(line)) {
		cleanup_free char *copy = NULL;
		struct mountinfo_line parent;

		if (!has_id(line, mount->parent_id))
			continue;
		copy = table_copy_line(line);
		if (!copy)
			return -ENOMEM;
		if (mountinfo_parse(copy, &parent) < 0)
			return 0;
		ret->parent_device = parent.device;
		ret->parent_peer_group = parent.peer_group;
		ret->parent_master_group = parent.master_group;
		place_within(mount, &parent, ret->place);
		return 0;
	}
	return 0;
}

/* ---- all mounts there are ---- */

bool mount_search_knows(const struct mount_search *search, uint64_t mount_id)
{
	return mount_id / 8 < search->known_bytes &&
	       search->known[mount_id / 8] & 1U << mount_id % 8;
}

static int note_mount(struct mount_search *search, uint64_t mount_id)
{
	if (mount_id / 8 >= search->known_bytes) {
		size_t bytes = 2 * (size_t) (mount_id / 8) + 1024;
		unsigned char *known = realloc(search->known, bytes);

		if (!known)
			return -ENOMEM;
		memset(known + search->known_bytes, 0, bytes - search->known_bytes);
		search->known = known;
		search->known_bytes = bytes;
	}
	search->known[mount_id / 8] |= (unsigned char) (1U << mount_id % 8);
	return 0;
}

/* A mount namespace's own file, mounted: its root is "mnt:[4026532]". */
static int note_kept(struct mount_search *search, const char *line)
{
	cleanup_free char *copy = table_copy_line(line);
	struct kept_namespace kept;
	struct mountinfo_line mount;
	int r;

	if (!copy)
		return -ENOMEM;
	if (mountinfo_parse(copy, &mount) < 0 ||
	    sscanf(mount.root, "mnt:[%" SCNu64 "]", &kept.mount_namespace) != 1)
		return 0;
	r = ARRAY_ROOM(search->kept, search->kept_count, search->kept_capacity, 16);
	if (r < 0)
		return r;
	kept.path = strdup(mount.mount_point);
	if (!kept.path)
		return -ENOMEM;
	search->kept[search->kept_count++] = kept;
	return 0;
}

static int note_own_table(struct mount_search *search, const char *table)
{
	int r = 0;

	for (const char *line = table; r >= 0 && *line; line = table_next_line(line)) {
		size_t length = strcspn(line, "\n");

		r = note_mount(search, strtoull(line, NULL, 10));
		if (r >= 0 && memmem(line, length, " mnt:[", 6))
			r = note_kept(search, line);
	}
	return r;
}

/* ---- what is searched ---- */

/* The uppermost of those that are stacked on the mount point. */
static int look_up_own(const char *table, struct mount_holder *holder, struct position *position)
{
	holder->device = 0;
	for (const char *line = table; *line; line = table_next_line(line)) {
		cleanup_free char *copy = table_copy_line(line);
		struct mountinfo_line mount;
		int r;

		if (!copy)
			return -ENOMEM;
		if (mountinfo_parse(copy, &mount) < 0 ||
		    strcmp(mount.mount_point, holder->mount_point) != 0)
			continue;
		holder->device = mount.device;
		r = find_position(table, &mount, position);
		if (r < 0)
			return r;
		(void) snprintf(position->root, sizeof(position->root), "%s", mount.root);
	}
	return 0;
}

/* ---- one namespace ---- */

static bool is_looked_for(const struct mount_search *search, dev_t device)
{
	for (size_t i = 0; i < search->count; i++)
		if (search->holders[i].device == device ||
		    search->positions[i].parent_device == device)
			return device != 0;
	return false;
}

static int note_candidate(struct mount_search *search, size_t holder, const char *table,
			  const struct mountinfo_line *mount, const struct mount_holder *process)
{
	const struct mount_holder *asked = &search->holders[holder];
	const struct position *own = &search->positions[holder];
	struct candidate candidate = { .holder = holder,
				       .found = *process,
				       .mount_id = mount->mount_id };
	struct position position;
	int r;

	if (asked->note_shown)
		return asked->note_shown(asked->shown_userdata, mount->root);
	r = find_position(table, mount, &position);
	if (r < 0)
		return r;
	(void) snprintf(candidate.found.where, sizeof(candidate.found.where), "%s",
			mount->mount_point);
	/* Elsewhere in its parent than our mount it never goes with it. */
	if (own->parent_peer_group != 0 && strcmp(own->place, position.place) == 0) {
		candidate.peer_group = position.parent_peer_group;
		candidate.master_group = position.parent_master_group;
	}
	return mount_search_add_candidate(search, &candidate);
}

bool mount_search_shows_all(const struct position *own)
{
	return own->root[0] == '\0' || strcmp(own->root, "/") == 0;
}

/* A volume may be a directory of a large file system, of "/" even: a holder of all of that does not
 * have the volume, only who has the directory or something in it. */
static bool shows_part(const struct position *own, const char *root)
{
	size_t length = strlen(own->root);

	if (mount_search_shows_all(own))
		return true;
	return strncmp(root, own->root, length) == 0 &&
	       (root[length] == '\0' || root[length] == '/');
}

/* Where podvold, or another volume, has it; a device that is mounted nowhere is asked about for
 * others only. */
static bool is_own_place(const struct mount_holder *holder, const char *mount_point)
{
	if (holder->root)
		return false;
	return !holder->mount_point || strcmp(mount_point, holder->mount_point) == 0 ||
	       strstr(mount_point, PLUGINS_FOLDER);
}

/* Where podvold bound a sub-path, or what propagation made of that elsewhere: it goes with it. */
static bool is_sub_path(const struct mount_holder *holder, const char *mount_point)
{
	size_t length = holder->sub_paths_of ? strlen(holder->sub_paths_of) : 0;

	for (const char *at = mount_point; length > 0 && (at = strstr(at, "/pods/")); at++) {
		const char *uid = at + strlen("/pods/");

		if (strncmp(uid, holder->sub_paths_of, length) == 0 &&
		    strncmp(uid + length, "/" SUBPATH_FOLDER "/", strlen("/" SUBPATH_FOLDER "/")) ==
			    0)
			return true;
	}
	return false;
}

/* At the place of another mount of the same volume, which decides whether it goes with that. */
static bool is_judged_by_another(const struct mount_search *search, size_t at,
				 const struct mountinfo_line *mount)
{
	const struct mount_holder *asked = &search->holders[at];

	for (size_t i = 0; i < search->count && asked->volume; i++) {
		const struct mount_holder *other = &search->holders[i];

		if (i == at || other->volume != asked->volume || other->device != mount->device)
			continue;
		if (is_sub_path(other, mount->mount_point) ||
		    (strcmp(other->mount_point, mount->mount_point) == 0 &&
		     strcmp(search->positions[i].root, mount->root) == 0))
			return true;
	}
	return false;
}

/* What one process's table has of what is looked for. */
static int scan_line(struct mount_search *search, const char *table, const char *line,
		     const struct mount_holder *process)
{
	cleanup_free char *copy = table_copy_line(line);
	struct mountinfo_line mount;
	int r = 0;

	if (!copy)
		return -ENOMEM;
	if (mountinfo_parse(copy, &mount) < 0)
		return 0;
	if (mount.peer_group && mount.master_group) {
		r = ARRAY_ROOM(search->pairs, search->pair_count, search->pair_capacity, 16);
		if (r < 0)
			return r;
		search->pairs[search->pair_count++] =
			(struct group_pair){ mount.peer_group, mount.master_group };
	}
	for (size_t i = 0; i < search->count && r >= 0; i++)
		if (search->holders[i].device == mount.device &&
		    shows_part(&search->positions[i], mount.root) &&
		    !is_sub_path(&search->holders[i], mount.mount_point) &&
		    !is_judged_by_another(search, i, &mount) &&
		    !(process->how == HELD_HERE &&
		      (search->holders[i].elsewhere ||
		       is_own_place(&search->holders[i], mount.mount_point))))
			r = note_candidate(search, i, table, &mount, process);
	return r;
}

bool mount_search_is_seen(const struct mount_search *search, uint64_t mount_namespace)
{
	return mount_namespace == search->own_namespace ||
	       namespace_set_has(&search->seen, mount_namespace);
}

int mount_search_failed(struct mount_search *search, int error, const struct mount_holder *process,
			const char *what)
{
	char whose[64 + COMMAND_BYTES] = "";

	if (process && process->pid > 0)
		(void) snprintf(whose, sizeof(whose), " of process %d '%s'", (int) process->pid,
				process->command);
	return failed(search->reterr, error, "cannot read %s%s", what, whose);
}

/* One whose table is not read in full is none of those that were seen: it is a reason to wait. */
static int note_unread(struct mount_search *search, const struct mount_holder *keeper)
{
	int r = mount_share_unread(search, keeper);

	if (r >= 0)
		r = namespace_set_add(&search->seen, keeper->mount_namespace);
	return r < 0 ? mount_search_failed(search, r, keeper, "the mount namespace") : 0;
}

int mount_search_scan(struct mount_search *search, int namespace_fd,
		      const struct mount_holder *process)
{
	struct mount_holder keeper = *process;
	cleanup_free char *table = NULL;
	size_t bytes_max;
	int r;

	keeper.has_owner =
		mount_namespace_owner(namespace_fd, &keeper.user_namespace, &keeper.owner) == 0;
	bytes_max = mount_share_left(search, &keeper);
	r = bytes_max > 0 ? mount_namespace_read(namespace_fd, bytes_max, &table) : -E2BIG;
	if (r == -E2BIG)
		return note_unread(search, &keeper);
	if (r >= 0)
		r = mount_share_use(search, &keeper, strlen(table));
	for (const char *line = table; r >= 0 && *line; line = table_next_line(line)) {
		r = note_mount(search, strtoull(line, NULL, 10));
		if (r >= 0 && is_looked_for(search, device_of(line)))
			r = scan_line(search, table, line, &keeper);
	}
	if (r >= 0)
		r = namespace_set_add(&search->seen, process->mount_namespace);
	return r < 0 ? mount_search_failed(search, r, process, "the mount namespace") : 0;
}

/* ---- our own ---- */

static int scan_own(struct mount_search *search, const char *table)
{
	const struct mount_holder here = { .how = HELD_HERE, .pid_fd = -EBADF, .found = true };
	int r = 0;

	for (const char *line = table; r >= 0 && *line; line = table_next_line(line))
		if (is_looked_for(search, device_of(line)))
			r = scan_line(search, table, line, &here);
	return r;
}

/* Return: how many of them are file systems at all. */
static int look_up_all_own(struct mount_search *search)
{
	cleanup_close int proc_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *table = NULL;
	int r = proc_fd < 0 ? -errno : process_mounts(proc_fd, MOUNT_TABLE_BYTES_MAX, &table);
	int known = 0;

	if (r >= 0)
		r = note_own_table(search, table);
	for (size_t i = 0; i < search->count && r >= 0; i++) {
		struct mount_holder *holder = &search->holders[i];

		if (holder->mount_point)
			r = look_up_own(table, holder, &search->positions[i]);
		else if (holder->root)
			(void) snprintf(search->positions[i].root, PATH_MAX, "%s", holder->root);
		known += holder->device != 0;
	}
	if (r >= 0 && search->with_own)
		r = scan_own(search, table);
	return r < 0 ? r : known;
}

/* ---- all processes ---- */

/* By a security module; decided when all else is known. */
static int note_hidden(struct mount_search *search, int error, const struct mount_holder *process)
{
	if (search->hidden_count++ == 0)
		search->hidden = mount_search_failed(search, error, process, "the mount namespace");
	return 0;
}

/* A process or one of its threads, by its directory. Return: 0; -ENOENT, -ESRCH it ended; else what
 * ends the search. */
static int scan_task(struct mount_search *search, int proc_fd, pid_t pid)
{
	struct mount_holder process = { .pid = pid, .pid_fd = -EBADF, .found = true };
	cleanup_close int fd = -EBADF;
	int r = process_namespace(proc_fd, &process.mount_namespace);

	if (r >= 0 && mount_search_is_seen(search, process.mount_namespace))
		return 0;
	if (r >= 0)
		r = fd = mount_namespace_open(proc_fd);
	process_command(proc_fd, process.command);
	process.uid = process_uid(proc_fd);
	r = process_error_of(proc_fd, r);
	if (r == -EACCES || r == -EPERM)
		return note_hidden(search, r, &process);
	if (r < 0)
		return process_error_is_gone(r)
			       ? r
			       : mount_search_failed(search, r, &process, "the mount namespace");
	return mount_search_scan(search, fd, &process);
}

struct thread_scan {
	struct mount_search *search;
	pid_t pid;
	int result;
};

static bool scan_thread(int task_fd, void *userdata)
{
	struct thread_scan *scan = userdata;
	int r = scan_task(scan->search, task_fd, scan->pid);

	scan->result = r < 0 && !process_error_is_gone(r) ? r : 0;
	return scan->result >= 0;
}

/* Its first thread. It may end at any moment. */
static int scan_first(struct mount_search *search, int proc_fd, pid_t pid)
{
	int r = scan_task(search, proc_fd, pid);

	return process_error_is_gone(r) ? 0 : r;
}

/* One whose first thread ended lives on in the others. */
static int scan_others(struct mount_search *search, int proc_fd, pid_t pid)
{
	struct thread_scan scan = { .search = search, .pid = pid };
	const struct mount_holder process = { .pid = pid };
	int r = process_error_of(proc_fd, process_walk_threads(proc_fd, pid, scan_thread, &scan));

	if (r < 0 && !process_error_is_gone(r))
		return mount_search_failed(search, r, &process, "the threads");
	return scan.result;
}

static int scan_process(struct mount_search *search, int proc_dir_fd, const char *name,
			int (*scan)(struct mount_search *search, int proc_fd, pid_t pid))
{
	cleanup_close int fd = process_open_directory(proc_dir_fd, name);
	const struct mount_holder process = { .pid = (pid_t) strtol(name, NULL, 10) };

	if (fd < 0)
		return process_error_is_gone(fd)
			       ? 0
			       : mount_search_failed(search, fd, &process, "/proc");
	return scan(search, fd, process.pid);
}

static int scan_processes(struct mount_search *search,
			  int (*scan)(struct mount_search *search, int proc_fd, pid_t pid))
{
	cleanup_closedir DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int more = 0, r = proc ? 0 : -errno;

	while (r >= 0 && (more = directory_next(proc, &entry)) > 0)
		if (isdigit((unsigned char) entry->d_name[0]))
			r = scan_process(search, dirfd(proc), entry->d_name, scan);
	return more < 0 ? more : r;
}

/* First threads come first: another search, of this podvold too, visits namespaces with a thread,
 * which is not to be taken for who keeps them. */
static int scan_all(struct mount_search *search)
{
	cleanup_close int self_fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = self_fd < 0 ? -errno : process_namespace(self_fd, &search->own_namespace);

	if (r >= 0)
		r = scan_processes(search, scan_first);
	return r < 0 ? r : scan_processes(search, scan_others);
}

/* ---- all of it ---- */

/* Tables of all processes: 1, or 0 when nothing is looked for. Ends with search_done(). */
static int search_all(struct mount_search *search)
{
	int r;

	for (size_t i = 0; i < search->count; i++) {
		search->holders[i].found = false;
		search->holders[i].pid_fd = -EBADF;
	}
	search->positions = calloc(search->count + 1, sizeof(*search->positions));
	r = search->positions ? look_up_all_own(search) : -ENOMEM;
	if (r > 0)
		r = scan_all(search);
	else
		return r;
	return r < 0 ? r : 1;
}

static void search_done(struct mount_search *search)
{
	free(search->positions);
	namespace_set_done(&search->seen);
	free(search->shares);
	free(search->candidates);
	free(search->pairs);
	for (size_t i = 0; i < search->kept_count; i++)
		free(search->kept[i].path);
	free(search->kept);
	free(search->known);
}

int mount_holders_search(struct mount_holder *holders, size_t count, struct failure *reterr)
{
	cleanup(search_done) struct mount_search search = { .holders = holders,
							    .count = count,
							    .with_own = true };
	struct failure why = { .error = 0 };
	int r;

	assert(holders || count == 0);
	search.reterr = &why;
	r = search_all(&search);
	if (r > 0)
		r = mount_pins_search(&search);
	if (r < 0 && why.error < 0)
		return failed_plain(reterr, r, "cannot determine who has it mounted: %s", why.text);
	if (r < 0)
		return failed(reterr, r, "cannot determine who has it mounted");
	mount_search_report(&search);
	return search.hidden_count;
}

static int collect_copies(const struct mount_search *search, struct mount_copy **ret,
			  size_t *ret_count)
{
	struct mount_copy *copies = calloc(search->candidate_count + 1, sizeof(*copies));
	size_t count = 0;

	if (!copies)
		return -ENOMEM;
	for (size_t i = 0; i < search->candidate_count; i++) {
		const struct candidate *candidate = &search->candidates[i];
		struct mount_copy *copy = &copies[count];

		if (!mount_search_goes_with_ours(search, candidate))
			continue;
		copy->mount_id = candidate->mount_id;
		copy->of = candidate->holder;
		copy->device = search->holders[candidate->holder].device;
		(void) snprintf(copy->where, sizeof(copy->where), "%s", candidate->found.where);
		count++;
	}
	*ret = copies;
	*ret_count = count;
	return 0;
}

int mount_holders_copies(const char *const *mount_points, size_t count, struct mount_copy **ret,
			 size_t *ret_count, struct failure *reterr)
{
	cleanup_free struct mount_holder *holders = calloc(count + 1, sizeof(*holders));
	cleanup(search_done) struct mount_search search = { .holders = holders, .count = count };
	int r = holders ? 0 : -ENOMEM;

	assert((mount_points || count == 0) && ret && ret_count);
	for (size_t i = 0; i < count && r >= 0; i++)
		holders[i].mount_point = mount_points[i];
	if (r >= 0)
		r = search_all(&search);
	if (r >= 0)
		r = collect_copies(&search, ret, ret_count);
	return r < 0 ? failed(reterr, r, "cannot search other mount namespaces") : 0;
}
