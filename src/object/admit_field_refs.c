/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit_field_refs - see admit.h
 */
#include "object/admit.h"

#include "base/cleanup.h"
#include "object/json/json.h"
#include "object/quantity.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES_MAX = 512 };

/* What each of the two places may name: a map as a whole is a file, and an address that a pod gets
 * late is a variable. */
static const char *const file_fields[] = { "metadata.annotations", "metadata.labels",
					   "metadata.name",        "metadata.namespace",
					   "metadata.uid",         NULL };
static const char *const variable_fields[] = {
	"metadata.name",
	"metadata.namespace",
	"metadata.uid",
	"spec.nodeName",
	"spec.serviceAccountName",
	"status.hostIP",
	"status.hostIPs",
	"status.podIP",
	"status.podIPs",
	NULL,
};
/* Fields that Kubernetes knows by name and neither place has. */
static const char *const other_fields[] = { "spec.restartPolicy", "spec.schedulerName",
					    "status.phase", NULL };

static const char *const resources[] = {
	"limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
	"requests.cpu", "requests.ephemeral-storage", "requests.memory",
	NULL,
};

static bool has(const char *const *list, const char *text)
{
	for (; *list; list++)
		if (strcmp(*list, text) == 0)
			return true;
	return false;
}

/* ---- fields ---- */

static int check_label_key(const struct field *field, const char *key, struct violations *found)
{
	return admit_qualified_name(field, key, found);
}

/* Keys of annotations may be of either case. */
static int check_annotation_key(const struct field *field, const char *key,
				struct violations *found)
{
	char lower[PATH_BYTES_MAX];
	size_t i = 0;

	for (; key[i] && i + 1 < sizeof(lower); i++)
		lower[i] = (char) (key[i] >= 'A' && key[i] <= 'Z' ? key[i] - 'A' + 'a' : key[i]);
	lower[i] = '\0';
	return admit_qualified_name(field, lower, found);
}

/* "metadata.labels['KEY']". Return: 1 it has a key, and *ret says whether that is right; 0. */
static int check_subscript(const struct field *field, const char *path, int *ret,
			   struct violations *found)
{
	static const struct {
		const char *begin;
		int (*check)(const struct field *field, const char *key, struct violations *found);
	} maps[] = {
		{ "metadata.labels['", check_label_key },
		{ "metadata.annotations['", check_annotation_key },
	};
	size_t length = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		size_t begin = strlen(maps[i].begin);
		char key[PATH_BYTES_MAX];

		if (strncmp(path, maps[i].begin, begin) != 0 || length < begin + 2 ||
		    strcmp(path + length - 2, "']") != 0)
			continue;
		(void) snprintf(key, sizeof(key), "%.*s", (int) (length - begin - 2), path + begin);
		*ret = maps[i].check(field, key, found);
		return 1;
	}
	return 0;
}

static int check_field_ref(const struct cJSON *ref, const struct field *field,
			   const char *const *fields, struct violations *found)
{
	const char *version = json_string(json_get(ref, "apiVersion"), "v1");
	const char *path = json_text(ref, "fieldPath");
	const struct field *at = FIELD(field, "fieldPath");
	char detail[PATH_BYTES_MAX + 64];
	int r;

	if (*path == '\0')
		return field_required(at, "", found);
	if (strcmp(version, "v1") != 0) {
		(void) snprintf(detail, sizeof(detail),
				"error converting fieldPath: unsupported pod version: %.400s",
				version);
		return field_invalid(at, path, detail, found);
	}
	if (check_subscript(at, path, &r, found))
		return r;
	if (has(fields, path))
		return 0;
	if (has(file_fields, path) || has(variable_fields, path) || has(other_fields, path))
		return field_not_supported(at, path, fields, found);
	(void) snprintf(
		detail, sizeof(detail), "error converting fieldPath: field label %s: %.400s",
		path[strlen(path) - 1] == ']' ? "does not support subscript" : "not supported",
		path);
	return field_invalid(at, path, detail, found);
}

/* ---- resources ---- */

/* Of processors and of all else; 0 stands for 1. */
static bool is_divisor(const char *resource, const struct quantity *divisor)
{
	static const __int128 units[] = { 1LL,
					  1000LL,
					  1000000LL,
					  1000000000LL,
					  1000000000000LL,
					  1000000000000000LL,
					  1000000000000000000LL,
					  1LL << 10,
					  1LL << 20,
					  1LL << 30,
					  1LL << 40,
					  1LL << 50,
					  1LL << 60 };

	if (divisor->milli == 0)
		return true;
	if (strcmp(strchr(resource, '.') + 1, "cpu") == 0)
		return divisor->milli == 1 || divisor->milli == 1000;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (divisor->milli == units[i] * 1000)
			return true;
	return false;
}

static int check_divisor(const struct cJSON *ref, const char *resource, const struct field *field,
			 struct violations *found)
{
	const struct field *at = FIELD(field, "divisor");
	const char *text = json_string(json_get(ref, "divisor"), NULL);
	const char *name = strchr(resource, '.') + 1;
	struct quantity divisor = { 0 };
	char number[32], detail[256];
	int64_t value;

	if (!text && json_int64(json_get(ref, "divisor"), &value)) {
		(void) snprintf(number, sizeof(number), "%lld", (long long) value);
		text = number;
	}
	if (!text)
		return 0;
	if (quantity_parse(text, &divisor, NULL) == 0 && is_divisor(resource, &divisor))
		return 0;
	(void) snprintf(detail, sizeof(detail),
			"only divisor's values %s are supported with the %.100s resource",
			strcmp(name, "cpu") == 0
				? "1m and 1"
				: "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi and 1Ei",
			name);
	return field_invalid(at, text, detail, found);
}

static int check_resource_ref(const struct cJSON *ref, const struct field *field, bool is_file,
			      struct violations *found)
{
	const char *resource = json_text(ref, "resource");

	if (is_file && *json_text(ref, "containerName") == '\0')
		return field_required(FIELD(field, "containerName"), "", found);
	if (*resource == '\0')
		return field_required(FIELD(field, "resource"), "", found);
	if (!has(resources, resource) && strncmp(resource, "limits.hugepages-", 17) != 0 &&
	    strncmp(resource, "requests.hugepages-", 19) != 0)
		return field_not_supported(FIELD(field, "resource"), resource, resources, found);
	return check_divisor(ref, resource, field, found);
}

/* ---- where they stand ---- */

/* An item of a downwardAPI source, or where a variable comes from. */
static int check_refs(const struct cJSON *holder, const struct field *field, bool is_file,
		      struct violations *found)
{
	const struct cJSON *ref = json_get(holder, "fieldRef");
	const struct cJSON *resource = json_get(holder, "resourceFieldRef");
	int r = 0;

	if (ref)
		r = check_field_ref(ref, FIELD(field, "fieldRef"),
				    is_file ? file_fields : variable_fields, found);
	if (r == 0 && resource)
		r = check_resource_ref(resource, FIELD(field, "resourceFieldRef"), is_file, found);
	return r;
}

static int check_source(const struct cJSON *source, const struct field *field,
			struct violations *found)
{
	const struct field *items = FIELD(field, "items");
	size_t index = 0;
	int r = 0;

	for (const struct cJSON *item = json_first(json_get(source, "items")); item && r == 0;
	     item = json_next(item))
		r = check_refs(item, FIELD_AT(items, index++), true, found);
	return r;
}

static int check_volume(const struct cJSON *volume, const struct field *field,
			struct violations *found)
{
	const struct field *sources = FIELD(FIELD(field, "projected"), "sources");
	const struct cJSON *list = json_get_path(volume, "projected.sources");
	size_t index = 0;
	int r = check_source(json_get(volume, "downwardAPI"), FIELD(field, "downwardAPI"), found);

	for (const struct cJSON *item = json_first(list); item && r == 0; item = json_next(item))
		r = check_source(json_get(item, "downwardAPI"),
				 FIELD(FIELD_AT(sources, index++), "downwardAPI"), found);
	return r;
}

static int check_container(const struct cJSON *container, const struct field *field,
			   struct violations *found)
{
	const struct field *env = FIELD(field, "env");
	size_t index = 0;
	int r = 0;

	for (const struct cJSON *item = json_first(json_get(container, "env")); item && r == 0;
	     item = json_next(item))
		r = check_refs(json_get(item, "valueFrom"),
			       FIELD(FIELD_AT(env, index++), "valueFrom"), false, found);
	return r;
}

int admit_field_refs_check(const struct cJSON *old, const struct cJSON *tree,
			   struct violations *found)
{
	static const struct {
		const char *list;
		int (*check)(const struct cJSON *item, const struct field *field,
			     struct violations *found);
	} rows[] = {
		{ "volumes", check_volume },
		{ "initContainers", check_container },
		{ "containers", check_container },
		{ "ephemeralContainers", check_container },
	};
	const struct cJSON *spec = json_get(tree, "spec"), *old_spec = json_get(old, "spec");
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows) && r == 0; i++) {
		const struct cJSON *list = json_get(spec, rows[i].list);
		const struct field *field = FIELD(FIELD(NULL, "spec"), rows[i].list);
		size_t index = 0;

		if (json_equal(list, json_get(old_spec, rows[i].list)))
			continue;
		for (const struct cJSON *item = json_first(list); item && r == 0;
		     item = json_next(item))
			r = rows[i].check(item, FIELD_AT(field, index++), found);
	}
	return r;
}
