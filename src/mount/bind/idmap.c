/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idmap - two groups exchanged in one mount; see idmap.h
 *
 * Privileged: CAP_SETUID, CAP_SETGID, CAP_SETFCAP, to write maps that concern all users and groups.
 * The argument: nothing ever runs in the namespace. The child that it is born with waits for one
 * end of a pipe and exits; it gets that end also when this process is killed. It is not reaped
 * before its files in /proc were opened, so its number is not reused.
 */
#include "mount/bind/idmap.h"

#include "base/cleanup.h"

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

enum { MAP_BYTES = 256, CHILD_STACK_BYTES = 16384 };

#define ID_COUNT UINT32_MAX /* the last number means: none */

struct idmap_cache {
	pthread_mutex_t lock;
	struct {
		gid_t low, high;
		int fd;
	} pairs[IDMAP_NAMESPACES_MAX];
	unsigned int count, oldest;
};

int idmap_cache_new(struct idmap_cache **ret)
{
	struct idmap_cache *cache = calloc(1, sizeof(*cache));

	assert(ret);
	if (!cache)
		return -ENOMEM;
	(void) pthread_mutex_init(&cache->lock, NULL);
	*ret = cache;
	return 0;
}

struct idmap_cache *idmap_cache_free(struct idmap_cache *cache)
{
	if (!cache)
		return NULL;
	for (unsigned int i = 0; i < cache->count; i++)
		(void) close(cache->pairs[i].fd);
	(void) pthread_mutex_destroy(&cache->lock);
	free(cache);
	return NULL;
}

/* ---- the maps ---- */

/* One line of a map: numbers on the disk, numbers in the mount, how many. */
static void add_line(char map[MAP_BYTES], uint32_t disk, uint32_t mount, uint32_t count)
{
	size_t used = strlen(map);

	if (count > 0)
		(void) snprintf(map + used, MAP_BYTES - used, "%u %u %u\n", disk, mount, count);
}

static void exchange_map(char map[MAP_BYTES], gid_t low, gid_t high)
{
	map[0] = '\0';
	add_line(map, 0, 0, low);
	add_line(map, low, high, 1);
	add_line(map, low + 1, low + 1, high - low - 1);
	add_line(map, high, low, 1);
	add_line(map, high + 1, high + 1, ID_COUNT - high - 1);
}

static int open_of(pid_t pid, const char *name, int flags)
{
	char path[64];
	int fd;

	(void) snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* A map is written once, in one piece. */
static int write_map(pid_t pid, const char *name, const char *map)
{
	cleanup_close int fd = open_of(pid, name, O_WRONLY);

	if (fd < 0)
		return fd;
	return write(fd, map, strlen(map)) < 0 ? -errno : 0;
}

/* ---- the namespace ---- */

/* In the child, a copy of a process with threads: system calls only. */
static int wait_for_the_end(void *data)
{
	const int *pipe_fds = data;
	char nothing;

	(void) close(pipe_fds[1]);
	while (read(pipe_fds[0], &nothing, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

static int open_mapped(pid_t pid, gid_t low, gid_t high, struct failure *reterr)
{
	char all[MAP_BYTES] = "", groups[MAP_BYTES];
	int r;

	add_line(all, 0, 0, ID_COUNT);
	exchange_map(groups, low, high);
	r = write_map(pid, "uid_map", all);
	if (r == 0)
		r = write_map(pid, "gid_map", groups);
	if (r < 0)
		return failed(reterr, r, "cannot write the maps of a user namespace");
	r = open_of(pid, "ns/user", O_RDONLY);
	return r < 0 ? failed(reterr, r, "cannot open a user namespace") : r;
}

static int make_namespace(gid_t low, gid_t high, struct failure *reterr)
{
	_Alignas(16) char stack[CHILD_STACK_BYTES]; /* the child has a copy of it */
	int pipe_fds[2], fd;
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return failed(reterr, -errno, "cannot create a user namespace");
	/* No signal when it ends: a wait for children of the program never sees it. */
	pid = clone(wait_for_the_end, stack + sizeof(stack), CLONE_NEWUSER, pipe_fds);
	fd = pid < 0 ? failed(reterr, -errno, "cannot create a user namespace")
		     : open_mapped(pid, low, high, reterr);
	(void) close(pipe_fds[0]);
	(void) close(pipe_fds[1]);
	while (pid > 0 && waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	return fd;
}

/* ---- the cache ---- */

static int find(const struct idmap_cache *cache, gid_t low, gid_t high)
{
	for (unsigned int i = 0; i < cache->count; i++)
		if (cache->pairs[i].low == low && cache->pairs[i].high == high)
			return cache->pairs[i].fd;
	return -EBADF;
}

/* In the place of the oldest when there are enough. */
static void keep(struct idmap_cache *cache, gid_t low, gid_t high, int taken_fd)
{
	unsigned int at = cache->count;

	if (cache->count < IDMAP_NAMESPACES_MAX) {
		cache->count++;
	} else {
		at = cache->oldest;
		cache->oldest = (cache->oldest + 1) % IDMAP_NAMESPACES_MAX;
		(void) close(cache->pairs[at].fd);
	}
	cache->pairs[at].low = low;
	cache->pairs[at].high = high;
	cache->pairs[at].fd = taken_fd;
}

/* With the lock: a pair that several volumes want at once is made once. */
static int find_or_make(struct idmap_cache *cache, gid_t low, gid_t high, struct failure *reterr)
{
	int fd = find(cache, low, high), copy;

	if (fd < 0) {
		fd = make_namespace(low, high, reterr);
		if (fd < 0)
			return fd;
		keep(cache, low, high, fd);
	}
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return copy < 0 ? failed(reterr, -errno, "cannot use a user namespace") : copy;
}

int idmap_exchange(struct idmap_cache *cache, gid_t one, gid_t other, struct failure *reterr)
{
	gid_t low = one < other ? one : other, high = one < other ? other : one;
	int fd;

	assert(cache && one != other);
	if (low == 0)
		return failed_plain(reterr, -EINVAL, "group 0 is never mapped");
	if (high == ID_COUNT)
		return failed_plain(reterr, -EINVAL, "%u is not a group", high);
	(void) pthread_mutex_lock(&cache->lock);
	fd = find_or_make(cache, low, high, reterr);
	(void) pthread_mutex_unlock(&cache->lock);
	return fd;
}
