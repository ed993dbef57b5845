/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_catalog_part - what a new file defines, as far as it was parsed; see manifest_catalog.h
 *
 * Adds and takes nothing away. The whole file comes as manifest_catalog_put() and makes the entry
 * again, of the same objects.
 */
#include "source/manifest_catalog.h"

#include "source/manifest_part.h"

#include <assert.h>

static int add_document(struct manifest_catalog *catalog, struct manifest_entry *entry,
			const struct manifest_part_document *document, uint64_t now_usec)
{
	struct manifest_key *key = manifest_catalog_add_key(catalog, document->object);
	struct manifest_definition *definition = key ? calloc(1, sizeof(*definition)) : NULL;

	if (!definition)
		return -ENOMEM; /* a key without a definition is forgotten when it is looked at */
	*definition = (struct manifest_definition){ .next_in_entry = entry->definitions,
						    .entry = entry,
						    .key = key,
						    .object = object_ref(document->object),
						    .hash = document->source.hash,
						    .names_node = document->source.names_node,
						    .index = document->index,
						    .line = document->line,
						    .since_usec = now_usec };
	entry->definitions = definition;
	manifest_definition_link(definition);
	manifest_catalog_affect(catalog, key);
	catalog->pod_entry_count += entry->pod_count == 0 && key->kind == KIND_POD;
	entry->pod_count += key->kind == KIND_POD;
	return 0;
}

int manifest_catalog_add_part(struct manifest_catalog *catalog, const struct manifest_part *part,
			      uint64_t now_usec, struct manifest_entry **ret)
{
	struct manifest_entry *entry = manifest_catalog_add_entry(catalog, part->name);
	int r = 0;

	if (!entry)
		return -ENOMEM;
	assert(entry->is_partial || !entry->definitions);
	entry->is_partial = true;
	entry->text = part->text;
	for (size_t i = 0; i < part->count && r == 0; i++)
		r = add_document(catalog, entry, &part->documents[i], now_usec);
	*ret = entry;
	return r;
}
