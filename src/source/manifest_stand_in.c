/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_stand_in - what is stored, in place of what cannot be read; see manifest_catalog.h
 *
 * After a start the catalog knows nothing of what a broken file had: what is stored with its mark
 * is a definition of it then. Reads no file.
 */
#include "source/manifest_catalog.h"

#include "source/manifest_problem.h"

#include <string.h>

static bool leaves_open(const struct manifest_entry *entry, const struct manifest_key *key)
{
	const struct manifest_note *note = entry->notes;

	while (note && !manifest_key_is_meant(key, note->kind, note->name_space, note->name))
		note = note->next;
	return entry->is_unclear || note;
}

/* A file without a document has no note yet: nothing is wrong with one that never had any. */
static int note_stand_in(struct manifest_catalog *catalog, struct manifest_entry *entry,
			 uint64_t now_usec)
{
	static const char stays[] = "; what is stored of it stays in force";
	struct manifest_note *note = entry->notes;

	if (!note) {
		note = entry->notes = calloc(1, sizeof(*note));
		if (!note)
			return -ENOMEM;
		(void) snprintf(note->text, sizeof(note->text), "the file holds no document");
		note->since_usec = now_usec;
		entry->note_count++;
		catalog->note_count++;
	}
	if (!strstr(note->text, stays))
		(void) strncat(note->text, stays, sizeof(note->text) - strlen(note->text) - 1);
	return 0;
}

int manifest_catalog_stand_in(struct manifest_catalog *catalog, struct manifest_entry *entry,
			      const struct object *stored, uint64_t hash, uint64_t now_usec)
{
	struct manifest_definition *definition, **end = &entry->definitions;
	struct manifest_key *key;

	key = manifest_catalog_add_key(catalog, stored);
	if (!key)
		return -ENOMEM;
	if (manifest_definition_in(entry, key) || !leaves_open(entry, key)) {
		manifest_catalog_forget(catalog, key);
		return 0;
	}
	definition = calloc(1, sizeof(*definition));
	if (!definition || note_stand_in(catalog, entry, now_usec) < 0) {
		free(definition);
		manifest_catalog_forget(catalog, key);
		return -ENOMEM;
	}
	*definition = (struct manifest_definition){
		.entry = entry, .key = key, .object = object_ref(stored), .hash = hash
	};
	while (*end)
		end = &(*end)->next_in_entry;
	*end = definition;
	manifest_definition_link(definition);
	catalog->pod_entry_count += entry->pod_count == 0 && key->kind == KIND_POD;
	entry->pod_count += key->kind == KIND_POD;
	return 1;
}
