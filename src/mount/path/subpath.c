/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subpath - find what a container's subPath names and bind it; see subpath.h
 *
 * Privileged: CAP_SYS_ADMIN. The argument: the volume is pinned, the path in it is walked once and
 * cannot lead out, and what was found is bound by descriptor; the target lies below the root
 * directory, where no pod can write. Refuses to cover a file that has something in it.
 */
#include "mount/path/subpath.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "mount/path/safe_path.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum {
	TARGET_PARENT_MODE = 0750, /* kubelet's */
	TARGET_DIRECTORY_MODE = 0750,
	TARGET_FILE_MODE = 0640,
	TARGET_KEPT_LEVELS = 1, /* "pods" stays when it is empty */
};

void subpath_done(struct subpath *subpath)
{
	assert(subpath);
	place_done(&subpath->target);
	(void) close_keep_errno(subpath->source_fd);
	(void) close_keep_errno(subpath->target_fd);
	*subpath = SUBPATH_EMPTY;
}

/* ---- names ---- */

static bool is_component(const char *name)
{
	return *name != '\0' && !strchr(name, '/') && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0;
}

/* Relative to the root directory; NULL: no memory. */
static char *target_path(const struct subpath_request *request)
{
	return new_text("pods/%s/" SUBPATH_FOLDER "/%s/%s/%zu", request->pod_uid,
			request->volume_name, request->container, request->mount_index);
}

char *subpath_target_path(const struct subpath_request *request)
{
	cleanup_free char *relative = NULL;

	assert(request && request->root_path);
	relative = target_path(request);
	return relative ? new_text("%s/%s", request->root_path, relative) : NULL;
}

/* They come from manifests and, after a restart, from the ledger. */
static int check_names(const struct subpath_request *request, struct failure *reterr)
{
	const char *const names[] = { request->pod_uid, request->volume_name, request->container };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!is_component(names[i]))
			return failed_plain(reterr, -EINVAL, "'%s' cannot be a directory's name",
					    names[i]);
	return 0;
}

/* ---- the source ---- */

/* NULL: not below this pod's own directory, as a hostPath is. */
static const char *path_below_pod(const struct subpath_request *request)
{
	size_t root_length = strlen(request->root_path), uid_length = strlen(request->pod_uid);
	const char *rest = request->volume_path;

	if (strncmp(rest, request->root_path, root_length) != 0)
		return NULL;
	rest += root_length;
	if (strncmp(rest, "/pods/", 6) != 0 || strncmp(rest + 6, request->pod_uid, uid_length) != 0)
		return NULL;
	return rest[6 + uid_length] == '/' ? rest + 1 : NULL;
}

/* What plugins mounted for us lies beneath the root; a hostPath leads where its author says. */
static int open_volume(const struct subpath_request *request, struct failure *reterr)
{
	const char *relative = path_below_pod(request);
	cleanup_close int fd = -EBADF;
	struct mount_facts facts;
	int r;

	if (relative)
		fd = open_beneath(request->root_fd, relative, O_PATH | O_DIRECTORY,
				  PATH_NO_SYMLINKS_ANY_MOUNT, reterr);
	else
		fd = open_host_path(request->volume_path, O_PATH | O_DIRECTORY, reterr);
	if (fd < 0 || request->mount_id == 0)
		return TAKE_FD(fd);

	r = fd_facts(fd, &facts, reterr);
	if (r < 0)
		return r;
	if (facts.mount_id != request->mount_id)
		return failed_plain(reterr, -ESTALE, "'%s' is no longer mounted",
				    request->volume_path);
	return TAKE_FD(fd);
}

/* As a directory first, because only that has the kernel mount what is to be mounted on access. */
static int open_existing(int volume_fd, const char *path, struct failure *reterr)
{
	int fd = path_open(volume_fd, path, O_PATH | O_DIRECTORY, PATH_BENEATH);

	if (fd == -ENOTDIR)
		fd = path_open(volume_fd, path, O_PATH, PATH_BENEATH);
	if (fd == -EXDEV)
		return failed_plain(reterr, fd, "'%s' leads out of the volume", path);
	if (fd < 0)
		return failed(reterr, fd, "cannot open '%s' in the volume", path);
	return fd;
}

/* The mode of the volume's root is what an fsGroup gave it, and its setgid bit hands the group on.
 */
static int make_source(int volume_fd, const char *path, struct failure *reterr)
{
	struct stat root;

	if (fstat(volume_fd, &root) < 0)
		return failed(reterr, -errno, "cannot inspect the volume");
	return subpath_make_directories(volume_fd, path, root.st_mode & 07777, reterr);
}

static int open_source(const struct subpath_request *request, struct subpath *subpath,
		       struct failure *reterr)
{
	cleanup_close int volume_fd = open_volume(request, reterr);

	if (volume_fd < 0)
		return volume_fd;
	subpath->source_fd = open_existing(volume_fd, request->sub_path, reterr);
	if (subpath->source_fd == -ENOENT)
		subpath->source_fd = make_source(volume_fd, request->sub_path, reterr);
	return subpath->source_fd < 0 ? subpath->source_fd : 0;
}

/* ---- the target ---- */

/* We make directories and empty files; whatever else is there is foreign. */
static int remove_other_kind(const struct place *target, mode_t found_mode, struct failure *reterr)
{
	struct stat status;

	if (S_ISDIR(found_mode))
		return remove_directory(target, reterr);
	if (fstatat(target->parent_fd, target->name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return failed(reterr, -errno, "cannot inspect '%s'", target->path);
	if (!S_ISREG(status.st_mode) || status.st_size > 0)
		return failed_plain(reterr, -EEXIST, "'%s' is not podvol's: it stays",
				    target->path);
	return remove_file(target, reterr);
}

static int check_mounted(struct subpath *subpath, const struct mount_facts *target,
			 struct failure *reterr)
{
	struct mount_facts source;
	int r = fd_facts(subpath->source_fd, &source, reterr);

	if (r < 0)
		return r;
	if (source.device == target->device && source.inode == target->inode) {
		subpath->is_bound = true;
		return 0;
	}
	return cleanup_mount_point(&subpath->target, reterr);
}

/* What is at the target already: the source itself, something to be taken away, or nothing. */
static int check_target(struct subpath *subpath, struct failure *reterr)
{
	struct mount_facts facts;
	int r = place_facts(&subpath->target, &facts, reterr);

	if (r == -ENOENT)
		return 0;
	if (r < 0 && is_corrupted_mount_error(r))
		return cleanup_mount_point(&subpath->target, reterr);
	if (r < 0)
		return r;
	if (facts.is_mount_root)
		return check_mounted(subpath, &facts, reterr);
	if (subpath->is_directory && S_ISDIR(facts.mode))
		return 0;
	return remove_other_kind(&subpath->target, facts.mode, reterr);
}

static int make_target(const struct subpath_request *request, struct subpath *subpath,
		       struct failure *reterr)
{
	cleanup_free char *relative = target_path(request);
	struct stat source;
	int r;

	if (!relative)
		return failed(reterr, -ENOMEM, "cannot name the target");
	if (fstat(subpath->source_fd, &source) < 0)
		return failed(reterr, -errno, "cannot inspect '%s'", request->sub_path);
	subpath->is_directory = S_ISDIR(source.st_mode);

	r = place_make(request->root_fd, request->root_path, relative, TARGET_PARENT_MODE,
		       &subpath->target, reterr);
	if (r >= 0)
		r = check_target(subpath, reterr);
	if (r < 0 || subpath->is_bound)
		return r;
	subpath->target_fd =
		subpath->is_directory
			? make_directory(&subpath->target, TARGET_DIRECTORY_MODE, NULL, reterr)
			: make_file(&subpath->target, TARGET_FILE_MODE, NULL, reterr);
	return subpath->target_fd < 0 ? subpath->target_fd : 0;
}

/* ---- the stages ---- */

int subpath_open(const struct subpath_request *request, struct subpath *ret, struct failure *reterr)
{
	cleanup(subpath_done) struct subpath subpath = SUBPATH_EMPTY;
	int r;

	assert(request && request->root_fd >= 0 && request->volume_path && ret);
	assert(request->sub_path && *request->sub_path);
	r = check_names(request, reterr);
	if (r >= 0)
		r = subpath_check(request->sub_path, reterr);
	if (r >= 0)
		r = open_source(request, &subpath, reterr);
	if (r >= 0)
		r = make_target(request, &subpath, reterr);
	if (r < 0)
		return r;
	*ret = subpath;
	subpath = SUBPATH_EMPTY;
	return 0;
}

int subpath_bind(struct subpath *subpath, struct failure *reterr)
{
	int r;

	assert(subpath && subpath->source_fd >= 0);
	if (subpath->is_bound)
		return 0;
	assert(subpath->target_fd >= 0);
	r = bind_at(subpath->source_fd, subpath->target_fd, NULL, reterr);
	subpath->is_bound = r >= 0;
	return r;
}

void subpath_undo(const struct subpath_request *request, struct subpath *subpath)
{
	cleanup_free char *relative = NULL;

	assert(request && subpath && subpath->target.name && !subpath->is_bound);
	/* A descriptor inside would keep a mount busy. */
	subpath->target_fd = close_keep_errno(subpath->target_fd);
	(void) cleanup_mount_point(&subpath->target, NULL);
	relative = target_path(request);
	if (relative)
		(void) remove_empty_parents(request->root_fd, relative, TARGET_KEPT_LEVELS, NULL);
}
