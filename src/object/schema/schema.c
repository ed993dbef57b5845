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

static int wrong_type(const struct field *field, const char *wanted, const struct cJSON *item,
		      struct violations *found)
{
	char detail[80];

	if (json_is_lost(item)) /* its maker had no memory for a member */
		return violations_broken(found, -ENOMEM);
	(void) snprintf(detail, sizeof(detail), "must be %s, not %s", wanted, type_name(item));
	return field_invalid(field, json_is_string(item) ? item->valuestring : NULL, detail, found);
}

static int apply_item(const struct schema_field *type, struct cJSON *item,
		      const struct field *field, struct violations *found);

static int apply_elements(const struct schema_field *element, struct cJSON *list,
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

static int apply_values(const struct schema_field *value, struct cJSON *map,
			const struct field *field, struct violations *found)
{
	if (!json_is_object(map))
		return wrong_type(field, "a map", map, found);
	for (struct cJSON *item = map->child; item; item = item->next) {
		const struct field *entry = FIELD_KEY(field, json_key(item));
		int r = apply_item(value, item, found && found->is_secret ? field : entry, found);

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

static int apply_item(const struct schema_field *type, struct cJSON *item,
		      const struct field *field, struct violations *found)
{
	static const struct schema_field string = { .type = SCHEMA_STRING };
	static const struct schema_field bytes = { .type = SCHEMA_BYTES };
	static const struct schema_field integer = { .type = SCHEMA_INTEGER };
	static const struct schema_field quantity = { .type = SCHEMA_QUANTITY };
	const struct schema_field element = { .type = SCHEMA_OBJECT, .of = type->of };
	int64_t number;

	switch (type->type) {
	case SCHEMA_STRING:
		return json_is_string(item) ? 0 : wrong_type(field, "a string", item, found);
	case SCHEMA_BYTES:
		return apply_bytes(item, field, found);
	case SCHEMA_TIME:
	case SCHEMA_MICRO_TIME:
		return apply_time(item, field, found);
	case SCHEMA_BOOL:
		return json_is_bool(item) ? 0 : wrong_type(field, "a boolean", item, found);
	case SCHEMA_INTEGER:
		return json_int64(item, &number) ? 0 : wrong_type(field, "an integer", item, found);
	case SCHEMA_INT_OR_STRING:
		return json_is_string(item) || json_int64(item, &number)
			       ? 0
			       : wrong_type(field, "an integer or a string", item, found);
	case SCHEMA_QUANTITY:
		return apply_quantity(item, field, found);
	case SCHEMA_STRINGS:
		return apply_elements(&string, item, field, found);
	case SCHEMA_INTEGERS:
		return apply_elements(&integer, item, field, found);
	case SCHEMA_BYTES_MAP:
		return apply_values(&bytes, item, field, found);
	case SCHEMA_STRING_MAP:
		return apply_values(&string, item, field, found);
	case SCHEMA_QUANTITY_MAP:
		return apply_values(&quantity, item, field, found);
	case SCHEMA_OBJECT:
		if (!json_is_object(item))
			return wrong_type(field, "a map", item, found);
		return type->of ? schema_apply(type->of, item, field, found) : 0;
	case SCHEMA_OBJECTS:
		return apply_elements(&element, item, field, found);
	}
	assert(!"a shape has an unknown type");
	return -EINVAL;
}

static const struct schema_field *find(const struct schema *schema, const char *name)
{
	for (const struct schema_field *known = schema->fields; known->name; known++) {
		if (known->name[0] == name[0] && strcmp(known->name, name) == 0)
			return known;
	}
	return NULL;
}

int schema_apply(const struct schema *schema, struct cJSON *object, const struct field *field,
		 struct violations *found)
{
	struct cJSON *next;

	assert(schema && json_is_object(object));
	for (struct cJSON *item = object->child; item; item = next) {
		const struct schema_field *known = find(schema, json_key(item));
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
