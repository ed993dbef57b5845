/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field - where in an object something is wrong, and Kubernetes' own words for it
 *
 * Only src/object/ uses it. A path is a chain on the stack, spelled out only when something is
 * wrong: FIELD(FIELD_AT(FIELD(NULL, "spec"), ...)) becomes "spec.volumes[2].hostPath.type".
 */
#pragma once

#include "object/json/json.h"
#include "object/schema/violation.h"

struct field {
	const struct field *parent; /* NULL: outermost */
	const char *name;           /* NULL: an element */
	size_t index;
	bool is_key; /* a key of a map: [name] */
};

/* Valid as long as the block they are written in. */
#define FIELD(parent_, name_)     (&(const struct field){ .parent = (parent_), .name = (name_) })
#define FIELD_AT(parent_, index_) (&(const struct field){ .parent = (parent_), .index = (index_) })
#define FIELD_KEY(parent_, key_)                                                                   \
	(&(const struct field){ .parent = (parent_), .name = (key_), .is_key = true })

/* "spec.volumes[2].hostPath.type"; cut when too long. */
void field_spell(const struct field *field, char path[FIELD_PATH_BYTES]);

/* All note a violation at @field; @found may be NULL. @detail may be ""; @value NULL where a value
 * says nothing.
 *
 * Return: -EINVAL when the first is enough or no more can be noted, which ends the look; 0 when all
 * are wanted: the caller goes on as if the field were right, past what depends on it. */
int field_required(const struct field *field, const char *detail, struct violations *found);
/* The field, or this value of it, may not be here. */
int field_forbidden(const struct field *field, const char *detail, struct violations *found);
int field_invalid(const struct field *field, const char *value, const char *detail,
		  struct violations *found);
int field_invalid_number(const struct field *field, int64_t value, const char *detail,
			 struct violations *found);
/* The value stands elsewhere in the same list. */
int field_duplicate(const struct field *field, const char *value, struct violations *found);
/* The value names something that is not there. */
int field_not_found(const struct field *field, const char *value, struct violations *found);
/* @supported: sorted, ended by NULL */
int field_not_supported(const struct field *field, const char *value, const char *const *supported,
			struct violations *found);

/* More bytes, or elements, than there may be: "may not be more than 1048576 bytes". */
int field_too_long(const struct field *field, const char *detail, struct violations *found);

/* The look breaks off for another reason: want of memory. Return: @error. */
int violations_broken(struct violations *found, int error);

/* ---- the rules that many fields share; an empty or absent value passes only where said ---- */

/* A lowercase RFC 1123 label (63 bytes), subdomain (253 bytes). Absent: required. */
int field_check_label(const struct field *field, const char *value, struct violations *found);
int field_check_subdomain(const struct field *field, const char *value, struct violations *found);
/* One of a list; absent or "" passes when @optional. */
int field_check_one_of(const struct field *field, const char *value, const char *const *supported,
		       bool optional, struct violations *found);
/* No component "..". */
int field_check_no_backsteps(const struct field *field, const char *path, struct violations *found);
/* A relative path without "..". */
int field_check_descending(const struct field *field, const char *path, struct violations *found);
/* The number at @item is between @least and @most; absent passes. */
int field_check_range(const struct field *field, const struct cJSON *item, int64_t least,
		      int64_t most, struct violations *found);
/* A quantity that is not negative (more than zero when @positive); absent passes. */
int field_check_quantity(const struct field *field, const struct cJSON *item, bool positive,
			 struct violations *found);
