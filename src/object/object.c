/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object - from a tree to an immutable value; see object.h
 *
 * The order is the API machinery's: types of fields, defaults, validation; then the tree is printed
 * once, decoded once and gone.
 */
#include "object/object.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "object/admit.h"
#include "object/build.h"
#include "object/derive.h"
#include "object/json/arena.h"
#include "object/json/json_tree.h"
#include "object/json/text_buffer.h"
#include "object/kind.h"
#include "object/metadata.h"
#include "object/printed.h"
#include "object/room.h"
#include "object/schema/field.h"
#include "object/schema/schema.h"
#include "object/schema/violation.h"
#include "object/shared.h"
#include "object/stamp.h"
#include "object/timestamp.h"
#include "object/update.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making one ---- */

static int find_kind(const struct cJSON *tree, const struct kind_row **ret, struct failure *reterr)
{
	const char *version = json_text(tree, "apiVersion");
	const char *kind = json_text(tree, "kind");

	if (json_is_lost(tree))
		return failed(reterr, -ENOMEM, "cannot make an object");
	if (!json_is_object(tree))
		return failed_plain(reterr, -EINVAL, "an object must be a map");
	if (*kind == '\0')
		return failed_plain(reterr, -EINVAL, "kind: Required value");
	if (*version == '\0')
		return failed_plain(reterr, -EINVAL, "apiVersion: Required value");
	*ret = kind_by_name(version, kind);
	if (!*ret && strcmp(kind, kind_row(KIND_SECRET)->name) == 0)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "no matches for kind \"Secret\" in its apiVersion: it is v1");
	if (!*ret)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "no matches for kind \"%.64s\" in version \"%.64s\"", kind,
				    version);
	return 0;
}

/* Defaults, and the rules for metadata. */
static bool complete_metadata(const struct kind_row *row, struct cJSON *tree,
			      struct violations *found)
{
	int r = metadata_set_defaults(row, tree);

	if (r == 0 && row->set_defaults)
		r = row->set_defaults(tree);
	return r < 0 ? violations_broken(found, r)
		     : metadata_validate(row, FIELD(FIELD_ROOT(tree, found), "metadata"));
}

/* After a field of a wrong type nothing else is looked at: the rules rely on types. Return: nothing
 * is wrong with it. */
static bool complete(const struct kind_row *row, struct cJSON *tree, struct violations *found)
{
	const struct field *object = FIELD_ROOT(tree, found);

	found->is_secret = row->secret;
	return schema_apply(row->schema, object) && found->count == 0 &&
	       complete_metadata(row, tree, found) && (!row->validate || row->validate(object)) &&
	       found->count == 0;
}

static bool is_stored(const struct cJSON *tree)
{
	return json_get(json_get(tree, "metadata"), "creationTimestamp") != NULL;
}

/* With room for what is to be decoded of @tree; NULL: no memory. */
static struct shared_object *new_shared(enum object_kind kind, const struct cJSON *tree,
					const struct printed *printed, bool is_proposal)
{
	const struct text_buffer *text = &printed->text;
	size_t room = room_decoded(kind);
	/* What the store has not seen yet will grow. */
	bool is_new = is_proposal && !is_stored(tree);
	size_t apart_size = is_proposal ? text->used + 1 + (is_new ? room_grown(kind) : 0) : 0;

	room += (is_proposal ? STAMP_BYTES : 0) + (is_new ? room_bound(kind) : 0);
	return shared_new(kind, room, printed, apart_size);
}

static int decode(const struct kind_row *row, const struct cJSON *tree,
		  struct shared_object *shared, struct failure *reterr)
{
	int r;

	metadata_decode(tree, &shared->arena, &shared->object.meta);
	r = row->decode ? row->decode(tree, &shared->arena, &shared->object, reterr) : 0;
	if (r == 0 && arena_exhausted(&shared->arena))
		r = failed(reterr, -ENOMEM, "cannot decode an object");
	if (r == 0)
		room_note_decoded(row->kind, arena_size(&shared->arena));
	return r;
}

static int check_text(const struct text_buffer *text, struct failure *reterr)
{
	if (text->failed)
		return failed(reterr, -ENOMEM, "cannot keep an object");
	if (text->used > OBJECT_BYTES_MAX)
		return failed_plain(reterr, -EINVAL, "an object of %zu bytes is too large: %d",
				    text->used, OBJECT_BYTES_MAX);
	return 0;
}

static int build(const struct kind_row *row, const struct cJSON *tree,
		 const struct printed *printed, bool is_proposal, const struct object **ret,
		 struct failure *reterr)
{
	struct shared_object *made;
	int r;

	r = check_text(&printed->text, reterr);
	if (r < 0)
		return r;
	made = new_shared(row->kind, tree, printed, is_proposal);
	if (!made)
		return failed(reterr, -ENOMEM, "cannot make an object");
	r = decode(row, tree, made, reterr);
	if (r < 0) {
		(void) object_unref(&made->object);
		return r;
	}
	*ret = &made->object;
	return 0;
}

static int print_and_build(const struct kind_row *row, const struct cJSON *tree, bool is_proposal,
			   const struct object **ret, struct failure *reterr)
{
	struct printed printed;
	int r;

	printed_init(&printed);
	printed_object(&printed, tree);
	r = build(row, tree, &printed, is_proposal, ret, reterr);
	printed_done(&printed);
	return r;
}

/* Finds its kind, fills in defaults and checks it; @found counts what is checked after that, too.
 */
static int complete_tree(struct cJSON *tree, struct violations *found, const struct kind_row **ret,
			 struct failure *reterr)
{
	int r = find_kind(tree, ret, reterr);

	if (r < 0)
		return r;
	violations_init(found, false);
	return complete(*ret, tree, found) ? 0 : violations_to_failure(found, reterr);
}

static int from_tree(struct cJSON *tree, bool is_proposal, const struct object **ret,
		     struct failure *reterr)
{
	struct violations found;
	const struct kind_row *row;
	int r = complete_tree(tree, &found, &row, reterr);

	return r < 0 ? r : print_and_build(row, tree, is_proposal, ret, reterr);
}

/* Of a tree whose metadata alone is to be checked. */
static int from_checked_tree(const struct kind_row *row, struct cJSON *tree,
			     const struct object **ret, struct failure *reterr)
{
	struct violations found;

	if (json_is_lost(tree))
		return failed(reterr, -ENOMEM, "cannot make an object");
	violations_init(&found, false);
	found.is_secret = row->secret;
	if (!complete_metadata(row, tree, &found))
		return violations_to_failure(&found, reterr);
	return print_and_build(row, tree, true, ret, reterr);
}

/* The rules for what is created are looked at while there is a tree; what breaks them is refused
 * when it is created, as an update may keep it. */
int object_of_document(struct cJSON *tree, const struct document_edit *edit, size_t index,
		       const struct object **ret, struct failure *reterr)
{
	struct violations found;
	struct printed printed;
	const struct kind_row *row;
	bool is_creatable;
	int r = complete_tree(tree, &found, &row, reterr);

	if (r < 0)
		return r;
	is_creatable = admit_check_created(row->kind, FIELD_ROOT(tree, &found));
	printed_init(&printed);
	json_print_into(&printed.text, tree);
	r = check_text(&printed.text, reterr);
	if (r == 0 &&
	    edit->edit(tree, printed.text.bytes, printed.text.used, index, edit->userdata) < 0)
		r = failed(reterr, -ENOMEM, "cannot make an object");
	printed_done(&printed);
	if (r == 0)
		r = from_checked_tree(row, tree, ret, reterr);
	if (r == 0)
		shared(*ret)->is_creatable = is_creatable;
	return r;
}

bool object_is_creatable(const struct object *object)
{
	return shared(object)->is_creatable;
}

void object_hand_over(const struct object *object)
{
	shared(object)->is_handed_over = true;
}

int object_from_tree(struct cJSON *tree, const struct object **ret, struct failure *reterr)
{
	assert(ret);
	return from_tree(tree, false, ret, reterr);
}

/* ---- what the store writes into a proposal ---- */

/* What was decoded stays, but for the store's members. */
static void note_stamp(struct shared_object *shared, const struct object_stamp *stamp)
{
	const struct kind_row *row = kind_row(shared->object.kind);
	struct object *object = &shared->object;
	struct object_meta *meta = &object->meta;
	char deletion[TIMESTAMP_BYTES] = "";

	if (stamp->deleted_usec > 0)
		timestamp_print(stamp->deleted_usec, deletion);
	if (strcmp(meta->uid, stamp->uid) != 0)
		meta->uid = arena_string(&shared->arena, stamp->uid);
	if (strcmp(meta->deletion_timestamp, deletion) != 0)
		meta->deletion_timestamp = arena_string(&shared->arena, deletion);
	meta->deletes = *deletion != '\0';
	meta->creation_usec = stamp->created_usec - stamp->created_usec % USEC_PER_SEC;
	meta->resource_version = stamp->resource_version;
	meta->generation = stamp->generation;
	if (row->note_protection)
		row->note_protection(object, stamp->has_finalizer);
}

int object_text_room(const struct object *object, size_t length)
{
	size_t size = 1 + (length > object->json_length ? length : object->json_length);
	struct shared_object *own = shared(object);
	char *apart;

	if (length > own->proposed_length)
		room_note_grown(object->kind, length - own->proposed_length);
	if (length < own->apart_size)
		return 0;
	apart = realloc(own->apart, size);
	if (!apart)
		return -ENOMEM;
	if (!own->apart)
		memcpy(apart, object->json, object->json_length + 1);
	own->object.json = own->apart = apart;
	own->apart_size = (uint32_t) size;
	return 0;
}

void object_put_text(const struct object *object, const struct printed *printed)
{
	struct shared_object *own = shared(object);
	size_t length = printed->text.used;

	assert(length < own->apart_size);
	memcpy(own->apart, printed->text.bytes, length);
	own->apart[length] = '\0';
	own->object.json_length = length;
	own->object.metadata = printed->metadata;
	own->object.spec = printed->spec;
}

int object_decode_binding(const struct object *object, const struct cJSON *tree)
{
	struct shared_object *own = shared(object);
	int r = kind_row(object->kind)->decode_binding(tree, &own->arena, &own->object);

	room_note_decoded(object->kind, arena_size(&own->arena));
	return r;
}

static int put_stamped(struct shared_object *shared, const struct printed *printed,
		       const struct object_stamp *stamp, struct failure *reterr)
{
	struct object *object = &shared->object;

	if (object_text_room(object, printed->text.used) < 0)
		return failed(reterr, -ENOMEM, "cannot keep an object");
	object_put_text(object, printed);
	shared->is_handed_over = shared->is_creatable = shared->keeps_names = false;
	json_free(object->tree);
	object->tree = NULL;
	note_stamp(shared, stamp);
	return arena_exhausted(&shared->arena) ? failed(reterr, -ENOMEM, "cannot decode an object")
					       : 0;
}

/* Another object with the stamped text, which shares what was decoded of a stored one; of a
 * proposal that others hold it is decoded from the tree. */
static int build_stamped(const struct object *from, const struct printed *printed,
			 const struct object_stamp *stamp, const struct object **ret,
			 struct failure *reterr)
{
	int r;

	if (derive_may(from))
		r = derive_from(from, printed, ret, reterr);
	else if (!from->tree)
		return object_parse_own(printed->text.bytes, printed->text.used, ret, reterr);
	else
		r = build(kind_row(from->kind), from->tree, printed, true, ret, reterr);
	if (r == 0)
		note_stamp(shared(*ret), stamp);
	return r;
}

int object_stamped(const struct object *from, struct object_stamp *stamp, const struct object **ret,
		   struct failure *reterr)
{
	struct shared_object *own = shared(from);
	bool becomes =
		own->apart && (own->is_handed_over ||
			       atomic_load_explicit(&own->references, memory_order_acquire) == 1);
	struct printed printed;
	int r;

	printed_init(&printed);
	stamp->finalizer = kind_row(from->kind)->protection_finalizer;
	stamp_print(&printed.text, from, stamp);
	printed_note_metadata(&printed, from);
	r = check_text(&printed.text, reterr);
	if (r == 0 && !becomes)
		r = build_stamped(from, &printed, stamp, ret, reterr);
	else if (r == 0)
		r = put_stamped(own, &printed, stamp, reterr);
	printed_done(&printed);
	if (r == 0 && becomes)
		*ret = object_ref(from);
	return r;
}

int object_from_json(const struct cJSON *tree, const struct object **ret, struct failure *reterr)
{
	cleanup_json struct cJSON *copy = json_copy(tree);

	if (!copy)
		return failed(reterr, -ENOMEM, "cannot make an object");
	return object_from_tree(copy, ret, reterr);
}

int object_propose(const struct cJSON *tree, const struct object **ret, struct failure *reterr)
{
	cleanup_json struct cJSON *copy = json_copy(tree);

	if (!copy)
		return failed(reterr, -ENOMEM, "cannot make an object");
	return object_propose_taken(&copy, ret, reterr);
}

int object_propose_taken(struct cJSON **tree, const struct object **ret, struct failure *reterr)
{
	int r;

	assert(tree && ret);
	r = from_tree(*tree, true, ret, reterr);
	if (r == 0)
		shared(*ret)->object.tree = TAKE_PTR(*tree);
	return r;
}

int object_parse_json(const char *text, size_t length, const struct object **ret,
		      struct failure *reterr)
{
	const struct json_limits limits = { .bytes = OBJECT_BYTES_MAX, .depth = OBJECT_DEPTH_MAX };
	cleanup_json struct cJSON *tree = NULL;
	int r;

	assert(text && ret);
	r = json_parse(text, length, &limits, &tree, reterr);
	return r < 0 ? r : object_from_tree(tree, ret, reterr);
}

int object_parse_own(const char *text, size_t length, const struct object **ret,
		     struct failure *reterr)
{
	cleanup_json struct cJSON *tree = NULL;
	struct printed printed;
	const struct kind_row *row;
	int r;

	assert(text && ret);
	printed_init(&printed);
	printed.text = (struct text_buffer){ .bytes = (char *) (uintptr_t) text, .used = length };
	r = printed_parse(&printed, &tree, reterr);
	if (r == 0)
		r = find_kind(tree, &row, reterr);
	if (r < 0)
		return r;
	return build(row, tree, &printed, false, ret, reterr);
}

bool object_types_fit(struct cJSON *tree, enum object_kind kind)
{
	struct violations found;

	violations_init(&found, false);
	(void) schema_apply(kind_row(kind)->schema, FIELD_ROOT(tree, &found));
	return found.count == 0;
}

int object_violations(const struct cJSON *tree, struct violations *ret)
{
	cleanup_json struct cJSON *copy = json_copy(tree);
	const struct kind_row *row;
	int r;

	violations_init(ret, true);
	if (!copy)
		return -ENOMEM;
	r = find_kind(copy, &row, NULL);
	if (r < 0)
		return r;
	(void) complete(row, copy, ret);
	return ret->error;
}

int object_update_violations(const struct object *old, const struct object *new_object,
			     struct violations *ret)
{
	violations_init(ret, true);
	ret->is_secret = kind_row(old->kind)->secret;
	if (!object_content_is_same(old, new_object))
		(void) update_check(old, new_object, ret);
	return ret->error;
}

static int edit_object(const struct object *object, int (*edit)(struct cJSON *tree, void *userdata),
		       void *userdata, bool is_checked, const struct object **ret,
		       struct failure *reterr)
{
	cleanup_json struct cJSON *tree = object_tree(object);
	int r;

	if (!tree)
		return failed(reterr, -ENOMEM, "cannot edit an object");
	r = edit(tree, userdata);
	if (r == 0 && !is_checked)
		return object_propose_taken(&tree, ret, reterr);
	if (r == 0)
		r = from_checked_tree(kind_row(object->kind), tree, ret, reterr);
	if (r == 0)
		shared(*ret)->object.tree = TAKE_PTR(tree);
	return r;
}

int object_edit(const struct object *object, int (*edit)(struct cJSON *tree, void *userdata),
		void *userdata, const struct object **ret, struct failure *reterr)
{
	assert(object && edit && ret);
	return edit_object(object, edit, userdata, false, ret, reterr);
}

int object_edit_checked(const struct object *object,
			int (*edit)(struct cJSON *tree, void *userdata), void *userdata,
			const struct object **ret, struct failure *reterr)
{
	assert(object && edit && ret);
	return edit_object(object, edit, userdata, true, ret, reterr);
}

int object_with_version(const struct object *object, uint64_t resource_version,
			const struct object **ret, struct failure *reterr)
{
	cleanup_json struct cJSON *tree = object_tree(object);
	char text[24];

	(void) snprintf(text, sizeof(text), "%" PRIu64, resource_version);
	if (!tree ||
	    json_set_string(json_ensure_object(tree, "metadata"), "resourceVersion", text) < 0)
		return failed(reterr, -ENOMEM, "cannot number an object");
	return print_and_build(kind_row(object->kind), tree, false, ret, reterr);
}
