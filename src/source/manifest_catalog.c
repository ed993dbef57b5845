/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_catalog - files and the objects they define; see manifest_catalog.h
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "source/manifest_catalog.h"

#include "object/kind.h"
#include "source/manifest_problem.h"
#include "source/source.h"

#include <assert.h>
#include <string.h>

enum {
	/* Of one file; of more it is not asked what they were, and all that it had is kept. */
	NAMED_FAILURES_MAX = 64,
	KEY_BYTES_MAX = 1 + 64 + 254,
};

/* ---- keys ---- */

/* Kind, namespace and name in one run of bytes, to be hashed as one. */
static size_t key_bytes(const struct object *object, char bytes[KEY_BYTES_MAX])
{
	size_t space = strlen(object->meta.name_space) + 1, name = strlen(object->meta.name) + 1;

	assert(space <= 64 && name <= 254);
	bytes[0] = (char) object->kind;
	memcpy(bytes + 1, object->meta.name_space, space);
	memcpy(bytes + 1 + space, object->meta.name, name);
	return 1 + space + name;
}

struct manifest_key *manifest_catalog_key(const struct manifest_catalog *catalog,
					  const struct object *object)
{
	char bytes[KEY_BYTES_MAX];
	size_t length = key_bytes(object, bytes);
	struct manifest_key *key;

	HASH_FIND(hh, catalog->keys, bytes, length, key);
	return key;
}

struct manifest_key *manifest_catalog_add_key(struct manifest_catalog *catalog,
					      const struct object *object)
{
	struct manifest_key *key = manifest_catalog_key(catalog, object);
	char bytes[KEY_BYTES_MAX];
	size_t length;

	if (key)
		return key;
	length = key_bytes(object, bytes);
	key = calloc(1, sizeof(*key) + length);
	if (!key)
		return NULL;
	memcpy(key->bytes, bytes, length);
	key->kind = object->kind;
	key->name_space = key->bytes + 1;
	key->name = key->name_space + strlen(key->name_space) + 1;
	HASH_ADD(hh, catalog->keys, bytes, length, key);
	if (!key->hh.tbl) {
		free(key);
		return NULL;
	}
	return key;
}

/* Twice is once: a deletion batch looks at each key one time. */
void manifest_catalog_affect(struct manifest_catalog *catalog, struct manifest_key *key)
{
	if (key->is_affected)
		return;
	key->is_affected = true;
	key->next_affected = catalog->affected;
	catalog->affected = key;
}

struct manifest_key *manifest_catalog_take_affected(struct manifest_catalog *catalog)
{
	struct manifest_key *key = catalog->affected;

	if (!key)
		return NULL;
	catalog->affected = key->next_affected;
	key->is_affected = false;
	return key;
}

static void free_key(struct manifest_key *key)
{
	free(key->refusal);
	free(key->used_uid);
	free(key);
}

void manifest_catalog_forget(struct manifest_catalog *catalog, struct manifest_key *key)
{
	if (key->definitions || key->is_affected || key->is_orphan || key->is_kept ||
	    key->is_writing || key->is_waiting || key->retries)
		return;
	HASH_DEL(catalog->keys, key);
	free_key(key);
}

bool manifest_key_refuse(struct manifest_key *key, const char *text, uint64_t now_usec)
{
	struct manifest_note *note = key->refusal;

	if (!text) {
		free(note);
		key->refusal = NULL;
		return note != NULL;
	}
	if (note && strcmp(note->text, text) == 0)
		return false;
	if (!note)
		note = key->refusal = calloc(1, sizeof(*note));
	if (!note)
		return false;
	(void) snprintf(note->text, sizeof(note->text), "%s", text);
	note->since_usec = now_usec;
	return true;
}

/* ---- definitions ---- */

/* By name of the file, then by place in it: the first definition is the one that counts. */
static bool comes_before(const struct manifest_definition *a, const struct manifest_definition *b)
{
	int order = strcmp(a->entry->name, b->entry->name);

	return order != 0 ? order < 0 : a->index < b->index;
}

/* In order, so that who counts is always the first of the list. */
void manifest_definition_link(struct manifest_definition *definition)
{
	struct manifest_definition **place = &definition->key->definitions;

	while (*place && comes_before(*place, definition))
		place = &(*place)->next_in_key;
	definition->next_in_key = *place;
	*place = definition;
}

static void unlink_from_key(struct manifest_definition *definition)
{
	struct manifest_definition **place = &definition->key->definitions;

	while (*place != definition)
		place = &(*place)->next_in_key;
	*place = definition->next_in_key;
}

static void free_definitions(struct manifest_definition *definition)
{
	while (definition) {
		struct manifest_definition *next = definition->next_in_entry;

		(void) object_unref(definition->object);
		free(definition);
		definition = next;
	}
}

/* ---- notes ---- */

static void free_notes(struct manifest_note *note)
{
	while (note) {
		struct manifest_note *next = note->next;

		free(note);
		note = next;
	}
}

/* A put under way: everything that needs memory comes before the first change. */
struct put {
	struct manifest_catalog *catalog;
	struct manifest_entry *entry; /* as it is */
	const struct manifest_file *file;
	uint64_t now_usec;
	struct manifest_definition *definitions, **definitions_end;
	struct manifest_note *notes, **notes_end;
	size_t note_count, unkept_notes;
	bool is_unclear; /* which objects the file is about is unknown */
};

static uint64_t since(const struct put *put, const struct manifest_note *note)
{
	for (const struct manifest_note *old = put->entry->notes; old; old = old->next)
		if (strcmp(old->text, note->text) == 0 && strcmp(old->name, note->name) == 0 &&
		    strcmp(old->kind, note->kind) == 0)
			return old->since_usec;
	return put->now_usec;
}

static int add_note(struct put *put, const struct document *document, unsigned int line,
		    const char *text, const char *more)
{
	size_t others = put->catalog->note_count - put->entry->note_count;
	struct manifest_note *note;

	if (others + put->note_count >= MANIFEST_PROBLEMS_MAX) {
		put->unkept_notes++;
		return 0;
	}
	note = calloc(1, sizeof(*note));
	if (!note)
		return -ENOMEM;
	note->line = line;
	if (document)
		manifest_note_name(note, document);
	(void) snprintf(note->text, sizeof(note->text), "%s%s", text, more);
	note->since_usec = since(put, note);
	*put->notes_end = note;
	put->notes_end = &note->next;
	put->note_count++;
	return 0;
}

/* ---- put: what the file has ---- */

static int add_twice_note(struct put *put, const struct document *document)
{
	const struct object *object = document->object;
	struct document about = { .object = object };

	(void) snprintf(about.kind, sizeof(about.kind), "%s", kind_row(object->kind)->name);
	(void) snprintf(about.name_space, sizeof(about.name_space), "%s", object->meta.name_space);
	(void) snprintf(about.name, sizeof(about.name), "%s", object->meta.name);
	return add_note(put, &about, document->line,
			"defined before in this file: the first one is used", "");
}

/* The first of two in one file counts, as the first of two files does. */
static int add_document(struct put *put, size_t index)
{
	const struct document *document = &put->file->documents.documents[index];
	const struct manifest_document *source = &put->file->sources[index];
	struct manifest_key *key = manifest_catalog_add_key(put->catalog, document->object);
	const struct manifest_definition *old;
	struct manifest_definition *definition;
	bool is_carried;

	if (!key)
		return -ENOMEM;
	if (key->put == put->catalog->puts)
		return add_twice_note(put, document);
	definition = calloc(1, sizeof(*definition));
	if (!definition)
		return -ENOMEM;
	key->put = put->catalog->puts;
	old = manifest_definition_in(put->entry, key);
	is_carried =
		old && put->entry->is_partial && old->index == index && old->hash == source->hash;
	*definition = (struct manifest_definition){
		.entry = put->entry,
		.key = key,
		.object = object_ref(is_carried ? old->object : document->object),
		.hash = source->hash,
		.names_node = source->names_node,
		.index = index,
		.line = document->line,
		.is_unread = is_carried ? old->is_unread : put->file->is_as_applied,
		.is_carried = is_carried,
		.since_usec = old ? old->since_usec : put->now_usec
	};
	*put->definitions_end = definition;
	put->definitions_end = &definition->next_in_entry;
	return 0;
}

/* Kind and name say which object a broken document was about. */
static bool is_named(const struct document *document)
{
	return document->kind[0] && document->name[0];
}

/* What a writer has not come to yet is not edited out, and a pod without its last volumes not
 * another pod. A file that had nothing has nothing to lose. */
static bool is_half(const struct put *put)
{
	return put->file->is_unclosed && put->entry->definitions && !put->entry->is_partial;
}

/* One broken document does not spoil its neighbours, unless it is unknown what it was. */
static int add_documents(struct put *put)
{
	const struct document_list *list = &put->file->documents;
	size_t failures = 0;
	int r;

	if (is_half(put)) {
		put->is_unclear = true;
		return 0;
	}
	for (size_t i = 0; i < list->count; i++) {
		const struct document *document = &list->documents[i];

		if (document->object) {
			r = add_document(put, i);
		} else {
			failures++;
			if (!is_named(document) || failures > NAMED_FAILURES_MAX)
				put->is_unclear = true;
			r = 0;
		}
		if (r < 0)
			return r;
	}
	if (put->file->failure.error || list->failure.error || list->count == 0)
		put->is_unclear = true;
	return 0;
}

/* Kind, namespace and name as a broken document has them. */
bool manifest_key_is_meant(const struct manifest_key *key, const char *kind, const char *name_space,
			   const char *name)
{
	const struct kind_row *row = kind_row(key->kind);
	const char *space = *name_space ? name_space : "default";

	return strcmp(kind, row->name) == 0 && strcmp(name, key->name) == 0 &&
	       (!row->namespaced || strcmp(space, key->name_space) == 0);
}

/* Does a broken document of the file name this object? */
static bool is_broken_in(const struct manifest_file *file, const struct manifest_key *key)
{
	for (size_t i = 0; i < file->documents.count; i++) {
		const struct document *document = &file->documents.documents[i];

		if (!document->object &&
		    manifest_key_is_meant(key, document->kind, document->name_space,
					  document->name))
			return true;
	}
	return false;
}

/* What a file had stays while the file does not say clearly that it has gone. */
static bool is_kept(const struct put *put, const struct manifest_definition *old)
{
	return old->key->put != put->catalog->puts &&
	       (put->is_unclear || is_broken_in(put->file, old->key));
}

static bool keeps_any(const struct put *put)
{
	for (const struct manifest_definition *old = put->entry->definitions; old;
	     old = old->next_in_entry)
		if (is_kept(put, old))
			return true;
	return false;
}

static int add_notes(struct put *put)
{
	static const char stays[] = "; what was read before stays in force";
	const struct document_list *list = &put->file->documents;
	const char *more = keeps_any(put) ? stays : "";
	int r = 0;

	if (is_half(put))
		return add_note(put, NULL, 0, "the file is being written", stays);
	if (put->file->failure.error)
		r = add_note(put, NULL, 0, put->file->failure.text, more);
	for (size_t i = 0; i < list->count && r == 0; i++)
		if (!list->documents[i].object)
			r = add_note(put, &list->documents[i], list->documents[i].line,
				     list->documents[i].failure->text, more);
	/* The document that broke the stream has said so already. */
	if (r == 0 && list->failure.error &&
	    (list->count == 0 || list->documents[list->count - 1].object))
		r = add_note(put, NULL, 0, list->failure.text, more);
	if (r == 0 && list->count == 0 && more[0] && !put->file->failure.error &&
	    !list->failure.error)
		r = add_note(put, NULL, 0, "the file holds no document", more);
	return r;
}

/* ---- put: the change itself, which cannot fail ---- */

/* The object goes, or not, when the absence has been judged: see manifest_plan.h. */
static void drop_definition(struct manifest_catalog *catalog, struct manifest_definition *old,
			    bool lost_file)
{
	struct manifest_key *key = old->key;

	unlink_from_key(old);
	if (!key->definitions) {
		key->absence = MANIFEST_ABSENCE_UNJUDGED;
		key->lost_file = lost_file;
	}
	manifest_catalog_affect(catalog, key);
	old->next_in_entry = NULL;
	free_definitions(old);
}

static void set_definitions(struct put *put)
{
	struct manifest_entry *entry = put->entry;
	struct manifest_definition *old = entry->definitions, *next;

	for (; old; old = next) {
		next = old->next_in_entry;
		if (is_kept(put, old)) {
			old->is_unread = false; /* its document cannot be read any more */
			old->next_in_entry = NULL;
			*put->definitions_end = old;
			put->definitions_end = &old->next_in_entry;
			unlink_from_key(old);
		} else if (old->key->put == put->catalog->puts) {
			unlink_from_key(old);
			old->next_in_entry = NULL;
			free_definitions(old);
		} else {
			drop_definition(put->catalog, old, false);
		}
	}
	entry->definitions = put->definitions;
	entry->pod_count = 0;
	for (struct manifest_definition *d = entry->definitions; d; d = d->next_in_entry) {
		manifest_definition_link(d);
		if (!d->is_carried)
			manifest_catalog_affect(put->catalog, d->key);
		entry->pod_count += d->key->kind == KIND_POD;
	}
}

/* Counts are kept with the lists: the limit on problems is for the whole directory. */
static void set_notes(struct manifest_catalog *catalog, struct manifest_entry *entry,
		      const struct put *put)
{
	catalog->note_count -= entry->note_count;
	catalog->unkept_notes -= entry->unkept_notes;
	free_notes(entry->notes);
	entry->notes = put->notes;
	entry->note_count = put->note_count;
	entry->unkept_notes = put->unkept_notes;
	catalog->note_count += entry->note_count;
	catalog->unkept_notes += entry->unkept_notes;
}

struct manifest_entry *manifest_catalog_add_entry(struct manifest_catalog *catalog,
						  const char *name)
{
	struct manifest_entry *entry = manifest_catalog_entry(catalog, name);
	size_t length = strlen(name);

	if (entry)
		return entry;
	entry = calloc(1, sizeof(*entry) + length + 1);
	if (!entry)
		return NULL;
	memcpy(entry->name, name, length);
	HASH_ADD(hh, catalog->entries, name, length, entry);
	if (!entry->hh.tbl) {
		free(entry);
		return NULL;
	}
	return entry;
}

/* Keys that were made for nothing; affected ones are forgotten when looked at. */
static void abandon(struct put *put)
{
	for (struct manifest_definition *d = put->definitions; d; d = d->next_in_entry)
		manifest_catalog_affect(put->catalog, d->key);
	free_definitions(put->definitions);
	free_notes(put->notes);
}

int manifest_catalog_put(struct manifest_catalog *catalog, const struct manifest_file *file,
			 uint64_t now_usec, struct manifest_entry **ret)
{
	struct put put = { .catalog = catalog, .file = file, .now_usec = now_usec };
	size_t pods_before;
	int r;

	assert(file->is_present && !file->was_changing);
	put.definitions_end = &put.definitions;
	put.notes_end = &put.notes;
	put.entry = manifest_catalog_add_entry(catalog, file->name);
	if (!put.entry)
		return -ENOMEM;
	catalog->puts++;
	r = add_documents(&put);
	if (r == 0)
		r = add_notes(&put);
	if (r < 0) {
		abandon(&put);
		return r;
	}
	pods_before = put.entry->pod_count;
	put.entry->is_unclear = put.is_unclear;
	put.entry->is_partial = false;
	set_definitions(&put);
	set_notes(catalog, put.entry, &put);
	/* A listing after lost events reads it again. */
	put.entry->identity = is_half(&put) ? (struct manifest_identity){ 0 } : file->identity;
	catalog->pod_entry_count += (put.entry->pod_count > 0) - (size_t) (pods_before > 0);
	put.entry->text = put.is_unclear || put.note_count + put.unkept_notes ? 0 : file->text;
	*ret = put.entry;
	return 0;
}

/* ---- entries ---- */

struct manifest_entry *manifest_catalog_entry(const struct manifest_catalog *catalog,
					      const char *name)
{
	struct manifest_entry *entry;

	HASH_FIND(hh, catalog->entries, name, strlen(name), entry);
	return entry;
}

void manifest_catalog_remove(struct manifest_catalog *catalog, struct manifest_entry *entry)
{
	const struct put nothing = { .note_count = 0 };
	struct manifest_definition *next;

	for (struct manifest_definition *d = entry->definitions; d; d = next) {
		next = d->next_in_entry;
		drop_definition(catalog, d, true);
	}
	catalog->pod_entry_count -= entry->pod_count > 0;
	set_notes(catalog, entry, &nothing);
	HASH_DEL(catalog->entries, entry);
	free(entry);
}

void manifest_catalog_done(struct manifest_catalog *catalog)
{
	struct manifest_entry *entry, *next_entry;
	struct manifest_key *key, *next_key;

	HASH_ITER (hh, catalog->entries, entry, next_entry)
		manifest_catalog_remove(catalog, entry);
	HASH_ITER (hh, catalog->keys, key, next_key) {
		HASH_DEL(catalog->keys, key);
		free_key(key);
	}
	*catalog = (struct manifest_catalog){ .entries = NULL };
}
