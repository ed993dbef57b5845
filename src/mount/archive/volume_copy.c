/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_copy - snapshots of volumes, and volumes filled from others; see volume_copy.h
 */
#include "mount/archive/volume_copy.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "mount/archive/image_content.h"
#include "mount/capacity/capacity.h"
#include "mount/holders/mount_holders.h"
#include "mount/mount.h"
#include "mount/path/safe_path.h"
#include "mount/remove/volume_lock.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/btrfs.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#define DATA_NAME     "data"
#define FILLED        "filled"                  /* of VOLUME_PARTIAL_MARK */
#define SNAPSHOT_MARK "trusted.podvol.snapshot" /* its time, and 'a' when it is of one moment */
#define SETTLED_MARK  "trusted.podvol.settled"  /* it was filled, and may have been used since */
#define SOURCE_MARK   "trusted.podvol.source"   /* what tree_print() said of what it is a copy of */

enum {
	SNAPSHOT_MODE = 0700,
	EMPTY_MODE = 0755,     /* of what a new file system has at its top */
	SUBVOLUME_INODE = 256, /* of every subvolume's top */
	MARK_BYTES = 40,
	COPIES_MAX = 3, /* of a source that is changed meanwhile */
};

/* ---- images ---- */

static bool is_image(const char *capacity)
{
	return capacity && strcmp(capacity, CAPACITY_IMAGE) == 0;
}

/* @marked_fd: the volume's directory. What a directory holds is its pods' business, also when it is
 * called as an image is: so the volume's object says what it is. */
static int open_image(const struct volume_directory *directory, int marked_fd,
		      enum image_content_use use, struct image_content *ret, struct failure *reterr)
{
	cleanup_close int image_fd = capacity_image_of(marked_fd);
	cleanup_free char *path = NULL;

	path = new_text("%s/%s/%s", directory->base_path, directory->name, CAPACITY_IMAGE_NAME);
	if (!path)
		return failed(reterr, -ENOMEM, "cannot open an image");
	if (image_fd < 0)
		return failed(reterr, image_fd, "cannot open the image '%s'", path);
	return image_content_open(image_fd, path, use, directory->fs_type ?: "", ret, reterr);
}

/* ---- the source ---- */

struct open_source {
	int marked_fd;
	int fd; /* what is copied: below the first, or the same directory; -EBADF: nothing */
	struct image_content content;
	int lock_fd; /* of the volume, shared */
};

#define OPEN_SOURCE_NONE                                                                           \
	{                                                                                          \
		-EBADF, -EBADF, IMAGE_CONTENT_NONE, -EBADF                                         \
	}

static void open_source_done(struct open_source *source)
{
	source->fd = close_keep_errno(source->fd);
	image_content_done(&source->content);
	source->marked_fd = close_keep_errno(source->marked_fd);
	source->lock_fd = volume_lock_release(source->lock_fd);
}

static int read_mark(int fd, struct volume_snapshot_facts *ret)
{
	char text[MARK_BYTES] = "", *end = NULL;
	ssize_t length = fgetxattr(fd, SNAPSHOT_MARK, text, sizeof(text) - 1);

	if (length < 0)
		return -errno;
	*ret = (struct volume_snapshot_facts){ .creation_nsec = strtoll(text, &end, 10) };
	ret->is_atomic = *end == 'a';
	return 0;
}

/* The file system in an image may be mounted where the directory is not: in a container that kept
 * its copy of the mount. */
static int check_unused(const struct volume_source *source, int marked_fd, const char *path,
			struct failure *reterr)
{
	const struct capacity_method *method =
		is_image(source->capacity) ? capacity_of(marked_fd) : NULL;
	int r = directory_users_check(marked_fd, reterr);

	if (r >= 0 && method && method->check_unused)
		r = method->check_unused(marked_fd, path, reterr);
	return r;
}

/* One that no pod has had so far has no file system yet: its copy gets one of its own. */
static int open_source_image(const struct volume_directory *directory, struct open_source *ret,
			     struct failure *reterr)
{
	int r = open_image(directory, ret->marked_fd, IMAGE_CONTENT_READ, &ret->content, reterr);

	if (r < 0)
		return r == -ENODATA ? 0 : r;
	ret->fd = fcntl(ret->content.fd, F_DUPFD_CLOEXEC, 0);
	return ret->fd < 0 ? failed(reterr, -errno, "cannot read an image") : 0;
}

static int source_open(const struct volume_source *source, struct open_source *ret,
		       struct failure *reterr)
{
	const struct volume_directory directory = { .base_path = source->base_path,
						    .name = source->name,
						    .mark = source->mark };
	cleanup(place_done) struct place place = PLACE_EMPTY;
	struct volume_snapshot_facts facts;
	int r;

	ret->marked_fd = volume_directory_open(&directory, &place, reterr);
	if (ret->marked_fd < 0)
		return ret->marked_fd;
	r = volume_lock_take(ret->marked_fd, VOLUME_LOCK_SHARED, place.path, &ret->lock_fd, reterr);
	if (r < 0)
		return r;
	if (volume_directory_is_partial(ret->marked_fd))
		return failed_plain(reterr, -EUCLEAN, "'%s' holds a part only: restore it first",
				    place.path);
	if (source->is_unused && (r = check_unused(source, ret->marked_fd, place.path, reterr)) < 0)
		return r;
	if (source->is_snapshot && read_mark(ret->marked_fd, &facts) < 0)
		return failed_plain(reterr, -EPERM, "'%s' is not a snapshot that was finished",
				    place.path);
	if (!source->is_snapshot && is_image(source->capacity))
		return open_source_image(&directory, ret, reterr);
	ret->fd = path_open(ret->marked_fd, source->is_snapshot ? DATA_NAME : ".",
			    O_RDONLY | O_DIRECTORY, PATH_NO_SYMLINKS);
	return ret->fd < 0 ? failed(reterr, ret->fd, "cannot open '%s'", place.path) : 0;
}

/* ---- snapshots ---- */

/* Of one moment, where that can be had. Return: 0; a negative errno: then it is copied. */
static int snapshot_subvolume(int from_fd, int to_fd)
{
	struct btrfs_ioctl_vol_args_v2 arguments = { .fd = from_fd, .name = DATA_NAME };
	cleanup_close int made_fd = -EBADF;
	struct statfs fs;
	struct stat status;

	if (fstatfs(from_fd, &fs) < 0 || fs.f_type != BTRFS_SUPER_MAGIC ||
	    fstat(from_fd, &status) < 0 || status.st_ino != SUBVOLUME_INODE)
		return -EOPNOTSUPP;
	if (ioctl(to_fd, BTRFS_IOC_SNAP_CREATE_V2, &arguments) < 0)
		return -errno;
	made_fd = openat(to_fd, DATA_NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (made_fd < 0 || (fremovexattr(made_fd, VOLUME_DIRECTORY_MARK) < 0 && errno != ENODATA))
		return -errno;
	return 0;
}

static int copy_tree(int from_fd, int to_fd, const struct copy_watch *watch, struct failure *reterr)
{
	const struct tree_copy copy = { from_fd, to_fd, watch->cancel, watch->progress,
					watch->is_whole };

	return from_fd < 0 ? change_mode(to_fd, EMPTY_MODE, reterr) : tree_copy(&copy, reterr);
}

static int copy_data(int from_fd, int to_fd, const struct copy_watch *watch, struct failure *reterr)
{
	cleanup_close int data_fd = -EBADF;

	if (mkdirat(to_fd, DATA_NAME, SNAPSHOT_MODE) < 0)
		return failed(reterr, -errno, "cannot create a directory in the snapshot");
	data_fd = openat(to_fd, DATA_NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (data_fd < 0)
		return failed(reterr, -errno, "cannot open the snapshot");
	return copy_tree(from_fd, data_fd, watch, reterr);
}

/* Only what is on disk is finished. */
static int finish_snapshot(int fd, const struct volume_snapshot_facts *facts,
			   struct failure *reterr)
{
	char text[MARK_BYTES];
	int length = snprintf(text, sizeof(text), "%" PRId64 "%s", facts->creation_nsec,
			      facts->is_atomic ? "a" : "");

	if (syncfs(fd) < 0 || fsetxattr(fd, SNAPSHOT_MARK, text, (size_t) length, 0) < 0 ||
	    fsync(fd) < 0)
		return failed(reterr, -errno, "cannot finish the snapshot");
	return 0;
}

static int fill_snapshot(const struct volume_directory *directory,
			 const struct volume_source *source, const struct copy_watch *watch,
			 struct volume_snapshot_facts *facts, struct failure *reterr)
{
	cleanup(open_source_done) struct open_source from = OPEN_SOURCE_NONE;
	cleanup(place_done) struct place place = PLACE_EMPTY;
	cleanup_close int fd = -EBADF;
	int r = source_open(source, &from, reterr);

	if (r == 0)
		r = volume_directory_make(directory, SNAPSHOT_MODE, reterr);
	if (r < 0)
		return r;
	fd = volume_directory_open(directory, &place, reterr);
	if (fd < 0)
		return fd;
	facts->creation_nsec = (int64_t) realtime_usec() * 1000;
	facts->is_atomic = snapshot_subvolume(from.fd, fd) == 0;
	if (!facts->is_atomic)
		r = copy_data(from.fd, fd, watch, reterr);
	return r < 0 ? r : finish_snapshot(fd, facts, reterr);
}

int volume_snapshot_sync(const struct volume_directory *directory,
			 struct volume_snapshot_facts *ret, struct failure *reterr)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	cleanup_close int fd = volume_directory_open(directory, &place, reterr);

	if (fd < 0)
		return fd;
	if (read_mark(fd, ret) < 0)
		return failed_plain(reterr, -EPERM, "'%s' is not a snapshot that was finished",
				    place.path);
	return 0;
}

int volume_snapshot_take(const struct volume_directory *directory,
			 const struct volume_source *source, const struct copy_watch *watch,
			 struct volume_snapshot_facts *ret, struct failure *reterr)
{
	struct volume_snapshot_facts facts = { 0 };
	int r = volume_snapshot_sync(directory, ret, NULL);

	assert(source && watch && ret && reterr);
	if (r == 0)
		return 0;
	/* A part of an attempt before, if it bears our mark. */
	r = volume_directory_remove(directory, reterr);
	if (r < 0 && r != -ENOENT && r != -EPERM)
		return r;
	r = fill_snapshot(directory, source, watch, &facts, reterr);
	if (r < 0)
		(void) volume_directory_remove(directory, NULL);
	else
		*ret = facts;
	return r;
}

/* ---- volumes ---- */

static int set_partial(int fd, struct failure *reterr)
{
	if (fsetxattr(fd, VOLUME_PARTIAL_MARK, "partial", 7, 0) < 0)
		return failed(reterr, -errno, "cannot mark the volume as not filled yet");
	return 0;
}

/* All is on disk; the mark says that it is unused so far. */
static int set_filled(int fd, struct failure *reterr)
{
	if (syncfs(fd) < 0 || fsetxattr(fd, VOLUME_PARTIAL_MARK, FILLED, strlen(FILLED), 0) < 0 ||
	    fsync(fd) < 0)
		return failed(reterr, -errno, "cannot finish the volume");
	return 0;
}

static bool says_filled(int fd)
{
	char value[16] = "";

	return fgetxattr(fd, VOLUME_PARTIAL_MARK, value, sizeof(value) - 1) > 0 &&
	       strcmp(value, FILLED) == 0;
}

/* How far it came before. */
enum filling {
	FILLING_NONE, /* not there, foreign, or empty */
	FILLING_BEGUN,
	FILLING_WHOLE, /* and unused so far */
	FILLING_SETTLED,
};

static enum filling filling_of(const struct volume_directory *directory)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	cleanup_close int fd = volume_directory_open(directory, &place, NULL);

	if (fd < 0)
		return FILLING_NONE;
	if (fgetxattr(fd, SETTLED_MARK, NULL, 0) >= 0)
		return FILLING_SETTLED;
	if (!volume_directory_is_partial(fd))
		return FILLING_NONE;
	return says_filled(fd) ? FILLING_WHOLE : FILLING_BEGUN;
}

/* A new file system has a directory of its own, which may be in the source as well, and which fsck
 * makes again where it needs one. */
static int fill_image(const struct volume_directory *directory, int marked_fd, int from_fd,
		      const struct copy_watch *watch, struct failure *reterr)
{
	cleanup(image_content_done) struct image_content content = IMAGE_CONTENT_NONE;
	int r;

	if (from_fd < 0)
		return 0; /* its first pod has it formatted */
	r = open_image(directory, marked_fd, IMAGE_CONTENT_FILL, &content, reterr);
	if (r < 0)
		return r;
	if (unlinkat(content.fd, "lost+found", AT_REMOVEDIR) < 0 && errno != ENOENT)
		return failed(reterr, -errno, "the new file system is not empty");
	r = copy_tree(from_fd, content.fd, watch, reterr);
	if (r == 0 && syncfs(content.fd) < 0)
		r = failed(reterr, -errno, "cannot write the image to disk");
	return r;
}

static int fill_from(const struct volume_directory *directory, int fd,
		     const struct open_source *from, const struct copy_watch *watch,
		     struct failure *reterr)
{
	int r = set_partial(fd, reterr);

	if (r < 0)
		return r;
	return is_image(directory->capacity) ? fill_image(directory, fd, from->fd, watch, reterr)
					     : copy_tree(from->fd, fd, watch, reterr);
}

/* Of the directory, also when the files are in an image: that is written to with them. */
static int print_source(const struct open_source *from, const struct timespec *since,
			const struct copy_watch *watch, struct tree_print *ret,
			struct failure *reterr)
{
	/* What is mapped and dirty is written without a new time, until it was synced. */
	if (syncfs(from->marked_fd) < 0)
		return failed(reterr, -errno, "cannot sync what is copied");
	return tree_print(from->marked_fd, since, watch->cancel, ret, reterr);
}

static int keep_print(int fd, uint64_t number, struct failure *reterr)
{
	if (fsetxattr(fd, SOURCE_MARK, &number, sizeof(number), 0) < 0)
		return failed(reterr, -errno, "cannot mark the volume as a copy");
	return 0;
}

/* Return: -EAGAIN: the source was changed meanwhile. */
static int fill_unchanged(const struct volume_directory *directory, int fd,
			  const struct open_source *from, const struct copy_watch *watch,
			  struct failure *reterr)
{
	cleanup(tree_print_done) struct tree_print before = { .late = NULL };
	cleanup(tree_print_done) struct tree_print after = { .late = NULL };
	const struct copy_watch whole = { watch->cancel, watch->progress, true };
	struct timespec since = tree_print_since();
	int r = print_source(from, &since, watch, &before, reterr);

	if (r == 0)
		r = fill_from(directory, fd, from, &whole, reterr);
	if (r == 0)
		r = print_source(from, &since, watch, &after, reterr);
	if (r < 0)
		return r;
	if (after.late || before.number != after.number)
		return failed_plain(reterr, -EAGAIN,
				    "it was written to while it was copied, '%.100s' for one: stop "
				    "what writes there",
				    after.late && *after.late ? after.late : ".");
	return keep_print(fd, after.number, reterr);
}

static int fill_volume(const struct volume_directory *directory, const struct volume_source *source,
		       const struct copy_watch *watch, struct failure *reterr)
{
	cleanup(open_source_done) struct open_source from = OPEN_SOURCE_NONE;
	cleanup(place_done) struct place place = PLACE_EMPTY;
	cleanup_close int fd = volume_directory_open(directory, &place, reterr);
	int r = fd < 0 ? fd : source_open(source, &from, reterr);

	if (r == 0)
		r = (source->is_unused ? fill_unchanged : fill_from)(directory, fd, &from, watch,
								     reterr);
	return r < 0 ? r : set_filled(fd, reterr);
}

/* Is what was filled before still what the source is? Return: 1, 0; else as source_open(). */
static int is_current(const struct volume_directory *directory, const struct volume_source *source,
		      const struct copy_watch *watch, struct failure *reterr)
{
	cleanup(open_source_done) struct open_source from = OPEN_SOURCE_NONE;
	cleanup(tree_print_done) struct tree_print print = { .late = NULL };
	cleanup(place_done) struct place place = PLACE_EMPTY;
	cleanup_close int fd = volume_directory_open(directory, &place, reterr);
	struct timespec since = tree_print_since();
	uint64_t number;
	int r = fd < 0 ? fd : source_open(source, &from, reterr);

	if (r == 0)
		r = print_source(&from, &since, watch, &print, reterr);
	if (r < 0)
		return r;
	return fgetxattr(fd, SOURCE_MARK, &number, sizeof(number)) == sizeof(number) &&
	       number == print.number;
}

int volume_directory_make_filled(const struct volume_directory *directory,
				 const struct volume_source *source, const struct copy_watch *watch,
				 struct failure *reterr)
{
	enum filling filling = filling_of(directory);
	int r = filling == FILLING_WHOLE || filling == FILLING_SETTLED;

	assert(source && watch && reterr);
	if (r > 0 && source->is_unused)
		r = is_current(directory, source, watch, reterr);
	if (r != 0)
		return r < 0 ? r : 0;
	for (int copy = 0; copy < COPIES_MAX; copy++) {
		r = filling == FILLING_NONE ? 0 : volume_directory_remove(directory, reterr);
		if (r == 0)
			r = volume_directory_make(directory, SNAPSHOT_MODE, reterr);
		if (r == 0)
			r = fill_volume(directory, source, watch, reterr);
		if (r != -EAGAIN)
			return r;
		filling = FILLING_BEGUN;
	}
	return -EBUSY;
}

int volume_directory_settle(const struct volume_directory *directory, struct failure *reterr)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	cleanup_close int fd = volume_directory_open(directory, &place, reterr);

	if (fd < 0)
		return fd;
	/* In this order: between the two it is settled. */
	if (fsetxattr(fd, SETTLED_MARK, "", 0, 0) < 0 ||
	    (fremovexattr(fd, VOLUME_PARTIAL_MARK) < 0 && errno != ENODATA) || fsync(fd) < 0)
		return failed(reterr, -errno, "cannot finish '%s'", place.path);
	return 0;
}

int volume_directory_unmake_filled(const struct volume_directory *directory, bool is_unused,
				   struct failure *reterr)
{
	switch (filling_of(directory)) {
	case FILLING_SETTLED:
		if (is_unused)
			return volume_directory_remove(directory, reterr);
		return failed_plain(reterr, -EALREADY,
				    "'%s' in '%s' was filled, and may have been used since",
				    directory->name, directory->base_path);
	case FILLING_BEGUN:
	case FILLING_WHOLE:
		return volume_directory_remove(directory, reterr);
	case FILLING_NONE:
		break;
	}
	return volume_directory_unmake(directory, reterr);
}
