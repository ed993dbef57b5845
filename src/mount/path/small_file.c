/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_file - files of podvold's own, written all at once; see small_file.h
 */
#include "mount/path/small_file.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>

/* A fixed name: what a kill left is written over by the next try, and taken away in the end. */
static int name_beside(const struct place *place, struct place *ret)
{
	*ret = PLACE_EMPTY;
	ret->name = new_text(".%s.new", place->name);
	if (!ret->name)
		return -ENOMEM;
	ret->parent_fd = place->parent_fd; /* borrowed */
	ret->path = place->path;
	return 0;
}

static int write_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t written = write(fd, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		bytes += written;
		length -= (size_t) written;
	}
	return 0;
}

/* What stands at the name from before is none that anybody reads: it goes first, so that nothing
 * but a new file is ever opened for writing. */
static int write_beside(const struct place *beside, const char *bytes, size_t length, mode_t mode)
{
	cleanup_close int fd = -EBADF;
	int r = remove_file(beside, NULL);

	if (r < 0)
		return r;
	fd = openat(beside->parent_fd, beside->name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = write_all(fd, bytes, length);
	return r < 0 ? r : fchmod(fd, mode) < 0 ? -errno : 0;
}

int small_file_write(const struct place *place, const char *bytes, size_t length, mode_t mode,
		     struct failure *reterr)
{
	struct place beside;
	int r;

	assert(place && place->parent_fd >= 0 && place->name && (bytes || length == 0));
	r = name_beside(place, &beside);
	if (r < 0)
		return failed(reterr, r, "cannot write '%s'", place->path);
	r = write_beside(&beside, bytes, length, mode);
	if (r == 0 && renameat(place->parent_fd, beside.name, place->parent_fd, place->name) < 0)
		r = -errno;
	if (r < 0)
		(void) remove_file(&beside, NULL);
	free(beside.name);
	return r < 0 ? failed(reterr, r, "cannot write '%s'", place->path) : 0;
}

/* Looked at through the descriptor: what is read is what was looked at. */
static int check_plain(int fd, const struct place *place, size_t most, size_t *ret_length,
		       struct failure *reterr)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return failed(reterr, -errno, "cannot inspect '%s'", place->path);
	if (!S_ISREG(st.st_mode))
		return failed_plain(reterr, -EINVAL, "'%s' is not a plain file", place->path);
	if ((uint64_t) st.st_size > most)
		return failed_plain(reterr, -EFBIG, "'%s' has more than %zu bytes", place->path,
				    most);
	*ret_length = (size_t) st.st_size;
	return 0;
}

int small_file_read(const struct place *place, size_t most, char **ret, size_t *ret_length,
		    struct failure *reterr)
{
	cleanup_close int fd = -EBADF;
	cleanup_free char *bytes = NULL;
	size_t length = 0, have = 0;
	int r;

	assert(place && place->parent_fd >= 0 && place->name && ret && ret_length);
	fd = open_beneath(place->parent_fd, place->name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW,
			  PATH_NO_SYMLINKS, reterr);
	if (fd < 0)
		return fd;
	r = check_plain(fd, place, most, &length, reterr);
	if (r < 0)
		return r;
	bytes = malloc(length + 1);
	if (!bytes)
		return failed(reterr, -ENOMEM, "cannot read '%s'", place->path);
	while (have < length) {
		ssize_t got = read(fd, bytes + have, length - have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return failed(reterr, -errno, "cannot read '%s'", place->path);
		if (got == 0)
			break;
		have += (size_t) got;
	}
	bytes[have] = '\0';
	*ret = TAKE_PTR(bytes);
	*ret_length = have;
	return 0;
}

int small_file_remove(const struct place *place, struct failure *reterr)
{
	struct place beside;
	int r;

	assert(place && place->parent_fd >= 0 && place->name);
	r = name_beside(place, &beside);
	if (r < 0)
		return failed(reterr, r, "cannot remove '%s'", place->path);
	(void) remove_file(&beside, NULL);
	free(beside.name);
	return remove_file(place, reterr);
}
