/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_problem - problems of the directory for people; see manifest_problem.h
 */
#include "source/manifest_problem.h"

#include "base/clock.h"
#include "base/log.h"
#include "object/json/json.h"
#include "object/kind.h"
#include "object/kinds/pod.h"
#include "object/schema/field.h"
#include "object/timestamp.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct walk {
	int (*visit)(const struct manifest_problem *problem, void *userdata);
	void *userdata;
};

void manifest_note_name(struct manifest_note *note, const struct document *document)
{
	bool is_secret = strcmp(document->kind, kind_row(KIND_SECRET)->name) == 0;

	memcpy(note->kind, document->kind, sizeof(note->kind));
	if (!is_secret || field_is_label(document->name_space))
		memcpy(note->name_space, document->name_space, sizeof(note->name_space));
	if (!is_secret || field_is_subdomain(document->name))
		memcpy(note->name, document->name, sizeof(note->name));
}

/* Names as events may have them; what is no name is why the document was refused. */
static bool may_be_name(const char *name)
{
	return *name && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-")] == '\0';
}

void manifest_note_report(const struct manifest_note *note, const char *file, struct store *store,
			  const struct manifest_source_options *options)
{
	const char *name_space = *note->name_space ? note->name_space : "default";
	const char *node = options->node_name;
	struct object about = { .kind = KIND_NODE,
				.meta = { .name_space = "", .name = node, .uid = node } };
	const struct object *stored = NULL;
	char pod[POD_KEY_BYTES] = "", text[2 * FAILURE_TEXT_BYTES];

	if (strcmp(note->kind, kind_row(KIND_POD)->name) == 0 && *note->name)
		(void) snprintf(pod, sizeof(pod), "%s/%s", name_space, note->name);
	(void) snprintf(text, sizeof(text), "manifest '%s', document at line %u: %s", file,
			note->line, note->text);
	log_about(LOG_WARNING, &(struct log_subject){ .pod = *pod ? pod : NULL }, "%s", text);
	if (!options->record)
		return;
	if (*pod && may_be_name(note->name) && may_be_name(name_space)) {
		stored = store_get(store, KIND_POD, name_space, note->name);
		about.kind = KIND_POD;
		about.meta = (struct object_meta){ .name_space = name_space,
						   .name = note->name,
						   .uid = "" };
	}
	options->record(options->userdata, stored ?: &about, "Warning", "FailedValidation", text);
}

bool manifest_directory_note_set(struct manifest_directory_note *note,
				 const struct manifest_listing *listing, uint64_t now_usec)
{
	char text[FAILURE_TEXT_BYTES] = "";

	if (listing->error < 0)
		(void) snprintf(text, sizeof(text), "%s", listing->failure->text);
	else if (listing->left_out > 0)
		(void) snprintf(text, sizeof(text), "%zu files are beyond the limit of %d",
				listing->left_out, MANIFEST_FILES_MAX);
	if (strcmp(text, note->text) == 0)
		return false;
	memcpy(note->text, text, sizeof(note->text));
	note->since_usec = now_usec;
	if (text[0])
		log_message(LOG_NOTICE, "manifests: %s; what was read before stays in force", text);
	return true;
}

void manifest_directory_note_keep(struct manifest_directory_note *note, int more)
{
	assert(more > 0 || note->kept_pods > 0);
	if (note->kept_pods == 0) {
		note->kept_since_usec = realtime_usec();
		log_message(
			LOG_WARNING,
			"manifests: their directory was emptied, replaced or lost; its pods are "
			"kept until they are deleted by name");
	}
	note->kept_pods += (size_t) more;
}

/* Of the directory as a whole, before its files: these explain the others. */
static int report_directory(const struct manifest_directory_note *note,
			    const struct manifest_catalog *catalog, const struct walk *walk)
{
	struct manifest_problem problem = { .file = ".", .kind = "", .name_space = "", .name = "" };
	char text[FAILURE_TEXT_BYTES];
	int r = 0;

	problem.text = text;
	if (note->text[0]) {
		(void) snprintf(text, sizeof(text), "%s", note->text);
		problem.since_usec = note->since_usec;
		r = walk->visit(&problem, walk->userdata);
	}
	if (r == 0 && note->kept_pods > 0) {
		(void) snprintf(
			text, sizeof(text),
			"the manifests of %zu pods vanished all at once; the pods stay: put "
			"the files back or delete the pods by name",
			note->kept_pods);
		problem.since_usec = note->kept_since_usec;
		r = walk->visit(&problem, walk->userdata);
	}
	if (r == 0 && catalog->unkept_notes > 0) {
		(void) snprintf(text, sizeof(text), "%zu more problems", catalog->unkept_notes);
		problem.since_usec = 0;
		r = walk->visit(&problem, walk->userdata);
	}
	return r;
}

static int report_notes(const struct manifest_entry *entry, const struct walk *walk)
{
	int r = 0;

	for (const struct manifest_note *note = entry->notes; note && r == 0; note = note->next) {
		const struct manifest_problem problem = {
			.file = entry->name,
			.line = note->line,
			.kind = note->kind,
			.name_space = note->name_space,
			.name = note->name,
			.text = note->text,
			.since_usec = note->since_usec,
		};

		r = walk->visit(&problem, walk->userdata);
	}
	return r;
}

const struct manifest_definition *manifest_definition_in(const struct manifest_entry *entry,
							 const struct manifest_key *key)
{
	const struct manifest_definition *definition = key->definitions;

	while (definition && definition->entry != entry)
		definition = definition->next_in_key;
	return definition;
}

/* Of the object, once: by the file whose definition counts; the others say that they do not. */
static int report_definition(const struct manifest_definition *definition, const struct walk *walk)
{
	const struct manifest_key *key = definition->key;
	char text[FAILURE_TEXT_BYTES + 64];
	struct manifest_problem problem = {
		.file = definition->entry->name,
		.line = definition->line,
		.kind = kind_row(key->kind)->name,
		.name_space = key->name_space,
		.name = key->name,
		.text = text,
	};

	if (key->definitions != definition) {
		(void) snprintf(text, sizeof(text), "'%s' defines it as well, and is first by name",
				key->definitions->entry->name);
		problem.since_usec = definition->since_usec > key->definitions->since_usec
					     ? definition->since_usec
					     : key->definitions->since_usec;
	} else if (key->refusal) {
		(void) snprintf(text, sizeof(text), "%s", key->refusal->text);
		problem.since_usec = key->refusal->since_usec;
	} else {
		return 0;
	}
	return walk->visit(&problem, walk->userdata);
}

static int by_name(const struct manifest_entry *a, const struct manifest_entry *b)
{
	return strcmp(a->name, b->name);
}

int manifest_problems_walk(const struct manifest_directory_note *note,
			   struct manifest_catalog *catalog,
			   int (*visit)(const struct manifest_problem *problem, void *userdata),
			   void *userdata)
{
	const struct walk walk = { .visit = visit, .userdata = userdata };
	int r = report_directory(note, catalog, &walk);

	HASH_SORT(catalog->entries, by_name);
	for (struct manifest_entry *entry = catalog->entries; entry && r == 0;
	     entry = entry->hh.next) {
		r = report_notes(entry, &walk);
		for (struct manifest_definition *d = entry->definitions; d && r == 0;
		     d = d->next_in_entry)
			r = report_definition(d, &walk);
	}
	return r;
}

int manifest_problem_view(const struct manifest_problem *problem, void *items)
{
	struct cJSON *item = json_add_object(items, NULL);
	char since[TIMESTAMP_BYTES];

	timestamp_print_milli(problem->since_usec, since);
	(void) json_set_string(item, "file", problem->file);
	(void) json_set_int(item, "line", problem->line);
	(void) json_set_string(item, "kind", problem->kind);
	(void) json_set_string(item, "namespace", problem->name_space);
	(void) json_set_string(item, "name", problem->name);
	(void) json_set_string(item, "text", problem->text);
	(void) json_set_string(item, "since", since);
	return 0;
}
