/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subpath_clean - take the binds of a volume of a pod away: kubelet's CleanSubPaths; see subpath.h
 *
 * Looks at the entries of the container directories and never below them: there is the user's data.
 * Each is unmounted by its name under the pinned directory, so it matters neither what is bound nor
 * whether that still exists. Removes empty directories and empty files, nothing else.
 */
#include "mount/path/subpath.h"

#include "base/cleanup.h"
#include "base/directory.h"
#include "base/text.h"
#include "mount/path/safe_path.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { KEPT_LEVELS = 1 }; /* "pods" stays when it is empty */

/* What is being cleaned, level by level. */
struct level {
	int fd;
	const char *path; /* for people */
	struct failure *reterr;
	int first_error;
};

/* Others go on: one busy bind keeps only itself. */
static void note_error(struct level *level, int error, const struct failure *failure)
{
	if (error >= 0 || level->first_error < 0)
		return;
	level->first_error = error;
	if (level->reterr)
		*level->reterr = *failure;
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* A file that is covered was empty when it was made; one that is not may be foreign. */
static int check_is_ours(const struct place *target, struct failure *reterr)
{
	struct mount_facts facts;
	struct stat status;

	if (place_facts(target, &facts, NULL) < 0 || facts.is_mount_root || S_ISDIR(facts.mode))
		return 0;
	if (fstatat(target->parent_fd, target->name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (S_ISREG(status.st_mode) && status.st_size == 0)
		return 0;
	return failed_plain(reterr, -ENOTEMPTY, "'%s' is not podvol's: it stays", target->path);
}

/* Calls @visit for each name in a managed directory. */
static void for_each_name(struct level *level, void (*visit)(struct level *level, char *name))
{
	cleanup_closedir DIR *directory = NULL;
	struct failure failure = { .error = 0 };
	const struct dirent *entry;
	int more, fd = fcntl(level->fd, F_DUPFD_CLOEXEC, 0);

	directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		int error = failed(&failure, -errno, "cannot read '%s'", level->path);

		(void) close_keep_errno(fd);
		note_error(level, error, &failure);
		return;
	}
	while ((more = directory_next(directory, &entry)) > 0)
		if (!is_dot(entry->d_name))
			visit(level, (char *) entry->d_name);
	if (more < 0)
		note_error(level, failed(&failure, more, "cannot read '%s'", level->path),
			   &failure);
}

static void clean_target(struct level *container, char *name)
{
	cleanup_free char *path = NULL;
	struct failure failure = { .error = 0 };
	struct place target = { .parent_fd = container->fd, .name = name };
	int r;

	path = new_text("%s/%s", container->path, name);
	if (!path) {
		note_error(container, failed(&failure, -ENOMEM, "cannot clean '%s'", name),
			   &failure);
		return;
	}
	target.path = path;
	r = check_is_ours(&target, &failure);
	if (r >= 0)
		r = cleanup_mount_point(&target, &failure);
	note_error(container, r, &failure);
}

/* A file beside the containers' directories is foreign: the volume's directory stays with
 * it, which is the error. */
static void clean_container(struct level *volume, char *name)
{
	cleanup_close int fd = -EBADF;
	cleanup_free char *path = NULL;
	struct failure failure = { .error = 0 };
	struct place place = { .parent_fd = volume->fd, .name = name };
	struct level container;

	fd = path_open(volume->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, PATH_NO_SYMLINKS);
	if (fd == -ENOTDIR || fd == -ELOOP || fd == -ENOENT)
		return;
	if (fd < 0 || !(path = new_text("%s/%s", volume->path, name))) {
		note_error(volume,
			   failed(&failure, fd < 0 ? fd : -ENOMEM, "cannot open '%s/%s'",
				  volume->path, name),
			   &failure);
		return;
	}
	container = (struct level){ .fd = fd, .path = path, .reterr = volume->reterr };
	container.first_error = volume->first_error;
	for_each_name(&container, clean_target);
	volume->first_error = container.first_error;

	place.path = path;
	note_error(volume, remove_directory(&place, &failure), &failure);
}

/* Everything below "volume-subpaths/<volume>", then that itself. Return: 1 there is not even a
 * "volume-subpaths". */
static int clean_volume(int root_fd, const char *root_path, const char *relative,
			struct failure *reterr)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	cleanup_close int fd = -EBADF;
	struct failure failure = { .error = 0 };
	struct level volume = { .reterr = reterr };
	int r = place_open(root_fd, root_path, relative, &place, &failure);

	if (r == -ENOENT)
		return 1;
	if (r >= 0)
		r = fd = open_beneath(place.parent_fd, place.name,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW, PATH_NO_SYMLINKS,
				      &failure);
	if (r == -ENOENT)
		return 0;
	if (r < 0) {
		note_error(&volume, r, &failure);
		return r;
	}
	volume.fd = fd;
	volume.path = place.path;
	for_each_name(&volume, clean_container);
	note_error(&volume, remove_directory(&place, &failure), &failure);
	return volume.first_error;
}

int subpath_clean(int root_fd, const char *root_path, const char *pod_uid, const char *volume_name,
		  struct failure *reterr)
{
	cleanup_free char *relative = NULL;
	int r;

	assert(root_fd >= 0 && root_path && pod_uid && volume_name);
	relative = new_text("pods/%s/" SUBPATH_FOLDER "/%s", pod_uid, volume_name);
	if (!relative)
		return failed(reterr, -ENOMEM, "cannot clean the sub-paths of '%s'", volume_name);
	r = clean_volume(root_fd, root_path, relative, reterr);
	if (r > 0) /* only the pod's directory may be left */
		relative[strlen(relative) - strlen(volume_name) - 1] = '\0';
	if (r >= 0)
		r = remove_empty_parents(root_fd, relative, KEPT_LEVELS, reterr);
	return r;
}
