/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_directory - make, mark and find directories of volumes; see volume_directory.h
 *
 * Removing one is remove.c's, like all removing.
 */
#include "mount/volume_directory.h"

#include "base/cleanup.h"
#include "mount/mount.h"
#include "mount/safe_path.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

enum { LEVEL_MODE = 0755 };

/* ---- what stands there ---- */

static bool is_empty(int fd)
{
	/* A description of its own: reading moves its position. */
	cleanup_closedir DIR *dir = NULL;
	const struct dirent *entry;
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	dir = copy < 0 ? NULL : fdopendir(copy);
	if (!dir) {
		(void) close_keep_errno(copy);
		return false;
	}
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			return false;
	}
	return true;
}

/* May this become the volume's directory? */
static int check_takable(int fd, const struct place *place, const char *mark,
			 struct failure *reterr)
{
	enum volume_mark found = volume_mark_of(fd, mark);

	if (found == VOLUME_MARK_OTHER)
		return failed_plain(reterr, -EEXIST, "'%s' belongs to another volume", place->path);
	if (!is_empty(fd))
		return failed_plain(reterr, -EEXIST,
				    "'%s' is there already and not empty: nothing of it is touched",
				    place->path);
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
 * of ours. */
static int open_directory(const struct place *place)
{
	return path_open(place->parent_fd, place->name, O_RDONLY | O_DIRECTORY, PATH_NO_SYMLINKS);
}

/* ---- choosing ---- */

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
		return failed(reterr, -EEXIST, "'%s' is no directory that can be used", place.path);
	return check_takable(fd, &place, NULL, reterr);
}

static int ask_room(const char *base_path, const char *name, uint64_t *ret_bytes,
		    struct failure *reterr)
{
	cleanup_close int fd = make_host_directories(base_path, LEVEL_MODE, reterr);
	struct statfs fs;

	if (fd < 0)
		return fd;
	if (fstatfs(fd, &fs) < 0)
		return failed(reterr, -errno, "cannot ask '%s' how much is free", base_path);
	*ret_bytes = (uint64_t) fs.f_bavail * (uint64_t) fs.f_bsize;
	return check_free(fd, base_path, name, reterr);
}

int volume_directory_choose(const char *const *base_paths, size_t count, const char *name,
			    uint64_t bytes, size_t *ret_index, struct failure *reterr)
{
	uint64_t most = 0;
	bool found = false;
	int result = 0;

	assert(count > 0 && name && ret_index);
	for (size_t i = 0; i < count; i++) {
		uint64_t room = 0;
		int r = ask_room(base_paths[i], name, &room, reterr);

		if (r < 0) {
			result = r;
		} else if (room < bytes) {
			result = failed_plain(reterr, -ENOSPC,
					      "%llu bytes are asked for, and '%s' has %llu free%s",
					      (unsigned long long) bytes, base_paths[i],
					      (unsigned long long) room,
					      count > 1 ? "; the other base paths have no more"
							: "");
		} else if (!found || room > most) {
			*ret_index = i;
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
			    "the file system at '%s' keeps no mark (%s) for podvold: it could not "
			    "be told later whose directory that is",
			    place->path, VOLUME_DIRECTORY_MARK);
}

static int fill(const struct place *place, const char *mark, mode_t mode, struct failure *reterr)
{
	cleanup_close int fd = open_directory(place);
	int r;

	if (fd < 0)
		return failed(reterr, fd, "cannot open '%s'", place->path);
	r = check_takable(fd, place, mark, reterr);
	if (r == 0)
		r = set_mark(fd, place, mark, reterr);
	if (r == 0)
		r = change_mode(fd, mode, reterr);
	return r < 0 ? r : sync_parent(place, reterr);
}

int volume_directory_make(const struct volume_directory *directory, mode_t mode,
			  struct failure *reterr)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	cleanup_close int base_fd = -EBADF;
	bool made;
	int r;

	assert(directory->mark[0] && strlen(directory->mark) < VOLUME_MARK_BYTES);
	base_fd = make_host_directories(directory->base_path, LEVEL_MODE, reterr);
	if (base_fd < 0)
		return base_fd;
	r = place_make(base_fd, directory->base_path, directory->name, LEVEL_MODE, &place, reterr);
	if (r < 0)
		return r;
	/* Nobody gets in before its mode and mark are there. */
	made = mkdirat(place.parent_fd, place.name, 0) == 0;
	if (!made && errno != EEXIST)
		return failed(reterr, -errno, "cannot make '%s'", place.path);
	r = fill(&place, directory->mark, mode, reterr);
	if (r < 0 && made)
		(void) remove_directory(&place, NULL);
	return r;
}

/* ---- taking away ---- */

static int find_place(const struct volume_directory *directory, struct place *ret,
		      struct failure *reterr)
{
	cleanup_close int base_fd =
		open_host_path(directory->base_path, O_PATH | O_DIRECTORY, reterr);

	if (base_fd < 0)
		return base_fd;
	return place_open(base_fd, directory->base_path, directory->name, ret, reterr);
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
	/* Killed between mkdir and mark, it bears none: empty and of mode 0 as nobody's is. */
	if (volume_mark_of(fd, directory->mark) != VOLUME_MARK_OURS) {
		struct stat status;

		if (volume_mark_of(fd, directory->mark) == VOLUME_MARK_NONE &&
		    fstat(fd, &status) == 0 && (status.st_mode & 07777) == 0)
			return remove_directory(&place, reterr);
		return failed_plain(reterr, -EPERM, "'%s' was not made for this volume: it stays",
				    place.path);
	}
	return remove_directory(&place, reterr);
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
	if (r == -ENOENT)
		return 0;
	return r < 0 ? r : remove_volume_contents(&place, directory->mark, reterr);
}
