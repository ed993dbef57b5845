/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_plan_rancher - rancher.io/local-path: a map from nodes to paths, and patterns of names
 *
 * The map is the config.json of its ConfigMap. A pathPattern is a Go template over the volume's
 * name and the claim's metadata; of that language only fields are understood, and whatever it makes
 * stays below the base path, also with allowUnsafePathPattern: that only lifts the rule that it
 * begins with the claim's namespace and name.
 */
#include "controller/local/local_flavour.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define DEFAULT_NODE   "DEFAULT_PATH_FOR_NON_LISTED_NODES"
#define HOSTNAME_LABEL "kubernetes.io/hostname"

/* ---- config.json ---- */

static bool is_listed_before(const struct cJSON *paths, const struct cJSON *path)
{
	for (const struct cJSON *i = json_first(paths); i != path; i = json_next(i))
		if (strcmp(json_string(i, ""), json_string(path, "")) == 0)
			return true;
	return false;
}

static int check_paths(const struct cJSON *entry, struct failure *reterr)
{
	const struct cJSON *paths = json_get(entry, "paths");
	struct local_plan scratch = { .base_count = 0 };
	int r = 0;

	for (const struct cJSON *path = json_first(paths); path && r == 0; path = json_next(path)) {
		r = local_add_base_path(&scratch, json_string(path, ""), reterr);
		if (r == 0 && is_listed_before(paths, path))
			r = failed_plain(reterr, -EINVAL, "path '%s' is listed twice",
					 json_string(path, ""));
	}
	local_plan_done(&scratch);
	if (r < 0)
		(void) failure_prefix(reterr, "node '%s'", json_text(entry, "node"));
	return r;
}

static const struct cJSON *find_node(const struct cJSON *map, const char *name,
				     const struct cJSON *until)
{
	for (const struct cJSON *entry = json_first(map); entry && entry != until;
	     entry = json_next(entry))
		if (json_text_is(entry, "node", name))
			return entry;
	return NULL;
}

static int check_section(const struct cJSON *section, struct failure *reterr)
{
	const struct cJSON *map = json_get(section, "nodePathMap");
	const char *shared = json_text(section, "sharedFileSystemPath");
	int r = 0;

	if ((json_count(map) > 0) == (shared[0] != '\0'))
		return failed_plain(reterr, -EINVAL,
				    "exactly one of nodePathMap and sharedFileSystemPath must be "
				    "set");
	for (const struct cJSON *entry = json_first(map); entry && r == 0;
	     entry = json_next(entry)) {
		const char *node = json_text(entry, "node");

		if (find_node(map, node, entry))
			r = failed_plain(reterr, -EINVAL, "node '%s' is listed twice", node);
		else
			r = check_paths(entry, reterr);
	}
	return r;
}

int local_node_map_parse(const char *text, struct cJSON **ret, struct failure *reterr)
{
	const struct json_limits limits = { .bytes = OBJECT_BYTES_MAX, .depth = OBJECT_DEPTH_MAX };
	cleanup_json struct cJSON *tree = NULL;
	int r = json_parse(text, strlen(text), &limits, &tree, reterr);
	const struct cJSON *classes = json_get(tree, "storageClassConfigs");

	if (r == 0 && (json_count(classes) == 0 || json_get(tree, "nodePathMap")))
		r = check_section(tree, reterr);
	for (const struct cJSON *i = json_first(classes); i && r == 0; i = json_next(i))
		r = check_section(i, reterr);
	if (r == 0)
		*ret = TAKE_PTR(tree);
	return r;
}

/* ---- where ---- */

static int add_listed(const struct cJSON *paths, const char *wanted, struct local_plan *plan,
		      struct failure *reterr)
{
	int r = 0;

	for (const struct cJSON *path = json_first(paths); path && r == 0; path = json_next(path))
		if (!wanted[0] || strcmp(json_string(path, ""), wanted) == 0)
			r = local_add_base_path(plan, json_string(path, ""), reterr);
	if (r == 0 && plan->base_count == 0)
		r = failed_plain(reterr, -EINVAL, "nodePath '%s' is not listed for this node",
				 wanted);
	return r;
}

static int add_base_paths(const struct local_sources *sources, const struct cJSON *section,
			  struct local_plan *plan, struct failure *reterr)
{
	const struct cJSON *map = json_get(section, "nodePathMap"), *entry;
	const char *node = sources->request->node->meta.name;

	entry = find_node(map, node, NULL);
	if (entry && json_count(json_get(entry, "paths")) == 0)
		return failed_plain(reterr, -EINVAL,
				    "node '%s' is listed in nodePathMap without a path", node);
	if (!entry)
		entry = find_node(map, DEFAULT_NODE, NULL);
	if (!entry)
		return failed_plain(reterr, -EINVAL,
				    "node '%s' is not listed in nodePathMap, and there is no "
				    "'%s'",
				    node, DEFAULT_NODE);
	return add_listed(json_get(entry, "paths"), local_parameter(sources, "nodePath"), plan,
			  reterr);
}

static const struct cJSON *section_of(const struct local_sources *sources)
{
	const struct cJSON *tree = sources->request->node_map;
	const struct cJSON *own = json_get(json_get(tree, "storageClassConfigs"),
					   sources->request->storage_class->object->meta.name);

	return own ? own : tree;
}

/* ---- names ---- */

/* What a field of the template stands for; NULL: no such field. */
static const char *field_value(const struct local_sources *sources, const char *field)
{
	const struct object_meta *claim = &sources->request->claim->object->meta;
	const struct cJSON *metadata = json_get(sources->claim, "metadata");

	if (strcmp(field, ".PVName") == 0)
		return sources->volume_name;
	if (strcmp(field, ".PVC.Name") == 0 || strcmp(field, ".PVC.name") == 0)
		return claim->name;
	if (strcmp(field, ".PVC.Namespace") == 0 || strcmp(field, ".PVC.namespace") == 0)
		return claim->name_space;
	if (strncasecmp(field, ".PVC.labels.", 12) == 0)
		return json_text(json_get(metadata, "labels"), field + 12);
	if (strncasecmp(field, ".PVC.annotations.", 17) == 0)
		return json_text(json_get(metadata, "annotations"), field + 17);
	return NULL;
}

static int expand_field(const struct local_sources *sources, const char *text, size_t length,
			const char **ret, struct failure *reterr)
{
	char field[128];

	while (length > 0 && text[0] == ' ') {
		text++;
		length--;
	}
	while (length > 0 && text[length - 1] == ' ')
		length--;
	(void) snprintf(field, sizeof(field), "%.*s", (int) length, text);
	*ret = field_value(sources, field);
	if (!*ret)
		return failed_plain(reterr, -EINVAL,
				    "pathPattern: '%s' is not understood: only fields such as "
				    ".PVC.Namespace, .PVC.Name, .PVName and .PVC.labels.KEY are",
				    field);
	return 0;
}

static int expand_pattern(const struct local_sources *sources, const char *pattern, char *ret,
			  size_t size, struct failure *reterr)
{
	size_t used = 0;

	while (*pattern) {
		const char *open = strstr(pattern, "{{"), *close = open ? strstr(open, "}}") : NULL;
		size_t plain = open ? (size_t) (open - pattern) : strlen(pattern);
		const char *value = "";
		int r = 0;

		if (open && !close)
			return failed_plain(reterr, -EINVAL, "pathPattern: '{{' without '}}'");
		if (open)
			r = expand_field(sources, open + 2, (size_t) (close - open - 2), &value,
					 reterr);
		if (r < 0)
			return r;
		used += (size_t) snprintf(ret + used, size - used, "%.*s%s", (int) plain, pattern,
					  value);
		if (used >= size)
			return failed_plain(reterr, -EINVAL, "pathPattern: the path is too long");
		pattern = open ? close + 2 : pattern + plain;
	}
	return 0;
}

static bool is_unsafe_allowed(const struct local_sources *sources)
{
	const char *parameter = local_parameter(sources, "allowUnsafePathPattern");

	if (!parameter[0])
		parameter = local_annotation(sources->storage_class, "allowUnsafePathPattern");
	return strcmp(parameter, "true") == 0;
}

static int set_name(const struct local_sources *sources, struct local_plan *plan,
		    struct failure *reterr)
{
	const struct object_meta *claim = &sources->request->claim->object->meta;
	const char *pattern = local_parameter(sources, "pathPattern");
	char text[LOCAL_NAME_BYTES] = "", start[2 * 256];
	int r;

	if (!pattern[0]) {
		(void) snprintf(text, sizeof(text), "%s_%s_%s", sources->volume_name,
				claim->name_space, claim->name);
		return local_set_name(plan, text, reterr);
	}
	r = expand_pattern(sources, pattern, text, sizeof(text), reterr);
	if (r == 0)
		r = local_set_name(plan, text, reterr);
	if (r < 0)
		return r;
	(void) snprintf(start, sizeof(start), "%s/%s", claim->name_space, claim->name);
	if (!is_unsafe_allowed(sources) &&
	    (strncmp(plan->name, start, strlen(start)) != 0 ||
	     (plan->name[strlen(start)] != '/' && plan->name[strlen(start)] != '\0')))
		return failed_plain(reterr, -EINVAL,
				    "pathPattern makes '%s', which does not begin with '%s/'",
				    plan->name, start);
	return 0;
}

/* ---- the volume ---- */

static int set_type(const struct local_sources *sources, struct local_plan *plan,
		    struct failure *reterr)
{
	const char *type = local_annotation(sources->claim, "volumeType");

	if (!type[0])
		type = local_annotation(sources->storage_class, "defaultVolumeType");
	plan->is_host_path = !type[0] || strcasecmp(type, "hostPath") == 0;
	if (!plan->is_host_path && strcasecmp(type, "local") != 0)
		return failed_plain(reterr, -EINVAL,
				    "volume type '%s' is neither 'local' nor 'hostPath'", type);
	return 0;
}

static int read_shared(const struct local_sources *sources, const char *path,
		       struct local_plan *plan, struct failure *reterr)
{
	int r = local_add_base_path(plan, path, reterr);

	/* A local volume must say where it is; this one is everywhere. */
	if (r == 0 && !plan->is_host_path)
		local_add_affinity(plan, HOSTNAME_LABEL, sources->request->node->meta.name);
	return r;
}

static int read_of_node(const struct local_sources *sources, const struct cJSON *section,
			struct local_plan *plan, struct failure *reterr)
{
	const char *node = sources->request->node->meta.name;
	const char *host = local_node_label(sources->request, HOSTNAME_LABEL);
	int r = local_check_modes(sources, ACCESS_READ_WRITE_ONCE | ACCESS_READ_WRITE_ONCE_POD,
				  reterr);

	if (r == 0)
		r = add_base_paths(sources, section, plan, reterr);
	if (r < 0)
		return r;
	local_add_affinity(plan, HOSTNAME_LABEL, host[0] ? host : node);
	local_set_annotation(plan, "local.path.provisioner/selected-node", node);
	return 0;
}

int local_read_rancher(const struct local_sources *sources, struct local_plan *plan,
		       struct failure *reterr)
{
	const struct cJSON *section = section_of(sources);
	const char *shared = json_text(section, "sharedFileSystemPath");
	int r = set_type(sources, plan, reterr);

	if (r == 0)
		r = set_name(sources, plan, reterr);
	if (r < 0)
		return r;
	if (!section)
		return failed_plain(reterr, -EINVAL, "its config.json is not valid");
	return shared[0] ? read_shared(sources, shared, plan, reterr)
			 : read_of_node(sources, section, plan, reterr);
}
