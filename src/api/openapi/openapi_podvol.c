/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_podvol - the document of podvol's own API, made of its routes and of the columns of views
 *
 * Nothing here names a path, a parameter or a member. What a path answers with other Accept headers
 * than that of JSON or YAML (a Table, lines of a watch) is not described.
 */
#include "api/openapi/openapi.h"

#include "api/route.h"

#include <stdio.h>
#include <string.h>

static const char *const types[] = { "application/json", "application/yaml" };

/* ---- rows of views ---- */

static void add_row_schema(struct cJSON *definitions, const struct view_columns *rows,
			   const char *name)
{
	struct cJSON *definition = json_add_object(definitions, name), *properties;

	(void) json_set_string(definition, "type", "object");
	properties = json_add_object(definition, "properties");
	for (size_t i = 0; i < rows->count; i++) {
		const struct view_column *column = &rows->columns[i];
		const struct schema_field field = { .type = column->type, .of = column->of };
		struct cJSON *member;

		if (!*column->key || json_get(properties, column->key))
			continue;
		member = json_add_object(properties, column->key);
		openapi_add_member(member, &field, definitions);
	}
}

static void add_list_schema(struct cJSON *definitions, const char *row, const char *name)
{
	const struct schema_field metadata = { .type = SCHEMA_OBJECT,
					       .of = &openapi_list_meta_schema };
	struct cJSON *definition = json_add_object(definitions, name), *properties, *items;

	(void) json_set_string(definition, "type", "object");
	properties = json_add_object(definition, "properties");
	items = json_add_object(properties, "items");
	(void) json_set_string(items, "type", "array");
	openapi_refer(json_add_object(items, "items"), row, OPENAPI_V3);
	openapi_add_member(json_add_object(properties, "metadata"), &metadata, definitions);
	(void) json_set_string(json_add_array(definition, "required"), NULL, "items");
}

static void refer_to_rows(struct cJSON *schema, const struct view_columns *rows, bool one,
			  struct cJSON *definitions)
{
	char row[OPENAPI_NAME_BYTES], list[OPENAPI_NAME_BYTES];

	(void) snprintf(row, sizeof(row), "%s.%s", PODVOL_PACKAGE, rows->item);
	(void) snprintf(list, sizeof(list), "%s.%sList", PODVOL_PACKAGE, rows->item);
	if (!json_get(definitions, row))
		add_row_schema(definitions, rows, row);
	if (!one && !json_get(definitions, list))
		add_list_schema(definitions, row, list);
	openapi_refer(schema, one ? row : list, OPENAPI_V3);
}

/* ---- parts of an operation ---- */

static void add_parameter(struct cJSON *list, const char *in, const char *name,
			  const struct route_parameter *row)
{
	const struct schema_field field = { .type = row ? row->type : SCHEMA_STRING };
	struct cJSON *parameter = json_add_object(list, NULL);

	(void) json_set_string(parameter, "name", name);
	(void) json_set_string(parameter, "in", in);
	(void) json_set_bool(parameter, "required", !row || row->required);
	if (row)
		(void) json_set_string(parameter, "description", row->description);
	openapi_add_member(json_add_object(parameter, "schema"), &field, NULL);
}

static void add_parameters(struct cJSON *operation, const struct route *route)
{
	struct cJSON *list = json_add_array(operation, "parameters");
	const struct route_parameter *row;
	const char *at = route->pattern;
	size_t next = 0;

	while ((at = strchr(at, '{'))) {
		char name[OPENAPI_NAME_BYTES];

		(void) snprintf(name, sizeof(name), "%.*s", (int) strcspn(at + 1, "}"), at + 1);
		add_parameter(list, "path", name, NULL);
		at++;
	}
	while ((row = route_next_parameter(route, &next)))
		add_parameter(list, "query", row->name, row);
}

/* By a name: generators of clients make a type of it. */
static void refer_to_either(struct cJSON *schema, const struct view_columns *rows,
			    struct cJSON *definitions)
{
	char name[OPENAPI_NAME_BYTES];
	struct cJSON *either;

	(void) snprintf(name, sizeof(name), "%s.%sListOrStatus", PODVOL_PACKAGE, rows->item);
	openapi_refer(schema, name, OPENAPI_V3);
	if (json_get(definitions, name))
		return;
	either = json_add_array(json_add_object(definitions, name), "anyOf");
	refer_to_rows(json_add_object(either, NULL), rows, false, definitions);
	openapi_refer(json_add_object(either, NULL), OPENAPI_META "Status", OPENAPI_V3);
}

static void fill_answer(struct cJSON *schema, const struct route *route, struct cJSON *definitions)
{
	const struct schema_field field = { .type = SCHEMA_OBJECT, .of = route->answer };

	if (route->rows && route->or_status)
		refer_to_either(schema, route->rows, definitions);
	else if (route->rows)
		refer_to_rows(schema, route->rows, route->one_row, definitions);
	else if (route->answer)
		openapi_add_member(schema, &field, definitions);
	else
		openapi_refer(schema, OPENAPI_META "Status", OPENAPI_V3);
}

/* @route: NULL for a refusal. */
static void add_response(struct cJSON *responses, const char *code, const char *text,
			 const struct route *route, struct cJSON *definitions)
{
	struct cJSON *response = json_add_object(responses, code), *content;

	(void) json_set_string(response, "description", text);
	content = json_add_object(response, "content");
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		struct cJSON *schema =
			json_add_object(json_add_object(content, types[i]), "schema");

		if (route)
			fill_answer(schema, route, definitions);
		else
			openapi_refer(schema, OPENAPI_META "Status", OPENAPI_V3);
	}
}

static void add_responses(struct cJSON *operation, const struct route *route,
			  struct cJSON *definitions)
{
	struct cJSON *responses = json_add_object(operation, "responses");

	if (route->code == CODE_201)
		add_response(responses, "201", "Created", route, definitions);
	else
		add_response(responses, "200", "OK", route, definitions);
	if (route->code == CODE_202)
		add_response(responses, "202", "With timeout=0: not done yet", route, definitions);
	add_response(responses, "default", "Why not", NULL, definitions);
}

static void add_body(struct cJSON *operation, const struct route *route, struct cJSON *definitions)
{
	const struct schema_field field = { .type = SCHEMA_OBJECT, .of = route->body };
	struct cJSON *content =
		json_add_object(json_add_object(operation, "requestBody"), "content");

	openapi_add_member(json_add_object(json_add_object(content, types[0]), "schema"), &field,
			   definitions);
	if (route->takes_yaml)
		openapi_add_member(json_add_object(json_add_object(content, types[1]), "schema"),
				   &field, definitions);
}

/* A token by TLS; the unix socket knows its clients. */
void openapi_add_security(struct cJSON *document)
{
	struct cJSON *schemes =
		json_add_object(json_ensure_object(document, "components"), "securitySchemes");
	struct cJSON *token = json_add_object(schemes, "token"), *either;

	(void) json_set_string(token, "type", "http");
	(void) json_set_string(token, "scheme", "bearer");
	either = json_add_array(document, "security");
	(void) json_add_object(either, NULL);
	(void) json_add_array(json_add_object(either, NULL), "token");
}

void openapi_add_podvol(struct cJSON *paths, struct cJSON *definitions)
{
	openapi_add_meta(definitions, OPENAPI_V3);
	for (const struct route *route = podvol_routes; route->pattern; route++) {
		char path[OPENAPI_NAME_BYTES];
		struct cJSON *operation;

		(void) snprintf(path, sizeof(path), "/%s", route->pattern);
		operation = json_add_object(json_ensure_object(paths, path),
					    api_method_name(route->method));
		(void) json_set_string(operation, "operationId", route->operation);
		(void) json_set_string(operation, "summary", route->summary);
		(void) json_set_string(json_add_array(operation, "tags"), NULL, "podvol");
		add_parameters(operation, route);
		if (route->body)
			add_body(operation, route, definitions);
		add_responses(operation, route, definitions);
	}
}
