/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update - see update.h
 */
#include "object/update.h"

#include "object/build.h"
#include "object/object_text.h"
#include "object/kind.h"
#include "object/schema/field.h"

#include <assert.h>
#include <errno.h>

/* The next member that says what the object is, as metadata and status do not. Return: false at the
 * end. */
static bool next_content(const struct object *object, struct json_text_walk *walk)
{
	const char *metadata = object_metadata_text(object).start;
	const char *spec = object_spec_text(object).start;

	while (json_text_key(walk)) {
		if (walk->value.start == metadata) {
			json_text_pass(walk, object->metadata.length);
			continue;
		}
		if (walk->value.start == spec)
			json_text_pass(walk, object->spec.length);
		else
			json_text_pass_value(walk);
		if (!json_bytes_are(&walk->key, "status"))
			return true;
	}
	return false;
}

bool object_content_is_same(const struct object *a, const struct object *b)
{
	struct json_text_walk left, right;

	if (a->spec.length != b->spec.length)
		return false;
	json_text_begin(&left, a->json);
	json_text_begin(&right, b->json);
	while (next_content(a, &left))
		if (!next_content(b, &right) || !json_bytes_equal(&left.key, &right.key) ||
		    !json_bytes_equal(&left.value, &right.value))
			return false;
	return !next_content(b, &right);
}

int update_member_init(struct update_member *pair, const struct object *old,
		       const struct object *new_object, const char *member)
{
	int r;

	*pair = (struct update_member){ 0 };
	r = object_member(old, member, &pair->own_old, &pair->old);
	return r < 0 ? r : object_member(new_object, member, &pair->own_now, &pair->now);
}

void update_member_done(struct update_member *pair)
{
	json_free(pair->own_old);
	json_free(pair->own_now);
}

int update_is_same(const struct update_member *pair,
		   int (*hide)(struct cJSON *value, const struct cJSON *old_value), bool *ret)
{
	cleanup_json struct cJSON *before = json_copy(pair->old), *now = json_copy(pair->now);
	int r;

	assert(hide && ret);
	if ((pair->old && !before) || (pair->now && !now))
		return -ENOMEM;
	r = hide(before, pair->old);
	if (r == 0)
		r = hide(now, pair->old);
	if (r == 0)
		*ret = json_equal(before, now);
	return r;
}

bool update_check_fixed(const struct object *old, const struct object *new_object,
			const struct fixed_field *fixed, struct violations *found)
{
	cleanup_json struct cJSON *before = object_tree(old), *now = object_tree(new_object);

	assert(fixed);
	if (!before || !now)
		return violations_broken(found, -ENOMEM);
	for (; fixed->path; fixed++) {
		const struct field *at = FIELD(FIELD_ROOT(now, found), fixed->path);
		const char *text = fixed->text ? fixed->text : "field is immutable";

		if (json_equal(json_get_path(before, fixed->path), at->item))
			continue;
		if (!(fixed->type == VIOLATION_FORBIDDEN
			      ? field_forbidden(at, text)
			      : field_invalid(at, json_string(at->item, NULL), text)))
			return false;
	}
	return true;
}

bool update_check(const struct object *old, const struct object *new_object,
		  struct violations *found)
{
	const struct kind_row *row = kind_row(old->kind);

	assert(old->kind == new_object->kind);
	return (!row->fixed || update_check_fixed(old, new_object, row->fixed, found)) &&
	       (!row->validate_update || row->validate_update(old, new_object, found));
}
