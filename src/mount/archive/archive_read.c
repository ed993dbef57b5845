/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_read - a volume from a tar stream; see volume_archive.h
 *
 * Nothing that the archive says is believed: paths go through tree_make.h, sizes are bounded by the
 * stream itself, numbers of users are checked. Only plain tar is read, so that no compressed bytes
 * are unpacked by a process that may do everything.
 */
#include "mount/archive/volume_archive.h"
#include "mount/remove/volume_directory.h"

#include "base/cleanup.h"
#include "base/directory.h"
#include "mount/archive/archive_locale.h"
#include "mount/archive/tree_make.h"
#include "mount/bind/attributes.h"
#include "mount/ownership/ownership.h"
#include "mount/path/safe_path.h"

#include <archive.h>
#include <archive_entry.h>
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/xattr.h>

enum {
	BUFFER_BYTES = 256 * 1024,
	END_BYTES = 1024, /* an archive ends with two blocks of zeros */
};

struct reader {
	const struct archive_request *request;
	struct archive_counts counts;
	struct archive *archive;
	struct tree_maker *maker;
	char *buffer;
	size_t zeros; /* with which the stream ended so far */
	int stream_error;
};

static void reader_done(struct reader *reader)
{
	if (reader->archive)
		(void) archive_read_free(reader->archive);
	tree_maker_freep(&reader->maker);
	free(reader->buffer);
}

static bool is_cancelled(const struct reader *reader)
{
	return reader->request->cancel && atomic_load(reader->request->cancel);
}

static void report_progress(const struct reader *reader)
{
	if (reader->request->progress)
		reader->request->progress(reader->request->userdata, &reader->counts);
}

/* ---- the stream ---- */

static void count_zeros(struct reader *reader, const char *bytes, size_t length)
{
	size_t at = length;

	while (at > 0 && length - at < END_BYTES && bytes[at - 1] == '\0')
		at--;
	reader->zeros = at == 0 ? reader->zeros + length : length - at;
}

static la_ssize_t read_stream(struct archive *archive, void *userdata, const void **ret)
{
	struct reader *reader = userdata;
	ssize_t n;

	do
		n = read(reader->request->stream_fd, reader->buffer, BUFFER_BYTES);
	while (n < 0 && errno == EINTR && !is_cancelled(reader));
	/* Cancelling mostly ends the stream as well. */
	if (is_cancelled(reader)) {
		errno = ECANCELED;
		n = -1;
	}
	if (n < 0) {
		reader->stream_error = -errno;
		archive_set_error(archive, errno, "cannot read the archive");
		return -1;
	}
	count_zeros(reader, reader->buffer, (size_t) n);
	*ret = reader->buffer;
	return n;
}

static int check(struct reader *reader, int status, struct failure *reterr)
{
	const char *text = archive_error_string(reader->archive);

	if (status >= ARCHIVE_WARN)
		return 0;
	if (reader->stream_error == -ECANCELED)
		return failed_plain(reterr, -ECANCELED, "the restore was broken off");
	if (reader->stream_error)
		return failed(reterr, reader->stream_error, "cannot read the archive");
	return failed_plain(reterr, -EBADMSG, "this is not a tar archive, or it is damaged: %s",
			    text ? text : "it cannot be read");
}

/* All that was written came through, with the end mark: an archive that was cut off between two
 * entries reads like a whole one. */
static int check_end(struct reader *reader, struct failure *reterr)
{
	const void *ignored;
	la_ssize_t n;

	do
		n = read_stream(reader->archive, reader, &ignored);
	while (n > 0);
	if (n < 0)
		return failed(reterr, reader->stream_error, "cannot read the archive");
	if (reader->zeros < END_BYTES)
		return failed_plain(reterr, -EBADMSG,
				    "the archive has no end: it was cut off after %llu entries",
				    (unsigned long long) reader->counts.entries);
	return 0;
}

/* ---- entries ---- */

static int read_owner(struct archive_entry *entry, struct attributes *ret, struct failure *reterr)
{
	la_int64_t uid = archive_entry_uid(entry), gid = archive_entry_gid(entry);

	/* The last one means "leave it" to the kernel. */
	if (uid < 0 || uid >= UINT32_MAX || gid < 0 || gid >= UINT32_MAX)
		return failed_plain(reterr, -EINVAL, "its owner or group is not a valid number");
	ret->uid = (uid_t) uid;
	ret->gid = (gid_t) gid;
	return 0;
}

/* Who made the archive may not be who root trusts with a setuid program in a pod's volume. The
 * setgid bit of directories gives no rights: new files get the group, as fsGroup has it. */
static void drop_privileges(struct reader *reader, struct attributes *attributes)
{
	const mode_t bits = S_ISUID | S_ISGID;

	if (reader->request->allow_privileges || !S_ISREG(attributes->mode))
		return;
	reader->counts.privileges += (attributes->mode & bits) != 0;
	attributes->mode &= ~bits;
}

static bool begins_with(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* xattr(7): trusted attributes are root's alone. An overlay of which this directory is a layer
 * takes them for its own and hides what lies below. Of security attributes only a label stays:
 * others are capabilities, or a signature that makes a file trusted. */
static bool is_dropped(struct reader *reader, const char *name)
{
	bool dropped = !reader->request->allow_privileges &&
		       (begins_with(name, "trusted.") ||
			(begins_with(name, "security.") && strcmp(name, "security.selinux") != 0));

	reader->counts.privileges += dropped;
	return dropped;
}

static int read_attributes(struct reader *reader, struct archive_entry *entry,
			   struct attributes *ret, struct failure *reterr)
{
	const char *name;
	const void *value;
	size_t size;
	int r;

	ret->mode = archive_entry_mode(entry);
	drop_privileges(reader, ret);
	ret->change_time.tv_sec = archive_entry_mtime(entry);
	ret->change_time.tv_nsec = archive_entry_mtime_nsec(entry);
	ret->access_time = ret->change_time;
	if (archive_entry_atime_is_set(entry)) {
		ret->access_time.tv_sec = archive_entry_atime(entry);
		ret->access_time.tv_nsec = archive_entry_atime_nsec(entry);
	}
	r = read_owner(entry, ret, reterr);
	(void) archive_entry_xattr_reset(entry);
	while (r == 0 && archive_entry_xattr_next(entry, &name, &value, &size) == ARCHIVE_OK)
		if (name && !is_dropped(reader, name) && attributes_add(ret, name, value, size) < 0)
			r = failed(reterr, -ENOMEM, "cannot keep its attributes");
	return r < 0 ? r : posix_acl_from_entry(entry, ret, reterr);
}

static int write_block(int fd, const char *bytes, size_t length, la_int64_t offset,
		       struct failure *reterr)
{
	while (length > 0) {
		ssize_t n = pwrite(fd, bytes, length, (off_t) offset);

		if (n < 0)
			return failed(reterr, -errno, "cannot write it");
		bytes += n;
		length -= (size_t) n;
		offset += n;
	}
	return 0;
}

/* What the archive has no block for stays a hole. */
static int write_content(struct reader *reader, int fd, la_int64_t size, struct failure *reterr)
{
	const void *block;
	size_t length;
	la_int64_t offset;
	int r;

	for (;;) {
		r = archive_read_data_block(reader->archive, &block, &length, &offset);
		if (r == ARCHIVE_EOF)
			break;
		r = check(reader, r, reterr);
		if (r == 0)
			r = write_block(fd, block, length, offset, reterr);
		if (r < 0)
			return r;
		reader->counts.bytes += length;
		report_progress(reader);
	}
	if (ftruncate(fd, size) < 0)
		return failed(reterr, -errno, "cannot give it its size");
	return 0;
}

static int restore_file(struct reader *reader, const char *path, la_int64_t size,
			const struct attributes *attributes, struct failure *reterr)
{
	cleanup_close int fd = tree_make_file(reader->maker, path, reterr);
	int r;

	if (fd < 0)
		return fd;
	r = write_content(reader, fd, size, reterr);
	return r < 0 ? r : tree_finish_file(reader->maker, fd, attributes, reterr);
}

static int restore_symlink(struct reader *reader, const char *path, struct archive_entry *entry,
			   const struct attributes *attributes, struct failure *reterr)
{
	const char *target = archive_entry_symlink(entry);

	if (!target || *target == '\0')
		return failed_plain(reterr, -EINVAL, "it is a symbolic link to nothing");
	if (tree_link_leads_out(path, target)) {
		reader->counts.links_out++;
		if (!reader->request->allow_links_out)
			return failed_plain(reterr, -EPERM,
					    "it is a symbolic link that leads out of the volume, "
					    "to '%.80s'",
					    target);
	}
	return tree_make_symlink(reader->maker, path, target, attributes, reterr);
}

static int restore_node(struct reader *reader, const char *path, struct archive_entry *entry,
			const struct attributes *attributes, struct failure *reterr)
{
	bool is_device = !S_ISFIFO(attributes->mode);

	reader->counts.devices += is_device;
	if (is_device && !reader->request->allow_devices)
		return failed_plain(reterr, -EPERM, "it is a device");
	return tree_make_node(reader->maker, path, is_device ? archive_entry_rdev(entry) : 0,
			      attributes, reterr);
}

static int restore_link(struct reader *reader, const char *path, const char *original,
			struct failure *reterr)
{
	cleanup_free char *clean = NULL;
	int r = tree_path_clean(original, &clean, reterr);

	if (r < 0)
		return failure_prefix(reterr, "it is a link to '%.80s'", original);
	if (*clean == '\0')
		return failed_plain(reterr, -EINVAL, "it is a link to the volume itself");
	return tree_make_link(reader->maker, path, clean, reterr);
}

static int restore_entry(struct reader *reader, struct archive_entry *entry, const char *path,
			 struct failure *reterr)
{
	cleanup(attributes_done) struct attributes attributes = { .extended = NULL };
	const char *original = archive_entry_hardlink(entry);
	int r = read_attributes(reader, entry, &attributes, reterr);

	if (r < 0)
		return r;
	if (*path == '\0' && (original || !S_ISDIR(attributes.mode)))
		return failed_plain(reterr, -EINVAL, "it is not the directory that it should be");
	if (original)
		return restore_link(reader, path, original, reterr);
	switch (attributes.mode & S_IFMT) {
	case S_IFDIR:
		return tree_make_directory(reader->maker, path, &attributes, reterr);
	case S_IFREG:
		return restore_file(reader, path, archive_entry_size(entry), &attributes, reterr);
	case S_IFLNK:
		return restore_symlink(reader, path, entry, &attributes, reterr);
	case S_IFIFO:
	case S_IFCHR:
	case S_IFBLK:
		return restore_node(reader, path, entry, &attributes, reterr);
	default:
		return failed_plain(reterr, -EINVAL, "its type is unknown");
	}
}

static int take_entry(struct reader *reader, struct archive_entry *entry, struct failure *reterr)
{
	const char *name = archive_entry_pathname(entry);
	cleanup_free char *path = NULL;
	int r;

	if (!name)
		return failed_plain(reterr, -EILSEQ, "the name of entry %llu cannot be read",
				    (unsigned long long) reader->counts.entries + 1);
	r = tree_path_clean(name, &path, reterr);
	if (r == 0)
		r = restore_entry(reader, entry, path, reterr);
	if (r < 0)
		return failure_prefix(reterr, "entry '%.100s'", name);
	reader->counts.entries++;
	report_progress(reader);
	return 0;
}

static int take_all(struct reader *reader, struct failure *reterr)
{
	for (;;) {
		struct archive_entry *entry;
		int r;

		if (is_cancelled(reader))
			return failed_plain(reterr, -ECANCELED, "the restore was broken off");
		r = archive_read_next_header(reader->archive, &entry);
		if (r == ARCHIVE_EOF)
			return check_end(reader, reterr);
		r = check(reader, r, reterr);
		if (r == 0)
			r = take_entry(reader, entry, reterr);
		if (r < 0)
			return r;
	}
}

/* ---- the volume ---- */

/* A file system's own directory counts as nothing. */
static int check_empty(int root_fd, struct failure *reterr)
{
	int fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_closedir DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int r;

	if (!directory) {
		int error = -errno;

		(void) close_keep_errno(fd);
		return failed(reterr, error, "cannot read the volume's directory");
	}
	while ((r = directory_next(directory, &entry)) > 0) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    strcmp(entry->d_name, "lost+found") != 0)
			return failed_plain(reterr, -ENOTEMPTY,
					    "the volume is not empty: '%.100s' is in it",
					    entry->d_name);
	}
	return r < 0 ? failed(reterr, r, "cannot read the volume's directory") : 0;
}

/* On disk before anything else, and gone when all else is there. A file system without such marks
 * goes without. */
static int mark_partial(int root_fd, struct failure *reterr)
{
	const struct fd_path path = fd_path(root_fd);

	if (setxattr(path.text, VOLUME_PARTIAL_MARK, "partial", 7, 0) < 0 && errno != EOPNOTSUPP)
		return failed(reterr, -errno, "cannot mark the volume as not restored yet");
	return 0;
}

static int mark_whole(int root_fd, struct failure *reterr)
{
	const struct fd_path path = fd_path(root_fd);
	cleanup_close int fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || syncfs(fd) < 0)
		return failed(reterr, -errno, "cannot write the volume to disk");
	if (removexattr(path.text, VOLUME_PARTIAL_MARK) < 0 && errno != ENODATA &&
	    errno != EOPNOTSUPP)
		return failed(reterr, -errno, "cannot mark the volume as restored");
	return 0;
}

static int open_archive(struct reader *reader, struct failure *reterr)
{
	reader->archive = archive_read_new();
	reader->maker = tree_maker_new(reader->request->root_fd);
	reader->buffer = malloc(BUFFER_BYTES);
	if (!reader->archive || !reader->maker || !reader->buffer ||
	    archive_read_support_format_tar(reader->archive) != ARCHIVE_OK)
		return failed(reterr, -ENOMEM, "cannot begin to read the archive");
	return check(reader, archive_read_open(reader->archive, reader, NULL, read_stream, NULL),
		     reterr);
}

int volume_archive_read(const struct archive_request *request, struct archive_counts *ret,
			struct failure *reterr)
{
	cleanup(reader_done) struct reader reader = { .request = request };
	cleanup(archive_locale_leave) struct archive_locale locale = archive_locale_enter();
	int r = 0;

	(void) locale;
	assert(request->root_fd >= 0 && request->stream_fd >= 0 && ret && reterr);
	if (!request->allow_content && !volume_directory_is_partial(request->root_fd))
		r = check_empty(request->root_fd, reterr);
	if (r == 0)
		r = open_archive(&reader, reterr);
	if (r == 0)
		r = mark_partial(request->root_fd, reterr);
	if (r == 0)
		r = take_all(&reader, reterr);
	if (r == 0)
		r = mark_whole(request->root_fd, reterr);
	if (reader.maker)
		reader.counts.lost = tree_maker_lost(reader.maker);
	*ret = reader.counts;
	return r;
}
