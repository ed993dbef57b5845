/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit - see admit.h
 *
 * What the writer sent is a valid object already. Here it gets what only the store knows (uid,
 * versions, times) and is compared with what it replaces.
 */
#include "object/admit.h"

#include "base/cleanup.h"
#include "base/uuid.h"
#include "object/build.h"
#include "object/json/json_text.h"
#include "object/json/json_tree.h"
#include "object/kind.h"
#include "object/kinds.h"
#include "object/schema/field.h"
#include "object/timestamp.h"
#include "object/update.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What the store says of an object; NULL and 0 where it says nothing. */
struct stamp {
	const char *uid;
	uint64_t resource_version, generation;
	uint64_t created_usec, deleted_usec;
	struct cJSON *finalizers; /* taken */
};

static int set_time(struct cJSON *metadata, const char *key, uint64_t usec)
{
	char text[TIMESTAMP_BYTES];

	timestamp_print(usec, text);
	return json_set_string(metadata, key, text);
}

/* Behind the writer's members and always in this order: an unchanged object keeps its bytes. */
static int stamp_metadata(struct cJSON *metadata, const struct stamp *stamp)
{
	static const char *const stamped[] = { "uid",
					       "resourceVersion",
					       "generation",
					       "creationTimestamp",
					       "deletionTimestamp",
					       "deletionGracePeriodSeconds",
					       "finalizers" };
	char version[24];
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(stamped); i++)
		json_remove(metadata, stamped[i]);
	(void) snprintf(version, sizeof(version), "%" PRIu64, stamp->resource_version);
	r = json_set_string(metadata, "uid", stamp->uid);
	if (r == 0)
		r = json_set_string(metadata, "resourceVersion", version);
	if (r == 0)
		r = json_set_int(metadata, "generation", (int64_t) stamp->generation);
	if (r == 0)
		r = set_time(metadata, "creationTimestamp", stamp->created_usec);
	if (r == 0 && stamp->deleted_usec > 0)
		r = set_time(metadata, "deletionTimestamp", stamp->deleted_usec);
	if (r == 0 && stamp->deleted_usec > 0)
		r = json_set_int(metadata, "deletionGracePeriodSeconds", 0);
	if (json_count(stamp->finalizers) > 0 && r == 0)
		return json_set(metadata, "finalizers", stamp->finalizers);
	json_free(stamp->finalizers);
	return r;
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

/* The writer's finalizers and podvol's; NULL: no memory. */
static struct cJSON *first_finalizers(const struct cJSON *metadata, enum object_kind kind)
{
	const struct cJSON *list = json_get(metadata, "finalizers");
	struct cJSON *copy = list ? json_copy(list) : json_new_array();
	const char *own = protection_finalizer(kind);

	if (copy && own && !json_has_string(copy, own) && json_set_string(copy, NULL, own) < 0) {
		json_free(copy);
		return NULL;
	}
	return copy;
}

/* Rules that hold for what is written now, not for what was stored before. */
static bool check_created(enum object_kind kind, const struct field *object)
{
	return admit_names_check(NULL, object) &&
	       (kind != KIND_POD || admit_field_refs_check(NULL, object));
}

static int admit_create(const struct admission *admission, const struct object **ret,
			struct failure *reterr)
{
	const struct object *proposed = admission->proposed;
	struct stamp stamp = { .uid = proposed->meta.uid,
			       .resource_version = admission->resource_version,
			       .generation = 1,
			       .created_usec = admission->now_usec };
	cleanup_json struct cJSON *tree = NULL;
	struct violations found;
	char uid[UUID_BYTES];
	int r;

	tree = object_take_tree(proposed);
	if (!tree)
		return failed(reterr, -ENOMEM, "cannot admit an object");
	violations_init(&found, false);
	found.is_secret = kind_row(proposed->kind)->secret;
	if (!check_created(proposed->kind, FIELD_ROOT(tree, &found)))
		return violations_to_failure(&found, reterr);
	if (*stamp.uid == '\0') {
		r = uuid_make(uid);
		if (r < 0)
			return failed(reterr, r, "cannot make a uid");
		stamp.uid = uid;
	}
	stamp.finalizers = first_finalizers(json_get(tree, "metadata"), proposed->kind);
	if (!stamp.finalizers || stamp_metadata(json_member(tree, "metadata"), &stamp) < 0)
		return failed(reterr, -ENOMEM, "cannot admit an object");
	return object_stamped(proposed, tree, ret, reterr);
}

/* ---- update ---- */

/* What its writer sees as the object's content, whose change raises the generation. */
static bool same_content(const struct cJSON *old, const struct cJSON *proposed)
{
	if (json_get(old, "spec") || json_get(proposed, "spec"))
		return json_equal(json_get(old, "spec"), json_get(proposed, "spec"));
	JSON_FOREACH (item, proposed) {
		if (strcmp(json_key(item), "metadata") != 0 &&
		    !json_equal(item, json_get(old, json_key(item))))
			return false;
	}
	return json_count(old) == json_count(proposed);
}

static bool check_finalizers(const struct cJSON *old, const struct field *object)
{
	const struct cJSON *before = json_get_path(old, "metadata.finalizers");
	const struct field *now = FIELD(object, "metadata.finalizers");

	JSON_FOREACH (item, now->item) {
		if (!json_has_string(before, json_string(item, "")))
			return field_forbidden(now, "no new finalizers can be added if the object "
						    "is being deleted");
	}
	return true;
}

/* What stays as the store has it. */
static struct stamp stamp_of(const struct object *old, uint64_t resource_version)
{
	return (struct stamp){
		.uid = old->meta.uid,
		.resource_version = resource_version,
		.generation = old->meta.generation,
		.created_usec = old->meta.creation_usec,
		.deleted_usec = timestamp_parse(old->meta.deletion_timestamp),
	};
}

static bool check_same(const struct object *old, const struct object *proposed, bool is_same,
		       struct violations *found)
{
	if (*proposed->meta.uid && strcmp(old->meta.uid, proposed->meta.uid) != 0)
		return field_invalid(FIELD(FIELD_ROOT(NULL, found), "metadata.uid"),
				     proposed->meta.uid, "field is immutable");
	return is_same || update_check(old, proposed, found);
}

/* An update beside the version that it replaces. Most change status or metadata alone, and texts
 * tell; then nothing of the old version, or its metadata alone, is parsed. */
struct change {
	bool same_spec, same_metadata;
	struct cJSON *old; /* no more than what may differ; NULL: nothing does */
	struct cJSON *proposed;
};

static void change_done(struct change *change)
{
	json_free(change->old);
	json_free(change->proposed);
}

/* Return: 0; -ENOMEM. In either case change_done() afterwards. */
static int change_init(struct change *change, const struct object *old,
		       const struct object *proposed, bool is_same)
{
	struct json_bytes before = json_text_member(old->json, "metadata");
	struct json_bytes now = json_text_member(proposed->json, "metadata");
	const struct cJSON *metadata;
	struct cJSON *copy = NULL;

	*change = (struct change){
		.same_spec = is_same && json_text_member(old->json, "spec").length > 0,
		.same_metadata = json_bytes_equal(&before, &now),
		.proposed = object_take_tree(proposed),
	};
	if (!change->proposed)
		return -ENOMEM;
	if (change->same_spec && change->same_metadata)
		return 0;
	if (!change->same_spec) {
		change->old = object_tree(old);
		return change->old ? 0 : -ENOMEM;
	}
	change->old = json_new_object();
	if (object_member(old, "metadata", &copy, &metadata) < 0)
		return -ENOMEM;
	return json_set(change->old, "metadata", copy);
}

/* The rules for what this update writes. */
static bool check_change(const struct object *old, const struct change *change,
			 struct violations *found)
{
	const struct field *object = FIELD_ROOT(change->proposed, found);

	if (!change->same_metadata &&
	    ((old->meta.deletes && !check_finalizers(change->old, object)) ||
	     !admit_names_check(change->old, object)))
		return false;
	return change->same_spec || old->kind != KIND_POD ||
	       admit_field_refs_check(change->old, object);
}

static int admit_update(const struct admission *admission, const struct object **ret,
			struct failure *reterr)
{
	const struct object *old = admission->old;
	cleanup(change_done) struct change change = { 0 };
	struct stamp stamp = stamp_of(old, admission->resource_version);
	struct violations found;
	const struct cJSON *finalizers;
	bool is_same = object_content_is_same(old, admission->proposed);

	violations_init(&found, false);
	found.is_secret = kind_row(old->kind)->secret;
	if (!check_same(old, admission->proposed, is_same, &found))
		return violations_to_failure(&found, reterr);
	if (old->kind == KIND_PERSISTENT_VOLUME_CLAIM && !admission->ends_move &&
	    !claim_check_rebound(old, admission->proposed, &found))
		return violations_to_failure(&found, reterr);
	if (old->kind == KIND_PERSISTENT_VOLUME_CLAIM &&
	    !claim_check_expand(old->claim, admission->proposed->claim, admission->storage_class,
				&found))
		return violations_to_failure(&found, reterr);
	if (change_init(&change, old, admission->proposed, is_same) < 0)
		return failed(reterr, -ENOMEM, "cannot admit an object");
	if (!check_change(old, &change, &found))
		return violations_to_failure(&found, reterr);
	finalizers = json_get(json_get(change.proposed, "metadata"), "finalizers");
	if (old->meta.deletes && json_count(finalizers) == 0) {
		*ret = NULL; /* the last one that held it back is gone */
		return 0;
	}
	if (!change.same_spec && !same_content(change.old, change.proposed))
		stamp.generation++;
	stamp.finalizers = finalizers ? json_copy(finalizers) : json_new_array();
	if (!stamp.finalizers ||
	    stamp_metadata(json_member(change.proposed, "metadata"), &stamp) < 0)
		return failed(reterr, -ENOMEM, "cannot admit an object");
	return object_stamped(admission->proposed, change.proposed, ret, reterr);
}

/* ---- delete ---- */

static int admit_delete(const struct admission *admission, const struct object **ret,
			struct failure *reterr)
{
	const struct object *old = admission->old;
	cleanup_json struct cJSON *tree = NULL;
	struct stamp stamp = stamp_of(old, admission->resource_version);
	const struct cJSON *finalizers;

	if (!strstr(old->json, "\"finalizers\":")) { /* most pods: nothing to parse */
		*ret = NULL;
		return 0;
	}
	tree = object_tree(old);
	if (!tree)
		return failed(reterr, -ENOMEM, "cannot admit a deletion");
	finalizers = json_get(json_get(tree, "metadata"), "finalizers");
	if (json_count(finalizers) == 0) {
		*ret = NULL;
		return 0;
	}
	if (old->meta.deletes) { /* asked for before: nothing new */
		*ret = object_ref(old);
		return 0;
	}
	stamp.generation++;
	stamp.deleted_usec = admission->now_usec;
	stamp.finalizers = json_copy(finalizers);
	if (!stamp.finalizers || stamp_metadata(json_member(tree, "metadata"), &stamp) < 0)
		return failed(reterr, -ENOMEM, "cannot admit a deletion");
	return object_of_valid_tree(old->kind, tree, ret, reterr);
}

int object_admit(const struct admission *admission, const struct object **ret,
		 struct failure *reterr)
{
	const struct object *old = admission->old;

	assert(ret);
	switch (admission->verb) {
	case ADMIT_CREATE:
		assert(admission->proposed);
		if (old)
			return failed_plain(reterr, -EEXIST, "%s \"%s\" already exists",
					    kind_row(old->kind)->plural, old->meta.name);
		return admit_create(admission, ret, reterr);
	case ADMIT_UPDATE:
		assert(old && admission->proposed);
		return admit_update(admission, ret, reterr);
	case ADMIT_DELETE:
		assert(old);
		return admit_delete(admission, ret, reterr);
	}
	assert(!"an unknown verb");
	return -EINVAL;
}
