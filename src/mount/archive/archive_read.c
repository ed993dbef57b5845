/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_read - a volume from a tar stream; see volume_archive.h
 *
 * Nothing that the archive says is believed: paths go through tree_make.h, sizes are bounded by the
 * stream itself, numbers of users are checked. Only plain tar is read, so that no compressed bytes
 * are unpacked by a process that may do everything.
 */
#include "mount/archive/archive_reader.h"
#include "mount/remove/volume_directory.h"

#include "base/cleanup.h"
#include "base/directory.h"
#include "mount/archive/archive_locale.h"
#include "mount/archive/tree_make.h"
#include "mount/archive/tree_state.h"
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

void archive_reader_done(struct archive_reader *reader)
{
	if (reader->archive)
		(void) archive_read_free(reader->archive);
	tree_maker_freep(&reader->maker);
	free(reader->buffer);
}

static bool is_cancelled(const struct archive_reader *reader)
{
	return reader->request->cancel && atomic_load(reader->request->cancel);
}

static void report_progress(const struct archive_reader *reader)
{
	if (reader->request->progress)
		reader->request->progress(reader->request->userdata, &reader->counts);
}

/* ---- the stream ---- */

static void count_zeros(struct archive_reader *reader, const char *bytes, size_t length)
{
	size_t at = length;

	while (at > 0 && length - at < END_BYTES && bytes[at - 1] == '\0')
		at--;
	reader->zeros = at == 0 ? reader->zeros + length : length - at;
}

static la_ssize_t read_stream(struct archive *archive, void *userdata, const void **ret)
{
	struct archive_reader *reader = userdata;
	ssize_t n;

	do
		n = read(reader->stream_fd, reader->buffer, BUFFER_BYTES);
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

static int check(struct archive_reader *reader, int status, struct failure *reterr)
{
	const char *text = archive_error_string(reader->archive);

	if (status >= ARCHIVE_WARN)
		return 0;
	if (reader->stream_error == -ECANCELED)
		return failed_plain(reterr, -ECANCELED, "the restore was interrupted");
	if (reader->stream_error)
		return failed(reterr, reader->stream_error, "cannot read the archive");
	return failed_plain(reterr, -EBADMSG, "this is not a tar archive, or it is damaged: %s",
			    text ? text : "it cannot be read");
}

/* All that was written came through, with the end mark: an archive that was cut off between two
 * entries reads like a whole one. */
static int check_end(struct archive_reader *reader, struct failure *reterr)
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

static bool begins_with(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* xattr(7): trusted attributes are root's alone. An overlay of which this directory is a layer
 * takes them for its own and hides what lies below. Of security attributes only a label stays:
 * others are capabilities, or a signature that makes a file trusted. */
static bool is_privilege(const char *name)
{
	return begins_with(name, "trusted.") ||
	       (begins_with(name, "security.") && strcmp(name, "security.selinux") != 0);
}

/* Who made the archive may not be who root trusts with a setuid program in a pod's volume. The
 * setgid bit of directories gives no rights: new files get the group, as fsGroup has it. */
static void drop_privileges(struct archive_reader *reader, struct attributes *attributes)
{
	const mode_t bits = S_ISUID | S_ISGID;
	size_t kept = 0;

	if (reader->request->allow_privileges)
		return;
	if (S_ISREG(attributes->mode)) {
		reader->counts.privileges += (attributes->mode & bits) != 0;
		attributes->mode &= ~bits;
	}
	for (size_t i = 0; i < attributes->extended_count; i++) {
		struct extended_attribute one = attributes->extended[i];

		if (is_privilege(one.name)) {
			reader->counts.privileges++;
			free(one.name);
			free(one.value);
		} else {
			attributes->extended[kept++] = one;
		}
	}
	attributes->extended_count = kept;
}

static int hex_digit(char digit)
{
	static const char digits[] = "0123456789ABCDEF";
	const char *found = digit ? strchr(digits, digit) : NULL;

	return found ? (int) (found - digits) : -1;
}

/* Programs write "%3D" for a byte that a name in a pax header cannot have, and "%25" for '%'. */
static int add_attribute(struct attributes *attributes, const char *encoded, const void *value,
			 size_t size)
{
	cleanup_free char *name = strdup(encoded);
	char *to = name;

	if (!name)
		return -ENOMEM;
	for (const char *at = name; *at; at++) {
		int high = *at == '%' ? hex_digit(at[1]) : -1;
		int low = high >= 0 ? hex_digit(at[2]) : -1;

		*to++ = low >= 0 && high + low > 0 ? (char) (high << 4 | low) : *at;
		if (low >= 0 && high + low > 0)
			at += 2;
	}
	*to = '\0';
	return attributes_add(attributes, name, value, size);
}

int archive_reader_attributes(struct archive_entry *entry, struct attributes *ret,
			      struct failure *reterr)
{
	const char *name;
	const void *value;
	size_t size;
	int r;

	ret->mode = archive_entry_mode(entry);
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
		if (name && add_attribute(ret, name, value, size) < 0)
			r = failed(reterr, -ENOMEM, "cannot preserve its attributes");
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

int archive_reader_block(struct archive_reader *reader, const void **ret, size_t *ret_length,
			 uint64_t *ret_offset, struct failure *reterr)
{
	la_int64_t offset = 0;
	int r = archive_read_data_block(reader->archive, ret, ret_length, &offset);

	if (r == ARCHIVE_EOF)
		return 0;
	*ret_offset = (uint64_t) offset;
	r = check(reader, r, reterr);
	if (r < 0)
		return r;
	reader->counts.bytes += *ret_length;
	report_progress(reader);
	return 1;
}

/* What the archive has no block for stays a hole. */
static int write_content(struct archive_reader *reader, int fd, la_int64_t size,
			 struct failure *reterr)
{
	const void *block;
	size_t length;
	uint64_t offset;
	int r;

	while ((r = archive_reader_block(reader, &block, &length, &offset, reterr)) > 0) {
		r = write_block(fd, block, length, (la_int64_t) offset, reterr);
		if (r < 0)
			break;
	}
	if (r == 0 && ftruncate(fd, size) < 0)
		return failed(reterr, -errno, "cannot give it its size");
	return r;
}

static int restore_file(struct archive_reader *reader, const char *path, la_int64_t size,
			const struct attributes *attributes, struct failure *reterr)
{
	cleanup_close int fd = tree_make_file(reader->maker, path, reterr);
	int r;

	if (fd < 0)
		return fd;
	r = write_content(reader, fd, size, reterr);
	return r < 0 ? r : tree_finish_file(reader->maker, fd, attributes, reterr);
}

static int restore_symlink(struct archive_reader *reader, const char *path,
			   struct archive_entry *entry, const struct attributes *attributes,
			   struct failure *reterr)
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

static int restore_node(struct archive_reader *reader, const char *path,
			struct archive_entry *entry, const struct attributes *attributes,
			struct failure *reterr)
{
	bool is_device = !S_ISFIFO(attributes->mode);

	reader->counts.devices += is_device;
	if (is_device && !reader->request->allow_devices)
		return failed_plain(reterr, -EPERM, "it is a device");
	return tree_make_node(reader->maker, path, is_device ? archive_entry_rdev(entry) : 0,
			      attributes, reterr);
}

static int restore_link(struct archive_reader *reader, const char *path, const char *original,
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

int archive_reader_restore(struct archive_reader *reader, struct archive_entry *entry,
			   const char *path, struct failure *reterr)
{
	cleanup(attributes_done) struct attributes attributes = { .extended = NULL };
	const char *original = archive_entry_hardlink(entry);
	int r = archive_reader_attributes(entry, &attributes, reterr);

	if (r < 0)
		return r;
	drop_privileges(reader, &attributes);
	if (*path == '\0' && (original || !S_ISDIR(attributes.mode)))
		return failed_plain(reterr, -EINVAL, "the root of the archive is not a directory");
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

const char *archive_reader_mark(struct archive_entry *entry, size_t *ret_length)
{
	const char *name;
	const void *value;

	(void) archive_entry_xattr_reset(entry);
	while (archive_entry_xattr_next(entry, &name, &value, ret_length) == ARCHIVE_OK)
		if (name && strcmp(name, INCREMENT_MARK) == 0)
			return value;
	return NULL;
}

int archive_reader_path(struct archive_entry *entry, char **ret, struct failure *reterr)
{
	const char *name = archive_entry_pathname(entry);
	int r;

	if (!name)
		return failed_plain(reterr, -EILSEQ, "the name of an entry cannot be read");
	r = tree_path_clean(name, ret, reterr);
	return r < 0 ? failure_prefix(reterr, "entry '%.100s'", name) : 0;
}

int archive_reader_next(struct archive_reader *reader, struct archive_entry **ret,
			struct failure *reterr)
{
	int r;

	if (is_cancelled(reader))
		return failed_plain(reterr, -ECANCELED, "the restore was interrupted");
	r = archive_read_next_header(reader->archive, ret);
	if (r == ARCHIVE_EOF)
		return check_end(reader, reterr);
	r = check(reader, r, reterr);
	return r < 0 ? r : 1;
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

int archive_reader_open(struct archive_reader *reader, int stream_fd, struct failure *reterr)
{
	if (reader->archive)
		(void) archive_read_free(reader->archive);
	reader->archive = archive_read_new();
	reader->stream_fd = stream_fd;
	reader->zeros = 0;
	if (!reader->buffer)
		reader->buffer = malloc(BUFFER_BYTES);
	if (!reader->archive || !reader->buffer ||
	    archive_read_support_format_tar(reader->archive) != ARCHIVE_OK)
		return failed(reterr, -ENOMEM, "cannot read the archive");
	return check(reader, archive_read_open(reader->archive, reader, NULL, read_stream, NULL),
		     reterr);
}

static int take_entry(struct archive_reader *reader, struct archive_entry *entry,
		      struct failure *reterr)
{
	cleanup_free char *path = NULL;
	int r = archive_reader_path(entry, &path, reterr);

	if (r < 0)
		return r;
	r = archive_reader_restore(reader, entry, path, reterr);
	if (r < 0)
		return failure_prefix(reterr, "entry '%.100s'", archive_entry_pathname(entry));
	reader->counts.entries++;
	report_progress(reader);
	return 0;
}

/* The volume is marked when the archive turns out to be one. */
static int take_all(struct archive_reader *reader, struct failure *reterr)
{
	struct archive_entry *entry = NULL;
	size_t length;
	int r = archive_reader_next(reader, &entry, reterr), marked;

	if (r < 0)
		return r;
	if (r > 0 && archive_reader_mark(entry, &length))
		return failed_plain(reterr, -EINVAL,
				    "this is an increment: name the files of the full backup and "
				    "of all increments up to this one");
	marked = mark_partial(reader->request->root_fd, reterr);
	if (marked < 0)
		return marked;
	while (r > 0) {
		r = take_entry(reader, entry, reterr);
		if (r == 0)
			r = archive_reader_next(reader, &entry, reterr);
	}
	return r;
}

/* One file at a time; what is written to between the passes would not be what was checked. */
static int stamp_parts(const struct archive_request *request, struct stat *stamps)
{
	for (size_t i = 0; i < request->part_count; i++) {
		struct stat now;

		if (fstat(request->parts[i].fd, &now) < 0)
			return -errno;
		if (stamps[i].st_ino != 0 &&
		    (stamps[i].st_size != now.st_size ||
		     memcmp(&stamps[i].st_ctim, &now.st_ctim, sizeof(now.st_ctim)) != 0))
			return -ESTALE;
		stamps[i] = now;
	}
	return 0;
}

static int take_parts(struct archive_reader *reader, struct failure *reterr)
{
	const struct archive_request *request = reader->request;
	cleanup_free struct stat *stamps = calloc(request->part_count, sizeof(*stamps));
	cleanup(tree_state_freep) struct tree_state *state = NULL;
	int r = stamps ? stamp_parts(request, stamps) : -ENOMEM;

	if (r < 0)
		return failed(reterr, r, "cannot inspect the parts");
	r = archive_parts_read(request, &state, reterr);
	if (r == 0)
		r = archive_parts_check(request, state, reterr);
	if (r == 0)
		r = mark_partial(request->root_fd, reterr);
	if (r == 0)
		r = archive_parts_restore(reader, state, reterr);
	if (r == 0 && stamp_parts(request, stamps) < 0)
		r = failed_plain(reterr, -ESTALE, "a part was written to while it was read");
	return r;
}

int volume_archive_read(const struct archive_request *request, struct archive_counts *ret,
			struct failure *reterr)
{
	cleanup(archive_reader_done) struct archive_reader reader = {
		.request = request,
		.maker = tree_maker_new(request->root_fd),
	};
	cleanup(archive_locale_leave) struct archive_locale locale = archive_locale_enter();
	int r = 0;

	(void) locale;
	assert(request->root_fd >= 0 && ret && reterr);
	if (!reader.maker)
		return failed(reterr, -ENOMEM, "cannot begin to restore");
	if (!request->allow_content && !volume_directory_is_partial(request->root_fd))
		r = check_empty(request->root_fd, reterr);
	if (r == 0 && request->part_count > 0)
		r = take_parts(&reader, reterr);
	else if (r == 0)
		r = archive_reader_open(&reader, request->stream_fd, reterr);
	if (r == 0 && request->part_count == 0)
		r = take_all(&reader, reterr);
	if (r == 0)
		r = mark_whole(request->root_fd, reterr);
	reader.counts.lost = tree_maker_lost(reader.maker);
	*ret = reader.counts;
	return r;
}
