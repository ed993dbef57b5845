/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_write - a volume as a tar stream; see volume_archive.h
 *
 * Walked by descriptors, each directory before what is in it. What an entry is and what is read
 * comes from one descriptor, so that a name that changes meanwhile gives no mixture of two files.
 */
#include "mount/archive/volume_archive.h"
#include "mount/remove/volume_directory.h"

#include "base/cleanup.h"
#include "mount/archive/archive_locale.h"
#include "mount/archive/file_copy.h"
#include "mount/archive/volume_copy.h"
#include "mount/archive/tree_make.h"
#include "mount/archive/tree_state.h"
#include "mount/bind/attributes.h"
#include "mount/ownership/ownership.h"
#include "mount/ownership/tree_walk.h"
#include "mount/path/safe_path.h"

#include <archive.h>
#include <archive_entry.h>
#include <assert.h>
#include <fcntl.h>
#include <string.h>

enum {
	BUFFER_BYTES = 1024 * 1024,
	RECORD_BYTES = 65536,
	HEADER_BYTES_MAX = 1000 * 1000, /* of an entry; libarchive reads none of more than 1 MiB */
};

struct writer {
	const struct archive_request *request;
	struct archive_counts counts;
	struct archive *archive;
	struct archive_entry *entry; /* the one at hand */
	struct link_table *links;
	struct tree_state *now;         /* of an increment: what the volume has */
	struct content_digest *content; /* and of the file at hand */
	char *buffer;
	int stream_error; /* of the callback: libarchive keeps a text only */
};

static void writer_done(struct writer *writer)
{
	if (writer->archive)
		(void) archive_write_free(writer->archive);
	if (writer->entry)
		archive_entry_free(writer->entry);
	link_table_freep(&writer->links);
	tree_state_freep(&writer->now);
	content_digest_freep(&writer->content);
	free(writer->buffer);
}

static bool is_cancelled(const struct writer *writer)
{
	return writer->request->cancel && atomic_load(writer->request->cancel);
}

static void report_progress(const struct writer *writer)
{
	if (writer->request->progress)
		writer->request->progress(writer->request->userdata, &writer->counts);
}

static void note(const struct writer *writer, const char *path, const char *text)
{
	if (writer->request->note)
		writer->request->note(writer->request->userdata, path, text);
}

static la_ssize_t write_stream(struct archive *archive, void *userdata, const void *data,
			       size_t length)
{
	struct writer *writer = userdata;
	ssize_t n;

	do
		n = write(writer->request->stream_fd, data, length);
	while (n < 0 && errno == EINTR && !is_cancelled(writer));
	if (n < 0) {
		writer->stream_error = errno == EINTR ? -ECANCELED : -errno;
		archive_set_error(archive, errno, "cannot write the archive");
	}
	return n;
}

static int check(struct writer *writer, int status, struct failure *reterr)
{
	int error = archive_errno(writer->archive);

	if (status >= ARCHIVE_WARN)
		return 0;
	if (writer->stream_error)
		return failed(reterr, writer->stream_error, "cannot write the archive");
	return failed_plain(reterr, error > 0 ? -error : -EIO, "cannot write the archive: %s",
			    archive_error_string(writer->archive));
}

/* ---- contents ---- */

static int write_bytes(struct writer *writer, const char *bytes, size_t length,
		       struct failure *reterr)
{
	while (length > 0) {
		la_ssize_t n = archive_write_data(writer->archive, bytes, length);

		if (n < 0)
			return check(writer, (int) n, reterr);
		if (n == 0)
			return failed_plain(reterr, -EIO,
					    "cannot write more of the file to the archive");
		bytes += n;
		length -= (size_t) n;
	}
	return 0;
}

/* From the file where there is data, zeros where there is none; libarchive leaves holes out. */
static int write_portion(struct writer *writer, int fd, const struct file_extent *portion,
			 bool is_data, struct failure *reterr)
{
	size_t got = 0;

	while (is_data && got < portion->length) {
		ssize_t n = pread(fd, writer->buffer + got, portion->length - got,
				  (off_t) (portion->start + got));

		if (n < 0)
			return failed(reterr, -errno, "cannot read it");
		if (n == 0)
			break;
		got += (size_t) n;
	}
	memset(writer->buffer + got, 0, portion->length - got);
	if (is_data && writer->content &&
	    content_digest_add(writer->content, portion->start, writer->buffer, portion->length) <
		    0)
		return failed(reterr, -ENOMEM, "cannot compute its digest");
	if (is_data) {
		writer->counts.bytes += portion->length;
		report_progress(writer);
	}
	return write_bytes(writer, writer->buffer, portion->length, reterr) < 0 ? reterr->error
	       : is_data && got < portion->length                               ? 1
										: 0;
}

static int write_stretch(struct writer *writer, int fd, struct file_extent stretch, bool is_data,
			 struct failure *reterr)
{
	bool was_cut = false;

	while (stretch.length > 0) {
		struct file_extent portion = { stretch.start, stretch.length < BUFFER_BYTES
								      ? stretch.length
								      : BUFFER_BYTES };
		int r;

		if (is_cancelled(writer))
			return failed_plain(reterr, -ECANCELED, "the backup was interrupted");
		r = write_portion(writer, fd, &portion, is_data, reterr);
		if (r < 0)
			return r;
		was_cut |= r > 0;
		stretch.start += portion.length;
		stretch.length -= portion.length;
	}
	return was_cut ? 1 : 0;
}

/* Where the data is, as the entry says it: what moves meanwhile is read as if it had not. */
static int write_content(struct writer *writer, int fd, const char *path, struct failure *reterr)
{
	uint64_t size = (uint64_t) archive_entry_size(writer->entry), at = 0;
	bool is_sparse = archive_entry_sparse_reset(writer->entry) > 0, was_cut = false;
	la_int64_t start = 0, length = (la_int64_t) size;

	while (at < size) {
		int r;

		if (is_sparse &&
		    archive_entry_sparse_next(writer->entry, &start, &length) != ARCHIVE_OK)
			start = (la_int64_t) size, length = 0;
		r = write_stretch(writer, fd, (struct file_extent){ at, (uint64_t) start - at },
				  false, reterr);
		if (r >= 0)
			r = write_stretch(
				writer, fd,
				(struct file_extent){ (uint64_t) start, (uint64_t) length }, true,
				reterr);
		if (r < 0)
			return r;
		was_cut |= r > 0;
		at = (uint64_t) (start + length);
	}
	if (was_cut) {
		writer->counts.changed++;
		note(writer, path, "was cut off while it was read; filled up with zeros");
	}
	return 0;
}

static int add_holes(struct writer *writer, int fd, const struct stat *status,
		     struct failure *reterr)
{
	uint64_t size = (uint64_t) status->st_size, at = 0;

	if ((uint64_t) status->st_blocks * 512 >= size)
		return 0;
	while (at < size) {
		struct file_extent extent;
		int r = file_next_extent(fd, at, size, &extent);

		if (r < 0)
			return failed(reterr, r, "cannot look for holes");
		if (extent.start == 0 && extent.length == size)
			return 0;
		archive_entry_sparse_add_entry(writer->entry, (la_int64_t) extent.start,
					       (la_int64_t) extent.length);
		at = extent.start + extent.length;
	}
	return 0;
}

/* ---- entries ---- */

/* What was written with more could not be restored. */
static int check_header(const struct attributes *attributes, const char *path,
			struct failure *reterr)
{
	size_t bytes = strlen(path);

	for (size_t i = 0; i < attributes->extended_count; i++)
		bytes += strlen(attributes->extended[i].name) + attributes->extended[i].size;
	return bytes <= HEADER_BYTES_MAX
		       ? 0
		       : failed_plain(reterr, -E2BIG,
				      "its path and its extended attributes have %zu bytes: an "
				      "archive has room for %d",
				      bytes, HEADER_BYTES_MAX);
}

static int describe(struct writer *writer, const struct attributes *attributes, const char *path,
		    struct failure *reterr)
{
	struct archive_entry *entry = archive_entry_clear(writer->entry);
	cleanup_free char *name = NULL;

	if (check_header(attributes, path, reterr) < 0)
		return reterr->error;
	if (asprintf(&name, "./%s%s", path, S_ISDIR(attributes->mode) && *path ? "/" : "") < 0)
		return failed(reterr, -ENOMEM, "cannot describe it");
	archive_entry_copy_pathname(entry, name);
	archive_entry_set_mode(entry, attributes->mode);
	archive_entry_set_uid(entry, attributes->uid);
	archive_entry_set_gid(entry, attributes->gid);
	archive_entry_set_atime(entry, attributes->access_time.tv_sec,
				attributes->access_time.tv_nsec);
	archive_entry_set_mtime(entry, attributes->change_time.tv_sec,
				attributes->change_time.tv_nsec);
	for (size_t i = 0; i < attributes->extended_count; i++) {
		const struct extended_attribute *one = &attributes->extended[i];

		if (strcmp(one->name, POSIX_ACL_ACCESS) != 0 &&
		    strcmp(one->name, POSIX_ACL_DEFAULT) != 0)
			archive_entry_xattr_add_entry(entry, one->name, one->value, one->size);
		else if (posix_acl_to_entry(one, entry) < 0)
			return failed_plain(reterr, -EINVAL, "its ACL cannot be read");
	}
	return 0;
}

static int put_file(struct writer *writer, int fd, const struct stat *status, const char *path,
		    struct failure *reterr)
{
	const struct fd_path by_name = fd_path(fd);
	cleanup_close int content_fd =
		open(by_name.text, O_RDONLY | O_NOATIME | O_NONBLOCK | O_CLOEXEC);
	int r;

	if (content_fd < 0)
		return failed(reterr, -errno, "cannot open it");
	archive_entry_set_size(writer->entry, status->st_size);
	r = add_holes(writer, content_fd, status, reterr);
	if (r == 0)
		r = check(writer, archive_write_header(writer->archive, writer->entry), reterr);
	return r < 0 ? r : write_content(writer, content_fd, path, reterr);
}

static int put_symlink(struct writer *writer, int fd, const struct stat *status, const char *path,
		       struct failure *reterr)
{
	size_t room = (size_t) status->st_size + 1;
	cleanup_free char *target = calloc(1, room + 1);
	ssize_t length = target ? readlinkat(fd, "", target, room) : -1;

	if (length < 0)
		return failed(reterr, target ? -errno : -ENOMEM, "cannot read the link");
	target[length] = '\0';
	if (tree_link_leads_out(path, target))
		writer->counts.links_out++;
	archive_entry_copy_symlink(writer->entry, target);
	return check(writer, archive_write_header(writer->archive, writer->entry), reterr);
}

static int put_other(struct writer *writer, const struct stat *status, struct failure *reterr)
{
	if (S_ISCHR(status->st_mode) || S_ISBLK(status->st_mode)) {
		archive_entry_set_rdev(writer->entry, status->st_rdev);
		writer->counts.devices++;
	}
	return check(writer, archive_write_header(writer->archive, writer->entry), reterr);
}

static int put_link(struct writer *writer, const char *original, struct failure *reterr)
{
	cleanup_free char *name = NULL;

	if (asprintf(&name, "./%s", original) < 0)
		return failed(reterr, -ENOMEM, "cannot describe it");
	archive_entry_copy_hardlink(writer->entry, name);
	archive_entry_unset_size(writer->entry);
	return check(writer, archive_write_header(writer->archive, writer->entry), reterr);
}

static int put_entry(struct writer *writer, int fd, const struct stat *status, const char *path,
		     const char *original, struct failure *reterr)
{
	writer->counts.entries++;
	if (original)
		return put_link(writer, original, reterr);
	if (S_ISREG(status->st_mode))
		return put_file(writer, fd, status, path, reterr);
	if (S_ISLNK(status->st_mode))
		return put_symlink(writer, fd, status, path, reterr);
	return put_other(writer, status, reterr);
}

/* ---- increments ---- */

/* A file's digest is that of the bytes which went into the archive. */
static int put_new(struct writer *writer, int fd, const struct stat *status, const char *path,
		   const struct attributes *attributes, struct failure *reterr)
{
	struct state_node node = { .mode = status->st_mode };
	const struct entry_facts facts = { .attributes = attributes,
					   .size = (uint64_t) status->st_size };
	int r = put_entry(writer, fd, status, path, NULL, reterr);

	if (r < 0)
		return r;
	if (!S_ISREG(status->st_mode))
		r = entry_digest_read(fd, attributes, writer->request->cancel, node.digest, reterr);
	else if (entry_digest(&facts, writer->content, node.digest) < 0)
		r = failed(reterr, -ENOMEM, "cannot compute its digest");
	return r < 0 ? r : tree_state_put(writer->now, path, &node, NULL, reterr);
}

/* A further name of a file. It is unchanged where the base has it as a name of the same one. */
static int put_changed_link(struct writer *writer, const char *path, const char *original,
			    struct failure *reterr)
{
	const struct state_node *was = tree_state_meet(writer->request->base, path);
	struct state_node *node = tree_state_find(writer->now, original);
	int r = tree_state_link(writer->now, path, node, reterr);

	if (r < 0)
		return r;
	if (was && was == node->is) {
		writer->counts.unchanged++;
		return 0;
	}
	return put_entry(writer, -EBADF, NULL, path, original, reterr);
}

/* By what is in it: its times may be those of another content. An entry of the base is one of the
 * volume at most, so that what were two names of a file and are two files now is written. */
static int put_changed(struct writer *writer, int fd, const struct stat *status, const char *path,
		       const struct attributes *attributes, struct failure *reterr)
{
	struct state_node *was = tree_state_meet(writer->request->base, path);
	struct state_node node = { .mode = status->st_mode, .is = was };
	int r;

	if (!was || was->is_claimed || was->mode != status->st_mode)
		return put_new(writer, fd, status, path, attributes, reterr);
	r = entry_digest_read(fd, attributes, writer->request->cancel, node.digest, reterr);
	if (r < 0)
		return r;
	if (memcmp(node.digest, was->digest, sizeof(node.digest)) != 0)
		return put_new(writer, fd, status, path, attributes, reterr);
	was->is_claimed = true;
	writer->counts.unchanged++;
	return tree_state_put(writer->now, path, &node, NULL, reterr);
}

static int put_text(struct writer *writer, const char *mark, const char *text, size_t length,
		    struct failure *reterr)
{
	struct archive_entry *entry = archive_entry_clear(writer->entry);
	int r;

	archive_entry_copy_pathname(entry, INCREMENT_PATH);
	archive_entry_set_mode(entry, S_IFREG | S_IRUSR | S_IWUSR);
	archive_entry_set_size(entry, (la_int64_t) length);
	archive_entry_xattr_add_entry(entry, INCREMENT_MARK, mark, strlen(mark));
	r = check(writer, archive_write_header(writer->archive, entry), reterr);
	return r < 0 ? r : write_bytes(writer, text, length, reterr);
}

static int begin_increment(struct writer *writer, struct failure *reterr)
{
	char digest[ENTRY_DIGEST_TEXT];
	cleanup_free char *text = NULL;
	int r = tree_state_digest(writer->request->base, digest, reterr);

	if (r < 0)
		return r;
	writer->now = tree_state_new();
	writer->content = content_digest_new();
	if (!writer->now || !writer->content ||
	    asprintf(&text, "%sbase %s\n", INCREMENT_TEXT, digest) < 0)
		return failed(reterr, -ENOMEM, "cannot begin the archive");
	return put_text(writer, INCREMENT_HEAD, text, strlen(text), reterr);
}

/* What was not met is gone. */
static int list_removed(struct writer *writer, FILE *list, struct failure *reterr)
{
	cleanup_free struct state_name **names = NULL;
	size_t count = 0;

	if (tree_state_sort(writer->request->base, &names, &count) < 0)
		return failed(reterr, -ENOMEM, "cannot list what was removed");
	for (size_t i = 0; i < count; i++) {
		if (names[i]->is_met)
			continue;
		writer->counts.removed++;
		if (fwrite(names[i]->path, strlen(names[i]->path) + 1, 1, list) != 1)
			return failed(reterr, -ENOMEM, "cannot list what was removed");
		if (ftello(list) > REMOVED_LIST_BYTES_MAX)
			return failed_plain(reterr, -E2BIG,
					    "the names of what was removed have more than %d "
					    "bytes: make a full backup",
					    REMOVED_LIST_BYTES_MAX);
	}
	return 0;
}

static int end_increment(struct writer *writer, struct failure *reterr)
{
	char digest[ENTRY_DIGEST_TEXT];
	cleanup_free char *text = NULL;
	size_t length = 0;
	FILE *list = open_memstream(&text, &length);
	int r = list ? tree_state_digest(writer->now, digest, reterr)
		     : failed(reterr, -ENOMEM, "cannot list what was removed");

	if (r == 0 && fprintf(list, "%sstate %s\n", INCREMENT_TEXT, digest) < 0)
		r = failed(reterr, -ENOMEM, "cannot list what was removed");
	if (r == 0)
		r = list_removed(writer, list, reterr);
	if (list && fclose(list) != 0 && r == 0)
		r = failed(reterr, -ENOMEM, "cannot list what was removed");
	return r < 0 ? r : put_text(writer, INCREMENT_END, text, length, reterr);
}

/* ---- the walk ---- */

static int put(struct writer *writer, int fd, const char *path, struct failure *reterr)
{
	cleanup(attributes_done) struct attributes attributes = { .extended = NULL };
	const char *original = NULL;
	struct stat status;
	int r;

	if (fstat(fd, &status) < 0)
		return failed(reterr, -errno, "cannot inspect it");
	if (S_ISSOCK(status.st_mode)) {
		writer->counts.left_out++;
		note(writer, path, "is a socket: left out");
		return 0;
	}
	r = attributes_read(fd, &attributes, reterr);
	if (r == 0)
		r = describe(writer, &attributes, path, reterr);
	if (r == 0 && link_table_meet(&writer->links, &status, path, &original) < 0)
		r = failed(reterr, -ENOMEM, "cannot remember its names");
	if (r < 0)
		return r;
	if (!writer->request->base)
		return put_entry(writer, fd, &status, path, original, reterr);
	if (original)
		return put_changed_link(writer, path, original, reterr);
	return put_changed(writer, fd, &status, path, &attributes, reterr);
}

static int put_walked(struct writer *writer, const struct tree_walk *walk,
		      const struct tree_entry *entry, struct failure *reterr)
{
	cleanup_free char *path = NULL;
	int r = 0;

	if (entry->directory_fd >= 0 && !entry->before)
		return 0; /* it came before its children */
	path = tree_walk_path(walk, entry);
	if (!path)
		return failed(reterr, -ENOMEM, "cannot keep a path");
	if (entry->other_mount) {
		writer->counts.left_out++;
		note(writer, path, "is a mount point: left out");
	} else {
		r = put(writer, entry->before ? entry->directory_fd : entry->fd, path, reterr);
	}
	report_progress(writer);
	return r < 0 ? failure_prefix(reterr, "'%.100s'", path) : 0;
}

static int walk_tree(struct writer *writer, struct failure *reterr)
{
	cleanup(tree_walk_freep) struct tree_walk *walk = NULL;
	struct tree_entry entry;
	int r = tree_walk_new(writer->request->root_fd, &walk);

	if (r < 0)
		return failed(reterr, r, "cannot read the volume's directory");
	tree_walk_open_first(walk, true);
	tree_walk_directories_first(walk);
	r = put(writer, writer->request->root_fd, "", reterr);
	while (r == 0) {
		if (is_cancelled(writer))
			return failed_plain(reterr, -ECANCELED, "the backup was interrupted");
		r = tree_walk_next(walk, &entry);
		if (r < 0)
			return failed(reterr, r, "cannot read a directory of the volume");
		if (r == 0)
			return 0;
		r = put_walked(writer, walk, &entry, reterr);
	}
	return r;
}

static int open_archive(struct writer *writer, struct failure *reterr)
{
	writer->archive = archive_write_new();
	writer->entry = archive_entry_new();
	writer->buffer = malloc(BUFFER_BYTES);
	if (!writer->archive || !writer->entry || !writer->buffer ||
	    archive_write_set_format_pax(writer->archive) != ARCHIVE_OK ||
	    archive_write_set_format_option(writer->archive, "pax", "xattrheader", "SCHILY") !=
		    ARCHIVE_OK ||
	    archive_write_set_bytes_per_block(writer->archive, RECORD_BYTES) != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(writer->archive, 1) != ARCHIVE_OK)
		return failed(reterr, -ENOMEM, "cannot begin the archive");
	return check(writer, archive_write_open(writer->archive, writer, NULL, write_stream, NULL),
		     reterr);
}

int volume_archive_write(const struct archive_request *request, struct archive_counts *ret,
			 struct failure *reterr)
{
	cleanup(writer_done) struct writer writer = { .request = request };
	cleanup(archive_locale_leave) struct archive_locale locale = archive_locale_enter();
	int r;

	(void) locale;
	assert(request->root_fd >= 0 && request->stream_fd >= 0 && ret && reterr);
	if (volume_directory_is_partial(request->root_fd))
		return failed_plain(reterr, -EUCLEAN,
				    "the volume holds a part of what was to be restored: restore "
				    "it again first");
	r = open_archive(&writer, reterr);
	if (r == 0 && request->base)
		r = begin_increment(&writer, reterr);
	if (r == 0)
		r = walk_tree(&writer, reterr);
	if (r == 0 && request->base)
		r = end_increment(&writer, reterr);
	/* Without its end mark what was written is known to be no whole archive. */
	if (r < 0)
		(void) archive_write_fail(writer.archive);
	else
		r = check(&writer, archive_write_close(writer.archive), reterr);
	*ret = writer.counts;
	return r;
}
