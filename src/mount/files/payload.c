/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload - the files that a volume is to show; see payload.h
 */
#include "mount/files/payload.h"

#include "base/array.h"
#include "base/path.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_FIRST = 8 };

static const char own_prefix[] = "..";

/* ---- paths ---- */

/* ".." itself is a backstep; "..x" would be, or hide, one of the writer's own names. */
static int check_component(const char *path, size_t offset, size_t length, struct failure *reterr)
{
	bool begins_with_own = length >= 2 && memcmp(path + offset, own_prefix, 2) == 0;

	if (length > PAYLOAD_NAME_BYTES_MAX)
		return failed_plain(reterr, -EINVAL,
				    "path '%.64s...' has a component of more than %d bytes", path,
				    PAYLOAD_NAME_BYTES_MAX);
	if (begins_with_own && length == 2)
		return failed_plain(reterr, -EINVAL, "path '%s' must not contain '..'", path);
	if (begins_with_own && offset == 0)
		return failed_plain(reterr, -EINVAL, "path '%s' must not start with '..'", path);
	return 0;
}

int payload_check_path(const char *path, struct failure *reterr)
{
	bool names_a_file = false;
	size_t length;

	assert(path);
	if (*path == '\0')
		return failed_plain(reterr, -EINVAL, "the path of a file is empty");
	if (*path == '/')
		return failed_plain(reterr, -EINVAL, "path '%s' must be relative", path);
	if (strlen(path) > PAYLOAD_PATH_BYTES_MAX)
		return failed_plain(reterr, -EINVAL, "path '%.64s...' has more than %d bytes", path,
				    PAYLOAD_PATH_BYTES_MAX);

	for (size_t at = 0; path[at] != '\0'; at += length) {
		int r;

		at += strspn(path + at, "/");
		length = strcspn(path + at, "/");
		r = check_component(path, at, length, reterr);
		if (r < 0)
			return r;
		names_a_file = names_a_file || (length > 0 && strncmp(path + at, ".", length) != 0);
	}
	if (!names_a_file)
		return failed_plain(reterr, -EINVAL, "path '%s' names no file", path);
	return 0;
}

/* Without empty components and those that are ".": never longer than before. */
static char *clean_path(const char *path)
{
	char *clean = calloc(1, strlen(path) + 1), *end = clean;
	size_t length;

	if (!clean)
		return NULL;
	for (; *path != '\0'; path += length) {
		path += strspn(path, "/");
		length = strcspn(path, "/");
		if (length == 0 || (length == 1 && *path == '.'))
			continue;
		if (end > clean)
			*end++ = '/';
		memcpy(end, path, length);
		end += length;
	}
	return clean;
}

size_t payload_top_length(const char *path)
{
	return strcspn(path, "/");
}

/* ---- files ---- */

static void file_done(struct payload_file *file)
{
	if (file->data)
		explicit_bzero(file->data, file->length);
	free(file->data);
	free(file->path);
}

static int check_limits(const struct payload *payload, size_t length, struct failure *reterr)
{
	if (payload->count == PAYLOAD_FILES_MAX)
		return failed_plain(reterr, -E2BIG, "more than %d files", PAYLOAD_FILES_MAX);
	if (length > PAYLOAD_BYTES_MAX - payload->bytes)
		return failed_plain(reterr, -E2BIG, "the files have more than %d bytes",
				    PAYLOAD_BYTES_MAX);
	return 0;
}

int payload_add(struct payload *payload, const struct payload_file *file, struct failure *reterr)
{
	struct payload_file copy;
	int r;

	assert(payload && file && file->path && (file->data || file->length == 0));
	r = payload_check_path(file->path, reterr);
	if (r == 0)
		r = check_limits(payload, file->length, reterr);
	if (r < 0)
		return r;

	copy = *file;
	copy.order = payload->count;
	copy.path = clean_path(file->path);
	copy.data = malloc(file->length + 1);
	if (!copy.path || !copy.data ||
	    ARRAY_ROOM(payload->files, payload->count, payload->capacity, FILES_FIRST) < 0) {
		free(copy.path);
		free(copy.data);
		return failed(reterr, -ENOMEM, "cannot keep file '%s'", file->path);
	}
	if (file->length > 0)
		memcpy(copy.data, file->data, file->length);
	payload->files[payload->count++] = copy;
	payload->bytes += file->length;
	return 0;
}

/* A directory before what is in it, whatever its name continues with: '/' sorts below all else. */
static int compare_paths(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	if (*a == *b)
		return 0;
	if (*a == '\0' || *b == '\0')
		return *a == '\0' ? -1 : 1;
	if (*a == '/' || *b == '/')
		return *a == '/' ? -1 : 1;
	return (unsigned char) *a < (unsigned char) *b ? -1 : 1;
}

/* The later of two with one path comes first. */
static int compare_files(const void *a, const void *b)
{
	const struct payload_file *file_a = a, *file_b = b;
	int order = compare_paths(file_a->path, file_b->path);

	if (order != 0)
		return order;
	return file_a->order > file_b->order ? -1 : file_a->order < file_b->order;
}

static void drop_overwritten(struct payload *payload)
{
	size_t kept = 0;

	for (size_t i = 0; i < payload->count; i++) {
		struct payload_file *file = &payload->files[i];

		if (kept > 0 && strcmp(payload->files[kept - 1].path, file->path) == 0) {
			payload->bytes -= file->length;
			file_done(file);
		} else {
			payload->files[kept++] = *file;
		}
	}
	payload->count = kept;
}

int payload_finish(struct payload *payload, struct failure *reterr)
{
	assert(payload);
	if (payload->count == 0)
		return 0;
	qsort(payload->files, payload->count, sizeof(*payload->files), compare_files);
	drop_overwritten(payload);
	for (size_t i = 1; i < payload->count; i++)
		if (path_is_below(payload->files[i].path, payload->files[i - 1].path))
			return failed_plain(reterr, -EINVAL,
					    "path '%s' leads through '%s', which is a file, too",
					    payload->files[i].path, payload->files[i - 1].path);
	return 0;
}

void payload_done(struct payload *payload)
{
	assert(payload);
	for (size_t i = 0; i < payload->count; i++)
		file_done(&payload->files[i]);
	free(payload->files);
	*payload = (struct payload){ .count = 0 };
}
