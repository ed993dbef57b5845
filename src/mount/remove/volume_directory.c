/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_directory - make, mark and find directories of volumes; see volume_directory.h
 *
 * Removing one is remove.c's, like all removing.
 */
#include "mount/remove/volume_directory.h"

#include "base/cleanup.h"
#include "base/directory.h"
#include "mount/capacity/capacity.h"
#include "mount/mount.h"
#include "mount/path/safe_path.h"
#include "mount/remove/restore_lock.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

/* Of a base path that volumes were made in: tells it from the place where its disk is not mounted.
 */
#define BASE_MARK "trusted.podvol.base"

enum { LEVEL_MODE = 0755 };

/* ---- what stands there ---- */

/* But for @image, which podvol made; NULL: nothing at all may be there. Return: 1, 0; else as the
 * calls. */
static int is_empty(int fd, const char *image)
{
	/* A description of its own: reading moves its position. */
	cleanup_closedir DIR *dir = NULL;
	const struct dirent *entry;
	int r, copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	dir = copy < 0 ? NULL : fdopendir(copy);
	if (!dir) {
		r = -errno;
		(void) close_keep_errno(copy);
		return r;
	}
	while ((r = directory_next(dir, &entry)) > 0) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    !(image && strcmp(entry->d_name, image) == 0))
			return 0;
	}
	return r < 0 ? r : 1;
}

bool volume_directory_is_partial(int fd)
{
	char value[sizeof(RESTORE_CLAIMED)] = "";
	ssize_t length = fgetxattr(fd, VOLUME_PARTIAL_MARK, value, sizeof(value));

	if (length < 0)
		return errno == ERANGE;
	return (size_t) length != strlen(RESTORE_CLAIMED) ||
	       memcmp(value, RESTORE_CLAIMED, (size_t) length) != 0;
}

/* May this become the volume's directory? */
static int check_takable(int fd, const struct place *place, const char *mark,
			 struct failure *reterr)
{
	enum volume_mark found = volume_mark_of(fd, mark);
	struct stat status;
	int empty;

	if (found == VOLUME_MARK_OTHER)
		return failed_plain(reterr, -EEXIST, "'%s' belongs to another volume", place->path);
	empty = is_empty(fd, found == VOLUME_MARK_OURS ? CAPACITY_IMAGE_NAME : NULL);
	if (empty < 0)
		return failed(reterr, empty, "cannot read '%s'", place->path);
	if (!empty)
		return failed_plain(reterr, -EEXIST,
				    "'%s' already exists and is not empty: left alone",
				    place->path);
	if (fstat(fd, &status) < 0)
		return failed(reterr, -errno, "cannot inspect '%s'", place->path);
	if (found != VOLUME_MARK_OURS && status.st_uid != 0)
		return failed_plain(reterr, -EEXIST,
				    "'%s' already exists and belongs to uid %u: it must be "
				    "root's",
				    place->path, (unsigned int) status.st_uid);
	return 0;
}

enum volume_mark volume_mark_of(int fd, const char *mark)
{
	char value[VOLUME_MARK_BYTES];
	ssize_t length = fgetxattr(fd, VOLUME_DIRECTORY_MARK, value, sizeof(value));

	if (length < 0)
		return errno == ENODATA || errno == EOPNOTSUPP ? VOLUME_MARK_NONE
							       : VOLUME_MARK_OTHER;
	return mark && (size_t) length == strlen(mark) && memcmp(value, mark, strlen(mark)) == 0
		       ? VOLUME_MARK_OURS
		       : VOLUME_MARK_OTHER;
}

/* Opened for reading. Return: a descriptor; -ENOENT; -ENOTDIR, -ELOOP, -EXDEV what is no directory
 * of podvol's. */
static int open_directory(const struct place *place)
{
	return path_open(place->parent_fd, place->name, O_RDONLY | O_DIRECTORY, PATH_NO_SYMLINKS);
}

/* ---- choosing ---- */

/* What could not be named as a source is not made as one, either. */
static int check_source(const struct own_directories *own, const char *base_path, const char *name,
			struct failure *reterr)
{
	cleanup_free char *path = NULL;

	if (!own)
		return 0;
	if (asprintf(&path, "%s/%s", base_path, name) < 0)
		return failed(reterr, -ENOMEM, "cannot check '%s'", base_path);
	return own_directories_check_path(own, path, false, reterr);
}

/* Does anything stand in the way? Levels that are missing will be made. */
static int check_free(int base_fd, const char *base_path, const char *name, struct failure *reterr)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	cleanup_close int fd = -EBADF;
	int r = place_open(base_fd, base_path, name, &place, reterr);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	fd = open_directory(&place);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return failed(reterr, -EEXIST, "'%s' is not a directory that can be used",
			      place.path);
	return check_takable(fd, &place, NULL, reterr);
}

static int query_room(const struct volume_order *wish, const char *base_path, uint64_t *ret_bytes,
		      const char **ret_capacity, struct failure *reterr)
{
	const struct capacity_method *method;
	cleanup_close int fd = -EBADF;
	struct statfs fs;
	int r = check_source(wish->own, base_path, wish->name, reterr);

	if (r == 0 && wish->is_named)
		r = base_path_check_named(base_path, reterr);
	if (r < 0)
		return r;
	fd = make_host_directories(base_path, LEVEL_MODE, reterr);
	r = fd < 0 ? fd : base_path_check(fd, base_path, reterr);
	if (r < 0)
		return r;
	r = capacity_find(wish->capacity, fd, base_path, &method, reterr);
	if (r < 0)
		return r;
	*ret_capacity = method ? method->word : CAPACITY_NONE;
	if (fstatfs(fd, &fs) < 0)
		return failed(reterr, -errno, "cannot query the free space of '%s'", base_path);
	*ret_bytes = (uint64_t) fs.f_bavail * (uint64_t) fs.f_bsize;
	return check_free(fd, base_path, wish->name, reterr);
}

int volume_directory_choose(const struct volume_order *wish, struct volume_choice *ret,
			    struct failure *reterr)
{
	uint64_t most = 0;
	bool found = false;
	int result = 0;

	assert(wish->count > 0 && wish->name && wish->capacity && ret);
	for (size_t i = 0; i < wish->count; i++) {
		const char *capacity = NULL;
		uint64_t room = 0;
		int r = query_room(wish, wish->base_paths[i], &room, &capacity, reterr);

		if (r < 0) {
			result = r;
		} else if (room < wish->bytes) {
			result = failed_plain(
				reterr, -ENOSPC,
				"%llu bytes are asked for, and '%s' has %llu free%s",
				(unsigned long long) wish->bytes, wish->base_paths[i],
				(unsigned long long) room,
				wish->count > 1 ? "; the other base paths have no more" : "");
		} else if (!found || room > most) {
			*ret = (struct volume_choice){ .index = i,
						       .capacity = capacity,
						       .room_bytes = room };
			most = room;
			found = true;
		}
	}
	return found ? 0 : result;
}

/* ---- making ---- */

/* The new name must outlive a loss of power as soon as a stored object speaks of it. */
static int sync_parent(const struct place *place, struct failure *reterr)
{
	cleanup_close int fd = openat(place->parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0)
		return failed(reterr, -errno, "cannot write '%s' to disk", place->path);
	return 0;
}

static int set_mark(int fd, const struct place *place, const char *mark, struct failure *reterr)
{
	if (fsetxattr(fd, VOLUME_DIRECTORY_MARK, mark, strlen(mark), 0) == 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EPERM)
		return failed(reterr, -errno, "cannot mark '%s'", place->path);
	return failed_plain(reterr, -EOPNOTSUPP,
			    "the file system at '%s' keeps no mark (%s) for podvold: its volume "
			    "could not be identified later",
			    place->path, VOLUME_DIRECTORY_MARK);
}

/* What is an O_PATH descriptor has no attributes. */
static int open_base(int base_fd)
{
	return openat(base_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int mark_base(int base_fd, const char *base_path, struct failure *reterr)
{
	cleanup_close int fd = open_base(base_fd);

	if (fd >= 0 && fgetxattr(fd, BASE_MARK, NULL, 0) >= 0)
		return 0;
	if (fd < 0 || fsetxattr(fd, BASE_MARK, "", 0, 0) < 0)
		return failed(reterr, -errno, "cannot mark the base path '%s'", base_path);
	return 0;
}

/* A name that cannot be looked into yet: of mode 0 from its first moment on. */
static int make_name(const struct place *place, const struct capacity_method *method)
{
	cleanup_close int parent_fd = -EBADF;

	if (!method || !method->make_directory)
		return mkdirat(place->parent_fd, place->name, 0) < 0 ? -errno : 0;
	parent_fd = openat(place->parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return parent_fd < 0 ? -errno : method->make_directory(parent_fd, place->name);
}

static int fill(const struct place *place, const struct volume_directory *directory,
		const struct capacity_method *method, mode_t mode, struct failure *reterr)
{
	cleanup_close int fd = open_directory(place);
	int r;

	if (fd < 0)
		return failed(reterr, fd, "cannot open '%s'", place->path);
	r = check_takable(fd, place, directory->mark, reterr);
	if (r == 0 && method && method->make_directory && !method->is_in_force(fd))
		r = failed_plain(reterr, -EEXIST,
				 "'%s' already exists, and cannot be given a quota", place->path);
	if (r == 0)
		r = set_mark(fd, place, directory->mark, reterr);
	if (r == 0 && method)
		r = method->set_limit(fd, place->path, directory->bytes, reterr);
	if (r == 0)
		r = change_mode(fd, mode, reterr);
	return r < 0 ? r : sync_parent(place, reterr);
}

int volume_directory_make(const struct volume_directory *directory, mode_t mode,
			  struct failure *reterr)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	const struct capacity_method *method;
	cleanup_close int base_fd = -EBADF;
	bool made;
	int r;

	assert(directory->mark[0] && strlen(directory->mark) < VOLUME_MARK_BYTES);
	r = check_source(directory->own, directory->base_path, directory->name, reterr);
	if (r < 0)
		return r;
	base_fd = make_host_directories(directory->base_path, LEVEL_MODE, reterr);
	r = base_fd < 0 ? base_fd : base_path_check(base_fd, directory->base_path, reterr);
	if (r < 0)
		return r;
	r = capacity_find(directory->capacity ?: CAPACITY_NONE, base_fd, directory->base_path,
			  &method, reterr);
	if (r == 0)
		r = place_make(base_fd, directory->base_path, directory->name, LEVEL_MODE, &place,
			       reterr);
	if (r < 0)
		return r;
	/* It is closed until its mode and mark are there. */
	r = make_name(&place, method);
	made = r == 0;
	if (r < 0 && r != -EEXIST)
		return failed(reterr, r, "cannot make '%s'", place.path);
	r = fill(&place, directory, method, mode, reterr);
	/* Last: where no marks are kept at all, the volume's own says so in better words. */
	if (r == 0)
		r = mark_base(base_fd, directory->base_path, reterr);
	if (r < 0 && made)
		(void) volume_directory_unmake(directory, NULL);
	return r;
}

/* ---- growing ---- */

/* Both say so: what it was made as, and what it looks like. NULL: none. */
static const struct capacity_method *method_in_force(const struct volume_directory *directory,
						     int fd)
{
	const struct capacity_method *method = capacity_of(fd);

	return method && directory->capacity && strcmp(method->word, directory->capacity) == 0
		       ? method
		       : NULL;
}

static int find_place(const struct volume_directory *directory, struct place *ret,
		      struct failure *reterr)
{
	cleanup_close int base_fd =
		open_host_path(directory->base_path, O_PATH | O_DIRECTORY, reterr);

	if (base_fd < 0)
		return base_fd;
	return place_open(base_fd, directory->base_path, directory->name, ret, reterr);
}

/* What stands there and bears the mark. Return: a descriptor. */
int volume_directory_open(const struct volume_directory *directory, struct place *place,
			  struct failure *reterr)
{
	cleanup_close int fd = -EBADF;
	int r = find_place(directory, place, reterr);

	if (r < 0)
		return r;
	fd = open_directory(place);
	if (fd < 0)
		return failed(reterr, fd, "cannot open '%s'", place->path);
	if (volume_mark_of(fd, directory->mark) != VOLUME_MARK_OURS)
		return failed_plain(reterr, -EPERM, "'%s' does not bear the mark of this volume",
				    place->path);
	return TAKE_FD(fd);
}

int volume_directory_grow(const struct volume_directory *directory, struct failure *reterr)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	const struct capacity_method *method;
	cleanup_close int fd = volume_directory_open(directory, &place, reterr);

	if (fd < 0)
		return fd;
	method = method_in_force(directory, fd);
	if (!method)
		return failed_plain(reterr, -EOPNOTSUPP, "the size of '%s' is not enforced",
				    place.path);
	return method->set_limit(fd, place.path, directory->bytes, reterr);
}

/* ---- taking away ---- */

static int unmake_marked(const struct volume_directory *directory, const struct place *place,
			 int fd, struct failure *reterr)
{
	const struct capacity_method *method = method_in_force(directory, fd);
	uint64_t number = method && method->number ? method->number(fd) : 0;
	int r = method && method->unmake ? method->unmake(fd, place->path, reterr) : 0;

	if (r == 0)
		r = remove_directory(place, reterr);
	if (r == 0 && method && method->forget)
		method->forget(place->parent_fd, number);
	return r;
}

int volume_directory_unmake(const struct volume_directory *directory, struct failure *reterr)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	cleanup_close int fd = -EBADF;
	int r = find_place(directory, &place, reterr);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	fd = open_directory(&place);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return failed(reterr, fd, "cannot open '%s'", place.path);
	/* Killed between mkdir and mark, it bears none: empty and of mode 0 as no other is. */
	if (volume_mark_of(fd, directory->mark) != VOLUME_MARK_OURS) {
		struct stat status;

		if (volume_mark_of(fd, directory->mark) == VOLUME_MARK_NONE &&
		    fstat(fd, &status) == 0 && (status.st_mode & 07777) == 0)
			return remove_directory(&place, reterr);
		return failed_plain(reterr, -EPERM, "'%s' was not made for this volume: it stays",
				    place.path);
	}
	return unmake_marked(directory, &place, fd, reterr);
}

/* What is not there was removed before, by a process that died since, or lies on a disk that is not
 * mounted: then nothing was deleted, and must not be reported so. */
static int check_gone(int base_fd, const struct volume_directory *directory, struct failure *reterr)
{
	cleanup_close int fd = open_base(base_fd);

	if (fd < 0)
		return failed(reterr, -errno, "cannot open '%s'", directory->base_path);
	if (fgetxattr(fd, BASE_MARK, NULL, 0) >= 0)
		return 0;
	return failed_plain(reterr, -ENODEV,
			    "'%s' is not in '%s', where no volume was ever made: is its disk "
			    "mounted?",
			    directory->name, directory->base_path);
}

static bool is_there(const struct place *place)
{
	cleanup_close int fd = open_directory(place);

	return fd != -ENOENT;
}

int volume_directory_remove(const struct volume_directory *directory, struct failure *reterr)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	cleanup_close int base_fd =
		open_host_path(directory->base_path, O_PATH | O_DIRECTORY, reterr);
	int r;

	assert(directory->mark[0]);
	if (base_fd < 0)
		return base_fd;
	r = place_open(base_fd, directory->base_path, directory->name, &place, reterr);
	if (r == -ENOENT || (r == 0 && !is_there(&place)))
		return check_gone(base_fd, directory, reterr);
	return r < 0 ? r
		     : remove_volume_contents(&place, directory->mark, directory->users, reterr);
}
