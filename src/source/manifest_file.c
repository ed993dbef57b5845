/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_file - one file of the directory; see manifest_file.h
 */
#include "source/manifest_file.h"

#include "base/cleanup.h"
#include "base/fnv1a.h"
#include "base/log.h"
#include "object/json/json.h"
#include "source/manifest_mark.h"
#include "source/manifest_part.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), end_length = strlen(end);

	return length > end_length && strcmp(name + length - end_length, end) == 0;
}

bool manifest_name_is_taken(const char *name)
{
	/* "#pod.yaml#" and "pod.yaml~" fall by their ending; ".pod.yaml.swp" and what ConfigMap
	 * volumes and rsync write first by their dot; "#1234.yaml" by its beginning. */
	if (name[0] == '.' || name[0] == '#')
		return false;
	return ends_with(name, ".yaml") || ends_with(name, ".yml") || ends_with(name, ".json");
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool manifest_identity_is_same(const struct manifest_identity *a, const struct manifest_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       same_time(&a->modified, &b->modified) && same_time(&a->changed, &b->changed);
}

void manifest_identity_of(const struct stat *status, struct manifest_identity *ret)
{
	*ret = (struct manifest_identity){
		.device = status->st_dev,
		.inode = status->st_ino,
		.size = status->st_size,
		.modified = status->st_mtim,
		.changed = status->st_ctim,
	};
}

bool manifest_error_passes(int error)
{
	switch (-error) {
	case EINTR:
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case ESTALE:
	case EIO:
	case ENOTCONN:
	case ETIMEDOUT:
	case ENOENT: /* a link to a file system that is not mounted now */
		return true;
	default:
		return false;
	}
}

/* A file that is being read. */
struct reading {
	struct manifest_file *file;
	const char *node_name;
	uint64_t known_text;
	const struct manifest_part_sender *sender;
	size_t sent; /* documents that went in parts */
};

/* Each part is as long as all before it: few of them, and the loop is never without. */
enum { FIRST_PART = 64 };

static struct manifest_document *source_at(struct manifest_file *file, size_t index)
{
	if (index >= file->source_count) {
		size_t count = 2 * index + 1;
		struct manifest_document *grown =
			reallocarray(file->sources, count, sizeof(*grown));

		if (!grown)
			return NULL;
		file->sources = grown;
		file->source_count = count;
	}
	return &file->sources[index];
}

/* Of a document that is being read all before it are whole. */
static void send_part(struct reading *reading, size_t index)
{
	size_t next = reading->sent > 0 ? 2 * reading->sent : FIRST_PART;

	if (!reading->sender || index < next)
		return;
	manifest_part_send(reading->sender, reading->file, reading->sent, index);
	reading->sent = index;
}

/* Here, not on the loop: the document's tree is at hand. */
static int mark_document(struct cJSON *tree, const char *text, size_t length, size_t index,
			 void *userdata)
{
	struct reading *reading = userdata;
	struct manifest_document *source = source_at(reading->file, index);

	if (!source)
		return -ENOMEM;
	*source = (struct manifest_document){
		.hash = fnv1a_add_bytes(FNV1A_FIRST, text, length),
		.names_node = json_text(json_get(tree, "spec"), "nodeName")[0] != '\0',
	};
	manifest_mark_document(tree, &(struct manifest_origin){ .file = reading->file->name,
								.hash = source->hash,
								.node_name = reading->node_name });
	send_part(reading, index);
	return 0;
}

/* One byte more than the file had tells that it grows. Return: bytes read or a negative errno. */
static ssize_t read_all(int fd, char *text, size_t room)
{
	size_t used = 0;

	while (used < room) {
		ssize_t n = read(fd, text + used, room - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		used += (size_t) n;
	}
	return (ssize_t) used;
}

/* As kubelet reads a manifest: they are kept and do nothing. Once for each change of the file, and
 * at each start. */
static void warn_of_unknown_fields(struct manifest_file *file)
{
	for (size_t i = 0; i < file->documents.count; i++) {
		const struct document *document = &file->documents.documents[i];

		if (!document->object || !document->unknown_fields)
			continue;
		file->text = 0;
		log_message(LOG_WARNING,
			    "manifest '%s', line %u: %s '%s': unknown fields, which have no "
			    "effect: %s",
			    file->name, document->line, document->kind, document->name,
			    document->unknown_fields);
	}
}

static void parse(struct reading *reading, const char *text, size_t length)
{
	const struct document_edit edit = { mark_document, reading };
	struct manifest_file *file = reading->file;
	uint64_t known_text = reading->known_text;
	int r;

	file->text = fnv1a_add_words(fnv1a_add(FNV1A_FIRST, length), text, length);
	file->is_as_applied = known_text != 0 && file->text == known_text;
	if (file->is_as_applied)
		return;
	r = documents_parse_edited(text, length, &edit, &file->documents, &file->failure);
	if (r == 0)
		warn_of_unknown_fields(file);
	if (r < 0) {
		/* What was understood before is not all there is. */
		document_list_done(&file->documents);
		file->failure.error = r;
	}
}

static void read_open_file(struct reading *reading, int fd, const struct stat *before)
{
	struct manifest_file *file = reading->file;
	size_t size = (size_t) before->st_size;
	struct manifest_identity identity;
	cleanup_free char *text = NULL;
	struct stat after;
	ssize_t length;

	if (size > DOCUMENTS_BYTES_MAX) {
		(void) failed_plain(&file->failure, -E2BIG, "the file is larger than %d MiB",
				    DOCUMENTS_BYTES_MAX / 1024 / 1024);
		return;
	}
	text = malloc(size + 1);
	if (!text) {
		(void) failed(&file->failure, -ENOMEM, "cannot read the file");
		return;
	}
	length = read_all(fd, text, size + 1);
	if (length < 0 || fstat(fd, &after) < 0) {
		(void) failed(&file->failure, length < 0 ? (int) length : -errno,
			      "cannot read the file");
		return;
	}
	manifest_identity_of(&after, &identity);
	file->was_changing =
		(size_t) length != size || !manifest_identity_is_same(&identity, &file->identity);
	if (!file->was_changing)
		parse(reading, text, size);
}

/* What the name leads to is gone, and the name is not: it was not removed. */
static void stat_link(struct manifest_file *file, int directory_fd)
{
	struct stat status;

	file->is_present = fstatat(directory_fd, file->name, &status, AT_SYMLINK_NOFOLLOW) == 0 ||
			   errno != ENOENT;
	if (file->is_present)
		(void) failed_plain(&file->failure, -ENOENT, "it is a link that leads nowhere");
}

/* Not to wait at a FIFO put there; regular files know no O_NONBLOCK. */
static void stat_file(struct reading *reading, int directory_fd)
{
	struct manifest_file *file = reading->file;
	cleanup_close int fd = -EBADF;
	struct stat status;

	fd = openat(directory_fd, file->name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	file->is_present = fd >= 0 || errno != ENOENT;
	if (fd < 0 && !file->is_present) {
		stat_link(file, directory_fd);
		return;
	}
	if (fd < 0 || fstat(fd, &status) < 0) {
		(void) failed(&file->failure, -errno, "cannot open the file");
		return;
	}
	manifest_identity_of(&status, &file->identity);
	if (!S_ISREG(status.st_mode)) {
		(void) failed_plain(&file->failure, -EINVAL, "it is not a regular file");
		return;
	}
	read_open_file(reading, fd, &status);
}

struct manifest_file *manifest_file_read(int directory_fd, const char *name, const char *node_name,
					 uint64_t known_text,
					 const struct manifest_part_sender *sender)
{
	struct reading reading = { .node_name = node_name,
				   .known_text = known_text,
				   .sender = sender };
	size_t length = strlen(name);
	struct manifest_file *file;

	assert(directory_fd >= 0 && length > 0 && !strchr(name, '/'));
	file = calloc(1, sizeof(*file) + length + 1);
	if (!file)
		return NULL;
	memcpy(file->name, name, length);
	reading.file = file;
	stat_file(&reading, directory_fd);
	/* Differs from whatever the next listing finds: then it is read again. */
	if (manifest_error_passes(file->failure.error))
		file->identity = (struct manifest_identity){ 0 };
	return file;
}

struct manifest_file *manifest_file_free(struct manifest_file *file)
{
	if (!file)
		return NULL;
	document_list_done(&file->documents);
	free(file->sources);
	free(file);
	return NULL;
}
