/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_schema - schemas as JSON schemas
 *
 * A schema with a name becomes a definition and is referred to; one without is written out where it
 * is used. The two versions of OpenAPI differ in where definitions stand, in how a reference
 * carries a description, and in that version 2 cannot say "either".
 */
#include "api/openapi/openapi.h"

#include "base/cleanup.h"

#include <assert.h>
#include <stdio.h>

#define QUANTITY      "io.k8s.apimachinery.pkg.api.resource.Quantity"
#define INT_OR_STRING "io.k8s.apimachinery.pkg.util.intstr.IntOrString"

/* What is the same all the way down from one kind. */
struct walk {
	struct cJSON *definitions;
	const char *package; /* of schemas that name none */
	enum openapi_version version;
};

void openapi_kind_name(const struct kind_row *row, const char *suffix, char ret[OPENAPI_NAME_BYTES])
{
	(void) snprintf(ret, OPENAPI_NAME_BYTES, "%s.%s%s", row->schema_package, row->name, suffix);
}

void openapi_refer(struct cJSON *entry, const char *definition, enum openapi_version version)
{
	char text[OPENAPI_NAME_BYTES + 32];

	(void) snprintf(text, sizeof(text), "%s%s",
			version == OPENAPI_V2 ? "#/definitions/" : "#/components/schemas/",
			definition);
	(void) json_set_string(entry, "$ref", text);
}

/* In version 3 what stands beside a reference does not count, so there the reference is wrapped. */
static void refer_from_field(struct cJSON *entry, const char *definition, const struct walk *walk)
{
	if (walk->version == OPENAPI_V3 && json_get(entry, "description"))
		entry = json_add_object(json_add_array(entry, "allOf"), NULL);
	openapi_refer(entry, definition, walk->version);
}

/* ---- types that have no fields ---- */

static const struct plain_row {
	const char *type, *format; /* the schema itself; format may be NULL */
	const char *definition;    /* not NULL: stands there, and is referred to */
	const char *description;
	const char *other_type; /* version 3 allows it as well */
} plain_rows[] = {
	[SCHEMA_STRING] = { .type = "string" },
	[SCHEMA_BYTES] = { .type = "string", .format = "byte" },
	[SCHEMA_TIME] = { .type = "string",
			  .format = "date-time",
			  .definition = OPENAPI_META "Time",
			  .description = "A time as of RFC 3339, to the second." },
	[SCHEMA_MICRO_TIME] = { .type = "string",
				.format = "date-time",
				.definition = OPENAPI_META "MicroTime",
				.description = "A time as of RFC 3339, to the microsecond." },
	[SCHEMA_INT_OR_STRING] = { .type = "string",
				   .format = "int-or-string",
				   .definition = INT_OR_STRING,
				   .description = "A number or a text.",
				   .other_type = "integer" },
	[SCHEMA_BOOL] = { .type = "boolean" },
	[SCHEMA_INTEGER] = { .type = "integer", .format = "int64" },
	[SCHEMA_QUANTITY] = { .type = "string",
			      .definition = QUANTITY,
			      .description = "A number with a suffix: 100m, 1.5, 10Gi, 2e3.",
			      .other_type = "number" },
};

static void fill_plain(struct cJSON *entry, const struct plain_row *row, const struct walk *walk)
{
	if (row->other_type && walk->version == OPENAPI_V3) {
		struct cJSON *either = json_add_array(entry, "oneOf");

		(void) json_set_string(json_add_object(either, NULL), "type", row->type);
		(void) json_set_string(json_add_object(either, NULL), "type", row->other_type);
	} else {
		(void) json_set_string(entry, "type", row->type);
	}
	if (row->format)
		(void) json_set_string(entry, "format", row->format);
}

static void add_plain(struct cJSON *entry, enum schema_type type, const struct walk *walk)
{
	const struct plain_row *row;
	struct cJSON *definition;

	assert((size_t) type < ARRAY_SIZE(plain_rows) && plain_rows[type].type);
	row = &plain_rows[type];
	if (!row->definition) {
		fill_plain(entry, row, walk);
		return;
	}
	refer_from_field(entry, row->definition, walk);
	if (json_get(walk->definitions, row->definition))
		return;
	definition = json_add_object(walk->definitions, row->definition);
	(void) json_set_string(definition, "description", row->description);
	fill_plain(definition, row, walk);
}

/* ---- schemas ---- */

static void fill_schema(struct cJSON *entry, const struct schema *schema, const struct walk *walk);

/* The definition of a schema with a name is made when it is first met, also when no @entry does. */
static void add_schema(struct cJSON *entry, const struct schema *schema, const struct walk *walk)
{
	char name[OPENAPI_NAME_BYTES];
	struct cJSON *definition;

	if (!schema) {
		(void) json_set_string(entry, "type", "object");
		return;
	}
	if (!schema->name) {
		fill_schema(entry, schema, walk);
		return;
	}
	(void) snprintf(name, sizeof(name), "%s.%s", schema->package ?: walk->package,
			schema->name);
	if (entry)
		refer_from_field(entry, name, walk);
	/* It is there before it is filled: a schema may contain itself. Without memory for it the
	 * whole document is lost, and the walk must end. */
	if (json_get(walk->definitions, name))
		return;
	definition = json_add_object(walk->definitions, name);
	if (definition)
		fill_schema(definition, schema, walk);
}

static struct cJSON *add_list(struct cJSON *entry)
{
	(void) json_set_string(entry, "type", "array");
	return json_add_object(entry, "items");
}

static struct cJSON *add_map(struct cJSON *entry)
{
	(void) json_set_string(entry, "type", "object");
	return json_add_object(entry, "additionalProperties");
}

static void add_type(struct cJSON *entry, const struct schema_field *field, const struct walk *walk)
{
	switch (field->type) {
	case SCHEMA_STRINGS:
		add_plain(add_list(entry), SCHEMA_STRING, walk);
		return;
	case SCHEMA_INTEGERS:
		add_plain(add_list(entry), SCHEMA_INTEGER, walk);
		return;
	case SCHEMA_STRING_MAP:
		add_plain(add_map(entry), SCHEMA_STRING, walk);
		return;
	case SCHEMA_BYTES_MAP:
		add_plain(add_map(entry), SCHEMA_BYTES, walk);
		return;
	case SCHEMA_QUANTITY_MAP:
		add_plain(add_map(entry), SCHEMA_QUANTITY, walk);
		return;
	case SCHEMA_OBJECT:
		add_schema(entry, field->of, walk);
		return;
	case SCHEMA_OBJECTS:
		add_schema(add_list(entry), field->of, walk);
		return;
	case SCHEMA_STRING:
	case SCHEMA_BYTES:
	case SCHEMA_TIME:
	case SCHEMA_MICRO_TIME:
	case SCHEMA_INT_OR_STRING:
	case SCHEMA_BOOL:
	case SCHEMA_INTEGER:
	case SCHEMA_QUANTITY:
		add_plain(entry, field->type, walk);
		return;
	}
	assert(!"a shape has an unknown type");
}

void openapi_add_member(struct cJSON *entry, const struct schema_field *field,
			struct cJSON *definitions)
{
	const struct walk walk = { definitions, NULL, OPENAPI_V3 };

	assert(field);
	if (field->description)
		(void) json_set_string(entry, "description", field->description);
	add_type(entry, field, &walk);
}

/* What a client that makes a strategic merge patch must know of a list. */
static void add_merging(struct cJSON *entry, const struct schema_field *field)
{
	if (field->merge_key && *field->merge_key)
		(void) json_set_string(entry, "x-kubernetes-patch-merge-key", field->merge_key);
	if (field->merge_key)
		(void) json_set_string(entry, "x-kubernetes-patch-strategy",
				       field->flags & RETAIN_KEYS ? "merge,retainKeys" : "merge");
	else if (field->flags & RETAIN_KEYS)
		(void) json_set_string(entry, "x-kubernetes-patch-strategy", "retainKeys");
}

static void fill_schema(struct cJSON *entry, const struct schema *schema, const struct walk *walk)
{
	struct cJSON *properties, *required = NULL;

	if (schema->description && !json_get(entry, "description"))
		(void) json_set_string(entry, "description", schema->description);
	(void) json_set_string(entry, "type", "object");
	if (!schema->fields[0].name)
		return;
	properties = json_add_object(entry, "properties");
	for (const struct schema_field *field = schema->fields; field->name; field++) {
		struct cJSON *property = json_add_object(properties, field->name);

		if (field->description)
			(void) json_set_string(property, "description", field->description);
		add_type(property, field, walk);
		add_merging(property, field);
		if (field->flags & REQUIRED) {
			required = required ?: json_add_array(entry, "required");
			(void) json_set_string(required, NULL, field->name);
		}
	}
}

/* ---- kinds ---- */

static void fill_kind(struct cJSON *tree, const char *suffix, const struct kind_row *row)
{
	char name[OPENAPI_NAME_BYTES];

	(void) snprintf(name, sizeof(name), "%s%s", row->name, suffix);
	(void) json_set_string(tree, "group", row->group);
	(void) json_set_string(tree, "kind", name);
	(void) json_set_string(tree, "version", row->version);
}

void openapi_set_kind(struct cJSON *tree, const char *key, const struct kind_row *row)
{
	fill_kind(json_add_object(tree, key), "", row);
}

/* A definition may stand for several kinds, so there it is a list. */
static void set_kinds(struct cJSON *definition, const char *suffix, const struct kind_row *row)
{
	struct cJSON *kinds = json_add_array(definition, "x-kubernetes-group-version-kind");

	fill_kind(json_add_object(kinds, NULL), suffix, row);
}

static void add_text_property(struct cJSON *properties, const char *name, const char *description)
{
	struct cJSON *property = json_add_object(properties, name);

	(void) json_set_string(property, "description", description);
	(void) json_set_string(property, "type", "string");
}

/* Lists have no schema: they are one for all kinds but for what they hold. */
static void add_type_fields(struct cJSON *definition)
{
	struct cJSON *properties = json_ensure_object(definition, "properties");

	add_text_property(properties, "apiVersion",
			  "Group and version of this representation of an object.");
	add_text_property(properties, "kind", "Name of the kind in its group.");
}

static void add_list_kind(const struct kind_row *row, const struct walk *walk)
{
	const struct schema_field metadata = { .type = SCHEMA_OBJECT,
					       .of = &openapi_list_meta_schema };
	char name[OPENAPI_NAME_BYTES], text[OPENAPI_NAME_BYTES];
	struct cJSON *list, *items;

	openapi_kind_name(row, "List", name);
	list = json_add_object(walk->definitions, name);
	(void) snprintf(text, sizeof(text), "Objects of kind %s.", row->name);
	(void) json_set_string(list, "description", text);
	(void) json_set_string(list, "type", "object");
	add_type_fields(list);
	items = json_add_object(json_ensure_object(list, "properties"), "items");
	openapi_kind_name(row, "", name);
	openapi_refer(add_list(items), name, walk->version);
	add_type(json_add_object(json_ensure_object(list, "properties"), "metadata"), &metadata,
		 walk);
	(void) json_set_string(json_add_array(list, "required"), NULL, "items");
	set_kinds(list, "List", row);
}

void openapi_add_kind(struct cJSON *definitions, const struct kind_row *row,
		      enum openapi_version version)
{
	const struct walk walk = { definitions, row->schema_package, version };
	char name[OPENAPI_NAME_BYTES];
	struct cJSON *definition;

	assert(row->schema_package && row->schema);
	openapi_kind_name(row, "", name);
	definition = json_add_object(definitions, name);
	if (row->description)
		(void) json_set_string(definition, "description", row->description);
	fill_schema(definition, row->schema, &walk);
	set_kinds(definition, "", row);
	add_list_kind(row, &walk);
}

void openapi_add_meta(struct cJSON *definitions, enum openapi_version version)
{
	const struct walk walk = { definitions, NULL, version };

	for (size_t i = 0; openapi_meta_schemas[i]; i++)
		add_schema(NULL, openapi_meta_schemas[i], &walk);
}
