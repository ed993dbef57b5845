/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_walk - every entry below a directory, children first; see tree_walk.h
 *
 * A stack of frames, one per directory on the way down. The open ones are always the lowest on that
 * way; a frame that gets too far up remembers where it was in its directory and closes it.
 */
#include "mount/ownership/tree_walk.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "mount/path/safe_path.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>

enum { BUFFER_BYTES = 32768 };

struct frame {
	int fd;          /* -EBADF while suspended */
	char *name;      /* within the frame above; NULL for the root */
	char *buffer;    /* NULL while suspended */
	size_t used, at; /* bytes of the buffer; the next entry */
	off_t offset;    /* where the directory goes on after the last entry given out */
	uint64_t device; /* together: which directory this is */
	uint64_t inode;
	bool guarded; /* see struct tree_entry */
};

struct tree_walk {
	struct frame *frames;
	size_t depth, room;
	size_t suspended;      /* frames[0 .. suspended - 1] have no descriptor */
	struct frame finished; /* the directory given out last: open until the next call */
	int entry_fd;          /* the same of what is no directory; else -EBADF */
	bool open_first, directories_first;
	size_t limit; /* levels; deeper directories are given out and not entered; 0 none */
	uint64_t mount_id;
	tree_offer_fn *offer;
	void *offer_userdata;
};

static int stat_entry(int fd, const char *name, struct statx *ret)
{
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name ? 0 : AT_EMPTY_PATH);
	unsigned int mask = STATX_TYPE | STATX_MODE | STATX_UID | STATX_GID | STATX_INO |
			    STATX_MNT_ID | STATX_BLOCKS | STATX_NLINK;

	return statx(fd, name, flags, mask, ret) < 0 ? -errno : 0;
}

static uint64_t status_device(const struct statx *status)
{
	return (uint64_t) status->stx_dev_major << 32 | status->stx_dev_minor;
}

static void frame_done(struct frame *frame)
{
	(void) close_keep_errno(frame->fd);
	free(frame->name);
	free(frame->buffer);
	*frame = (struct frame){ .fd = -EBADF };
}

/* Keep the place in the directory, give back descriptor and buffer. */
static void frame_suspend(struct frame *frame)
{
	frame->fd = close_keep_errno(frame->fd);
	free(frame->buffer);
	frame->buffer = NULL;
	frame->used = frame->at = 0;
}

/* Back up from the directory below, which is still open. */
static int frame_resume(struct frame *frame, int below_fd, uint64_t mount_id)
{
	cleanup_close int fd = openat(below_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statx status;
	int result;

	if (fd < 0)
		return -errno;
	result = stat_entry(fd, "", &status);
	if (result < 0)
		return result;
	if (status.stx_ino != frame->inode || status_device(&status) != frame->device ||
	    status.stx_mnt_id != mount_id)
		return -ESTALE;
	if (lseek(fd, frame->offset, SEEK_SET) < 0)
		return -errno;
	frame->buffer = malloc(BUFFER_BYTES);
	if (!frame->buffer)
		return -ENOMEM;
	frame->fd = TAKE_FD(fd);
	return 0;
}

/* Go down into a directory. Takes @fd over, also on failure. */
static int walk_push(struct tree_walk *walk, int taken_fd, const char *name,
		     const struct statx *status)
{
	cleanup(frame_done) struct frame frame = { .fd = taken_fd };

	if (walk->depth >= TREE_DEPTH_MAX)
		return -ENAMETOOLONG;
	if (ARRAY_ROOM(walk->frames, walk->depth, walk->room, TREE_OPEN_MAX) < 0)
		return -ENOMEM;

	frame.name = name ? strdup(name) : NULL;
	frame.buffer = malloc(BUFFER_BYTES);
	frame.device = status_device(status);
	frame.inode = status->stx_ino;
	/* With an access list the group's bits are its mask: without w there no entry of it can
	 * write either. */
	frame.guarded = status->stx_uid == 0 && !(status->stx_mode & (S_IWGRP | S_IWOTH));
	if (!frame.buffer || (name && !frame.name))
		return -ENOMEM;

	if (walk->depth - walk->suspended == TREE_OPEN_MAX)
		frame_suspend(&walk->frames[walk->suspended++]);
	walk->frames[walk->depth++] = frame;
	frame = (struct frame){ .fd = -EBADF };
	return 0;
}

int tree_walk_new(int root_fd, struct tree_walk **ret)
{
	cleanup(tree_walk_freep) struct tree_walk *walk = NULL;
	struct statx status;
	int fd, result;

	assert(root_fd >= 0 && ret);
	walk = calloc(1, sizeof(*walk));
	if (!walk)
		return -ENOMEM;
	walk->finished.fd = walk->entry_fd = -EBADF;

	fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	result = stat_entry(fd, "", &status);
	if (result < 0) {
		(void) close_keep_errno(fd);
		return result;
	}
	walk->mount_id = status.stx_mnt_id;
	result = walk_push(walk, fd, NULL, &status);
	if (result < 0)
		return result;
	*ret = TAKE_PTR(walk);
	return 0;
}

void tree_walk_offer(struct tree_walk *walk, tree_offer_fn *offer, void *userdata)
{
	assert(walk && offer);
	walk->offer = offer;
	walk->offer_userdata = userdata;
}

void tree_walk_open_first(struct tree_walk *walk, bool open_first)
{
	assert(walk);
	walk->open_first = open_first;
}

void tree_walk_directories_first(struct tree_walk *walk)
{
	assert(walk);
	walk->directories_first = true;
}

void tree_walk_limit(struct tree_walk *walk, size_t depth)
{
	assert(walk && depth > 0 && depth <= TREE_DEPTH_MAX);
	walk->limit = depth;
}

char *tree_walk_path(const struct tree_walk *walk, const struct tree_entry *entry)
{
	/* One that comes before its children is the lowest frame itself. */
	size_t count = walk->depth - (entry->before ? 1 : 0), length = 1, used = 0;
	const char *last = entry->name ? entry->name : "";
	char *path;

	for (size_t i = 1; i < count; i++)
		length += strlen(walk->frames[i].name) + 1;
	path = malloc(length + strlen(last));
	for (size_t i = 1; path && i < count; i++) {
		size_t part = strlen(walk->frames[i].name);

		memcpy(path + used, walk->frames[i].name, part);
		used += part;
		path[used++] = '/';
	}
	if (path)
		memcpy(path + used, last, strlen(last) + 1);
	return path;
}

struct tree_walk *tree_walk_free(struct tree_walk *walk)
{
	if (!walk)
		return NULL;
	(void) close_keep_errno(walk->entry_fd);
	while (walk->depth > 0)
		frame_done(&walk->frames[--walk->depth]);
	frame_done(&walk->finished);
	free(walk->frames);
	free(walk);
	return NULL;
}

void tree_walk_freep(struct tree_walk **walk)
{
	*walk = tree_walk_free(*walk);
}

/* The next entry of a directory: 1, 0 at its end, or -errno. */
static int frame_next(struct frame *frame, const struct dirent64 **ret)
{
	for (;;) {
		const struct dirent64 *entry;

		if (frame->at == frame->used) {
			ssize_t got = getdents64(frame->fd, frame->buffer, BUFFER_BYTES);

			if (got < 0)
				return -errno;
			if (got == 0)
				return 0;
			frame->used = (size_t) got;
			frame->at = 0;
		}
		entry = (const struct dirent64 *) (frame->buffer + frame->at);
		frame->at += entry->d_reclen;
		frame->offset = entry->d_off;
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			*ret = entry;
			return 1;
		}
	}
}

/* All of the lowest directory was given out: give out the directory itself. */
static int walk_pop(struct tree_walk *walk, struct tree_entry *ret)
{
	struct frame *above;
	int result;

	walk->finished = walk->frames[--walk->depth];
	*ret = (struct tree_entry){
		.parent_fd = -EBADF,
		.name = walk->finished.name,
		.fd = -EBADF,
		.directory_fd = walk->finished.fd,
	};
	result = stat_entry(walk->finished.fd, "", &ret->status);
	if (result < 0 || walk->depth == 0)
		return result < 0 ? result : 1;

	above = &walk->frames[walk->depth - 1];
	if (walk->suspended == walk->depth) {
		result = frame_resume(above, walk->finished.fd, walk->mount_id);
		if (result < 0)
			return result;
		walk->suspended--;
	}
	ret->parent_fd = above->fd;
	ret->guarded = above->guarded;
	return 1;
}

/* What is mounted on is for the look by name to find out. */
static int open_and_stat(struct tree_walk *walk, struct tree_entry *ret)
{
	int fd = path_open(ret->parent_fd, ret->name, O_PATH | O_NOFOLLOW, PATH_NO_SYMLINKS);

	if (fd == -EXDEV)
		return stat_entry(ret->parent_fd, ret->name, &ret->status);
	if (fd < 0)
		return fd;
	walk->entry_fd = ret->fd = fd;
	return stat_entry(fd, "", &ret->status);
}

/* The directory that the walk has just gone down into. */
static int give_before(const struct tree_walk *walk, struct tree_entry *ret)
{
	const struct frame *lowest = &walk->frames[walk->depth - 1];

	ret->before = true;
	ret->name = lowest->name; /* the one above may have given its buffer back */
	ret->parent_fd = -EBADF;
	ret->directory_fd = lowest->fd;
	return 1;
}

static int open_below(const struct frame *frame, const char *name)
{
	return path_open(frame->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK,
			 PATH_NO_SYMLINKS);
}

/* A directory that is open, and taken over: leave it to another thread, or go down into it. */
static int walk_enter(struct tree_walk *walk, int taken_fd, const char *name,
		      struct tree_entry *ret)
{
	int result;

	if (walk->offer && walk->offer(walk->offer_userdata, taken_fd))
		return 0;
	result = stat_entry(taken_fd, "", &ret->status);
	if (result < 0) {
		(void) close_keep_errno(taken_fd);
		return result;
	}
	result = walk_push(walk, taken_fd, name, &ret->status);
	if (result < 0 || !walk->directories_first)
		return result;
	return give_before(walk, ret);
}

/* 1 @ret is filled, 0 go on (went down, or it vanished), or -errno. What its parent lists as a
 * directory is opened without a look; one that is mounted on, or was replaced since, is looked at
 * like any other entry. */
static int walk_entry(struct tree_walk *walk, struct frame *frame, const struct dirent64 *listed,
		      struct tree_entry *ret)
{
	bool at_limit = walk->limit > 0 && walk->depth >= walk->limit;
	const char *name = listed->d_name;
	int fd = -EBADF, result;

	*ret = (struct tree_entry){ .parent_fd = frame->fd,
				    .name = name,
				    .fd = -EBADF,
				    .directory_fd = -EBADF,
				    .guarded = frame->guarded };
	if (listed->d_type == DT_DIR && !at_limit)
		fd = open_below(frame, name);
	if (fd >= 0)
		return walk_enter(walk, fd, name, ret);

	result = walk->open_first ? open_and_stat(walk, ret)
				  : stat_entry(frame->fd, name, &ret->status);
	if (result == -ENOENT)
		return 0;
	if (result < 0)
		return result;
	ret->other_mount = ret->status.stx_mnt_id != walk->mount_id;
	if (ret->other_mount || !S_ISDIR(ret->status.stx_mode))
		return 1;
	ret->too_deep = at_limit;
	if (ret->too_deep)
		return 1;
	fd = open_below(frame, name);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	return walk_enter(walk, fd, name, ret);
}

int tree_walk_next(struct tree_walk *walk, struct tree_entry *ret)
{
	assert(walk && ret);
	frame_done(&walk->finished);

	while (walk->depth > 0) {
		struct frame *frame = &walk->frames[walk->depth - 1];
		const struct dirent64 *listed = NULL;
		int result;

		walk->entry_fd = close_keep_errno(walk->entry_fd);
		result = frame_next(frame, &listed);

		if (result == 0)
			return walk_pop(walk, ret);
		if (result > 0)
			result = walk_entry(walk, frame, listed, ret);
		if (result != 0)
			return result;
	}
	return 0;
}
