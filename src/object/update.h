/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update - whether two versions of an object agree on what may not change
 *
 * Only src/object/ uses it.
 */
#pragma once

#include "base/cleanup.h"
#include "object/schema/violation.h"

/* Are all members but metadata and status the same, in the same order and to the byte? False does
 * not say that they differ: members may stand in another order. */
bool object_content_is_same(const struct object *a, const struct object *b);

/* One member of two versions, to be compared several times. */
struct update_member {
	struct cJSON *own_old, *own_now; /* what was parsed for it */
	const struct cJSON *old, *now;   /* NULL: the version has no such member */
};

/* @member: "spec"; NULL: all of them. Return: 0; -ENOMEM. In either case update_member_done()
 * afterwards. */
int update_member_init(struct update_member *pair, const struct object *old,
		       const struct object *new_object, const char *member);
void update_member_done(struct update_member *pair);
#define cleanup_update_member cleanup(update_member_done)

/**
 * update_is_same - compare a member of two versions but for what may differ
 * @hide: removes that from a copy; called for both versions, with the old version's member beside
 * it
 * @ret:  the same in any order of members
 *
 * Return: 0; what @hide returned; -ENOMEM.
 */
int update_is_same(const struct update_member *pair,
		   int (*hide)(struct cJSON *value, const struct cJSON *old_value), bool *ret);

/* A field that no update may change. */
struct fixed_field {
	const char *path; /* "spec.source"; names of members hold no dots */
	/* VIOLATION_FORBIDDEN or VIOLATION_INVALID, as Kubernetes has it for this field. */
	enum violation_type type;
	const char *text; /* NULL: "field is immutable" */
};

/* Notes each of @fixed (ended by a NULL path) that differs. Return: as in field.h. */
bool update_check_fixed(const struct object *old, const struct object *new_object,
			const struct fixed_field *fixed, struct violations *found);

/* All that its kind says of an update. Return: as in field.h. */
bool update_check(const struct object *old, const struct object *new_object,
		  struct violations *found);
