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
#include "object/derive.h"
#include "object/json/json_tree.h"
#include "object/kind.h"
#include "object/kinds.h"
#include "object/schema/field.h"
#include "object/object_text.h"
#include "object/stamp.h"
#include "object/timestamp.h"
#include "object/update.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* ---- create ---- */

bool admit_check_created(enum object_kind kind, const struct field *object)
{
	const struct field *spec = FIELD(object, "spec");

	return admit_names_check(NULL, FIELD(object, "metadata")) && admit_spec_names_check(spec) &&
	       (kind != KIND_POD || admit_field_refs_check(NULL, spec));
}

static bool check_created(const struct object *proposed, struct violations *found)
{
	cleanup_json struct cJSON *own = NULL;
	const struct cJSON *tree;
	int r;

	if (object_is_creatable(proposed))
		return true;
	r = object_member(proposed, NULL, &own, &tree);
	return r < 0 ? violations_broken(found, r)
		     : admit_check_created(proposed->kind, FIELD_ROOT(tree, found));
}

static int admit_create(const struct admission *admission, const struct object **ret,
			struct failure *reterr)
{
	const struct object *proposed = admission->proposed;
	struct object_stamp stamp = { .uid = proposed->meta.uid,
				      .resource_version = admission->resource_version,
				      .generation = 1,
				      .created_usec = admission->now_usec,
				      .adds_finalizer = true };
	struct violations found;
	char uid[UUID_BYTES];
	int r;

	violations_init(&found, false);
	found.is_secret = kind_row(proposed->kind)->secret;
	if (!check_created(proposed, &found))
		return violations_to_failure(&found, reterr);
	if (*stamp.uid == '\0') {
		r = uuid_make(uid);
		if (r < 0)
			return failed(reterr, r, "cannot make a uid");
		stamp.uid = uid;
	}
	return object_stamped(proposed, &stamp, ret, reterr);
}

/* ---- update ---- */

/* What its writer sees as the content of an object without a spec: all but the metadata. */
static bool same_members(const struct cJSON *old, const struct cJSON *proposed)
{
	JSON_FOREACH (item, proposed) {
		if (strcmp(json_key(item), "metadata") != 0 &&
		    !json_equal(item, json_get(old, json_key(item))))
			return false;
	}
	return json_count(old) == json_count(proposed);
}

struct update {
	const struct object *old, *proposed;
	struct json_bytes before, now; /* their spec */
	struct update_member parsed;   /* the metadata; of an object without a spec all */
	bool is_same;                  /* but for metadata and status, to the byte */
};

static void update_done(struct update *update)
{
	update_member_done(&update->parsed);
}

static bool has_spec(const struct update *update)
{
	return update->before.length > 0 || update->now.length > 0;
}

/* Does the update leave the content, whose change raises the generation? Texts of the same members
 * in another order are of one length. Return: 1, 0; -ENOMEM. */
static int keeps_content(struct update *update)
{
	cleanup_update_member struct update_member pair = { 0 };
	size_t before = update->before.length, now = update->now.length;
	int r = 0;

	if (has_spec(update) && (update->is_same || before != now))
		return update->is_same;
	if (has_spec(update))
		r = update_member_init(&pair, update->old, update->proposed, "spec");
	else if (!update->parsed.old)
		r = update_member_init(&update->parsed, update->old, update->proposed, NULL);
	if (r < 0)
		return r;
	return has_spec(update) ? json_equal(pair.old, pair.now)
				: same_members(update->parsed.old, update->parsed.now);
}

static bool check_finalizers(const struct cJSON *old, const struct field *metadata)
{
	const struct cJSON *before = json_get(old, "finalizers");
	const struct field *now = FIELD(metadata, "finalizers");

	JSON_FOREACH (item, now->item) {
		if (!json_has_string(before, json_string(item, "")))
			return field_forbidden(now, "no new finalizers can be added if the object "
						    "is being deleted");
	}
	return true;
}

/* What stays as the store has it. */
static struct object_stamp stamp_of(const struct object *old, uint64_t resource_version)
{
	return (struct object_stamp){
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

/* The rules for a pod's spec that this update writes. */
static bool check_spec(const struct object *old, const struct object *proposed,
		       struct violations *found)
{
	cleanup_update_member struct update_member spec;
	int r = update_member_init(&spec, old, proposed, "spec");

	return r < 0 ? violations_broken(found, r)
		     : admit_field_refs_check(spec.old,
					      FIELD_OF(FIELD_ROOT(NULL, found), "spec", spec.now));
}

/* Are all names valid, whichever were there before? Then the stored metadata need not be parsed. */
static bool has_valid_names(const struct cJSON *tree)
{
	struct violations apart;

	violations_init(&apart, false);
	return admit_names_check(NULL, FIELD(FIELD_ROOT(tree, &apart), "metadata"));
}

/* The rules for the metadata that this update writes; most change status or spec alone, and the
 * texts tell. */
static bool check_metadata(struct update *update, struct violations *found)
{
	const struct json_bytes was = object_metadata_text(update->old);
	const struct json_bytes is = object_metadata_text(update->proposed);
	const struct update_member *parsed = &update->parsed;
	const struct cJSON *before, *now;
	const struct field *metadata;
	int r;

	if (json_bytes_equal(&was, &is) || object_keeps_names(update->proposed, update->old))
		return true;
	if (has_spec(update) && !update->old->meta.deletes && update->proposed->tree &&
	    has_valid_names(update->proposed->tree))
		return true;
	r = update_member_init(&update->parsed, update->old, update->proposed,
			       has_spec(update) ? "metadata" : NULL);
	if (r < 0)
		return violations_broken(found, r);
	before = has_spec(update) ? parsed->old : json_get(parsed->old, "metadata");
	now = has_spec(update) ? parsed->now : json_get(parsed->now, "metadata");
	metadata = FIELD_OF(FIELD_ROOT(NULL, found), "metadata", now);
	return (!update->old->meta.deletes || check_finalizers(before, metadata)) &&
	       admit_names_check(before, metadata);
}

static bool check_claim(const struct admission *admission, struct violations *found)
{
	const struct object *old = admission->old, *proposed = admission->proposed;

	return (admission->ends_move || claim_check_rebound(old, proposed, found)) &&
	       claim_check_expand(old->claim, proposed->claim, admission->storage_class, found);
}

static bool check_update(const struct admission *admission, struct update *update,
			 struct violations *found)
{
	const struct object *old = update->old, *proposed = update->proposed;

	return check_same(old, proposed, update->is_same, found) &&
	       (old->kind != KIND_PERSISTENT_VOLUME_CLAIM || check_claim(admission, found)) &&
	       check_metadata(update, found) &&
	       (old->kind != KIND_POD || update->is_same || check_spec(old, proposed, found));
}

static int admit_update(const struct admission *admission, const struct object **ret,
			struct failure *reterr)
{
	const struct object *old = admission->old, *proposed = admission->proposed;
	struct object_stamp stamp = stamp_of(old, admission->resource_version);
	cleanup(update_done) struct update update = { .old = old,
						      .proposed = proposed,
						      .before = object_spec_text(old),
						      .now = object_spec_text(proposed),
						      .is_same = object_content_is_same(old,
											proposed) };
	struct violations found;
	int r;

	violations_init(&found, false);
	found.is_secret = kind_row(old->kind)->secret;
	if (!check_update(admission, &update, &found))
		return violations_to_failure(&found, reterr);
	if (old->meta.deletes && !stamp_has_finalizers(proposed)) {
		*ret = NULL; /* the last one that held it back is gone */
		return 0;
	}
	r = keeps_content(&update);
	if (r < 0)
		return failed(reterr, r, "cannot admit an object");
	stamp.generation += r == 0;
	return object_stamped(proposed, &stamp, ret, reterr);
}

/* ---- delete ---- */

static int admit_delete(const struct admission *admission, const struct object **ret,
			struct failure *reterr)
{
	const struct object *old = admission->old;
	struct object_stamp stamp = stamp_of(old, admission->resource_version);

	if (!stamp_has_finalizers(old)) {
		*ret = NULL;
		return 0;
	}
	if (old->meta.deletes) { /* asked for before: nothing new */
		*ret = object_ref(old);
		return 0;
	}
	stamp.generation++;
	stamp.deleted_usec = admission->now_usec;
	return object_stamped(old, &stamp, ret, reterr);
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
