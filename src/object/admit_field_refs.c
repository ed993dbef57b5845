/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit_field_refs - see admit.h
 */
#include "object/admit.h"

#include "base/cleanup.h"
#include "object/json/json.h"
#include "object/quantity.h"
#include "object/schema/field.h"

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

static bool check_label_key(const struct field *field, const char *key)
{
	return admit_qualified_name(field, key);
}

/* Keys of annotations may be of either case. */
static bool check_annotation_key(const struct field *field, const char *key)
{
	char lower[PATH_BYTES_MAX];
	size_t i = 0;

	for (; key[i] && i + 1 < sizeof(lower); i++)
		lower[i] = (char) (key[i] >= 'A' && key[i] <= 'Z' ? key[i] - 'A' + 'a' : key[i]);
	lower[i] = '\0';
	return admit_qualified_name(field, lower);
}

/* "metadata.labels['KEY']". Return: it has a key, and *ret says whether to go on. */
static bool check_subscript(const struct field *field, bool *ret)
{
	static const struct {
		const char *begin;
		bool (*check)(const struct field *field, const char *key);
	} maps[] = {
		{ "metadata.labels['", check_label_key },
		{ "metadata.annotations['", check_annotation_key },
	};
	const char *path = field_text(field);
	size_t length = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		size_t begin = strlen(maps[i].begin);
		char key[PATH_BYTES_MAX];

		if (strncmp(path, maps[i].begin, begin) != 0 || length < begin + 2 ||
		    strcmp(path + length - 2, "']") != 0)
			continue;
		(void) snprintf(key, sizeof(key), "%.*s", (int) (length - begin - 2), path + begin);
		*ret = maps[i].check(field, key);
		return true;
	}
	return false;
}

static bool check_field_ref(const struct field *ref, const char *const *fields)
{
	const char *version = json_string(json_get(ref->item, "apiVersion"), "v1");
	const struct field *at = FIELD(ref, "fieldPath");
	const char *path = field_text(at);
	char detail[PATH_BYTES_MAX + 64];
	bool goes_on;

	if (*path == '\0')
		return field_required(at, "");
	if (strcmp(version, "v1") != 0) {
		(void) snprintf(detail, sizeof(detail),
				"error converting fieldPath: unsupported pod version: %.400s",
				version);
		return field_invalid(at, path, detail);
	}
	if (check_subscript(at, &goes_on))
		return goes_on;
	if (has(fields, path))
		return true;
	if (has(file_fields, path) || has(variable_fields, path) || has(other_fields, path))
		return field_not_supported(at, path, fields);
	(void) snprintf(
		detail, sizeof(detail), "error converting fieldPath: field label %s: %.400s",
		path[strlen(path) - 1] == ']' ? "does not support subscript" : "not supported",
		path);
	return field_invalid(at, path, detail);
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

static bool check_divisor(const struct field *at, const char *resource)
{
	const char *text = json_string(at->item, NULL);
	const char *name = strchr(resource, '.') + 1;
	struct quantity divisor = { 0 };
	char number[32], detail[256];
	int64_t value;

	if (!text && json_int64(at->item, &value)) {
		(void) snprintf(number, sizeof(number), "%lld", (long long) value);
		text = number;
	}
	if (!text)
		return true;
	if (quantity_parse(text, &divisor, NULL) == 0 && is_divisor(resource, &divisor))
		return true;
	(void) snprintf(detail, sizeof(detail),
			"only divisor's values %s are supported with the %.100s resource",
			strcmp(name, "cpu") == 0
				? "1m and 1"
				: "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi and 1Ei",
			name);
	return field_invalid(at, text, detail);
}

static bool check_resource_ref(const struct field *ref, bool is_file)
{
	const struct field *at = FIELD(ref, "resource");
	const char *resource = field_text(at);

	if (is_file && *json_text(ref->item, "containerName") == '\0')
		return field_required(FIELD(ref, "containerName"), "");
	if (*resource == '\0')
		return field_required(at, "");
	if (!has(resources, resource) && strncmp(resource, "limits.hugepages-", 17) != 0 &&
	    strncmp(resource, "requests.hugepages-", 19) != 0)
		return field_not_supported(at, resource, resources);
	return check_divisor(FIELD(ref, "divisor"), resource);
}

/* ---- where they stand ---- */

static bool check_refs(const struct field *holder, bool is_file)
{
	const struct field *ref = FIELD(holder, "fieldRef");
	const struct field *resource = FIELD(holder, "resourceFieldRef");

	return (!ref->item || check_field_ref(ref, is_file ? file_fields : variable_fields)) &&
	       (!resource->item || check_resource_ref(resource, is_file));
}

static bool check_file(const struct field *item)
{
	return check_refs(item, true);
}

static bool check_variable(const struct field *variable)
{
	return check_refs(FIELD(variable, "valueFrom"), false);
}

static bool check_source(const struct field *holder)
{
	return field_check_each(FIELD(FIELD(holder, "downwardAPI"), "items"), check_file);
}

static bool check_volume(const struct field *volume)
{
	return check_source(volume) &&
	       field_check_each(FIELD(FIELD(volume, "projected"), "sources"), check_source);
}

static bool check_container(const struct field *container)
{
	return field_check_each(FIELD(container, "env"), check_variable);
}

bool admit_field_refs_check(const struct cJSON *old_spec, const struct field *spec)
{
	static const struct {
		const char *list;
		bool (*check)(const struct field *item);
	} rows[] = {
		{ "volumes", check_volume },
		{ "initContainers", check_container },
		{ "containers", check_container },
		{ "ephemeralContainers", check_container },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct field *list = FIELD(spec, rows[i].list);

		if (!json_equal(list->item, json_get(old_spec, rows[i].list)) &&
		    !field_check_each(list, rows[i].check))
			return false;
	}
	return true;
}
