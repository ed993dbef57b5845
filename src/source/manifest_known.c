/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_known - what was stored from which file before this process; see manifest_known.h
 *
 * The record has a line for each file: the hash of its text, the number of its documents, the sum
 * of their hashes, its name. A first line says which program wrote it.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "source/manifest_known.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/program_id.h"
#include "base/secret_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#define RECORD      "manifests.known"
#define LINE_FORMAT "%016" PRIx64 " %zu %016" PRIx64 " %s\n"

struct stored_document {
	const struct object *object;
	uint64_t hash;
};

struct manifest_known_file {
	UT_hash_handle hh;
	uint64_t text; /* 0: not recorded */
	size_t recorded_count;
	uint64_t recorded_sum, sum;
	size_t count, room;
	struct stored_document *documents; /* of a recorded file */
	char name[];
};

static struct manifest_known_file *find(const struct manifest_known *known, const char *name)
{
	struct manifest_known_file *file;

	HASH_FIND(hh, known->files, name, strlen(name), file);
	return file;
}

static struct manifest_known_file *add(struct manifest_known *known, const char *name)
{
	struct manifest_known_file *file = find(known, name);
	size_t length = strlen(name);

	if (file)
		return file;
	file = calloc(1, sizeof(*file) + length + 1);
	if (!file)
		return NULL;
	memcpy(file->name, name, length);
	HASH_ADD(hh, known->files, name, length, file);
	if (!file->hh.tbl) {
		free(file);
		return NULL;
	}
	return file;
}

static void forget_text(struct manifest_known_file *file)
{
	if (file->documents)
		for (size_t i = 0; i < file->count; i++)
			(void) object_unref(file->documents[i].object);
	free(file->documents);
	file->documents = NULL;
	file->text = 0;
}

/* ---- load ---- */

static int take_line(struct manifest_known *known, const char *line)
{
	struct manifest_known_file *file, found;
	int name = 0;

	if (sscanf(line, "%" SCNx64 " %zu %" SCNx64 " %n", &found.text, &found.recorded_count,
		   &found.recorded_sum, &name) != 3 ||
	    name == 0 || !line[name])
		return 0;
	file = add(known, line + name);
	if (!file)
		return -ENOMEM;
	file->text = found.text;
	file->recorded_count = found.recorded_count;
	file->recorded_sum = found.recorded_sum;
	return 0;
}

static int read_record(struct manifest_known *known, int directory_fd)
{
	cleanup_close int fd = openat(directory_fd, RECORD, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	cleanup_fclose FILE *record = fd < 0 ? NULL : fdopen(fd, "r");
	cleanup_free char *line = NULL;
	uint64_t program;
	size_t room = 0;
	ssize_t length;
	int r = 0;

	if (!record)
		return 0;
	(void) TAKE_FD(fd);
	if (getline(&line, &room, record) < 0 || sscanf(line, "%" SCNx64, &program) != 1 ||
	    program == 0 || program != known->program)
		return 0;
	while (r == 0 && (length = getline(&line, &room, record)) > 0) {
		line[length - 1] = '\0';
		r = take_line(known, line);
	}
	return r;
}

static int add_document(struct manifest_known_file *file, const struct object *object,
			uint64_t hash)
{
	if (ARRAY_ROOM(file->documents, file->count, file->room, 4) < 0)
		return -ENOMEM;
	file->documents[file->count] =
		(struct stored_document){ .object = object_ref(object), .hash = hash };
	return 0;
}

static int take_stored(const struct object *object, void *userdata)
{
	struct manifest_known *known = userdata;
	struct manifest_known_file *file;
	struct manifest_mark mark;

	if (manifest_mark_read(object, &mark) < 0)
		return -ENOMEM;
	if (!mark.is_marked || mark.is_gone)
		return 0;
	file = add(known, mark.file);
	if (!file || (file->text && add_document(file, object, mark.hash) < 0))
		return -ENOMEM;
	file->count++;
	file->sum += mark.hash;
	return 0;
}

int manifest_known_load(struct manifest_known *known, struct store *store, const char *run_dir)
{
	cleanup_close int fd = run_dir ? secret_directory_open(run_dir, NULL) : -EBADF;
	struct manifest_known_file *file, *next;
	int r;

	/* Now, and not at the end: a library may be replaced while this one runs. */
	known->program = program_id();
	r = fd < 0 ? 0 : read_record(known, fd);
	for (int kind = 0; kind < KIND_COUNT && r == 0; kind++)
		r = store_list(store, kind, NULL, take_stored, known);
	HASH_ITER (hh, known->files, file, next)
		if (file->count != file->recorded_count || file->sum != file->recorded_sum)
			forget_text(file);
	return r;
}

void manifest_known_done(struct manifest_known *known)
{
	struct manifest_known_file *file, *next;

	HASH_ITER (hh, known->files, file, next) {
		HASH_DEL(known->files, file);
		forget_text(file);
		free(file);
	}
}

/* ---- use ---- */

uint64_t manifest_known_text(const struct manifest_known *known, const char *name)
{
	const struct manifest_known_file *file = find(known, name);

	return file ? file->text : 0;
}

static int stand_in(struct manifest_file *file, const struct manifest_known_file *known)
{
	file->documents.documents = calloc(known->count, sizeof(file->documents.documents[0]));
	file->sources = calloc(known->count, sizeof(file->sources[0]));
	if (!file->documents.documents || !file->sources)
		return -ENOMEM;
	for (size_t i = 0; i < known->count; i++) {
		file->documents.documents[i].object = object_ref(known->documents[i].object);
		file->sources[i].hash = known->documents[i].hash;
	}
	file->documents.count = known->count;
	return 0;
}

int manifest_known_take(struct manifest_known *known, struct manifest_file *file)
{
	struct manifest_known_file *from = find(known, file->name);
	int r;

	if (file->is_as_applied && (!from || !from->text))
		return -EAGAIN;
	if (!from)
		return 0;
	r = file->is_as_applied ? stand_in(file, from) : 0;
	forget_text(from);
	return r;
}

/* One is enough to tell that the directory is there; none: it was lost. */
size_t manifest_known_left(const struct manifest_known *known,
			   const struct manifest_catalog *catalog)
{
	size_t left = 0;

	for (const struct manifest_known_file *file = known->files; file; file = file->hh.next)
		left += file->count > 0 && manifest_catalog_entry(catalog, file->name);
	return left;
}

/* ---- save ---- */

static void print_entry(FILE *text, const struct manifest_entry *entry)
{
	uint64_t sum = 0;
	size_t count = 0;

	for (const struct manifest_definition *d = entry->definitions; d; d = d->next_in_entry) {
		count++;
		sum += d->hash;
	}
	if (entry->text && !entry->is_partial && count > 0 && !strchr(entry->name, '\n'))
		(void) fprintf(text, LINE_FORMAT, entry->text, count, sum, entry->name);
}

void manifest_known_save(const struct manifest_known *known, const struct manifest_catalog *catalog,
			 const char *run_dir)
{
	struct failure failure = { .error = 0 };
	cleanup_close int fd = secret_directory_open(run_dir, &failure);
	cleanup_free char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	bool is_whole;

	if (!stream)
		return;
	(void) fprintf(stream, "%016" PRIx64 "\n", known->program);
	for (const struct manifest_entry *entry = catalog->entries; entry; entry = entry->hh.next)
		print_entry(stream, entry);
	is_whole = !ferror(stream);
	if (fclose(stream) == EOF || !is_whole)
		return;
	if (fd < 0 || secret_file_write(fd, RECORD, text, &failure) < 0)
		log_message(LOG_NOTICE, "the next start parses all manifests again: %s",
			    failure.text);
}
