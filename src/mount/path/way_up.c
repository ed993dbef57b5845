/* SPDX-License-Identifier: Apache-2.0 */
/*
 * way_up - see way_up.h
 *
 * One call a level, "..", "../..", and no descriptor: this is asked for each volume. Where the way
 * meets one that may be recalled it goes on as that one does; a bind mount is the same place with
 * another way up, so it has to be the same mount, too. No lock is held over a call.
 */
#include "mount/path/way_up.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "mount/table/mount_table.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

enum {
	PATHS_KEPT = 4, /* podvold's own directories */
	ROOM_STEP = 16,
};

struct way_memory {
	pthread_mutex_t lock;
	struct way_up *by_path[PATHS_KEPT];
	struct way_up *latest; /* found by a descriptor */
};

int way_memory_new(struct way_memory **ret)
{
	struct way_memory *memory = calloc(1, sizeof(*memory));

	assert(ret);
	if (!memory)
		return -ENOMEM;
	(void) pthread_mutex_init(&memory->lock, NULL);
	*ret = memory;
	return 0;
}

struct way_memory *way_memory_free(struct way_memory *memory)
{
	if (!memory)
		return NULL;
	for (size_t i = 0; i < PATHS_KEPT; i++)
		(void) way_up_unref(memory->by_path[i]);
	(void) way_up_unref(memory->latest);
	(void) pthread_mutex_destroy(&memory->lock);
	free(memory);
	return NULL;
}

static struct way_up *way_up_ref(struct way_up *way)
{
	(void) atomic_fetch_add(&way->references, 1);
	return way;
}

struct way_up *way_up_unref(struct way_up *way)
{
	if (!way || atomic_fetch_sub(&way->references, 1) > 1)
		return NULL;
	free(way->path);
	free(way->levels);
	free(way);
	return NULL;
}

static struct way_up *way_new(const char *path, uint64_t begun_usec)
{
	struct way_up *way = calloc(1, sizeof(*way));

	if (!way)
		return NULL;
	atomic_init(&way->references, 1);
	way->read_usec = begun_usec;
	way->path = path ? strdup(path) : NULL;
	return path && !way->path ? way_up_unref(way) : way;
}

static int add_level(struct way_up *way, const struct way_level *level)
{
	struct way_level *levels = way->levels;

	if (way->count % ROOM_STEP == 0) {
		levels = reallocarray(levels, way->count + ROOM_STEP, sizeof(*levels));
		if (!levels)
			return -ENOMEM;
		way->levels = levels;
	}
	levels[way->count++] = *level;
	return 0;
}

bool way_up_has(const struct way_up *way, dev_t device, ino_t inode)
{
	for (size_t i = 0; i < way->count; i++)
		if (way->levels[i].device == device && way->levels[i].inode == inode)
			return true;
	return false;
}

/* ---- what is known ---- */

static bool may_be_recalled(const struct way_up *way, const struct way_asked *asked)
{
	return way && way->read_usec > asked->usec;
}

/* The same directory by the same mount. The inode of one that was removed is given to the next one,
 * which was made later. */
static bool is_same(const struct way_level *one, const struct way_level *other)
{
	return one->mount_id == other->mount_id && one->device == other->device &&
	       one->inode == other->inode && one->made_nsec == other->made_nsec;
}

/* As @known from the level @at on. Return: 1 so it goes on; 0 it does not lead there; -ENOMEM. */
static int join(struct way_up *way, const struct way_level *at, const struct way_up *known)
{
	size_t i = 0;

	while (i < known->count && !is_same(&known->levels[i], at))
		i++;
	if (i == known->count)
		return 0;
	for (; i < known->count; i++)
		if (add_level(way, &known->levels[i]) < 0)
			return -ENOMEM;
	if (known->read_usec < way->read_usec)
		way->read_usec = known->read_usec;
	return 1;
}

static int join_known(const struct way_asked *asked, struct way_up *way, const struct way_level *at)
{
	struct way_memory *memory = asked->memory;
	int r = 0;

	if (!memory || asked->usec == 0 || at->mount_id == 0)
		return 0;
	(void) pthread_mutex_lock(&memory->lock);
	if (may_be_recalled(memory->latest, asked))
		r = join(way, at, memory->latest);
	for (size_t i = 0; i < PATHS_KEPT && r == 0; i++)
		if (may_be_recalled(memory->by_path[i], asked))
			r = join(way, at, memory->by_path[i]);
	(void) pthread_mutex_unlock(&memory->lock);
	return r;
}

/* In the place of the same path's, or else of the oldest. */
static void keep(struct way_memory *memory, struct way_up *way)
{
	struct way_up **slot, *before;

	if (!memory)
		return;
	(void) pthread_mutex_lock(&memory->lock);
	slot = way->path ? &memory->by_path[0] : &memory->latest;
	for (size_t i = 0; way->path && i < PATHS_KEPT; i++) {
		struct way_up *other = memory->by_path[i];

		if (*slot && (!other || other->read_usec < (*slot)->read_usec))
			slot = &memory->by_path[i];
		if (other && strcmp(other->path, way->path) == 0) {
			slot = &memory->by_path[i];
			break;
		}
	}
	before = *slot;
	*slot = way_up_ref(way);
	(void) pthread_mutex_unlock(&memory->lock);
	(void) way_up_unref(before);
}

static struct way_up *recall(const struct way_asked *asked, const char *path)
{
	struct way_memory *memory = asked->memory;
	struct way_up *found = NULL;

	if (!memory || asked->usec == 0)
		return NULL;
	(void) pthread_mutex_lock(&memory->lock);
	for (size_t i = 0; i < PATHS_KEPT && !found; i++) {
		struct way_up *way = memory->by_path[i];

		if (may_be_recalled(way, asked) && strcmp(way->path, path) == 0)
			found = way_up_ref(way);
	}
	(void) pthread_mutex_unlock(&memory->lock);
	return found;
}

/* ---- what is read ---- */

static int level_of(int fd, const char *up, struct way_level *ret)
{
	struct mount_facts facts;
	int r = *up ? name_facts(fd, up, &facts) : fd_facts(fd, &facts, NULL);

	if (r == 0)
		*ret = (struct way_level){ facts.mount_id, facts.device, facts.inode,
					   facts.made_nsec };
	return r;
}

/* "/" is above itself. */
static int climb(const struct way_asked *asked, int directory_fd, struct way_up *way)
{
	char up[PATH_MAX] = "";
	size_t used = 0;

	for (;;) {
		const struct way_level *below =
			way->count > 0 ? &way->levels[way->count - 1] : NULL;
		const char *step = used > 0 ? "/.." : "..";
		struct way_level here;
		int r = level_of(directory_fd, up, &here);

		if (r < 0)
			return r;
		if (below && below->device == here.device && below->inode == here.inode)
			return 0;
		r = join_known(asked, way, &here);
		if (r != 0)
			return r < 0 ? r : 0;
		if (add_level(way, &here) < 0)
			return -ENOMEM;
		if (used + strlen(step) + 1 > sizeof(up))
			return -ENAMETOOLONG;
		memcpy(up + used, step, strlen(step) + 1);
		used += strlen(step);
	}
}

/* @begun_usec: before the path was opened */
static int find(const struct way_asked *asked, int directory_fd, const char *path,
		uint64_t begun_usec, struct way_up **ret)
{
	cleanup(way_up_unrefp) struct way_up *way = way_new(path, begun_usec);
	int r = way ? climb(asked, directory_fd, way) : -ENOMEM;

	if (r < 0)
		return r;
	keep(asked->memory, way);
	*ret = TAKE_PTR(way);
	return 0;
}

int way_up_find(const struct way_asked *asked, int directory_fd, struct way_up **ret)
{
	assert(asked && directory_fd >= 0 && ret);
	return find(asked, directory_fd, NULL, monotonic_usec(), ret);
}

int way_up_find_path(const struct way_asked *asked, const char *path, struct way_up **ret,
		     struct failure *reterr)
{
	cleanup_close int fd = -EBADF;
	uint64_t begun_usec;
	int r;

	assert(asked && path && ret);
	*ret = recall(asked, path);
	if (*ret)
		return 0;
	begun_usec = monotonic_usec();
	fd = open_host_path(path, O_PATH | O_DIRECTORY, reterr);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	r = find(asked, fd, path, begun_usec, ret);
	return r < 0 ? failed(reterr, r, "cannot determine where '%s' lies", path) : 0;
}
