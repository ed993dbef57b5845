/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field - where in an object something is wrong, and Kubernetes' own words for it
 *
 * Only src/object/ uses it. A field is a place and what stands there. It is a chain on the stack,
 * spelled out only when something is wrong: FIELD(FIELD_AT(FIELD(object, "spec.volumes"), ...))
 * becomes "spec.volumes[2].hostPath.type".
 */
#pragma once

#include "object/json/json.h"
#include "object/schema/violation.h"

struct field {
	const struct field *parent; /* NULL: the object itself */
	const char *name;           /* NULL: an element */
	size_t index;
	bool is_key;              /* a key of a map: [name] */
	const struct cJSON *item; /* what stands there; NULL: nothing */
	struct violations *found; /* where what is wrong is noted */
};

static inline struct field field_with(const struct field *parent, const char *name,
				      const struct cJSON *item)
{
	return (struct field){ parent, name, 0, false, item, parent->found };
}

static inline struct field field_with_key(const struct field *parent, const char *key)
{
	return (struct field){ parent, key, 0, true, json_get(parent->item, key), parent->found };
}

/* Valid as long as the block they are written in. */
#define FIELD_ROOT(tree_, found_) (&(const struct field){ .item = (tree_), .found = (found_) })
/* @path_: a member, or a path to one below it such as "spec.source" */
#define FIELD(parent_, path_) FIELD_OF(parent_, path_, json_get_path((parent_)->item, path_))
#define FIELD_OF(parent_, name_, item_)                                                            \
	((const struct field[]){ field_with(parent_, name_, item_) })
#define FIELD_KEY(parent_, key_) ((const struct field[]){ field_with_key(parent_, key_) })

/* The elements of a list, or the values of a map. */
#define FIELD_FOREACH(at_, parent_)                                                                \
	for (struct field at_ = field_first(parent_); at_.item; field_next(&at_))
struct field field_first(const struct field *parent);
void field_next(struct field *at);

/* The string that stands there; "" for none. */
static inline const char *field_text(const struct field *field)
{
	return json_string(field->item, "");
}

/* "spec.volumes[2].hostPath.type"; cut when too long. */
void field_spell(const struct field *field, char path[FIELD_PATH_BYTES]);

/* All note a violation at @field. @detail may be ""; @value NULL where a value says nothing.
 *
 * Return: false when the first is enough or no more can be noted, which ends the look; true when
 * all are wanted: the caller goes on as if the field were right, past what depends on it. So with
 * all checks below: true, go on. */
bool field_required(const struct field *field, const char *detail);
/* The field, or this value of it, may not be here. */
bool field_forbidden(const struct field *field, const char *detail);
bool field_invalid(const struct field *field, const char *value, const char *detail);
bool field_invalid_number(const struct field *field, int64_t value, const char *detail);
/* The value stands elsewhere in the same list. */
bool field_duplicate(const struct field *field, const char *value);
/* The value names something that is not there. */
bool field_not_found(const struct field *field, const char *value);
/* @supported: sorted, ended by NULL */
bool field_not_supported(const struct field *field, const char *value,
			 const char *const *supported);

/* More bytes, or elements, than there may be: "may not be more than 1048576 bytes". */
bool field_too_long(const struct field *field, const char *detail);

/* The look breaks off for another reason: want of memory. Return: false. */
bool violations_broken(struct violations *found, int error);

/* ---- the rules that many fields share; an empty or absent value passes only where said ---- */

/* A string that is not empty. */
bool field_check_present(const struct field *field);
/* A lowercase RFC 1123 label (63 bytes), subdomain (253 bytes). Absent: required. */
bool field_check_label(const struct field *field);
bool field_check_subdomain(const struct field *field);
/* The same of a part of what stands there, or of what becomes of it. */
bool field_check_subdomain_in(const struct field *field, const char *value);
bool field_is_label(const char *value);
bool field_is_subdomain(const char *value);
/* One of a list; absent or "" passes when @optional. */
bool field_check_one_of(const struct field *field, const char *const *supported, bool optional);
/* No component "..". */
bool field_check_no_backsteps(const struct field *field);
/* A relative path without "..". */
bool field_check_descending(const struct field *field);
/* A number between @least and @most; absent passes. */
bool field_check_range(const struct field *field, int64_t least, int64_t most);
/* A quantity that is not negative (more than zero when @positive); absent passes. */
bool field_check_quantity(const struct field *field, bool positive);
/* All elements of a list, or values of a map. */
bool field_check_each(const struct field *field, bool (*check)(const struct field *element));
/* No two elements have the same string @key. */
bool field_check_unique(const struct field *list, const char *key);
