/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_paths - the paths of a kind with their operations, parameters and answers
 *
 * What a client reads here it acts upon: kubectl leaves the checking of fields to the server when
 * the PATCH operation of the kind has the parameter fieldValidation. So an operation lists those
 * query parameters that are served, and no other.
 */
#include "api/openapi/openapi.h"

#include "base/cleanup.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Which parameters an operation takes; each group is described below. */
enum parameters {
	OF_LISTS = 1,
	OF_WRITES = 2,
	OF_DELETES = 4,
};

static const struct query_row {
	unsigned int of; /* set of enum parameters */
	const char *name, *type, *description;
} query_rows[] = {
	{ OF_LISTS, "allowWatchBookmarks", "boolean", "Have a watch send BOOKMARK events." },
	{ OF_LISTS, "continue", "string", "The token with which a list cut by limit ended." },
	{ OF_LISTS, "fieldSelector", "string", "Only objects with these fields: a=b,c!=d." },
	{ OF_LISTS, "labelSelector", "string", "Only objects with these labels: a=b,c in (d,e)." },
	{ OF_LISTS, "limit", "integer", "At most so many objects; the rest by continue." },
	{ OF_LISTS, "resourceVersion", "string", "Where a watch begins." },
	{ OF_LISTS, "resourceVersionMatch", "string", "How resourceVersion binds a list." },
	{ OF_LISTS, "sendInitialEvents", "boolean", "Start a watch with the objects that exist." },
	{ OF_LISTS, "timeoutSeconds", "integer", "When a watch ends." },
	{ OF_LISTS, "watch", "boolean", "Send changes as they happen instead of a list." },
	{ OF_WRITES | OF_DELETES, "dryRun", "string", "All: check everything, change nothing." },
	{ OF_WRITES, "fieldManager", "string", "The name of the writer; accepted and ignored." },
	{ OF_WRITES, "fieldValidation", "string",
	  "What happens to unknown and duplicate fields: Ignore, Warn or Strict." },
	{ OF_DELETES, "gracePeriodSeconds", "integer", "Seconds before the object is deleted." },
	{ OF_DELETES, "propagationPolicy", "string", "Orphan, Background or Foreground." },
};

enum body { BODY_NONE, BODY_OBJECT, BODY_PATCH, BODY_DELETE_OPTIONS };
enum answer { ANSWER_OBJECT, ANSWER_LIST, ANSWER_STATUS, ANSWER_DELETED };

/* The kinds of paths, which are also places of an operation. */
enum place {
	AT_COLLECTION = 1,
	AT_ALL = 2, /* the collection of all namespaces */
	AT_OBJECT = 4,
	AT_STATUS = 8,
};

static const struct operation_row {
	unsigned int at; /* set of enum place */
	const char *method, *verb, *action;
	unsigned int parameters;
	enum body body;
	enum answer answer;
	const char *code, *code_text;
} operation_rows[] = {
	{ AT_COLLECTION | AT_ALL, "get", "list", "list", OF_LISTS, BODY_NONE, ANSWER_LIST, "200",
	  "OK" },
	{ AT_COLLECTION, "post", "create", "post", OF_WRITES, BODY_OBJECT, ANSWER_OBJECT, "201",
	  "Created" },
	{ AT_COLLECTION, "delete", "delete", "deletecollection", OF_LISTS | OF_DELETES,
	  BODY_DELETE_OPTIONS, ANSWER_STATUS, "200", "OK" },
	{ AT_OBJECT | AT_STATUS, "get", "read", "get", 0, BODY_NONE, ANSWER_OBJECT, "200", "OK" },
	{ AT_OBJECT | AT_STATUS, "put", "replace", "put", OF_WRITES, BODY_OBJECT, ANSWER_OBJECT,
	  "200", "OK" },
	{ AT_OBJECT | AT_STATUS, "patch", "patch", "patch", OF_WRITES, BODY_PATCH, ANSWER_OBJECT,
	  "200", "OK" },
	{ AT_OBJECT, "delete", "delete", "delete", OF_DELETES, BODY_DELETE_OPTIONS, ANSWER_DELETED,
	  "200", "OK" },
};

static const char *const object_types[] = { "application/json", "application/yaml" };
static const char *const patch_types[] = { "application/json-patch+json",
					   "application/merge-patch+json",
					   "application/strategic-merge-patch+json" };

static void add_strings(struct cJSON *tree, const char *key, const char *const *strings,
			size_t count)
{
	struct cJSON *list = json_add_array(tree, key);

	for (size_t i = 0; i < count; i++)
		(void) json_set_string(list, NULL, strings[i]);
}

/* ---- schemas of bodies and answers ---- */

static void refer_to_kind(struct cJSON *schema, const struct kind_row *row, const char *suffix,
			  enum openapi_version version)
{
	char name[OPENAPI_NAME_BYTES];

	openapi_kind_name(row, suffix, name);
	openapi_refer(schema, name, version);
}

static void fill_body(struct cJSON *schema, enum body body, const struct kind_row *row,
		      enum openapi_version version)
{
	if (body == BODY_OBJECT)
		refer_to_kind(schema, row, "", version);
	else
		openapi_refer(schema,
			      body == BODY_PATCH ? OPENAPI_META "Patch"
						 : OPENAPI_META "DeleteOptions",
			      version);
}

static void fill_answer(struct cJSON *schema, enum answer answer, const struct kind_row *row,
			enum openapi_version version)
{
	if (answer == ANSWER_STATUS || (answer == ANSWER_DELETED && !row->returns_deleted))
		openapi_refer(schema, OPENAPI_META "Status", version);
	else
		refer_to_kind(schema, row, answer == ANSWER_LIST ? "List" : "", version);
}

/* ---- parameters ---- */

static void add_parameter(struct cJSON *list, const char *in, const struct query_row *row,
			  enum openapi_version version)
{
	struct cJSON *parameter = json_add_object(list, NULL), *schema = parameter;

	(void) json_set_string(parameter, "name", row->name);
	(void) json_set_string(parameter, "in", in);
	(void) json_set_string(parameter, "description", row->description);
	if (strcmp(in, "path") == 0)
		(void) json_set_bool(parameter, "required", true);
	if (version == OPENAPI_V3)
		schema = json_add_object(parameter, "schema");
	(void) json_set_string(schema, "type", row->type);
}

/* A body is a parameter in version 2, and a part of its own in version 3. */
static void add_body(struct cJSON *operation, struct cJSON *parameters, enum body body,
		     const struct kind_row *row, enum openapi_version version)
{
	bool required = body != BODY_DELETE_OPTIONS;
	const char *const *types = body == BODY_PATCH ? patch_types : object_types;
	size_t count = body == BODY_PATCH ? ARRAY_SIZE(patch_types) : ARRAY_SIZE(object_types);
	struct cJSON *tree, *content;

	if (version == OPENAPI_V2) {
		tree = json_add_object(parameters, NULL);
		(void) json_set_string(tree, "name", "body");
		(void) json_set_string(tree, "in", "body");
		(void) json_set_bool(tree, "required", required);
		fill_body(json_add_object(tree, "schema"), body, row, version);
		add_strings(operation, "consumes", types, count);
		return;
	}
	tree = json_add_object(operation, "requestBody");
	content = json_add_object(tree, "content");
	for (size_t i = 0; i < count; i++)
		fill_body(json_add_object(json_add_object(content, types[i]), "schema"), body, row,
			  version);
	(void) json_set_bool(tree, "required", required);
}

static void add_answer(struct cJSON *operation, const struct operation_row *what,
		       const struct kind_row *row, enum openapi_version version)
{
	struct cJSON *responses = json_add_object(operation, "responses");
	struct cJSON *response = json_add_object(responses, what->code), *content;

	(void) json_set_string(response, "description", what->code_text);
	if (version == OPENAPI_V2) {
		fill_answer(json_add_object(response, "schema"), what->answer, row, version);
		add_strings(operation, "produces", object_types, ARRAY_SIZE(object_types));
		return;
	}
	content = json_add_object(response, "content");
	for (size_t i = 0; i < ARRAY_SIZE(object_types); i++)
		fill_answer(json_add_object(json_add_object(content, object_types[i]), "schema"),
			    what->answer, row, version);
}

/* ---- operations ---- */

/* "snapshot.storage.k8s.io" is SnapshotStorage, "" is Core. */
static void camel_group(const char *group, char text[OPENAPI_NAME_BYTES])
{
	static const char own[] = ".k8s.io";
	size_t length = strlen(group), used = 0;
	bool first = true;

	if (length == 0) {
		(void) snprintf(text, OPENAPI_NAME_BYTES, "Core");
		return;
	}
	if (length > strlen(own) && strcmp(group + length - strlen(own), own) == 0)
		length -= strlen(own);
	for (size_t i = 0; i < length && used + 1 < OPENAPI_NAME_BYTES; i++) {
		if (group[i] != '.')
			text[used++] = first ? (char) toupper((unsigned char) group[i]) : group[i];
		first = group[i] == '.';
	}
	text[used] = '\0';
}

/* As the API server makes them: clients that generate code name their functions so. */
static void set_operation_id(struct cJSON *operation, const struct operation_row *what,
			     enum place at, const struct kind_row *row)
{
	bool collection = strcmp(what->action, "deletecollection") == 0;
	char group[OPENAPI_NAME_BYTES], text[2 * OPENAPI_NAME_BYTES + 128];

	camel_group(row->group, group);
	(void) snprintf(text, sizeof(text), "%s%s%c%s%s%s%s%s", what->verb, group,
			toupper((unsigned char) row->version[0]), row->version + 1,
			collection ? "Collection" : "",
			row->namespaced && at != AT_ALL ? "Namespaced" : "", row->name,
			at == AT_ALL      ? "ForAllNamespaces"
			: at == AT_STATUS ? "Status"
					  : "");
	(void) json_set_string(operation, "operationId", text);
}

static void add_operation(struct cJSON *path, const struct operation_row *what, enum place at,
			  const struct kind_row *row, enum openapi_version version)
{
	struct cJSON *operation = json_add_object(path, what->method), *parameters = NULL;

	set_operation_id(operation, what, at, row);
	for (size_t i = 0; i < ARRAY_SIZE(query_rows); i++) {
		if ((query_rows[i].of & what->parameters) == 0)
			continue;
		parameters = parameters ?: json_add_array(operation, "parameters");
		add_parameter(parameters, "query", &query_rows[i], version);
	}
	if (what->body != BODY_NONE)
		add_body(operation, parameters, what->body, row, version);
	add_answer(operation, what, row, version);
	(void) json_set_string(operation, "x-kubernetes-action", what->action);
	openapi_set_kind(operation, "x-kubernetes-group-version-kind", row);
}

static void add_path(struct cJSON *paths, enum place at, const struct kind_row *row,
		     enum openapi_version version)
{
	static const struct query_row name = { 0, "name", "string", "Name of the object." };
	static const struct query_row name_space = { 0, "namespace", "string",
						     "Namespace of the object." };
	bool in_namespace = row->namespaced && at != AT_ALL;
	bool of_object = at == AT_OBJECT || at == AT_STATUS;
	struct cJSON *path, *parameters = NULL;
	char text[OPENAPI_NAME_BYTES];

	(void) snprintf(text, sizeof(text), "/%s%s/%s%s/%s%s%s", *row->group ? "apis/" : "api",
			row->group, row->version, in_namespace ? "/namespaces/{namespace}" : "",
			row->plural, of_object ? "/{name}" : "", at == AT_STATUS ? "/status" : "");
	path = json_add_object(paths, text);
	for (size_t i = 0; i < ARRAY_SIZE(operation_rows); i++)
		if (operation_rows[i].at & at)
			add_operation(path, &operation_rows[i], at, row, version);
	if (of_object || in_namespace)
		parameters = json_add_array(path, "parameters");
	if (of_object)
		add_parameter(parameters, "path", &name, version);
	if (in_namespace)
		add_parameter(parameters, "path", &name_space, version);
}

void openapi_add_paths(struct cJSON *paths, const struct kind_row *row,
		       enum openapi_version version)
{
	assert(row->plural && row->version && *row->version);
	if (row->namespaced)
		add_path(paths, AT_ALL, row, version);
	add_path(paths, AT_COLLECTION, row, version);
	add_path(paths, AT_OBJECT, row, version);
	if (row->has_status)
		add_path(paths, AT_STATUS, row, version);
}
