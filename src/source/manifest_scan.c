/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_scan - find, watch and list the directory; see manifest_scan.h
 */
#include "source/manifest_scan.h"

#include "base/cleanup.h"
#include "source/source.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>

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

bool manifest_place_is_current(const struct manifest_place *place)
{
	struct stat status;

	return place->directory_fd >= 0 && stat(place->path, &status) == 0 &&
	       status.st_dev == place->device && status.st_ino == place->inode;
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
	cleanup_close int fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char link[32];
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return failed(&scan->failure, -errno, "cannot open the manifest directory '%s'",
			      place->path);
	(void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	place->directory_watch = inotify_add_watch(inotify_fd, link, DIRECTORY_EVENTS);
	if (place->directory_watch < 0)
		return failed(&scan->failure, -errno, "cannot watch the manifest directory '%s'",
			      place->path);

	scan->is_same = before->directory_fd < 0 ||
			(status.st_dev == before->device && status.st_ino == before->inode);
	if (before->directory_fd >= 0 && scan->is_same)
		return 0;
	place->device = status.st_dev;
	place->inode = status.st_ino;
	place->directory_fd = TAKE_FD(fd);
	return 0;
}

static int add_file(struct manifest_scan *scan, const char *name, const struct stat *status)
{
	struct manifest_listed *files;

	if (scan->count == MANIFEST_FILES_MAX) {
		scan->left_out++;
		return 0;
	}
	if (scan->count == scan->room) {
		scan->room = scan->room ? scan->room * 2 : 64;
		files = reallocarray(scan->files, scan->room, sizeof(files[0]));
		if (!files)
			return -ENOMEM;
		scan->files = files;
	}
	files = &scan->files[scan->count];
	files->name = strdup(name);
	if (!files->name)
		return -ENOMEM;
	manifest_identity_of(status, &files->identity);
	scan->count++;
	return 0;
}

/* Names that cannot be examined are listed with an empty identity: reading them says why. */
static int list_entry(struct manifest_scan *scan, const char *name)
{
	struct stat status = { .st_mode = S_IFREG };

	if (!manifest_name_is_taken(name))
		return 0;
	if (fstatat(scan->place.directory_fd, name, &status, 0) < 0 && errno == ENOENT)
		return 0;
	return S_ISREG(status.st_mode) ? add_file(scan, name, &status) : 0;
}

static int list_files(struct manifest_scan *scan)
{
	cleanup_closedir DIR *dir = NULL;
	struct dirent *entry;
	int fd, r = 0;

	fd = openat(scan->place.directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		(void) close_keep_errno(fd);
		return failed(&scan->failure, -errno, "cannot list the manifest directory '%s'",
			      scan->place.path);
	}
	do {
		errno = 0;
		entry = readdir(dir);
		if (entry)
			r = list_entry(scan, entry->d_name);
	} while (entry && r == 0);
	if (!entry && errno != 0)
		r = -errno;
	return r < 0 ? failed(&scan->failure, r, "cannot list the manifest directory '%s'",
			      scan->place.path)
		     : 0;
}

void manifest_scan_directory(const struct manifest_place *before, int inotify_fd,
			     struct manifest_scan *ret)
{
	assert(before && inotify_fd >= 0);
	ret->place = *before;
	ret->place.directory_watch = -1;
	watch_parent(&ret->place, inotify_fd);
	if (open_directory(ret, before, inotify_fd) == 0)
		(void) list_files(ret);
}

void manifest_scan_done(struct manifest_scan *scan)
{
	for (size_t i = 0; i < scan->count; i++)
		free(scan->files[i].name);
	free(scan->files);
	scan->files = NULL;
	scan->count = 0;
}
