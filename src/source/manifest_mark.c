/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_mark - marks on objects from manifests; see manifest_mark.h
 */
#include "source/manifest_mark.h"

#include "base/cleanup.h"
#include "object/derive.h"
#include "object/json/json.h"
#include "object/object_text.h"
#include "object/kind.h"
#include "source/source.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static const struct cJSON *annotations_of(const struct cJSON *tree)
{
	return json_get(json_get(tree, "metadata"), "annotations");
}

/* A string in canonical text; "" when it is none. Return: 0, -ENOMEM. */
static int read_string(const struct json_bytes *text, char *ret, size_t room)
{
	const struct json_limits limits = { .bytes = OBJECT_BYTES_MAX,
					    .depth = OBJECT_DEPTH_MAX,
					    .is_own = true };
	cleanup_json struct cJSON *parsed = NULL;
	int r;

	*ret = '\0';
	if (text->length < 2 || text->start[0] != '"')
		return 0;
	if (!memchr(text->start, '\\', text->length)) {
		size_t length = text->length - 2 < room ? text->length - 2 : room - 1;

		memcpy(ret, text->start + 1, length);
		ret[length] = '\0';
		return 0;
	}
	r = json_parse(text->start, text->length, &limits, &parsed, NULL);
	if (r == 0)
		(void) snprintf(ret, room, "%s", json_string(parsed, ""));
	return r;
}

/* Asked of every object at a start: nothing is parsed but names with escapes. */
int manifest_mark_read(const struct object *object, struct manifest_mark *ret)
{
	const char *metadata = object_metadata_text(object).start;
	struct json_text_walk annotation;
	char digits[24] = "";
	int r = 0;

	ret->file[0] = '\0';
	ret->is_gone = false;
	json_text_begin(&annotation, json_text_within(metadata, "annotations"));
	while (r == 0 && json_text_next(&annotation)) {
		if (json_bytes_are(&annotation.key, ANNOTATION_MANIFEST))
			r = read_string(&annotation.value, ret->file, sizeof(ret->file));
		else if (json_bytes_are(&annotation.key, ANNOTATION_MANIFEST_HASH))
			r = read_string(&annotation.value, digits, sizeof(digits));
		else if (json_bytes_are(&annotation.key, ANNOTATION_MANIFEST_STATE))
			ret->is_gone = true;
	}
	ret->is_marked = ret->file[0] != '\0';
	ret->hash = r == 0 ? strtoull(digits, NULL, 16) : 0;
	return r < 0 ? -ENOMEM : 0;
}

int manifest_has_same_volumes(const struct object *a, const struct object *b)
{
	cleanup_json struct cJSON *tree_a = object_tree(a), *tree_b = object_tree(b);
	const struct cJSON *volumes_a, *volumes_b;

	assert(a->kind == KIND_POD && b->kind == KIND_POD);
	if (!tree_a || !tree_b)
		return -ENOMEM;
	volumes_a = json_get(json_get(tree_a, "spec"), "volumes");
	volumes_b = json_get(json_get(tree_b, "spec"), "volumes");
	if (json_count(volumes_a) == 0 && json_count(volumes_b) == 0)
		return 1;
	return volumes_a && volumes_b && json_equal(volumes_a, volumes_b);
}

/* ---- making objects ---- */

struct make {
	const struct manifest_origin *origin;
	enum object_kind kind;
	const char *used_uid;
	const struct cJSON *stored; /* NULL: created */
};

/* What a server writes; a file made with `get -o yaml` brings it along. */
static const char *const servers_own[] = { "creationTimestamp", "deletionGracePeriodSeconds",
					   "deletionTimestamp", "generation",
					   "managedFields",     "resourceVersion",
					   "selfLink" };

static void set_marks(struct cJSON *metadata, const struct manifest_origin *origin)
{
	struct cJSON *annotations = json_ensure_object(metadata, "annotations");
	char hash[17];

	(void) snprintf(hash, sizeof(hash), "%016" PRIx64, origin->hash);
	json_remove(annotations, ANNOTATION_MANIFEST_STATE);
	(void) json_set_string(annotations, ANNOTATION_MANIFEST, origin->file);
	(void) json_set_string(annotations, ANNOTATION_MANIFEST_HASH, hash);
}

static void set_defaults(struct cJSON *tree, const struct make *make)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata");
	struct cJSON *spec;

	for (size_t i = 0; i < ARRAY_SIZE(servers_own); i++)
		json_remove(metadata, servers_own[i]);
	json_remove(tree, "status");
	set_marks(metadata, make->origin);
	if (make->kind != KIND_POD)
		return;
	spec = json_ensure_object(tree, "spec");
	if (json_text(spec, "nodeName")[0] == '\0')
		(void) json_set_string(spec, "nodeName", make->origin->node_name);
}

static int edit_new(struct cJSON *tree, void *userdata)
{
	const struct make *make = userdata;
	struct cJSON *metadata = json_ensure_object(tree, "metadata");
	const char *uid = json_text(metadata, "uid");

	if (make->used_uid && strcmp(uid, make->used_uid) == 0)
		json_remove(metadata, "uid");
	set_defaults(tree, make);
	return 0;
}

void manifest_mark_document(struct cJSON *tree, const struct manifest_origin *origin)
{
	bool is_pod = json_text_is(tree, "kind", kind_row(KIND_POD)->name);
	const struct make make = { .origin = origin, .kind = is_pod ? KIND_POD : KIND_COUNT };

	set_defaults(tree, &make);
}

int manifest_object_new(const struct object *document, const struct manifest_origin *origin,
			const char *used_uid, const struct object **ret, struct failure *reterr)
{
	struct make make = { .origin = origin, .kind = document->kind, .used_uid = used_uid };

	return object_edit_checked(document, edit_new, &make, ret, reterr);
}

static bool is_of_controllers(const char *annotation)
{
	const char *slash = strchr(annotation, '/');
	size_t length = slash ? (size_t) (slash - annotation) : 0;
	static const char kubernetes[] = "kubernetes.io";
	const size_t suffix = sizeof(kubernetes) - 1;

	if (length < suffix || strncmp(slash - suffix, kubernetes, suffix) != 0)
		return false;
	return length == suffix || slash[-(ptrdiff_t) suffix - 1] == '.';
}

static void keep_annotations(struct cJSON *metadata, const struct cJSON *stored)
{
	struct cJSON *annotations = json_ensure_object(metadata, "annotations");

	JSON_FOREACH (i, annotations_of(stored))
		if (is_of_controllers(json_key(i)) && !json_get(annotations, json_key(i)))
			(void) json_set(annotations, json_key(i), json_copy(i));
}

/* A finalizer that a document leaves out must not let go of what it protects. */
static void keep_finalizers(struct cJSON *metadata, const struct cJSON *stored)
{
	const struct cJSON *kept = json_get(json_get(stored, "metadata"), "finalizers");
	const struct cJSON *wanted = json_get(metadata, "finalizers");
	struct cJSON *all;

	if (json_count(kept) == 0)
		return;
	all = json_copy(kept);
	JSON_FOREACH (i, wanted)
		if (!json_has_string(kept, json_string(i, "")))
			(void) json_set(all, NULL, json_copy(i));
	(void) json_set(metadata, "finalizers", all);
}

/* The binder's members: those a document that names no partner, or names it without a uid, and no
 * class, does not take back. */
static void keep_binding(struct cJSON *spec, const struct cJSON *stored_spec, enum object_kind kind)
{
	const struct cJSON *volume = json_get(stored_spec, "volumeName");
	const struct cJSON *class = json_get(stored_spec, "storageClassName");
	const struct cJSON *stored_ref = json_get(stored_spec, "claimRef");
	const struct cJSON *ref = json_get(spec, "claimRef");
	bool same_claim =
		!ref ||
		(json_equal(json_get(ref, "name"), json_get(stored_ref, "name")) &&
		 json_equal(json_get(ref, "namespace"), json_get(stored_ref, "namespace")) &&
		 !json_get(ref, "uid"));

	if (kind == KIND_PERSISTENT_VOLUME_CLAIM && volume && !json_get(spec, "volumeName"))
		(void) json_set(spec, "volumeName", json_copy(volume));
	if (kind == KIND_PERSISTENT_VOLUME_CLAIM && class && !json_get(spec, "storageClassName"))
		(void) json_set(spec, "storageClassName", json_copy(class));
	if (kind == KIND_PERSISTENT_VOLUME && stored_ref && same_claim)
		(void) json_set(spec, "claimRef", json_copy(stored_ref));
}

static int edit_update(struct cJSON *tree, void *userdata)
{
	const struct make *make = userdata;
	struct cJSON *metadata = json_ensure_object(tree, "metadata");
	const struct cJSON *status = json_get(make->stored, "status");

	json_remove(metadata, "uid");
	set_defaults(tree, make);
	keep_annotations(metadata, make->stored);
	keep_finalizers(metadata, make->stored);
	if (make->kind == KIND_PERSISTENT_VOLUME || make->kind == KIND_PERSISTENT_VOLUME_CLAIM)
		keep_binding(json_ensure_object(tree, "spec"), json_get(make->stored, "spec"),
			     make->kind);
	if (status)
		(void) json_set(tree, "status", json_copy(status));
	return 0;
}

int manifest_object_update(const struct object *document, const struct object *stored,
			   const struct manifest_origin *origin, const struct object **ret,
			   struct failure *reterr)
{
	cleanup_json struct cJSON *tree = object_tree(stored);
	struct make make = { .origin = origin, .kind = document->kind, .stored = tree };

	if (!tree)
		return failed(reterr, -ENOMEM, "cannot read the stored object");
	return object_edit(document, edit_update, &make, ret, reterr);
}

int manifest_object_gone(const struct object *stored, const struct object **ret,
			 struct failure *reterr)
{
	return object_annotated(stored, ANNOTATION_MANIFEST_STATE, "gone", ret, reterr);
}
