/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply_merge - see objects.h
 */
#include "api/objects/objects.h"

#include "base/cleanup.h"
#include "object/json/json.h"
#include "object/kind.h"
#include "object/patch/patch.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { REMEMBERED_BYTES_MAX = 200 * 1024 }; /* all annotations together may have 256 KiB */

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

/* What the document says now is remembered in the object, where kubectl looks for it, too. One that
 * is too long is forgotten: then nothing is taken away the next time. */
static int remember(struct cJSON *tree, const char *source)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata"), *annotations;
	cleanup_free char *text = NULL;

	if (strlen(source) > REMEMBERED_BYTES_MAX) {
		json_remove(json_ensure_object(metadata, "annotations"), LAST_APPLIED);
		return 0;
	}
	annotations = json_ensure_object(metadata, "annotations");
	if (!annotations || asprintf(&text, "%s\n", source) < 0)
		return -ENOMEM;
	return json_set_string(annotations, LAST_APPLIED, text);
}

static int read_json(const char *text, struct cJSON **ret, struct failure *reterr)
{
	const struct json_limits limits = { .bytes = OBJECT_BYTES_MAX + 1,
					    .depth = OBJECT_DEPTH_MAX + 1 };

	return json_parse(text, strlen(text), &limits, ret, reterr);
}

/* What was remembered the last time; NULL: nothing, or no JSON of an object. */
static struct cJSON *remembered(const struct cJSON *present)
{
	const struct cJSON *annotations = json_get(json_get(present, "metadata"), "annotations");
	struct cJSON *tree = NULL;

	(void) read_json(json_text(annotations, LAST_APPLIED), &tree, NULL);
	if (json_is_object(tree))
		return tree;
	json_free(tree);
	return NULL;
}

/* The document as kubectl would remember it: with its namespace, without what it remembered, and
 * without a status, which has a path of its own. */
static int read_source(const struct document *document, struct cJSON **ret, struct failure *reterr)
{
	struct cJSON *metadata, *annotations;
	int r = read_json(document->source, ret, reterr);

	if (r < 0)
		return r;
	metadata = json_ensure_object(*ret, "metadata");
	if (json_is_object(json_get(metadata, "annotations"))) {
		annotations = json_ensure_object(metadata, "annotations");
		json_remove(annotations, LAST_APPLIED);
	}
	if (kind_row(document->object->kind)->has_status)
		json_remove(*ret, "status");
	if (!kind_row(document->object->kind)->namespaced)
		return 0;
	return json_set_string(metadata, "namespace", document->object->meta.name_space);
}

/* A document that names a version means that version and no later one. */
static int merged_object(const struct object *present, const struct document *document,
			 const struct object **ret, struct failure *reterr)
{
	cleanup_json struct cJSON *tree = object_tree(present);
	cleanup_json struct cJSON *original = NULL, *modified = NULL;
	cleanup_free char *source = NULL;
	uint64_t version = document->object->meta.resource_version;
	int r;

	assert(present->kind == document->object->kind);
	if (version != 0 && version != present->meta.resource_version)
		return -ESTALE;
	if (!tree)
		return failed(reterr, -ENOMEM, "cannot apply a document");
	original = remembered(tree);
	r = read_source(document, &modified, reterr);
	if (r < 0)
		return r;
	source = json_print(modified);
	r = patch_three_way(kind_row(present->kind), tree, modified, original, reterr);
	if (r == 0 && (!source || remember(tree, source) < 0))
		r = failed(reterr, -ENOMEM, "cannot apply a document");
	return r < 0 ? r : object_propose(tree, ret, reterr);
}

struct first_time {
	const struct document *document;
	struct failure *reterr;
};

static int remember_first(struct cJSON *tree, void *userdata)
{
	const struct first_time *first = userdata;
	cleanup_json struct cJSON *modified = NULL;
	cleanup_free char *source = NULL;
	int r = read_source(first->document, &modified, first->reterr);

	if (r < 0)
		return r;
	/* What runs elsewhere says nothing of here: an exported pod is not over, a claim not bound.
	 */
	if (kind_row(first->document->object->kind)->has_status)
		json_remove(tree, "status");
	source = json_print(modified);
	return source ? remember(tree, source) : -ENOMEM;
}

int apply_merge(const struct document *document, const struct object *present,
		const struct object **ret, struct failure *reterr)
{
	struct first_time first = { document, reterr };

	assert(document && document->object && ret);
	if (present)
		return merged_object(present, document, ret, reterr);
	return object_edit(document->object, remember_first, &first, ret, reterr);
}
