/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_field - what a fieldRef or resourceFieldRef says; see pod_field.h
 */
#include "object/kinds/pod_field.h"

#include "base/cleanup.h"
#include "object/json/json.h"
#include "object/json/text_buffer.h"
#include "object/quantity.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- fields ---- */

/* Fields that are one string of the pod. */
static const struct {
	const char *path, *outer, *inner;
} plain_fields[] = {
	{ "metadata.name", "metadata", "name" },
	{ "metadata.namespace", "metadata", "namespace" },
	{ "metadata.uid", "metadata", "uid" },
	{ "spec.nodeName", "spec", "nodeName" },
	{ "spec.serviceAccountName", "spec", "serviceAccountName" },
	{ "status.hostIP", "status", "hostIP" },
	{ "status.podIP", "status", "podIP" },
};

static int keep(const char *text, char **ret, struct failure *reterr)
{
	*ret = strdup(text);
	return *ret ? 0 : failed(reterr, -ENOMEM, "cannot keep a field of the pod");
}

static void put(struct text_buffer *buffer, const char *text)
{
	if (*text)
		text_buffer_put(buffer, text, strlen(text));
}

/* [{"ip": "10.0.0.1"}, ...] as "10.0.0.1,fd00::1". */
static int join_addresses(const struct cJSON *list, char **ret, struct failure *reterr)
{
	struct text_buffer buffer = { .bytes = NULL };

	JSON_FOREACH (item, list) {
		if (buffer.used > 0)
			put(&buffer, ",");
		put(&buffer, json_text(item, "ip"));
	}
	*ret = text_buffer_take(&buffer);
	return *ret ? 0 : failed(reterr, -ENOMEM, "cannot keep a field of the pod");
}

/* "metadata.labels['app']": Return: 1 it is one, and *ret its value; 0 it is not; negative errno.
 */
static int read_subscript(const struct cJSON *pod, const char *path, char **ret,
			  struct failure *reterr)
{
	static const char *const maps[] = { "labels", "annotations" };
	static const char begin[] = "metadata.";

	if (strncmp(path, begin, strlen(begin)) != 0)
		return 0;
	path += strlen(begin);
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		size_t length = strlen(maps[i]);
		cleanup_free char *key = NULL;
		const struct cJSON *map;
		int r;

		if (strncmp(path, maps[i], length) != 0 || strncmp(path + length, "['", 2) != 0)
			continue;
		path += length + 2;
		length = strlen(path);
		if (length < 2 || strcmp(path + length - 2, "']") != 0)
			return 0;
		key = strndup(path, length - 2);
		if (!key)
			return failed(reterr, -ENOMEM, "cannot keep a field of the pod");
		map = json_get(json_get(pod, "metadata"), maps[i]);
		r = keep(json_text(map, key), ret, reterr);
		return r < 0 ? r : 1;
	}
	return 0;
}

int pod_field_value(const struct cJSON *pod, const char *path, char **ret, struct failure *reterr)
{
	const struct cJSON *status = json_get(pod, "status");
	int r;

	assert(path && ret);
	for (size_t i = 0; i < ARRAY_SIZE(plain_fields); i++)
		if (strcmp(path, plain_fields[i].path) == 0)
			return keep(json_text(json_get(pod, plain_fields[i].outer),
					      plain_fields[i].inner),
				    ret, reterr);
	if (strcmp(path, "status.podIPs") == 0)
		return join_addresses(json_get(status, "podIPs"), ret, reterr);
	if (strcmp(path, "status.hostIPs") == 0)
		return join_addresses(json_get(status, "hostIPs"), ret, reterr);
	r = read_subscript(pod, path, ret, reterr);
	if (r != 0)
		return r < 0 ? r : 0;
	return failed_plain(reterr, -EINVAL, "unsupported fieldPath: %s", path);
}

/* ---- whole maps ---- */

/* As Go's %q, of text that is UTF-8 already. */
static void put_quoted(struct text_buffer *buffer, const char *text)
{
	static const char escaped[] = "\a\b\f\n\r\t\v\"\\", letters[] = "abfnrtv\"\\";

	text_buffer_put(buffer, "\"", 1);
	for (; *text; text++) {
		const char *found = strchr(escaped, *text);
		char code[8];

		if (found)
			(void) snprintf(code, sizeof(code), "\\%c", letters[found - escaped]);
		else if ((unsigned char) *text < 0x20 || *text == 0x7f)
			(void) snprintf(code, sizeof(code), "\\x%02x", (unsigned char) *text);
		else
			(void) snprintf(code, sizeof(code), "%c", *text);
		put(buffer, code);
	}
	text_buffer_put(buffer, "\"", 1);
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(json_key(*(const struct cJSON *const *) a),
		      json_key(*(const struct cJSON *const *) b));
}

static int print_map(const struct cJSON *map, char **ret, struct failure *reterr)
{
	size_t count = json_count(map), at = 0;
	cleanup_free const struct cJSON **items = calloc(count + 1, sizeof(*items));
	struct text_buffer buffer = { .bytes = NULL };

	if (!items)
		return failed(reterr, -ENOMEM, "cannot keep a field of the pod");
	JSON_FOREACH (item, map)
		items[at++] = item;
	qsort(items, count, sizeof(*items), compare_keys);
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			put(&buffer, "\n");
		put(&buffer, json_key(items[i]));
		put(&buffer, "=");
		put_quoted(&buffer, json_string(items[i], ""));
	}
	*ret = text_buffer_take(&buffer);
	return *ret ? 0 : failed(reterr, -ENOMEM, "cannot keep a field of the pod");
}

int pod_file_field_value(const struct cJSON *pod, const char *path, char **ret,
			 struct failure *reterr)
{
	const struct cJSON *metadata = json_get(pod, "metadata");

	assert(path && ret);
	if (strcmp(path, "metadata.labels") == 0)
		return print_map(json_get(metadata, "labels"), ret, reterr);
	if (strcmp(path, "metadata.annotations") == 0)
		return print_map(json_get(metadata, "annotations"), ret, reterr);
	return pod_field_value(pod, path, ret, reterr);
}

/* ---- resources ---- */

const struct cJSON *pod_find_container(const struct cJSON *pod, const char *name)
{
	static const char *const lists[] = { "initContainers", "containers",
					     "ephemeralContainers" };
	const struct cJSON *spec = json_get(pod, "spec"), *found = NULL;

	assert(name);
	for (size_t i = 0; i < ARRAY_SIZE(lists) && !found; i++)
		found = json_find(json_get(spec, lists[i]), "name", name);
	return found;
}

/* In YAML a quantity may be a plain number. */
static int parse_quantity(const struct cJSON *item, const char *fallback, struct quantity *ret,
			  struct failure *reterr)
{
	const char *text = json_string(item, NULL);
	char number[32];
	int64_t value;

	if (!text && json_int64(item, &value)) {
		(void) snprintf(number, sizeof(number), "%lld", (long long) value);
		text = number;
	}
	if (!text)
		text = fallback;
	if (!text)
		return failed_plain(reterr, -EINVAL, "it is not set");
	return quantity_parse(text, ret, reterr);
}

static const struct cJSON *find_resource(const struct cJSON *container, const char *name)
{
	const struct cJSON *resources = json_get(container, "resources");
	const char *dot = strchr(name, '.');

	if (!dot)
		return NULL;
	if (strncmp(name, "limits.", 7) == 0)
		return json_get(json_get(resources, "limits"), dot + 1);
	if (strncmp(name, "requests.", 9) == 0)
		return json_get(json_get(resources, "requests"), dot + 1);
	return NULL;
}

/* Is it a name that could be set? Its value when it is not. */
static bool is_resource(const char *name, const struct node_resources *node, struct quantity *ret)
{
	const struct {
		const char *name;
		__int128 milli;
	} rows[] = {
		{ "limits.cpu", node->cpu_millis },
		{ "limits.memory", (__int128) node->memory_bytes * 1000 },
		{ "limits.ephemeral-storage", (__int128) node->ephemeral_storage_bytes * 1000 },
		{ "requests.cpu", 0 },
		{ "requests.memory", 0 },
		{ "requests.ephemeral-storage", 0 },
	};
	static const char *const huge_pages[] = { "limits.hugepages-", "requests.hugepages-" };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(name, rows[i].name) == 0) {
			*ret = (struct quantity){ .milli = rows[i].milli, .is_set = true };
			return true;
		}
	for (size_t i = 0; i < ARRAY_SIZE(huge_pages); i++)
		if (strncmp(name, huge_pages[i], strlen(huge_pages[i])) == 0) {
			*ret = (struct quantity){ .is_set = true };
			return true;
		}
	return false;
}

static int read_resource(const struct cJSON *container, const char *name,
			 const struct node_resources *node, struct quantity *ret,
			 struct failure *reterr)
{
	const struct cJSON *item = find_resource(container, name);

	if (node && container && !item && is_resource(name, node, ret))
		return 0;
	return parse_quantity(item, NULL, ret, reterr);
}

int pod_resource_value(const struct cJSON *pod, const struct cJSON *container,
		       const struct cJSON *reference, const struct node_resources *node, char **ret,
		       struct failure *reterr)
{
	const char *resource = json_text(reference, "resource");
	const char *name = json_text(reference, "containerName");
	struct quantity value = { 0 }, divisor = { 0 };
	__int128 result;
	int r;

	assert(ret);
	if (*name)
		container = pod_find_container(pod, name);
	if (*name && !container)
		return failed_plain(reterr, -EINVAL, "container '%s' not found", name);
	r = read_resource(container, resource, node, &value, reterr);
	if (r < 0)
		return failure_prefix(reterr, "resource '%s' of container '%s'", resource,
				      json_string(json_get(container, "name"), name));
	r = parse_quantity(json_get(reference, "divisor"), "1", &divisor, reterr);
	if (r < 0)
		return failure_prefix(reterr, "divisor of resource '%s'", resource);
	if (divisor.milli <= 0) /* "0" stands for one */
		divisor.milli = 1000;
	result = value.milli / divisor.milli + (value.milli % divisor.milli > 0); /* rounded up */
	if (asprintf(ret, "%lld", result > INT64_MAX ? INT64_MAX : (long long) result) < 0) {
		*ret = NULL;
		return failed(reterr, -ENOMEM, "cannot keep a resource of a container");
	}
	return 0;
}
