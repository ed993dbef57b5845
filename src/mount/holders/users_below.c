/* SPDX-License-Identifier: Apache-2.0 */
/*
 * users_below - one search for the users of all directories below another; see users_below.h
 *
 * A mount shows a path within its file system, the same in every namespace: for each that is below
 * the base path all levels from there down to it are noted, so a directory that was not noted has
 * no mount, and no mount below it either.
 */
#include "mount/holders/users_below.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fnv1a.h"
#include "base/path.h"
#include "mount/holders/mount_holders.h"
#include "mount/holders/mount_namespace.h"
#include "mount/path/safe_path.h"
#include "mount/table/mountinfo.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

enum {
	LEVELS_MAX = 32,    /* that are noted; what is deeper is unknown */
	SUMS_MAX = 1 << 20, /* of all that is mounted; with more all is unknown */
};

struct users_below {
	int fd;            /* of the base path: as long as it is open its mount keeps its id */
	uint64_t mount_id; /* small and reused */
	char path[PATH_MAX];
	struct directory_query question; /* of the base path */
	uint64_t ended_usec;
	int table_fd;                /* our own table of mounts: says when it changed */
	pthread_mutex_t lock;        /* of what follows: our table is read again */
	bool is_unknown;             /* a process has something open, it is unknown below what */
	struct namespace_set shown;  /* what mounts show, by the way from the base path */
	struct namespace_set points; /* where mounts are in our namespace, by the same */
};

/* ---- ways from the base path ---- */

/* "/a/b" of "/base/a/b"; NULL: it is not below. */
static const char *way_from(const char *base, const char *path)
{
	return path_is_below(path, base) ? path + (strcmp(base, "/") == 0 ? 0 : strlen(base))
					 : NULL;
}

/* The sums of "/a" and "/a/b". Return: how many; LEVELS_MAX + 1 there are more. */
static size_t sums_of(const char *way, uint64_t sums[LEVELS_MAX])
{
	uint64_t sum = FNV1A_FIRST;
	size_t count = 0;

	while (*way) {
		size_t length = 1 + strcspn(way + 1, "/");

		if (count == LEVELS_MAX)
			return LEVELS_MAX + 1;
		sum = fnv1a_add_bytes(sum, way, length);
		sums[count++] = sum | 1; /* a set has no 0 */
		way += length;
	}
	return count;
}

static int note_way(struct users_below *users, struct namespace_set *set, const char *way)
{
	uint64_t sums[LEVELS_MAX];
	size_t count = sums_of(way, sums);
	int r = 0;

	for (size_t i = 0; i < count && i < LEVELS_MAX && r >= 0; i++)
		r = namespace_set_add(set, sums[i]);
	users->is_unknown |= set->count > SUMS_MAX;
	return users->is_unknown ? 0 : r;
}

static bool has_way(const struct namespace_set *set, const char *way)
{
	uint64_t sums[LEVELS_MAX];
	size_t count = sums_of(way, sums);

	return count == 0 || count > LEVELS_MAX || namespace_set_has(set, sums[count - 1]);
}

/* ---- the search ---- */

static int note_shown(void *userdata, const char *root)
{
	struct users_below *users = userdata;
	const char *way = way_from(users->question.root, root);

	return way ? note_way(users, &users->shown, way) : 0;
}

static int search_processes(struct users_below *users, struct failure *reterr)
{
	struct mount_holder holder = { .pid_fd = -EBADF,
				       .note_shown = note_shown,
				       .shown_userdata = users };
	int r;

	directory_query_run(&users->question, &holder);
	r = mount_holders_search(&holder, 1, reterr);
	(void) close_keep_errno(holder.pid_fd);
	users->is_unknown |= holder.found;
	return r;
}

/* One mount of our namespace: where it is, and what it shows. */
static int note_own(struct users_below *users, const struct mountinfo_line *mount)
{
	const char *way = way_from(users->path, mount->mount_point);
	int r = way ? note_way(users, &users->points, way) : 0;

	return r < 0 || mount->device != users->question.device ? r
								: note_shown(users, mount->root);
}

static int note_own_table(struct users_below *users)
{
	cleanup_close int proc_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *table = NULL;
	int r = proc_fd < 0 ? -errno : process_mounts(proc_fd, MOUNT_TABLE_BYTES_MAX, &table);

	for (const char *line = table; r >= 0 && *line; line = table_next_line(line)) {
		cleanup_free char *copy = table_copy_line(line);
		struct mountinfo_line mount;

		if (!copy)
			return -ENOMEM;
		if (mountinfo_parse(copy, &mount) < 0)
			users->is_unknown = true;
		else
			r = note_own(users, &mount);
	}
	return r;
}

/* What was mounted here since the search; asked before the table is read, so that what changes
 * meanwhile is read the next time. */
static void note_changes(struct users_below *users)
{
	struct pollfd table = { .fd = users->table_fd, .events = POLLPRI };
	int r = poll(&table, 1, 0);

	if (r > 0)
		r = note_own_table(users);
	users->is_unknown |= r < 0;
}

static int read_mount_id(int fd, uint64_t *ret)
{
	struct statx status;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &status) < 0)
		return -errno;
	*ret = status.stx_mnt_id;
	return status.stx_mask & STATX_MNT_ID ? 0 : -EOPNOTSUPP;
}

static void users_freep(struct users_below **users)
{
	(void) users_below_free(*users);
}

static int begin(struct users_below *users, const char *base_path, struct failure *reterr)
{
	int r;

	users->fd = open_host_path(base_path, O_PATH | O_DIRECTORY, reterr);
	if (users->fd < 0)
		return users->fd;
	r = directory_query_open(fcntl(users->fd, F_DUPFD_CLOEXEC, 3), NULL, &users->question,
				 reterr);
	if (r < 0)
		return r;
	users->table_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	r = users->table_fd < 0 ? -errno : fd_real_path(users->fd, users->path);
	if (r >= 0)
		r = read_mount_id(users->fd, &users->mount_id);
	if (r >= 0)
		r = note_own_table(users);
	return r < 0 ? failed(reterr, r, "cannot determine what is mounted in '%s'", base_path) : 0;
}

int users_below_search(const char *base_path, struct users_below **ret, struct failure *reterr)
{
	cleanup(users_freep) struct users_below *users = calloc(1, sizeof(*users));
	int r;

	assert(base_path && ret);
	if (!users)
		return failed(reterr, -ENOMEM, "cannot determine who uses '%s'", base_path);
	users->fd = users->table_fd = -EBADF;
	(void) pthread_mutex_init(&users->lock, NULL);
	r = begin(users, base_path, reterr);
	if (r >= 0)
		r = search_processes(users, reterr);
	if (r < 0)
		return r;
	users->ended_usec = monotonic_usec();
	*ret = TAKE_PTR(users);
	return 0;
}

struct users_below *users_below_free(struct users_below *users)
{
	if (!users)
		return NULL;
	directory_query_done(&users->question);
	(void) close_keep_errno(users->table_fd);
	(void) close_keep_errno(users->fd);
	namespace_set_done(&users->shown);
	namespace_set_done(&users->points);
	(void) pthread_mutex_destroy(&users->lock);
	free(users);
	return NULL;
}

/* ---- what it found ---- */

bool users_below_is_current(const struct users_below *users)
{
	return monotonic_usec() - users->ended_usec <= USERS_BELOW_USEC;
}

static bool has_user(struct users_below *users, const char *way)
{
	bool found;

	(void) pthread_mutex_lock(&users->lock);
	note_changes(users);
	found = users->is_unknown || has_way(&users->shown, way) || has_way(&users->points, way);
	(void) pthread_mutex_unlock(&users->lock);
	return found;
}

bool users_below_proves_none(struct users_below *users, int fd)
{
	char base[PATH_MAX], path[PATH_MAX];
	uint64_t mount_id;
	const char *way;

	assert(users && fd >= 0);
	if (!users_below_is_current(users) || read_mount_id(fd, &mount_id) < 0 ||
	    mount_id != users->mount_id || fd_real_path(fd, path) < 0 ||
	    fd_real_path(users->fd, base) < 0 || strcmp(base, users->path) != 0)
		return false;
	way = way_from(base, path);
	return way && !has_user(users, way);
}
