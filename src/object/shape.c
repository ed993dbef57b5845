/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape - see shape.h
 */
#include "object/shape.h"

#include "object/base64.h"
#include "object/json_tree.h"
#include "object/timestamp.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *type_name(const struct cJSON *item)
{
	if (json_is_string(item))
		return "a string";
	if (json_is_bool(item))
		return "a boolean";
	if (json_is_number(item))
		return "a number";
	if (json_is_object(item))
		return "a map";
	return json_is_array(item) ? "a list" : "null";
}

static int wrong_type(const struct field *field, const char *wanted, const struct cJSON *item,
		      struct violations *found)
{
	char detail[80];

	if (json_is_lost(item)) /* its maker had no memory for a member */
		return violations_broken(found, -ENOMEM);
	(void) snprintf(detail, sizeof(detail), "must be %s, not %s", wanted, type_name(item));
	return field_invalid(field, json_is_string(item) ? item->valuestring : NULL, detail, found);
}

static int apply_item(const struct shape_field *type, struct cJSON *item, const struct field *field,
		      struct violations *found);

static int apply_elements(const struct shape_field *element, struct cJSON *list,
			  const struct field *field, struct violations *found)
{
	size_t index = 0;

	if (!json_is_array(list))
		return wrong_type(field, "a list", list, found);
	for (struct cJSON *item = list->child; item; item = item->next) {
		int r = apply_item(element, item, FIELD_AT(field, index++), found);

		if (r < 0)
			return r;
	}
	return 0;
}

static int apply_values(const struct shape_field *value, struct cJSON *map,
			const struct field *field, struct violations *found)
{
	if (!json_is_object(map))
		return wrong_type(field, "a map", map, found);
	for (struct cJSON *item = map->child; item; item = item->next) {
		int r = apply_item(value, item, FIELD_KEY(field, json_key(item)), found);

		if (r < 0)
			return r;
	}
	return 0;
}

static int apply_bytes(const struct cJSON *item, const struct field *field,
		       struct violations *found)
{
	size_t length;

	if (!json_is_string(item))
		return wrong_type(field, "a string of base64", item, found);
	if (!base64_measure(item->valuestring, &length))
		return field_invalid(field, NULL, "illegal base64 data", found);
	return 0;
}

static int apply_time(const struct cJSON *item, const struct field *field, struct violations *found)
{
	if (!json_is_string(item))
		return wrong_type(field, "a time", item, found);
	if (!timestamp_is_valid(item->valuestring))
		return field_invalid(field, item->valuestring,
				     "must be a time of RFC 3339: \"2006-01-02T15:04:05Z\"", found);
	return 0;
}

static int apply_quantity(struct cJSON *item, const struct field *field, struct violations *found)
{
	if (json_is_number(item))
		item->type = cJSON_String; /* the API writes them as strings; the text is kept */
	return json_is_string(item) ? 0 : wrong_type(field, "a quantity", item, found);
}

static int apply_item(const struct shape_field *type, struct cJSON *item, const struct field *field,
		      struct violations *found)
{
	static const struct shape_field string = { .type = SHAPE_STRING };
	static const struct shape_field bytes = { .type = SHAPE_BYTES };
	static const struct shape_field integer = { .type = SHAPE_INTEGER };
	static const struct shape_field quantity = { .type = SHAPE_QUANTITY };
	const struct shape_field element = { .type = SHAPE_OBJECT, .of = type->of };
	int64_t number;

	switch (type->type) {
	case SHAPE_STRING:
		return json_is_string(item) ? 0 : wrong_type(field, "a string", item, found);
	case SHAPE_BYTES:
		return apply_bytes(item, field, found);
	case SHAPE_TIME:
	case SHAPE_MICRO_TIME:
		return apply_time(item, field, found);
	case SHAPE_BOOL:
		return json_is_bool(item) ? 0 : wrong_type(field, "a boolean", item, found);
	case SHAPE_INTEGER:
		return json_int64(item, &number) ? 0 : wrong_type(field, "an integer", item, found);
	case SHAPE_INT_OR_STRING:
		return json_is_string(item) || json_int64(item, &number)
			       ? 0
			       : wrong_type(field, "an integer or a string", item, found);
	case SHAPE_QUANTITY:
		return apply_quantity(item, field, found);
	case SHAPE_STRINGS:
		return apply_elements(&string, item, field, found);
	case SHAPE_INTEGERS:
		return apply_elements(&integer, item, field, found);
	case SHAPE_BYTES_MAP:
		return apply_values(&bytes, item, field, found);
	case SHAPE_STRING_MAP:
		return apply_values(&string, item, field, found);
	case SHAPE_QUANTITY_MAP:
		return apply_values(&quantity, item, field, found);
	case SHAPE_OBJECT:
		if (!json_is_object(item))
			return wrong_type(field, "a map", item, found);
		return type->of ? shape_apply(type->of, item, field, found) : 0;
	case SHAPE_OBJECTS:
		return apply_elements(&element, item, field, found);
	}
	assert(!"a shape has an unknown type");
	return -EINVAL;
}

static const struct shape_field *find(const struct shape *shape, const char *name)
{
	for (const struct shape_field *known = shape->fields; known->name; known++) {
		if (strcmp(known->name, name) == 0)
			return known;
	}
	return NULL;
}

int shape_apply(const struct shape *shape, struct cJSON *object, const struct field *field,
		struct violations *found)
{
	struct cJSON *next;

	assert(shape && json_is_object(object));
	for (struct cJSON *item = object->child; item; item = next) {
		const struct shape_field *known = find(shape, json_key(item));
		int r;

		next = item->next;
		if (!known)
			continue;
		if (json_is_null(item)) {
			json_free(cJSON_DetachItemViaPointer(object, item));
			continue;
		}
		r = apply_item(known, item, FIELD(field, known->name), found);
		if (r < 0)
			return r;
	}
	return 0;
}
