/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place - a name under a pinned directory
 *
 * The parent is opened once, beneath the root; what is done later is done to (parent, name), so
 * that no rename or link in between sends it elsewhere. A last component that is empty,
 * "." or ".." is refused: it would name something else than an entry of the parent.
 */
#include "mount/mount.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

void place_done(struct place *place)
{
	if (place->parent_fd >= 0)
		(void) close_keep_errno(place->parent_fd);
	free(place->name);
	free(place->path);
	*place = PLACE_EMPTY;
}

/* Cut "a/b/c" into *ret_parent "a/b" and *ret_name "c"; *ret_parent is to be freed. */
static int split(const char *root_path, const char *path, char **ret_parent, const char **ret_name,
		 struct failure *reterr)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	if (*path == '/' || *name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return failed(reterr, -EINVAL, "'%s' does not name an entry below '%s'", path,
			      root_path);
	*ret_parent = strndup(path, slash ? (size_t) (slash - path) : 0);
	if (!*ret_parent)
		return failed(reterr, -ENOMEM, "cannot keep '%s'", path);
	*ret_name = name;
	return 0;
}

/* Takes the descriptor, also when it fails. */
static int fill(int parent_fd, const char *root_path, const char *path, const char *name,
		struct place *ret, struct failure *reterr)
{
	struct place place = { .parent_fd = parent_fd, .name = strdup(name) };

	place.path = new_text("%s/%s", root_path, path);
	if (!place.name || !place.path) {
		place_done(&place);
		return failed(reterr, -ENOMEM, "cannot keep '%s'", path);
	}
	*ret = place;
	return 0;
}

/* @mode: of parents that are made; NULL: they have to be there. */
static int open_parent(int root_fd, const char *root_path, const char *path, const mode_t *mode,
		       struct place *ret, struct failure *reterr)
{
	cleanup_free char *parent = NULL;
	const char *name = NULL;
	int fd, result;

	assert(root_fd >= 0 && root_path && path && ret);
	result = split(root_path, path, &parent, &name, reterr);
	if (result < 0)
		return result;

	fd = mode ? make_directories(root_fd, parent, *mode, reterr)
		  : open_beneath(root_fd, parent, O_PATH | O_DIRECTORY, PATH_NO_SYMLINKS, reterr);
	return fd < 0 ? fd : fill(fd, root_path, path, name, ret, reterr);
}

int place_make(int root_fd, const char *root_path, const char *path, mode_t mode, struct place *ret,
	       struct failure *reterr)
{
	return open_parent(root_fd, root_path, path, &mode, ret, reterr);
}

int place_open(int root_fd, const char *root_path, const char *path, struct place *ret,
	       struct failure *reterr)
{
	return open_parent(root_fd, root_path, path, NULL, ret, reterr);
}
