/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_manifest_mark - objects made of a document of any origin and of what is stored under its
 * name
 *
 * The input is a stream of documents: what is stored, and what a file says of it now. Whatever was
 * made says where it came from, and never less than what was stored protects: finalizers stay.
 */
#include "fuzz.h"

#include "source/manifest_mark.h"

#include "object/json/json.h"

#include <stdlib.h>
#include <string.h>

static const struct manifest_origin origin = { "some.yaml", 0x123456789abcdef0, "this-node" };

/* What others may have written can be anything; a refusal is fine and says why. */
static void check_made(int r, const struct object *made, const struct failure *why, bool is_gone)
{
	struct manifest_mark mark;

	if (r < 0) {
		HOLDS(!made && why->text[0] != '\0');
		return;
	}
	HOLDS(manifest_mark_read(made, &mark) == 0);
	HOLDS(mark.is_marked || is_gone);
	HOLDS(mark.is_gone == is_gone);
	if (!is_gone)
		HOLDS(mark.hash == origin.hash && strcmp(mark.file, origin.file) == 0);
}

static void make_new(const struct object *document)
{
	const struct object *made = NULL;
	struct failure why = { 0 };
	int r = manifest_object_new(document, &origin, document->meta.uid, &made, &why);

	check_made(r, made, &why, false);
	if (made)
		HOLDS(*document->meta.uid == '\0' ||
		      strcmp(made->meta.uid, document->meta.uid) != 0);
	(void) object_unref(made);
}

static void make_gone(const struct object *stored)
{
	const struct object *made = NULL;
	struct failure why = { 0 };
	int r = manifest_object_gone(stored, &made, &why);

	check_made(r, made, &why, true);
	(void) object_unref(made);
}

static size_t finalizers(const struct object *object)
{
	const struct json_limits limits = { .bytes = OBJECT_BYTES_MAX, .depth = OBJECT_DEPTH_MAX };
	struct cJSON *tree = NULL;
	size_t count;

	HOLDS(json_parse(object->json, object->json_length, &limits, &tree, NULL) == 0);
	count = json_count(json_get(json_get(tree, "metadata"), "finalizers"));
	json_free(tree);
	return count;
}

static void make_update(const struct object *document, const struct object *stored)
{
	const struct object *made = NULL;
	struct failure why = { 0 };
	int r = manifest_object_update(document, stored, &origin, &made, &why);

	check_made(r, made, &why, false);
	if (made)
		HOLDS(made->kind == stored->kind && finalizers(made) >= finalizers(stored));
	if (stored->kind == KIND_POD)
		HOLDS(manifest_has_same_volumes(document, stored) ==
		      manifest_has_same_volumes(stored, document));
	(void) object_unref(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct object *stored = NULL;
	struct document_list list;

	if (documents_parse((const char *) data, size, &list, NULL) < 0)
		return 0;
	for (size_t i = 0; i < list.count; i++) {
		const struct object *object = list.documents[i].object;
		struct manifest_mark mark;

		if (!object)
			continue;
		HOLDS(manifest_mark_read(object, &mark) == 0);
		HOLDS(strnlen(mark.file, sizeof(mark.file)) < sizeof(mark.file));
		make_new(object);
		make_gone(object);
		if (stored && stored->kind == object->kind)
			make_update(object, stored);
		stored = object;
	}
	document_list_done(&list);
	return 0;
}
