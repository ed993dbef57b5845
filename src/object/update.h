/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update - whether two versions of an object agree on what may not change
 *
 * Only src/object/ uses it.
 */
#pragma once

#include "object/schema/violation.h"

/**
 * update_is_same - compare one member of two versions
 * @member: "spec"
 * @hide:   removes from a copy of the member what may differ; called for both versions, with the
 *          old version's member beside it; NULL: nothing may
 * @ret:    the same in any order of members
 *
 * Return: 0; what @hide returned; -ENOMEM.
 */
int update_is_same(const struct object *old, const struct object *new_object, const char *member,
		   int (*hide)(struct cJSON *value, const struct cJSON *old_value), bool *ret);

/* A field that no update may change. */
struct fixed_field {
	const char *path; /* "spec.source"; names of members hold no dots */
	/* VIOLATION_FORBIDDEN or VIOLATION_INVALID, as Kubernetes has it for this field. */
	enum violation_type type;
	const char *text; /* NULL: "field is immutable" */
};

/* Notes each of @fixed (ended by a NULL path) that differs. Return: 0; -EINVAL; -ENOMEM. */
int update_check_fixed(const struct object *old, const struct object *new_object,
		       const struct fixed_field *fixed, struct violations *found);
