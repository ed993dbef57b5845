/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sub_path_expr - see sub_path_expr.h
 *
 * The syntax is Kubernetes': $(NAME) is the variable, $$ a dollar sign, anything else stands for
 * itself. A variable's own value may name those before it; what it names in vain stays as it is.
 * The environment is read from the pod's bytes each time: few pods have such an expression, and no
 * other needs to keep its variables in memory.
 */
#include "container/sub_path_expr.h"

#include "base/cleanup.h"
#include "object/json.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	POD_DEPTH_MAX = 64,
	NESTED_MAX = 32,          /* variables that name variables */
	VARIABLES_MAX = 1000,     /* looked up for one expression: more is a bomb */
	EXPANDED_BYTES_MAX = 4096 /* no path is longer */
};

/* Where variables come from: a container's env and the pod's fields. */
struct scope {
	const struct cJSON *tree; /* of the pod */
	const struct cJSON *env;
	const struct cJSON *before; /* only variables before this one; NULL: all */
	unsigned int depth;
	unsigned int *looked_up;
	struct failure *reterr;
};

/* ---- fields of the pod ---- */

/* "metadata.labels['key']" for @map "metadata.labels": the key, not terminated. */
static const char *key_in(const char *path, const char *map, size_t *ret_length)
{
	size_t length = strlen(map), whole = strlen(path);

	if (strncmp(path, map, length) != 0 || whole < length + strlen("['x']") ||
	    strncmp(path + length, "['", 2) != 0 || strcmp(path + whole - 2, "']") != 0)
		return NULL;
	*ret_length = whole - length - strlen("['']");
	return path + length + 2;
}

static const char *member_of(const struct cJSON *map, const char *key, size_t length)
{
	for (const struct cJSON *item = json_first(map); item; item = json_next(item))
		if (strlen(json_key(item)) == length && strncmp(json_key(item), key, length) == 0)
			return json_string(item, "");
	return "";
}

/* The fields that an env's fieldRef may name; absent ones are "", as in kubelet. NULL: no such. */
static const char *pod_field(const struct cJSON *tree, const char *path)
{
	static const char *const plain[] = { "metadata.name",          "metadata.namespace",
					     "metadata.uid",           "spec.nodeName",
					     "status.hostIP",          "status.podIP",
					     "spec.serviceAccountName" };
	static const char *const maps[] = { "metadata.labels", "metadata.annotations" };

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		const char *dot = strchr(plain[i], '.');
		char part[16];

		if (strcmp(plain[i], path) != 0)
			continue;
		(void) snprintf(part, sizeof(part), "%.*s", (int) (dot - plain[i]), plain[i]);
		return json_string(json_get(json_get(tree, part), dot + 1), "");
	}
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		size_t length;
		const char *key = key_in(path, maps[i], &length);

		if (key)
			return member_of(
				json_get(json_get(tree, "metadata"), maps[i] + strlen("metadata.")),
				key, length);
	}
	return NULL;
}

/* ---- expansion ---- */

static int expand(const struct scope *scope, const char *text, bool keep_unknown, FILE *out);

/* A later variable of the same name wins, as in a process's environment. */
static const struct cJSON *find_variable(const struct scope *scope, const char *name)
{
	const struct cJSON *found = NULL;

	for (const struct cJSON *item = json_first(scope->env); item && item != scope->before;
	     item = json_next(item))
		if (strcmp(json_string(json_get(item, "name"), ""), name) == 0)
			found = item;
	return found;
}

/* 1: written; 0: there is no such variable. */
static int write_variable(const struct scope *scope, const char *name, FILE *out)
{
	const struct cJSON *variable = find_variable(scope, name);
	const struct cJSON *from = json_get(variable, "valueFrom");
	const struct cJSON *field = json_get(from, "fieldRef");
	struct scope inner = *scope;
	const char *value;
	int r;

	if (!variable)
		return 0;
	if (++*scope->looked_up > VARIABLES_MAX || scope->depth >= NESTED_MAX)
		return failed_plain(scope->reterr, -EINVAL, "too many variables within variables");
	if (!from) {
		inner.before = variable;
		inner.depth++;
		r = expand(&inner, json_string(json_get(variable, "value"), ""), true, out);
		return r < 0 ? r : 1;
	}
	value = field ? pod_field(scope->tree, json_string(json_get(field, "fieldPath"), ""))
		      : NULL;
	if (!value)
		return failed_plain(scope->reterr, -EINVAL,
				    "variable '%s' comes from '%s', which has no value here", name,
				    field ? json_string(json_get(field, "fieldPath"), "")
					  : json_key(json_first(from)));
	(void) fputs(value, out);
	return 1;
}

/* $(NAME): @text is behind the opening parenthesis. */
static int write_reference(const struct scope *scope, const char *text, size_t length,
			   bool keep_unknown, FILE *out)
{
	cleanup_free char *name = strndup(text, length);
	int r;

	if (!name)
		return -ENOMEM;
	r = write_variable(scope, name, out);
	if (r != 0)
		return r < 0 ? r : 0;
	if (!keep_unknown)
		return failed_plain(scope->reterr, -EINVAL, "missing value for '%s'", name);
	(void) fprintf(out, "$(%s)", name);
	return 0;
}

static int expand(const struct scope *scope, const char *text, bool keep_unknown, FILE *out)
{
	while (*text) {
		const char *close = text[0] == '$' && text[1] == '(' ? strchr(text, ')') : NULL;
		int r;

		if (ftell(out) > EXPANDED_BYTES_MAX)
			return failed_plain(scope->reterr, -EINVAL, "longer than %d bytes",
					    EXPANDED_BYTES_MAX);
		if (!close) {
			bool escaped = text[0] == '$' && text[1] == '$';

			(void) fputc(*text, out);
			text += escaped ? 2 : 1;
			continue;
		}
		r = write_reference(scope, text + 2, (size_t) (close - text) - 2, keep_unknown,
				    out);
		if (r < 0)
			return r;
		text = close + 1;
	}
	return 0;
}

/* ---- the pod ---- */

static const struct cJSON *env_of(const struct cJSON *tree, const char *container)
{
	static const char *const lists[] = { "initContainers", "containers",
					     "ephemeralContainers" };
	const struct cJSON *spec = json_get(tree, "spec");

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		for (const struct cJSON *item = json_first(json_get(spec, lists[i])); item;
		     item = json_next(item))
			if (strcmp(json_string(json_get(item, "name"), ""), container) == 0)
				return json_get(item, "env");
	return NULL;
}

static int expand_expression(const struct object *pod, const char *container,
			     const char *expression, char **ret, struct failure *reterr)
{
	const struct json_limits limits = { .bytes = pod->json_length + 1, .depth = POD_DEPTH_MAX };
	cleanup_json struct cJSON *tree = NULL;
	cleanup_free char *text = NULL;
	unsigned int looked_up = 0;
	struct scope scope = { .looked_up = &looked_up, .reterr = reterr };
	size_t length;
	FILE *out;
	int r;

	r = json_parse(pod->json, pod->json_length, &limits, &tree, reterr);
	if (r < 0)
		return r;
	out = open_memstream(&text, &length);
	if (!out)
		return -ENOMEM;
	scope.tree = tree;
	scope.env = env_of(tree, container);
	r = expand(&scope, expression, false, out);
	if (fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	if (r == 0)
		*ret = TAKE_PTR(text);
	return r;
}

/* A value decides where an expression leads: it is checked as what was written by hand is. */
static int check_descends(const char *path, struct failure *reterr)
{
	if (*path == '/')
		return failed_plain(reterr, -EINVAL, "subPath '%s' must not be an absolute path",
				    path);
	while (*path) {
		size_t part = strcspn(path, "/");

		if (part == 2 && memcmp(path, "..", 2) == 0)
			return failed_plain(reterr, -EINVAL, "subPath must not contain '..'");
		path += part;
		path += strspn(path, "/");
	}
	return 0;
}

int sub_path_of_mount(const struct object *pod, const struct pod_container *container,
		      const struct pod_volume_mount *mount, char **ret, struct failure *reterr)
{
	cleanup_free char *path = NULL;
	int r = 0;

	assert(pod && container && mount && ret);
	if (*mount->sub_path_expr) {
		r = expand_expression(pod, container->name, mount->sub_path_expr, &path, reterr);
		if (r < 0) {
			(void) failure_prefix(reterr, "subPathExpr '%s'", mount->sub_path_expr);
			return r;
		}
	} else {
		path = strdup(mount->sub_path);
		if (!path)
			return -ENOMEM;
	}
	r = check_descends(path, reterr);
	if (r == 0)
		*ret = TAKE_PTR(path);
	return r;
}
