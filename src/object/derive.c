/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive - see derive.h
 */
#include "object/derive.h"

#include "object/build.h"
#include "object/json/json_tree.h"
#include "object/kind.h"
#include "object/object_text.h"
#include "object/printed.h"
#include "object/shared.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* What was never stored is decoded again when it is created: its memory may have the text, too. */
bool derive_may(const struct object *from)
{
	const struct kind_row *row = kind_row(from->kind);

	return from->meta.resource_version > 0 && !from->tree && (row->derive || !row->decode);
}

int derive_from(const struct object *from, const struct printed *printed, const struct object **ret,
		struct failure *reterr)
{
	const struct kind_row *row = kind_row(from->kind);
	struct shared_object *made = shared_new(from->kind, row->derived_bytes + STAMP_BYTES,
						printed, printed->text.used + 1);

	assert(derive_may(from));
	if (!made)
		return failed(reterr, -ENOMEM, "cannot make an object");
	made->decoded = shared(from);
	shared_use(made->decoded);
	made->object.meta = from->meta;
	if (row->derive)
		row->derive(from, &made->arena, &made->object);
	if (arena_exhausted(&made->arena)) {
		(void) object_unref(&made->object);
		return failed(reterr, -ENOMEM, "cannot make an object");
	}
	*ret = &made->object;
	return 0;
}

/* ---- an annotation ---- */

/* A larger one is edited by its tree, which checks that its annotations are not too many. */
enum { DERIVE_BYTES_MAX = 65536 };

struct annotation {
	const char *key, *value;
};

static void put(struct text_buffer *buffer, const char *text)
{
	text_buffer_put(buffer, text, strlen(text));
}

static void put_member(struct text_buffer *to, const struct annotation *annotation)
{
	put(to, "\"");
	put(to, annotation->key);
	put(to, "\":\"");
	put(to, annotation->value);
	put(to, "\"");
}

static void print_annotated(const struct object *object, const struct annotation *annotation,
			    struct text_buffer *to)
{
	const struct json_bytes metadata = object_metadata_text(object);
	const struct json_bytes map = json_text_member(metadata.start, "annotations");
	const struct json_bytes old =
		json_text_member(map.length > 0 ? map.start : "", annotation->key);
	const char *end, *behind;

	if (old.length > 0) {
		end = old.start - strlen(annotation->key) - strlen("\"\":");
		behind = old.start + old.length;
	} else if (map.length > 0) {
		end = behind = map.start + map.length - strlen("}");
	} else {
		end = behind = metadata.start + strlen("{");
	}
	text_buffer_put(to, object->json, (size_t) (end - object->json));
	if (map.length == 0)
		put(to, "\"annotations\":{");
	else if (old.length == 0 && end[-1] != '{')
		put(to, ",");
	put_member(to, annotation);
	if (map.length == 0)
		put(to, "},");
	text_buffer_put(to, behind, (size_t) (object->json + object->json_length - behind));
}

static int set_annotation(struct cJSON *tree, void *userdata)
{
	const struct annotation *annotation = userdata;
	struct cJSON *metadata = json_ensure_object(tree, "metadata");

	return json_set_string(json_ensure_object(metadata, "annotations"), annotation->key,
			       annotation->value);
}

int object_annotated(const struct object *stored, const char *key, const char *value,
		     const struct object **ret, struct failure *reterr)
{
	struct annotation annotation = { key, value };
	struct printed printed;
	int r;

	assert(stored && ret);
	if (!derive_may(stored) || stored->json_length > DERIVE_BYTES_MAX)
		return object_edit_checked(stored, set_annotation, &annotation, ret, reterr);
	printed_init(&printed);
	print_annotated(stored, &annotation, &printed.text);
	printed_note_metadata(&printed, stored);
	r = printed.text.failed ? failed(reterr, -ENOMEM, "cannot edit an object")
				: derive_from(stored, &printed, ret, reterr);
	printed_done(&printed);
	if (r == 0)
		shared(*ret)->keeps_names = true;
	return r;
}

bool object_keeps_names(const struct object *proposed, const struct object *old)
{
	return shared(proposed)->keeps_names &&
	       proposed->meta.resource_version == old->meta.resource_version;
}
