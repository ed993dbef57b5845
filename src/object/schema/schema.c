/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema - see schema.h
 */
#include "object/schema/schema.h"

#include "object/json/base64.h"
#include "object/json/json_tree.h"
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

static bool wrong_type(const struct field *field, const char *wanted)
{
	char detail[80];

	if (json_is_lost(field->item)) /* its maker had no memory for a member */
		return violations_broken(field->found, -ENOMEM);
	(void) snprintf(detail, sizeof(detail), "must be %s, not %s", wanted,
			type_name(field->item));
	return field_invalid(field, json_string(field->item, NULL), detail);
}

static bool apply_item(const struct schema_field *type, const struct field *field);

static bool apply_elements(const struct schema_field *element, const struct field *field)
{
	if (!json_is_array(field->item))
		return wrong_type(field, "a list");
	FIELD_FOREACH (at, field)
		if (!apply_item(element, &at))
			return false;
	return true;
}

static bool apply_values(const struct schema_field *value, const struct field *field)
{
	if (!json_is_object(field->item))
		return wrong_type(field, "a map");
	FIELD_FOREACH (at, field) {
		struct field hidden = *field;

		hidden.item = at.item;
		if (!apply_item(value, field->found->is_secret ? &hidden : &at))
			return false;
	}
	return true;
}

static bool apply_bytes(const struct field *field)
{
	size_t length;

	if (!json_is_string(field->item))
		return wrong_type(field, "a string of base64");
	return base64_measure(field_text(field), &length) ||
	       field_invalid(field, NULL, "illegal base64 data");
}

static bool apply_time(const struct field *field)
{
	if (!json_is_string(field->item))
		return wrong_type(field, "a time");
	return timestamp_is_valid(field_text(field)) ||
	       field_invalid(field, field_text(field),
			     "must be a time of RFC 3339: \"2006-01-02T15:04:05Z\"");
}

static bool apply_quantity(const struct field *field)
{
	if (json_is_number(field->item)) /* the API writes them as strings; the text is kept */
		json_set_type((struct cJSON *) (uintptr_t) field->item, cJSON_String);
	return json_is_string(field->item) || wrong_type(field, "a quantity");
}

static bool apply_object(const struct schema *schema, const struct field *field)
{
	if (!json_is_object(field->item))
		return wrong_type(field, "a map");
	return !schema || schema_apply(schema, field);
}

static bool apply_item(const struct schema_field *type, const struct field *field)
{
	static const struct schema_field string = { .type = SCHEMA_STRING };
	static const struct schema_field bytes = { .type = SCHEMA_BYTES };
	static const struct schema_field integer = { .type = SCHEMA_INTEGER };
	static const struct schema_field quantity = { .type = SCHEMA_QUANTITY };
	const struct schema_field element = { .type = SCHEMA_OBJECT, .of = type->of };
	int64_t number;

	switch (type->type) {
	case SCHEMA_STRING:
		return json_is_string(field->item) || wrong_type(field, "a string");
	case SCHEMA_BYTES:
		return apply_bytes(field);
	case SCHEMA_TIME:
	case SCHEMA_MICRO_TIME:
		return apply_time(field);
	case SCHEMA_BOOL:
		return json_is_bool(field->item) || wrong_type(field, "a boolean");
	case SCHEMA_INTEGER:
		return json_int64(field->item, &number) || wrong_type(field, "an integer");
	case SCHEMA_INT_OR_STRING:
		return json_is_string(field->item) || json_int64(field->item, &number) ||
		       wrong_type(field, "an integer or a string");
	case SCHEMA_QUANTITY:
		return apply_quantity(field);
	case SCHEMA_STRINGS:
		return apply_elements(&string, field);
	case SCHEMA_INTEGERS:
		return apply_elements(&integer, field);
	case SCHEMA_BYTES_MAP:
		return apply_values(&bytes, field);
	case SCHEMA_STRING_MAP:
		return apply_values(&string, field);
	case SCHEMA_QUANTITY_MAP:
		return apply_values(&quantity, field);
	case SCHEMA_OBJECT:
		return apply_object(type->of, field);
	case SCHEMA_OBJECTS:
		return apply_elements(&element, field);
	}
	assert(!"a shape has an unknown type");
	return false;
}

static const struct schema_field *find(const struct schema *schema, const char *name)
{
	for (const struct schema_field *known = schema->fields; known->name; known++) {
		if (known->name[0] == name[0] && strcmp(known->name, name) == 0)
			return known;
	}
	return NULL;
}

bool schema_apply(const struct schema *schema, const struct field *field)
{
	struct cJSON *object = (struct cJSON *) (uintptr_t) field->item, *next;

	assert(schema && json_is_object(object));
	for (struct cJSON *item = object->child; item; item = next) {
		const struct schema_field *known = find(schema, json_key(item));

		next = item->next;
		if (!known)
			continue;
		if (json_is_null(item))
			json_free(cJSON_DetachItemViaPointer(object, item));
		else if (!apply_item(known, FIELD_OF(field, known->name, item)))
			return false;
	}
	return true;
}
