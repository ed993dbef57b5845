/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic_compare - does a directory hold exactly a payload's files; see atomic_writer.h
 *
 * Whatever cannot be read, or is no plain file, differs: it is then written again.
 */
#include "mount/files/atomic_writer.h"

#include "base/cleanup.h"
#include "mount/ownership/tree_walk.h"
#include "mount/path/safe_path.h"

#include <fcntl.h>
#include <string.h>

enum { COMPARE_BUFFER_BYTES = 16384 };

static bool has_status(const struct stat *st, const struct payload_file *file,
		       const struct atomic_write *write)
{
	mode_t mode = file->mode | (write->has_group ? 0440 : 0);
	uid_t owner = file->has_owner ? file->owner : geteuid();
	gid_t group = write->has_group ? write->group : getegid();

	return S_ISREG(st->st_mode) && (st->st_mode & 07777) == mode && st->st_uid == owner &&
	       st->st_gid == group && st->st_size >= 0 && (size_t) st->st_size == file->length;
}

static bool has_bytes(int fd, const struct payload_file *file)
{
	char buffer[COMPARE_BUFFER_BYTES];
	size_t at = 0;
	bool equal = true;

	while (equal && at < file->length) {
		ssize_t length = read(fd, buffer, sizeof(buffer));

		equal = length > 0 && (size_t) length <= file->length - at &&
			memcmp(buffer, file->data + at, (size_t) length) == 0;
		at += equal ? (size_t) length : 0;
	}
	explicit_bzero(buffer, sizeof(buffer));
	return equal;
}

static bool holds_file(int directory_fd, const struct payload_file *file,
		       const struct atomic_write *write)
{
	cleanup_close int fd = path_open(directory_fd, file->path, O_RDONLY | O_NONBLOCK | O_NOCTTY,
					 PATH_NO_SYMLINKS);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && has_status(&st, file, write) &&
	       has_bytes(fd, file);
}

static bool is_own_directory(const struct statx *status, const struct atomic_write *write)
{
	mode_t mode = ATOMIC_DIRECTORY_MODE | (write->has_group ? S_ISGID | 0550 : 0);
	gid_t group = write->has_group ? write->group : getegid();

	return (status->stx_mode & 07777) == mode && status->stx_gid == group;
}

/* Every file of the payload is there already, so as many files are just these. */
static bool holds_nothing_else(int directory_fd, const struct atomic_write *write)
{
	cleanup(tree_walk_freep) struct tree_walk *walk = NULL;
	struct tree_entry entry;
	size_t files = 0;
	int r = tree_walk_new(directory_fd, &walk);

	if (r < 0)
		return false;
	while ((r = tree_walk_next(walk, &entry)) > 0) {
		if (entry.directory_fd >= 0 && !is_own_directory(&entry.status, write))
			return false;
		files += entry.directory_fd < 0;
	}
	return r == 0 && files == write->payload->count;
}

int atomic_compare(int directory_fd, const struct atomic_write *write)
{
	const struct payload *payload = write->payload;

	for (size_t i = 0; i < payload->count; i++)
		if (!holds_file(directory_fd, &payload->files[i], write))
			return 0;
	return holds_nothing_else(directory_fd, write);
}
