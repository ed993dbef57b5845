/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit - see admit.h
 *
 * What the writer sent is a valid object already. Here it gets what only the store knows (uid,
 * versions, times) and is compared with what it replaces.
 */
#include "object/admit.h"

#include "base/cleanup.h"
#include "object/build.h"
#include "object/field.h"
#include "object/json_tree.h"
#include "object/kind.h"
#include "object/metadata.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum { UUID_BYTES = 37 };

static int read_tree(const struct object *object, struct cJSON **ret, struct failure *reterr)
{
	static const struct json_limits limits = { .bytes = OBJECT_BYTES_MAX,
						   .depth = OBJECT_DEPTH_MAX };

	return json_parse(object->json, object->json_length, &limits, ret, reterr);
}

/* A random uid of RFC 4122, version 4. */
static int make_uid(char text[UUID_BYTES])
{
	unsigned char b[16];

	if (getrandom(b, sizeof(b), 0) != (ssize_t) sizeof(b))
		return -errno;
	b[6] = (unsigned char) ((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char) ((b[8] & 0x3f) | 0x80);
	(void) snprintf(text, UUID_BYTES,
			"%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
			b[12], b[13], b[14], b[15]);
	return 0;
}

static int set_version(struct cJSON *metadata, uint64_t resource_version)
{
	char text[24];

	(void) snprintf(text, sizeof(text), "%" PRIu64, resource_version);
	return json_set_string(metadata, "resourceVersion", text);
}

static int set_time(struct cJSON *metadata, const char *key, uint64_t usec)
{
	char text[TIMESTAMP_BYTES];

	timestamp_print(usec, text);
	return json_set_string(metadata, key, text);
}

/* ---- create ---- */

/* Keeps a volume or claim from vanishing while it is in use; the controllers take it off. */
static const char *protection_finalizer(enum object_kind kind)
{
	switch (kind) {
	case KIND_PERSISTENT_VOLUME:
		return "kubernetes.io/pv-protection";
	case KIND_PERSISTENT_VOLUME_CLAIM:
		return "kubernetes.io/pvc-protection";
	default:
		return NULL;
	}
}

static int add_finalizer(struct cJSON *metadata, const char *name)
{
	struct cJSON *list = json_member(metadata, "finalizers");

	for (const struct cJSON *item = json_first(list); item; item = json_next(item)) {
		if (strcmp(json_string(item, ""), name) == 0)
			return 0;
	}
	if (!list)
		list = json_add_array(metadata, "finalizers");
	return json_set_string(list, NULL, name);
}

static int admit_create(const struct object *proposed, uint64_t resource_version, uint64_t now_usec,
			const struct object **ret, struct failure *reterr)
{
	cleanup_json struct cJSON *tree = NULL;
	const char *finalizer = protection_finalizer(proposed->kind);
	struct cJSON *metadata;
	char uid[UUID_BYTES];
	int r;

	r = read_tree(proposed, &tree, reterr);
	if (r < 0)
		return r;
	metadata = json_ensure_object(tree, "metadata");
	if (*proposed->meta.uid == '\0') {
		r = make_uid(uid);
		if (r < 0)
			return failed(reterr, r, "cannot make a uid");
		r = json_set_string(metadata, "uid", uid);
	}
	json_remove(metadata, "deletionTimestamp");
	json_remove(metadata, "deletionGracePeriodSeconds");
	if (r == 0)
		r = set_time(metadata, "creationTimestamp", now_usec);
	if (r == 0)
		r = set_version(metadata, resource_version);
	if (r == 0)
		r = json_set_int(metadata, "generation", 1);
	if (r == 0 && finalizer)
		r = add_finalizer(metadata, finalizer);
	if (r < 0)
		return failed(reterr, r, "cannot admit an object");
	return object_from_tree(tree, ret, reterr);
}

/* ---- update ---- */

/* @key of @from, as it is there or absent; in its place, so that an update that changes nothing
 * gives the same text. */
static int carry_over(struct cJSON *metadata, const struct cJSON *from, const char *key)
{
	const struct cJSON *item = json_get(from, key);

	if (item)
		return json_set(metadata, key, json_copy(item));
	json_remove(metadata, key);
	return 0;
}

/* What its writer sees as the object's content, whose change raises the generation. */
static bool same_content(const struct cJSON *old, const struct cJSON *proposed)
{
	if (json_get(old, "spec") || json_get(proposed, "spec"))
		return json_equal(json_get(old, "spec"), json_get(proposed, "spec"));
	for (const struct cJSON *item = json_first(proposed); item; item = json_next(item)) {
		if (strcmp(json_key(item), "metadata") != 0 &&
		    !json_equal(item, json_get(old, json_key(item))))
			return false;
	}
	return json_count(old) == json_count(proposed);
}

static bool has_element(const struct cJSON *list, const char *text)
{
	for (const struct cJSON *item = json_first(list); item; item = json_next(item)) {
		if (strcmp(json_string(item, ""), text) == 0)
			return true;
	}
	return false;
}

static int check_finalizers(const struct cJSON *old, const struct cJSON *proposed,
			    struct failure *reterr)
{
	const struct cJSON *before = json_get(old, "finalizers");
	const struct cJSON *now = json_get(proposed, "finalizers");

	for (const struct cJSON *item = json_first(now); item; item = json_next(item)) {
		if (!has_element(before, json_string(item, "")))
			return field_forbidden(FIELD(FIELD(NULL, "metadata"), "finalizers"),
					       "no new finalizers can be added if the object is "
					       "being deleted",
					       reterr);
	}
	return 0;
}

static int check_same(const struct object *old, const struct object *proposed,
		      struct failure *reterr)
{
	const struct kind_row *row = kind_row(old->kind);

	assert(old->kind == proposed->kind);
	if (*proposed->meta.uid && strcmp(old->meta.uid, proposed->meta.uid) != 0)
		return field_invalid(FIELD(FIELD(NULL, "metadata"), "uid"), proposed->meta.uid,
				     "field is immutable", reterr);
	return row->validate_update ? row->validate_update(old, proposed, reterr) : 0;
}

static int carry_metadata(struct cJSON *tree, const struct cJSON *old_tree,
			  const struct object *old, uint64_t resource_version)
{
	static const char *const kept[] = { "uid", "creationTimestamp", "deletionTimestamp",
					    "deletionGracePeriodSeconds" };
	struct cJSON *metadata = json_ensure_object(tree, "metadata");
	const struct cJSON *from = json_get(old_tree, "metadata");
	uint64_t generation = old->meta.generation + (same_content(old_tree, tree) ? 0 : 1);

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		if (carry_over(metadata, from, kept[i]) < 0)
			return -ENOMEM;
	}
	if (json_set_int(metadata, "generation", (int64_t) generation) < 0)
		return -ENOMEM;
	return set_version(metadata, resource_version);
}

static int admit_update(const struct object *old, const struct object *proposed,
			uint64_t resource_version, const struct object **ret,
			struct failure *reterr)
{
	cleanup_json struct cJSON *tree = NULL, *old_tree = NULL;
	int r;

	r = check_same(old, proposed, reterr);
	if (r == 0)
		r = read_tree(proposed, &tree, reterr);
	if (r == 0)
		r = read_tree(old, &old_tree, reterr);
	if (r == 0 && old->meta.deletes)
		r = check_finalizers(json_get(old_tree, "metadata"), json_get(tree, "metadata"),
				     reterr);
	if (r < 0)
		return r;
	if (old->meta.deletes &&
	    json_count(json_get(json_get(tree, "metadata"), "finalizers")) == 0) {
		*ret = NULL; /* the last one that held it back is gone */
		return 0;
	}
	r = carry_metadata(tree, old_tree, old, resource_version);
	if (r < 0)
		return failed(reterr, r, "cannot admit an object");
	return object_from_tree(tree, ret, reterr);
}

/* ---- delete ---- */

static int admit_delete(const struct object *old, uint64_t resource_version, uint64_t now_usec,
			const struct object **ret, struct failure *reterr)
{
	cleanup_json struct cJSON *tree = NULL;
	struct cJSON *metadata;
	int r;

	r = read_tree(old, &tree, reterr);
	if (r < 0)
		return r;
	metadata = json_ensure_object(tree, "metadata");
	if (json_count(json_get(metadata, "finalizers")) == 0) {
		*ret = NULL;
		return 0;
	}
	if (old->meta.deletes) { /* asked for before: nothing new */
		*ret = object_ref(old);
		return 0;
	}
	r = set_time(metadata, "deletionTimestamp", now_usec);
	if (r == 0)
		r = json_set_int(metadata, "deletionGracePeriodSeconds", 0);
	if (r == 0)
		r = json_set_int(metadata, "generation", (int64_t) old->meta.generation + 1);
	if (r == 0)
		r = set_version(metadata, resource_version);
	if (r < 0)
		return failed(reterr, r, "cannot admit a deletion");
	return object_from_tree(tree, ret, reterr);
}

int object_admit(enum admit_verb verb, const struct object *old, const struct object *proposed,
		 uint64_t resource_version, uint64_t now_usec, const struct object **ret,
		 struct failure *reterr)
{
	assert(ret);
	switch (verb) {
	case ADMIT_CREATE:
		assert(proposed);
		if (old)
			return failed_plain(reterr, -EEXIST, "%s \"%s\" already exists",
					    kind_row(old->kind)->plural, old->meta.name);
		return admit_create(proposed, resource_version, now_usec, ret, reterr);
	case ADMIT_UPDATE:
		assert(old && proposed);
		return admit_update(old, proposed, resource_version, ret, reterr);
	case ADMIT_DELETE:
		assert(old);
		return admit_delete(old, resource_version, now_usec, ret, reterr);
	}
	assert(!"an unknown verb");
	return -EINVAL;
}
