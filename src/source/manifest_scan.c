/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_scan - find, watch and list the directory; see manifest_scan.h
 */
#include "source/manifest_scan.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/directory.h"
#include "source/source.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>

#define DIRECTORY_EVENTS                                                                           \
	(IN_CLOSE_WRITE | IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |        \
	 IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_EXCL_UNLINK | IN_ONLYDIR)
#define PARENT_EVENTS                                                                              \
	(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF |     \
	 IN_ONLYDIR)

bool manifest_place_is_concerned(const struct manifest_place *place,
				 const struct inotify_event *event)
{
	return event->len == 0 || strcmp(event->name, place->awaited) == 0;
}

static int identify(int fd, struct manifest_directory_id *ret)
{
	struct statx status = { 0 };

	if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &status) < 0)
		return -errno;
	*ret = (struct manifest_directory_id){
		.device = makedev(status.stx_dev_major, status.stx_dev_minor),
		.inode = status.stx_ino,
	};
	if (status.stx_mask & STATX_BTIME) {
		ret->born_sec = status.stx_btime.tv_sec;
		ret->born_nsec = status.stx_btime.tv_nsec;
	}
	return 0;
}

static bool is_same_directory(const struct manifest_directory_id *a,
			      const struct manifest_directory_id *b)
{
	return a->device == b->device && a->inode == b->inode && a->born_sec == b->born_sec &&
	       a->born_nsec == b->born_nsec;
}

static int open_path(const struct manifest_place *place, struct manifest_directory_id *ret_id)
{
	cleanup_close int fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = fd < 0 ? -errno : identify(fd, ret_id);

	return r < 0 ? r : TAKE_FD(fd);
}

int manifest_place_open(const struct manifest_place *place)
{
	struct manifest_directory_id id;
	cleanup_close int fd = -EBADF;

	fd = open_path(place, &id);
	if (fd < 0 || !place->is_known || !is_same_directory(&id, &place->id))
		return -ESTALE;
	return TAKE_FD(fd);
}

/* Split off the last name: "/a/b" gives "/a" and "b", "/a" gives "/" and "a", "a" gives "." and
 * "a". Return: false at the top. */
static bool split(char *path, const char **ret_parent, char awaited[256])
{
	size_t length = strlen(path);
	char *slash;

	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	slash = strrchr(path, '/');
	if (length == 0 || strcmp(path, "/") == 0 || strcmp(path, ".") == 0)
		return false;
	(void) snprintf(awaited, 256, "%s", slash ? slash + 1 : path);
	if (!slash) {
		*ret_parent = ".";
		path[0] = '\0';
	} else if (slash == path) {
		path[1] = '\0';
		*ret_parent = path;
	} else {
		*slash = '\0';
		*ret_parent = path;
	}
	return true;
}

/* Without a watch above, a directory that comes later is not noticed; there is then nothing to
 * watch, not even the root. */
static void watch_parent(struct manifest_place *place, int inotify_fd)
{
	cleanup_free char *path = strdup(place->path);
	const char *parent;

	place->parent_watch = -1;
	while (path && place->parent_watch < 0 && split(path, &parent, place->awaited))
		place->parent_watch = inotify_add_watch(inotify_fd, parent, PARENT_EVENTS);
}

static int open_directory(struct manifest_scan *scan, const struct manifest_place *before,
			  int inotify_fd)
{
	struct manifest_place *place = &scan->place;
	struct manifest_directory_id id;
	cleanup_close int fd = -EBADF;
	struct stat status;
	char link[32];

	fd = open_path(place, &id);
	if (fd < 0)
		return failed(&scan->failure, fd, "cannot open the manifest directory '%s'",
			      place->path);
	/* By descriptor: what is watched is what is listed. */
	(void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	place->directory_watch = inotify_add_watch(inotify_fd, link, DIRECTORY_EVENTS);
	if (place->directory_watch < 0)
		return failed(&scan->failure, -errno, "cannot watch the manifest directory '%s'",
			      place->path);

	scan->is_same = !before->is_known || is_same_directory(&id, &before->id);
	place->others_write = fstat(fd, &status) == 0 && (status.st_mode & S_IWOTH);
	place->is_known = true;
	place->id = id;
	return TAKE_FD(fd);
}

static int add_file(struct manifest_scan *scan, const char *name, const struct stat *status)
{
	struct manifest_listed *files;

	if (scan->count == MANIFEST_FILES_MAX) {
		scan->left_out++;
		return 0;
	}
	if (ARRAY_ROOM(scan->files, scan->count, scan->room, 64) < 0)
		return -ENOMEM;
	files = &scan->files[scan->count];
	files->name = strdup(name);
	if (!files->name)
		return -ENOMEM;
	manifest_identity_of(status, &files->identity);
	scan->count++;
	return 0;
}

/* Names that cannot be examined are listed with an empty identity: reading them says why. */
static int list_entry(struct manifest_scan *scan, int directory_fd, const char *name)
{
	struct stat status = { .st_mode = S_IFREG };

	if (!manifest_name_is_taken(name))
		return 0;
	/* A link that leads nowhere is there all the same. */
	if (fstatat(directory_fd, name, &status, 0) < 0 && errno == ENOENT &&
	    fstatat(directory_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		return 0;
	return add_file(scan, name, &status);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct manifest_listed *) a)->name,
		      ((const struct manifest_listed *) b)->name);
}

/* By name, so that of several files with one object the first is read first: another one would
 * have it until then, and replace its pod. Takes the descriptor. */
static int list_files(struct manifest_scan *scan, int fd)
{
	cleanup_closedir DIR *dir = fdopendir(fd);
	const struct dirent *entry;
	int r = 0, more;

	if (!dir) {
		(void) close_keep_errno(fd);
		return failed(&scan->failure, -errno, "cannot list the manifest directory '%s'",
			      scan->place.path);
	}
	while (r == 0 && (more = directory_next(dir, &entry)) != 0)
		r = more < 0 ? more : list_entry(scan, fd, entry->d_name);
	if (scan->count > 1)
		qsort(scan->files, scan->count, sizeof(scan->files[0]), compare_names);
	return r < 0 ? failed(&scan->failure, r, "cannot list the manifest directory '%s'",
			      scan->place.path)
		     : 0;
}

void manifest_scan_directory(const struct manifest_place *before, int inotify_fd,
			     struct manifest_scan *ret)
{
	int fd;

	assert(before && inotify_fd >= 0);
	ret->place = *before;
	ret->place.directory_watch = -1;
	watch_parent(&ret->place, inotify_fd);
	fd = open_directory(ret, before, inotify_fd);
	if (fd >= 0)
		(void) list_files(ret, fd);
}

void manifest_scan_done(struct manifest_scan *scan)
{
	for (size_t i = 0; i < scan->count; i++)
		free(scan->files[i].name);
	free(scan->files);
	scan->files = NULL;
	scan->count = 0;
}
