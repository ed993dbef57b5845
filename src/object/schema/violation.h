/* SPDX-License-Identifier: Apache-2.0 */
/*
 * violation - everything that is wrong with an object, one entry per field
 *
 * The maker of an object learns the first violation, as text in a struct failure. Who answers
 * its writer asks here for all of them, which costs a second pass over what is invalid anyway.
 */
#pragma once

#include "object/object.h"

enum violation_type {
	VIOLATION_REQUIRED,
	VIOLATION_INVALID,
	VIOLATION_DUPLICATE,
	VIOLATION_NOT_SUPPORTED,
	VIOLATION_FORBIDDEN,
	VIOLATION_NOT_FOUND,
	VIOLATION_TOO_LONG,
	VIOLATION_TYPE_COUNT
};

/* metav1.CauseType: "FieldValueRequired". */
const char *violation_reason(enum violation_type type);

enum {
	VIOLATIONS_MAX = 16,    /* of one object; what comes after is not looked for */
	VIOLATION_BYTES = 240,  /* a longer message is cut */
	FIELD_PATH_BYTES = 160, /* a longer path, too */
};

struct violation {
	enum violation_type type;
	char field[FIELD_PATH_BYTES];  /* "spec.containers[0].name" */
	char message[VIOLATION_BYTES]; /* "Invalid value: \"A\": must be ..." */
};

struct violations {
	bool want_all;  /* false: the first is enough */
	bool is_secret; /* no message shows a value, or a key of a map that the writer chose */
	int error;      /* -ENOMEM: the look broke off; 0 otherwise */
	size_t count;
	struct violation list[VIOLATIONS_MAX];
};

/**
 * object_violations - all that is wrong with an object on its own
 * @tree: as its writer sent it; read only
 * @ret:  overwritten
 *
 * Fields of a wrong type hide the rest: nothing else is looked at then. Pure; any thread.
 *
 * Return: 0, also when there are none; -EOPNOTSUPP no kind that is served; -ENOMEM.
 */
int object_violations(const struct cJSON *tree, struct violations *ret);

/* Does each known field have its type? Removes null fields from @tree. True when out of memory. */
bool object_types_fit(struct cJSON *tree, enum object_kind kind);

/**
 * object_update_violations - all that an update may not change
 *
 * Return: 0, also when there are none; -ENOMEM.
 */
int object_update_violations(const struct object *old, const struct object *new_object,
			     struct violations *ret);

/* Begin an empty look; the list itself is not written. */
static inline void violations_init(struct violations *violations, bool want_all)
{
	violations->want_all = want_all;
	violations->is_secret = false;
	violations->error = 0;
	violations->count = 0;
}

/* The first of them as a failure: "spec.x: Required value". Return: its error. */
int violations_to_failure(const struct violations *violations, struct failure *reterr);
