/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discovery - what is served, from the table of kinds: groups, versions, resources, verbs
 *
 * Each list comes as Kubernetes' own kinds (APIVersions, APIGroupList, APIGroup, APIResourceList)
 * or, where the client asks for it, all at once (APIGroupDiscoveryList, v2 and v2beta1). Nothing
 * here names a kind or a group. A group is served in one version; a second one would need a rule
 * for which is preferred.
 */
#include "api/exchange.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* What objects_handle() answers, for the object and for its status. */
static const char *const object_verbs[] = { "create", "delete", "deletecollection",
					    "get",    "list",   "patch",
					    "update", "watch",  NULL };
static const char *const status_verbs[] = { "get", "patch", "update", NULL };

/* The first kind of each group stands for the group. */
static bool is_first_of_group(const struct kind_row *row)
{
	for (int kind = 0; kind < (int) row->kind; kind++)
		if (strcmp(kind_row((enum object_kind) kind)->group, row->group) == 0)
			return false;
	return true;
}

/* The row that stands for a group, or NULL. */
static const struct kind_row *find_group(const char *group)
{
	for (int kind = 0; kind < KIND_COUNT; kind++)
		if (strcmp(kind_row((enum object_kind) kind)->group, group) == 0)
			return kind_row((enum object_kind) kind);
	return NULL;
}

static void set_strings(struct cJSON *parent, const char *key, const char *const *strings)
{
	struct cJSON *list;

	if (!strings)
		return;
	list = json_add_array(parent, key);
	for (; *strings; strings++)
		(void) json_set_string(list, NULL, *strings);
}

static struct cJSON *new_list(const char *kind, const char *api_version)
{
	struct cJSON *tree = json_new_object();

	(void) json_set_string(tree, "kind", kind);
	if (api_version)
		(void) json_set_string(tree, "apiVersion", api_version);
	return tree;
}

/* ---- one kind of list after the other ---- */

static struct cJSON *api_versions(void)
{
	struct cJSON *tree = new_list("APIVersions", NULL);
	struct cJSON *versions = json_add_array(tree, "versions");
	struct cJSON *address;

	(void) json_set_string(versions, NULL, find_group("")->version);
	/* Empty: the address that the client used already. */
	address = json_add_object(json_add_array(tree, "serverAddressByClientCIDRs"), NULL);
	(void) json_set_string(address, "clientCIDR", "0.0.0.0/0");
	(void) json_set_string(address, "serverAddress", "");
	return tree;
}

static void fill_version(struct cJSON *tree, const struct kind_row *row)
{
	char text[API_VERSION_BYTES];

	(void) json_set_string(tree, "groupVersion", kind_api_version(row, text));
	(void) json_set_string(tree, "version", row->version);
}

static void fill_group(struct cJSON *tree, const struct kind_row *row)
{
	(void) json_set_string(tree, "name", row->group);
	fill_version(json_add_object(json_add_array(tree, "versions"), NULL), row);
	fill_version(json_add_object(tree, "preferredVersion"), row);
}

static struct cJSON *api_group(const struct kind_row *row)
{
	struct cJSON *tree = new_list("APIGroup", "v1");

	fill_group(tree, row);
	return tree;
}

static struct cJSON *api_group_list(void)
{
	struct cJSON *tree = new_list("APIGroupList", "v1");
	struct cJSON *groups = json_add_array(tree, "groups");

	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_row *row = kind_row((enum object_kind) kind);

		if (*row->group && is_first_of_group(row))
			fill_group(json_add_object(groups, NULL), row);
	}
	return tree;
}

static void add_resource(struct cJSON *resources, const struct kind_row *row)
{
	struct cJSON *resource = json_add_object(resources, NULL);
	char text[API_VERSION_BYTES];

	(void) json_set_string(resource, "name", row->plural);
	(void) json_set_string(resource, "singularName", row->singular);
	(void) json_set_bool(resource, "namespaced", row->namespaced);
	(void) json_set_string(resource, "kind", row->name);
	set_strings(resource, "verbs", object_verbs);
	set_strings(resource, "shortNames", row->short_names);
	set_strings(resource, "categories", row->categories);
	if (!row->has_status)
		return;

	resource = json_add_object(resources, NULL);
	(void) snprintf(text, sizeof(text), "%s/status", row->plural);
	(void) json_set_string(resource, "name", text);
	(void) json_set_string(resource, "singularName", "");
	(void) json_set_bool(resource, "namespaced", row->namespaced);
	(void) json_set_string(resource, "kind", row->name);
	set_strings(resource, "verbs", status_verbs);
}

static struct cJSON *api_resource_list(const struct kind_row *group)
{
	struct cJSON *tree = new_list("APIResourceList", "v1");
	char text[API_VERSION_BYTES];
	struct cJSON *resources;

	(void) json_set_string(tree, "groupVersion", kind_api_version(group, text));
	resources = json_add_array(tree, "resources");
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_row *row = kind_row((enum object_kind) kind);

		if (strcmp(row->group, group->group) == 0)
			add_resource(resources, row);
	}
	return tree;
}

/* ---- all at once ---- */

static void set_response_kind(struct cJSON *resource, const struct kind_row *row)
{
	struct cJSON *kind = json_add_object(resource, "responseKind");

	(void) json_set_string(kind, "group", row->group);
	(void) json_set_string(kind, "version", row->version);
	(void) json_set_string(kind, "kind", row->name);
}

static void add_discovered(struct cJSON *resources, const struct kind_row *row)
{
	struct cJSON *resource = json_add_object(resources, NULL), *status;

	(void) json_set_string(resource, "resource", row->plural);
	set_response_kind(resource, row);
	(void) json_set_string(resource, "scope", row->namespaced ? "Namespaced" : "Cluster");
	(void) json_set_string(resource, "singularResource", row->singular);
	set_strings(resource, "verbs", object_verbs);
	set_strings(resource, "shortNames", row->short_names);
	set_strings(resource, "categories", row->categories);
	if (!row->has_status)
		return;
	status = json_add_object(json_add_array(resource, "subresources"), NULL);
	(void) json_set_string(status, "subresource", "status");
	set_response_kind(status, row);
	set_strings(status, "verbs", status_verbs);
}

static void add_discovered_group(struct cJSON *items, const struct kind_row *group)
{
	struct cJSON *item = json_add_object(items, NULL);
	struct cJSON *metadata = json_add_object(item, "metadata"), *version, *resources;

	if (*group->group)
		(void) json_set_string(metadata, "name", group->group);
	version = json_add_object(json_add_array(item, "versions"), NULL);
	(void) json_set_string(version, "version", group->version);
	resources = json_add_array(version, "resources");
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_row *row = kind_row((enum object_kind) kind);

		if (strcmp(row->group, group->group) == 0)
			add_discovered(resources, row);
	}
	(void) json_set_string(version, "freshness", "Current");
}

/* @core: of /api, the group without a name; else of /apis, all others. */
static struct cJSON *group_discovery_list(bool core, enum api_form form)
{
	struct cJSON *tree = new_list("APIGroupDiscoveryList",
				      form == FORM_GROUPS ? "apidiscovery.k8s.io/v2"
							  : "apidiscovery.k8s.io/v2beta1");
	struct cJSON *items;

	(void) json_add_object(tree, "metadata");
	items = json_add_array(tree, "items");
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_row *row = kind_row((enum object_kind) kind);

		if (core == (*row->group == '\0') && is_first_of_group(row))
			add_discovered_group(items, row);
	}
	return tree;
}

/* Clients tell by the media type of the answer which of the lists they got. */
static void reply_groups(struct exchange *exchange, bool core)
{
	struct cJSON *tree = group_discovery_list(core, exchange->form);
	char *text = tree ? json_print(tree) : NULL;

	json_free(tree);
	reply_bytes(exchange, 200, api_form_type(exchange->form), text, text ? strlen(text) : 0);
}

static bool wants_groups(const struct exchange *exchange)
{
	return exchange->form == FORM_GROUPS || exchange->form == FORM_GROUPS_BETA;
}

/* ---- paths ---- */

static void reply_no_such_group(struct exchange *exchange)
{
	reply_refusal(exchange, API_NOT_FOUND, "the server could not find the requested resource");
}

void discovery_versions(struct exchange *exchange)
{
	if (wants_groups(exchange))
		reply_groups(exchange, true);
	else
		reply_tree(exchange, 200, api_versions());
}

void discovery_groups(struct exchange *exchange)
{
	if (wants_groups(exchange))
		reply_groups(exchange, false);
	else
		reply_tree(exchange, 200, api_group_list());
}

void discovery_group(struct exchange *exchange)
{
	const char *group = exchange->path.segments[1];
	const struct kind_row *row = *group ? find_group(group) : NULL;

	if (row)
		reply_tree(exchange, 200, api_group(row));
	else
		reply_no_such_group(exchange);
}

/* /api/VERSION and /apis/GROUP/VERSION. */
void discovery_resources(struct exchange *exchange)
{
	const struct api_path *path = &exchange->path;
	const char *group = path->segment_count == 3 ? path->segments[1] : "";
	const char *version = path->segments[path->segment_count - 1];
	const struct kind_row *row = find_group(group);

	assert(path->segment_count == 2 || path->segment_count == 3);
	if (row && strcmp(row->version, version) == 0)
		reply_tree(exchange, 200, api_resource_list(row));
	else
		reply_no_such_group(exchange);
}

/* ---- indexes ---- */

static void add_path(struct cJSON *paths, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_path(struct cJSON *paths, const char *format, ...)
{
	char text[API_URI_BYTES_MAX];
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	(void) json_set_string(paths, NULL, text);
}

static void add_group_paths(struct cJSON *paths)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_row *row = kind_row((enum object_kind) kind);

		if (!is_first_of_group(row))
			continue;
		if (*row->group) {
			add_path(paths, "/apis/%s", row->group);
			add_path(paths, "/apis/%s/%s", row->group, row->version);
		} else {
			add_path(paths, "/api/%s", row->version);
		}
	}
}

/* A path has a route for each of its methods. */
static bool is_first_route(size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(api_route(i), api_route(index)) == 0)
			return false;
	return true;
}

/* Of the whole server: paths without variable parts. */
void discovery_index(struct exchange *exchange)
{
	struct cJSON *tree = json_new_object();
	struct cJSON *paths = json_add_array(tree, "paths");
	const char *pattern;

	add_group_paths(paths);
	for (size_t i = 0; (pattern = api_route(i)); i++)
		if (*pattern && !strpbrk(pattern, "*{") && is_first_route(i))
			add_path(paths, "/%s", pattern);
	reply_tree(exchange, 200, tree);
}

/* Of the node views: every path, "{name}" for one word of it. */
void discovery_views_index(struct exchange *exchange)
{
	static const char prefix[] = "podvol/v1/";
	struct cJSON *tree = json_new_object();
	struct cJSON *paths = json_add_array(tree, "paths");
	const char *pattern;

	for (size_t i = 0; (pattern = api_route(i)); i++)
		if (strncmp(pattern, prefix, strlen(prefix)) == 0 && is_first_route(i))
			add_path(paths, "/%s", pattern);
	reply_tree(exchange, 200, tree);
}
