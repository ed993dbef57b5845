/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit_names - see admit.h
 */
#include "object/admit.h"

#include "object/json/json_index.h"
#include "object/kinds.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NAME_PART_BYTES_MAX = 63, PREFIX_BYTES_MAX = 253 };

static const char label_value_detail[] =
	"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
	"'.', and must start and end with an alphanumeric character";
static const char name_part_detail[] =
	"name part must consist of alphanumeric characters, '-', '_' or '.', and must start and "
	"end with an alphanumeric character";

/* At most 63 bytes; isalnum() would ask the locale. */
static bool is_word(const char *text)
{
	static const char inner[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_.";
	size_t length = strlen(text);

	return length > 0 && length <= NAME_PART_BYTES_MAX && strspn(text, inner) == length &&
	       !strchr("-_.", text[0]) && !strchr("-_.", text[length - 1]);
}

int admit_qualified_name(const struct field *field, const char *name, struct violations *found)
{
	const char *slash = strchr(name, '/'), *part = slash ? slash + 1 : name;
	char prefix[PREFIX_BYTES_MAX + 1];

	if (slash && strchr(slash + 1, '/'))
		return field_invalid(field, name,
				     "a qualified name must consist of alphanumeric characters, "
				     "'-', '_' or '.', with an optional DNS subdomain prefix and "
				     "'/' (e.g. 'example.com/MyName')",
				     found);
	if (slash == name)
		return field_invalid(field, name, "prefix part must be non-empty", found);
	if (slash && slash - name > PREFIX_BYTES_MAX)
		return field_invalid(field, name, "prefix part must be no more than 253 characters",
				     found);
	if (slash) {
		(void) snprintf(prefix, sizeof(prefix), "%.*s", (int) (slash - name), name);
		if (field_check_subdomain(field, prefix, NULL) < 0)
			return field_invalid(field, name,
					     "prefix part a lowercase RFC 1123 subdomain must "
					     "consist of lower case alphanumeric characters, '-' "
					     "or '.', and must start and end with an alphanumeric "
					     "character",
					     found);
	}
	if (*part == '\0')
		return field_invalid(field, name, "name part must be non-empty", found);
	if (strlen(part) > NAME_PART_BYTES_MAX)
		return field_invalid(field, name, "name part must be no more than 63 characters",
				     found);
	return is_word(part) ? 0 : field_invalid(field, name, name_part_detail, found);
}

/* What an update leaves as it was is not checked again, so that older objects can be changed. */
static int index_old(const struct cJSON *old, const char *key, struct json_index *ret,
		     struct violations *found)
{
	int r = json_index_make(old, key, ret);

	return r == -ENOMEM ? violations_broken(found, r) : 0;
}

static int check_labels(const struct cJSON *old, const struct cJSON *labels,
			const struct field *field, struct violations *found)
{
	cleanup_json_index struct json_index known = { 0 };
	int r = index_old(old, NULL, &known, found);

	for (const struct cJSON *item = json_first(labels); item && r == 0;
	     item = json_next(item)) {
		const struct json_index_entry *before = json_index_find(&known, json_key(item));
		const char *value = json_string(item, "");

		if (before && json_equal(before->item, item))
			continue;
		r = admit_qualified_name(field, json_key(item), found);
		if (r == 0 && strlen(value) > NAME_PART_BYTES_MAX)
			r = field_invalid(field, value, "must be no more than 63 characters",
					  found);
		else if (r == 0 && *value && !is_word(value))
			r = field_invalid(field, value, label_value_detail, found);
	}
	return r;
}

/* Their keys may be of either case; the prefix is judged in lower case. */
static int check_annotations(const struct cJSON *old, const struct cJSON *annotations,
			     const struct field *field, struct violations *found)
{
	cleanup_json_index struct json_index known = { 0 };
	int r = index_old(old, NULL, &known, found);

	for (const struct cJSON *item = json_first(annotations); item && r == 0;
	     item = json_next(item)) {
		char key[PREFIX_BYTES_MAX + NAME_PART_BYTES_MAX + 8];
		size_t i = 0;

		if (json_index_find(&known, json_key(item)))
			continue;
		for (const char *c = json_key(item); *c && i + 1 < sizeof(key); c++)
			key[i++] = (char) (*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
		key[i] = '\0';
		r = admit_qualified_name(field, key, found);
	}
	return r;
}

static int check_finalizers(const struct cJSON *old, const struct cJSON *finalizers,
			    const struct field *field, struct violations *found)
{
	cleanup_json_index struct json_index known = { 0 };
	int r = index_old(old, "", &known, found);

	for (const struct cJSON *item = json_first(finalizers); item && r == 0;
	     item = json_next(item))
		if (!json_index_find(&known, json_string(item, "")))
			r = admit_qualified_name(field, json_string(item, ""), found);
	return r;
}

static int check_metadata(const struct cJSON *old, const struct cJSON *metadata,
			  struct violations *found)
{
	const struct field *field = FIELD(NULL, "metadata");
	int r;

	r = check_labels(json_get(old, "labels"), json_get(metadata, "labels"),
			 FIELD(field, "labels"), found);
	if (r == 0)
		r = check_annotations(json_get(old, "annotations"),
				      json_get(metadata, "annotations"),
				      FIELD(field, "annotations"), found);
	if (r == 0)
		r = check_finalizers(json_get(old, "finalizers"), json_get(metadata, "finalizers"),
				     FIELD(field, "finalizers"), found);
	return r;
}

static int check_driver(const struct cJSON *source, const struct field *field,
			struct violations *found)
{
	const struct cJSON *csi = json_get(source, "csi");

	return csi ? csi_driver_name_validate(json_text(csi, "driver"),
					      FIELD(FIELD(field, "csi"), "driver"), found)
		   : 0;
}

/* Sources of volumes and a pod's node do not change once they are there. */
static int check_spec(const struct cJSON *spec, struct violations *found)
{
	const struct field *field = FIELD(NULL, "spec");
	const char *node = json_text(spec, "nodeName");
	size_t index = 0;
	int r = check_driver(spec, field, found);

	for (const struct cJSON *volume = json_first(json_get(spec, "volumes")); volume && r == 0;
	     volume = json_next(volume))
		r = check_driver(volume, FIELD_AT(FIELD(field, "volumes"), index++), found);
	if (r == 0 && *node)
		r = field_check_subdomain(FIELD(field, "nodeName"), node, found);
	return r;
}

int admit_names_check(const struct cJSON *old, const struct cJSON *tree, struct violations *found)
{
	int r;

	assert(tree);
	r = check_metadata(json_get(old, "metadata"), json_get(tree, "metadata"), found);
	return r == 0 && !old ? check_spec(json_get(tree, "spec"), found) : r;
}
