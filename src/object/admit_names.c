/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit_names - see admit.h
 */
#include "object/admit.h"

#include "object/json/json_index.h"
#include "object/kinds.h"

#include <errno.h>
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

bool admit_qualified_name(const struct field *field, const char *name)
{
	const char *slash = strchr(name, '/'), *part = slash ? slash + 1 : name;
	char prefix[PREFIX_BYTES_MAX + 1];

	if (slash && strchr(slash + 1, '/'))
		return field_invalid(field, name,
				     "a qualified name must consist of alphanumeric characters, "
				     "'-', '_' or '.', with an optional DNS subdomain prefix and "
				     "'/' (e.g. 'example.com/MyName')");
	if (slash == name)
		return field_invalid(field, name, "prefix part must be non-empty");
	if (slash && slash - name > PREFIX_BYTES_MAX)
		return field_invalid(field, name,
				     "prefix part must be no more than 253 characters");
	if (slash) {
		(void) snprintf(prefix, sizeof(prefix), "%.*s", (int) (slash - name), name);
		if (!field_is_subdomain(prefix))
			return field_invalid(field, name,
					     "prefix part a lowercase RFC 1123 subdomain must "
					     "consist of lower case alphanumeric characters, '-' "
					     "or '.', and must start and end with an alphanumeric "
					     "character");
	}
	if (*part == '\0')
		return field_invalid(field, name, "name part must be non-empty");
	if (strlen(part) > NAME_PART_BYTES_MAX)
		return field_invalid(field, name, "name part must be no more than 63 characters");
	return is_word(part) || field_invalid(field, name, name_part_detail);
}

/* ---- metadata: what an update leaves as it was is not checked again, so that older objects can
 * be changed ---- */

static bool check_label(const struct field *label, const struct json_index_entry *before)
{
	const char *value = field_text(label);

	if (before && json_equal(before->item, label->item))
		return true;
	if (!admit_qualified_name(label->parent, label->name))
		return false;
	if (strlen(value) > NAME_PART_BYTES_MAX)
		return field_invalid(label->parent, value, "must be no more than 63 characters");
	return !*value || is_word(value) || field_invalid(label->parent, value, label_value_detail);
}

/* Their keys may be of either case; the prefix is judged in lower case. */
static bool check_annotation(const struct field *annotation, const struct json_index_entry *before)
{
	char key[PREFIX_BYTES_MAX + NAME_PART_BYTES_MAX + 8];
	size_t i = 0;

	if (before)
		return true;
	for (const char *c = annotation->name; *c && i + 1 < sizeof(key); c++)
		key[i++] = (char) (*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
	key[i] = '\0';
	return admit_qualified_name(annotation->parent, key);
}

static bool check_finalizer(const struct field *finalizer, const struct json_index_entry *before)
{
	return before || admit_qualified_name(finalizer->parent, field_text(finalizer));
}

bool admit_names_check(const struct cJSON *old, const struct field *metadata)
{
	static const struct {
		const char *member;
		bool (*check)(const struct field *at, const struct json_index_entry *before);
		bool is_list;
	} rows[] = {
		{ "labels", check_label, false },
		{ "annotations", check_annotation, false },
		{ "finalizers", check_finalizer, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_json_index struct json_index known = { 0 };
		const struct cJSON *before = json_get(old, rows[i].member);
		int r = before ? json_index_make(before, rows[i].is_list ? "" : NULL, &known) : 0;

		if (r == -ENOMEM)
			return violations_broken(metadata->found, r);
		FIELD_FOREACH (at, FIELD(metadata, rows[i].member)) {
			const char *key = rows[i].is_list ? field_text(&at) : at.name;

			if (!rows[i].check(&at, json_index_find(&known, key)))
				return false;
		}
	}
	return true;
}

/* ---- the spec ---- */

static bool check_driver(const struct field *volume)
{
	const struct field *csi = FIELD(volume, "csi");

	return !csi->item || csi_driver_name_validate(FIELD(csi, "driver"));
}

bool admit_spec_names_check(const struct field *spec)
{
	const struct field *node = FIELD(spec, "nodeName");

	return check_driver(spec) && field_check_each(FIELD(spec, "volumes"), check_driver) &&
	       (*field_text(node) == '\0' || field_check_subdomain(node));
}
