/* SPDX-License-Identifier: Apache-2.0 */
/*
 * documents - every document of a manifest; see object.h
 *
 * A stream whose first byte is '{' is JSON, one value after another, with or without "---" between
 * them, as kubectl reads it; where that ends, and otherwise, it is YAML. What begins with '{' and
 * is no JSON may be YAML in flow style: kubelet reads every manifest as YAML.
 */
#include "object/object.h"

#include "object/build.h"
#include "object/json/json_tree.h"
#include "object/json/yaml.h"
#include "object/kind.h"
#include "object/schema/schema.h"

#include "base/array.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct builder {
	struct document_list *list;
	bool keep_sources;
	const struct document_edit *edit; /* NULL: none */
	size_t nodes_left;                /* values that may still be read */
	size_t room;                      /* elements that list->documents has memory for */
};

static atomic_size_t count_max = DOCUMENTS_COUNT_MAX;

void documents_set_max(size_t count)
{
	assert(count > 0);
	atomic_store(&count_max, count);
}

size_t documents_max_for(uint64_t memory_bytes)
{
	uint64_t count = memory_bytes / DOCUMENT_MEMORY_BYTES;

	if (count < DOCUMENTS_COUNT_LEAST)
		return DOCUMENTS_COUNT_LEAST;
	return count < DOCUMENTS_COUNT_MOST ? (size_t) count : DOCUMENTS_COUNT_MOST;
}

static size_t nodes_max(void)
{
	return atomic_load(&count_max) * DOCUMENT_NODES_MEAN;
}

/* ---- the list ---- */

/* A new last document, or NULL: no memory. */
static struct document *add_document(struct builder *builder, unsigned int line)
{
	struct document_list *list = builder->list;

	if (ARRAY_ROOM(list->documents, list->count, builder->room, 4) < 0)
		return NULL;
	list->documents[list->count] = (struct document){ .line = line };
	return &list->documents[list->count++];
}

static void copy_text(char *to, size_t size, const char *text)
{
	size_t length = strnlen(text, size - 1);

	memcpy(to, text, length);
	to[length] = '\0';
}

static void describe(struct document *document, const struct cJSON *tree)
{
	const struct cJSON *metadata = json_get(tree, "metadata");

	copy_text(document->kind, sizeof(document->kind), json_text(tree, "kind"));
	copy_text(document->name_space, sizeof(document->name_space),
		  json_text(metadata, "namespace"));
	copy_text(document->name, sizeof(document->name), json_text(metadata, "name"));
}

static int keep_failure(struct document *document, const struct failure *failure)
{
	document->failure = failure_keep(failure);
	return document->failure->error == -ENOMEM ? -ENOMEM : 0;
}

void document_list_done(struct document_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		(void) object_unref(list->documents[i].object);
		(void) failure_drop(list->documents[i].failure);
		free(list->documents[i].source);
		free(list->documents[i].unknown_fields);
	}
	free(list->documents);
	*list = (struct document_list){ 0 };
}

/* ---- one tree ---- */

/* Keeps @failure as the last document and as the list's: nothing behind it is known. */
static int break_off(struct builder *builder, const struct cJSON *tree, unsigned int line,
		     const struct failure *failure)
{
	struct document *document = add_document(builder, line);

	assert(failure->error < 0);
	builder->list->failure = *failure;
	if (!document)
		return -ENOMEM;
	describe(document, tree);
	return keep_failure(document, failure) < 0 ? -ENOMEM : failure->error;
}

static int too_many(struct builder *builder, unsigned int line)
{
	struct failure failure;

	(void) failed_plain(&failure, -E2BIG, "line %u: more than %zu documents", line,
			    atomic_load(&count_max));
	return break_off(builder, NULL, line, &failure);
}

/* The kind of the items of a list of one kind: "ConfigMap" of a "ConfigMapList"; NULL: it is none.
 */
static const struct kind_row *kind_of_items(const struct cJSON *tree)
{
	const char *kind = json_text(tree, "kind");
	const char *version = json_text(tree, "apiVersion");
	size_t length = strlen(kind);
	char name[64];

	if (length <= strlen("List") || length >= sizeof(name) ||
	    strcmp(kind + length - strlen("List"), "List") != 0)
		return NULL;
	(void) snprintf(name, sizeof(name), "%.*s", (int) (length - strlen("List")), kind);
	return kind_by_name(version, name);
}

static bool is_list(const struct cJSON *tree)
{
	return kind_of_items(tree) ||
	       (json_text_is(tree, "kind", "List") && json_text_is(tree, "apiVersion", "v1"));
}

/* Items of a list of one kind may leave out what they are. */
static int name_item(const struct cJSON *list, struct cJSON *item)
{
	const struct kind_row *row = kind_of_items(list);

	if (!row || !json_is_object(item) || json_get(item, "kind"))
		return 0;
	if (json_set_string(item, "kind", row->name) < 0)
		return -ENOMEM;
	return json_set_string(item, "apiVersion", json_text(list, "apiVersion"));
}

/* ---- fields that no schema names ---- */

struct unknown_fields {
	char *text;
	size_t more;
	bool is_lost; /* for want of memory */
};

enum { UNKNOWN_FIELDS_NAMED = 8 };

static int add_unknown(const char *path, void *userdata)
{
	struct unknown_fields *unknown = userdata;
	char *longer;

	if (unknown->more++ >= UNKNOWN_FIELDS_NAMED)
		return 0;
	if (asprintf(&longer, "%s%s%s", unknown->text ?: "", unknown->text ? ", " : "", path) < 0) {
		unknown->is_lost = true;
		return -ENOMEM;
	}
	free(unknown->text);
	unknown->text = longer;
	return 0;
}

/* Before defaults and types: as its writer made it. */
static int note_unknown_fields(struct document *document, const struct cJSON *tree)
{
	const struct kind_row *row = kind_by_name(json_text(tree, "apiVersion"), document->kind);
	struct unknown_fields unknown = { .text = NULL };

	if (row)
		(void) object_unknown_fields(tree, row->kind, add_unknown, &unknown);
	if (row && row->secret && unknown.text) { /* an entry may be in the wrong place */
		free(unknown.text);
		unknown.text = strdup("not named, for it holds secrets");
		unknown.is_lost = !unknown.text;
	}
	document->unknown_fields = unknown.text;
	return unknown.is_lost ? -ENOMEM : 0;
}

static int make_object(const struct builder *builder, struct cJSON *tree, struct document *document,
		       struct failure *reterr)
{
	size_t index = builder->list->count - 1;

	return builder->edit
		       ? object_of_document(tree, builder->edit, index, &document->object, reterr)
		       : object_from_tree(tree, &document->object, reterr);
}

static int fill(const struct builder *builder, struct cJSON *tree, struct document *document,
		struct failure *reterr)
{
	int r;

	if (json_node_count(tree) > OBJECT_NODES_MAX)
		return failed_plain(reterr, -E2BIG, "the object holds more than %d values",
				    OBJECT_NODES_MAX);
	if (builder->keep_sources) {
		document->source = json_print(tree);
		if (!document->source)
			return -ENOMEM;
	}
	if (note_unknown_fields(document, tree) < 0)
		return -ENOMEM;
	r = make_object(builder, tree, document, reterr);
	if (r == 0) /* the default one, perhaps */
		copy_text(document->name_space, sizeof(document->name_space),
			  document->object->meta.name_space);
	return r;
}

/* One document. @broken: a rule that the syntax check found broken, or error 0. */
static int take_one(struct builder *builder, struct cJSON *tree, unsigned int line,
		    const struct failure *broken)
{
	struct document *document;
	struct failure why;
	int r;

	if (builder->list->count >= atomic_load(&count_max))
		return too_many(builder, line);
	document = add_document(builder, line);
	if (!document)
		return -ENOMEM;
	describe(document, tree);
	r = broken->error < 0 ? broken->error : fill(builder, tree, document, &why);
	if (r == -ENOMEM)
		return r;
	if (r < 0 && keep_failure(document, broken->error < 0 ? broken : &why) < 0)
		return -ENOMEM;
	document->is_foreign_kind = r == -EOPNOTSUPP && kind_is_foreign(document->kind);
	return 0;
}

static int take_tree(struct builder *builder, struct cJSON *tree, unsigned int line,
		     const struct failure *failure)
{
	struct cJSON *items = json_member(tree, "items");
	int r = 0;

	if (failure->error < 0 || !is_list(tree) || !json_is_array(items))
		return take_one(builder, tree, line, failure);
	builder->list->has_empty_list |= !items->child;
	for (struct cJSON *item = items->child; item && r == 0; item = item->next) {
		r = name_item(tree, item);
		if (r == 0)
			r = take_tree(builder, item, json_line(item), failure);
	}
	return r;
}

/* ---- the two syntaxes ---- */

static int parse_yaml(struct builder *builder, const char *text, size_t length, unsigned int line)
{
	struct yaml_reader *reader = yaml_reader_new(text, length, OBJECT_DEPTH_MAX, line);
	struct yaml_document document;
	int r;

	if (!reader)
		return -ENOMEM;
	yaml_reader_bound(reader, builder->nodes_left);
	do {
		int kept = 0;

		r = yaml_reader_next(reader, &document);
		if (r > 0)
			kept = take_tree(builder, document.tree, document.line, &document.failure);
		else if (r < 0)
			kept = break_off(builder, document.tree, document.line, &document.failure);
		json_free(document.tree);
		if (kept < 0)
			r = kept;
	} while (r > 0);
	(void) yaml_reader_free(reader);
	return r;
}

struct cursor {
	const char *text;
	size_t length;
	unsigned int line;
};

/* Blanks, and after a value the lines "---" that some tools put between JSON values. */
static struct cursor skip_between(struct cursor cursor, bool after_value)
{
	bool at_line_start = false;

	while (cursor.length > 0) {
		size_t step = 1;

		if (*cursor.text == '\n')
			cursor.line++;
		else if (after_value && at_line_start && cursor.length > 3 &&
			 memcmp(cursor.text, "---", 3) == 0 && strchr(" \t\r\n", cursor.text[3]))
			step = 3;
		else if (*cursor.text != ' ' && *cursor.text != '\t' && *cursor.text != '\r')
			break;
		at_line_start = *cursor.text == '\n';
		cursor.text += step;
		cursor.length -= step;
	}
	return cursor;
}

/* Is all that is left, or as much of it as may be read, YAML by its syntax? Return: 1, 0; -ENOMEM.
 */
static int is_yaml(const struct cursor *cursor, size_t nodes)
{
	struct yaml_reader *reader =
		yaml_reader_new(cursor->text, cursor->length, OBJECT_DEPTH_MAX, cursor->line);
	int r = reader ? 1 : -ENOMEM;

	if (reader)
		yaml_reader_bound(reader, nodes);
	while (r > 0) {
		struct yaml_document document;

		r = yaml_reader_next(reader, &document);
		json_free(document.tree);
	}
	(void) yaml_reader_free(reader);
	if (r == 0 || r == -E2BIG)
		return 1;
	return r == -EINVAL ? 0 : r;
}

/* Return: 0; 1: it is YAML, and nothing was taken; a negative errno. */
static int parse_json(struct builder *builder, struct cursor *cursor)
{
	const struct json_limits limits = { .bytes = DOCUMENTS_BYTES_MAX,
					    .depth = OBJECT_DEPTH_MAX,
					    .nodes = builder->nodes_left };
	unsigned int line = cursor->line;
	struct failure failure = { 0 };
	struct json_piece piece;
	int r, other = 0;

	r = json_parse_piece(cursor->text, cursor->length, &limits, line, &piece, &failure);
	if (r == -EINVAL && !piece.complete)
		other = is_yaml(cursor, builder->nodes_left);
	builder->nodes_left -=
		piece.nodes < builder->nodes_left ? piece.nodes : builder->nodes_left - 1;
	if (other != 0)
		r = other;
	else if (r < 0 && !piece.complete)
		r = break_off(builder, piece.tree, line, &failure);
	else
		r = take_tree(builder, piece.tree, line, &failure);
	json_free(piece.tree);
	if (other == 0) {
		cursor->text += piece.used;
		cursor->length -= piece.used;
		cursor->line = piece.line;
	}
	return r;
}

static int parse(const char *text, size_t length, struct builder builder, struct failure *reterr)
{
	struct document_list *ret = builder.list;
	struct cursor cursor = { .text = text, .length = length, .line = 1 }, next;
	int r = 0;

	assert((text || length == 0) && ret);
	*ret = (struct document_list){ 0 };
	if (length > DOCUMENTS_BYTES_MAX)
		return failed_plain(reterr, -E2BIG, "%zu bytes are more than the %d allowed",
				    length, DOCUMENTS_BYTES_MAX);
	if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* byte order mark */
		cursor.text += 3;
		cursor.length -= 3;
	}
	next = skip_between(cursor, false);
	while (r == 0 && next.length > 0 && *next.text == '{') {
		cursor = next;
		r = parse_json(&builder, &cursor);
		next = cursor = skip_between(cursor, true);
	}
	if (r >= 0 && cursor.length > 0)
		r = parse_yaml(&builder, cursor.text, cursor.length, cursor.line);
	if (r == -ENOMEM)
		return failed(reterr, -ENOMEM, "cannot read the documents");
	return 0; /* what broke off says so in the list */
}

int documents_parse(const char *text, size_t length, struct document_list *ret,
		    struct failure *reterr)
{
	const struct builder builder = { .list = ret, .nodes_left = nodes_max() };

	return parse(text, length, builder, reterr);
}

int documents_parse_edited(const char *text, size_t length, const struct document_edit *edit,
			   struct document_list *ret, struct failure *reterr)
{
	const struct builder builder = { .list = ret, .edit = edit, .nodes_left = nodes_max() };

	return parse(text, length, builder, reterr);
}

int documents_parse_few(const char *text, size_t length, struct document_list *ret,
			struct failure *reterr)
{
	const struct builder builder = { .list = ret, .nodes_left = 2 * OBJECT_NODES_MAX };

	return parse(text, length, builder, reterr);
}

int documents_parse_sources(const char *text, size_t length, struct document_list *ret,
			    struct failure *reterr)
{
	const struct builder builder = { .list = ret,
					 .keep_sources = true,
					 .nodes_left = nodes_max() };

	return parse(text, length, builder, reterr);
}
