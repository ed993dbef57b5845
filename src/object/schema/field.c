/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field - see field.h
 *
 * The sentences are those of Kubernetes' field.Error, because people search for them; only the
 * regular expressions at the end of the naming rules are left out, which would fill the failure.
 */
#include "object/schema/field.h"

#include "base/cleanup.h"
#include "object/quantity.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_BYTES_MAX = 63, SUBDOMAIN_BYTES_MAX = 253 };

static void append(const struct field *field, char path[FIELD_PATH_BYTES])
{
	size_t used;

	if (field->parent)
		append(field->parent, path);
	used = strlen(path);
	if (field->name && field->is_key)
		(void) snprintf(path + used, FIELD_PATH_BYTES - used, "[%.60s]", field->name);
	else if (field->name)
		(void) snprintf(path + used, FIELD_PATH_BYTES - used, "%s%s", used ? "." : "",
				field->name);
	else
		(void) snprintf(path + used, FIELD_PATH_BYTES - used, "[%zu]", field->index);
}

void field_spell(const struct field *field, char path[FIELD_PATH_BYTES])
{
	path[0] = '\0';
	append(field, path);
}

static const struct {
	const char *text;   /* Kubernetes' field.ErrorType */
	const char *reason; /* metav1.CauseType */
} types[] = {
	[VIOLATION_REQUIRED] = { "Required value", "FieldValueRequired" },
	[VIOLATION_INVALID] = { "Invalid value", "FieldValueInvalid" },
	[VIOLATION_DUPLICATE] = { "Duplicate value", "FieldValueDuplicate" },
	[VIOLATION_NOT_SUPPORTED] = { "Unsupported value", "FieldValueNotSupported" },
	[VIOLATION_FORBIDDEN] = { "Forbidden", "FieldValueForbidden" },
	[VIOLATION_NOT_FOUND] = { "Not found", "FieldValueNotFound" },
	[VIOLATION_TOO_LONG] = { "Too long", "FieldValueTooLong" },
};
static_assert(ARRAY_SIZE(types) == VIOLATION_TYPE_COUNT, "name every type");

const char *violation_reason(enum violation_type type)
{
	assert((size_t) type < ARRAY_SIZE(types));
	return types[type].reason;
}

int violations_to_failure(const struct violations *violations, struct failure *reterr)
{
	const struct violation *first = violations->list;

	if (violations->error < 0)
		return failed(reterr, violations->error, "cannot check an object");
	assert(violations->count > 0);
	return failed_plain(reterr, -EINVAL, "%s: %s", first->field, first->message);
}

int violations_broken(struct violations *found, int error)
{
	assert(error < 0);
	if (found)
		found->error = error;
	return error;
}

/* @value as it is to be shown; "" where the sentence names none. */
static int note(const struct field *field, enum violation_type type, const char *value,
		const char *detail, struct violations *found)
{
	struct violation *violation;

	assert(field && detail);
	if (!found)
		return -EINVAL;
	assert(found->count < VIOLATIONS_MAX);
	violation = &found->list[found->count++];
	violation->type = type;
	field_spell(field, violation->field);
	(void) snprintf(violation->message, sizeof(violation->message), "%s%s%s%s%s",
			types[type].text, *value ? ": " : "", value, *detail ? ": " : "", detail);
	return found->want_all && found->count < VIOLATIONS_MAX ? 0 : -EINVAL;
}

/* @value NULL: the sentence names none. */
static int wrong(const struct field *field, enum violation_type type, const char *value,
		 const char *detail, struct violations *found)
{
	char quoted[90] = "";

	if (value && !(found && found->is_secret))
		(void) snprintf(quoted, sizeof(quoted), "\"%.80s\"", value);
	return note(field, type, quoted, detail, found);
}

int field_required(const struct field *field, const char *detail, struct violations *found)
{
	return wrong(field, VIOLATION_REQUIRED, NULL, detail, found);
}

int field_forbidden(const struct field *field, const char *detail, struct violations *found)
{
	return wrong(field, VIOLATION_FORBIDDEN, NULL, detail, found);
}

int field_too_long(const struct field *field, const char *detail, struct violations *found)
{
	return wrong(field, VIOLATION_TOO_LONG, NULL, detail, found);
}

int field_invalid(const struct field *field, const char *value, const char *detail,
		  struct violations *found)
{
	return wrong(field, VIOLATION_INVALID, value, detail, found);
}

int field_invalid_number(const struct field *field, int64_t value, const char *detail,
			 struct violations *found)
{
	char text[24];

	(void) snprintf(text, sizeof(text), "%" PRId64, value);
	return note(field, VIOLATION_INVALID, text, detail, found);
}

int field_duplicate(const struct field *field, const char *value, struct violations *found)
{
	return wrong(field, VIOLATION_DUPLICATE, value, "", found);
}

int field_not_found(const struct field *field, const char *value, struct violations *found)
{
	return wrong(field, VIOLATION_NOT_FOUND, value, "", found);
}

int field_not_supported(const struct field *field, const char *value, const char *const *supported,
			struct violations *found)
{
	char detail[VIOLATION_BYTES] = "supported values: ";

	assert(supported);
	for (size_t i = 0; supported[i]; i++) {
		size_t used = strlen(detail);

		(void) snprintf(detail + used, sizeof(detail) - used, "%s\"%s\"", i ? ", " : "",
				supported[i]);
	}
	return wrong(field, VIOLATION_NOT_SUPPORTED, value, detail, found);
}

/* ---- shared rules ---- */

static bool is_alphanumeric(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
}

/* One label of a name: alphanumeric at both ends, '-' between. */
static bool is_label(const char *text, size_t length)
{
	if (length == 0 || !is_alphanumeric(text[0]) || !is_alphanumeric(text[length - 1]))
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!is_alphanumeric(text[i]) && text[i] != '-')
			return false;
	}
	return true;
}

static bool is_subdomain(const char *text)
{
	for (;;) {
		size_t length = strcspn(text, ".");

		if (!is_label(text, length))
			return false;
		if (text[length] == '\0')
			return true;
		text += length + 1;
	}
}

int field_check_label(const struct field *field, const char *value, struct violations *found)
{
	if (!value || *value == '\0')
		return field_required(field, "", found);
	if (strlen(value) > LABEL_BYTES_MAX)
		return field_invalid(field, value, "must be no more than 63 characters", found);
	if (!is_label(value, strlen(value)))
		return field_invalid(field, value,
				     "a lowercase RFC 1123 label must consist of lower case "
				     "alphanumeric characters or '-'",
				     found);
	return 0;
}

int field_check_subdomain(const struct field *field, const char *value, struct violations *found)
{
	if (!value || *value == '\0')
		return field_required(field, "", found);
	if (strlen(value) > SUBDOMAIN_BYTES_MAX)
		return field_invalid(field, value, "must be no more than 253 characters", found);
	if (!is_subdomain(value))
		return field_invalid(field, value,
				     "a lowercase RFC 1123 subdomain must consist of lower case "
				     "alphanumeric characters, '-' or '.'",
				     found);
	return 0;
}

int field_check_one_of(const struct field *field, const char *value, const char *const *supported,
		       bool optional, struct violations *found)
{
	assert(supported);
	if (!value || *value == '\0')
		return optional ? 0 : field_required(field, "", found);
	for (size_t i = 0; supported[i]; i++) {
		if (strcmp(value, supported[i]) == 0)
			return 0;
	}
	return field_not_supported(field, value, supported, found);
}

static bool has_backstep(const char *path)
{
	while (*path) {
		size_t length = strcspn(path, "/");

		if (length == 2 && path[0] == '.' && path[1] == '.')
			return true;
		path += length + (path[length] == '/' ? 1 : 0);
	}
	return false;
}

int field_check_no_backsteps(const struct field *field, const char *path, struct violations *found)
{
	if (path && has_backstep(path))
		return field_invalid(field, path, "must not contain '..'", found);
	return 0;
}

int field_check_descending(const struct field *field, const char *path, struct violations *found)
{
	if (path && *path == '/')
		return field_invalid(field, path, "must be a relative path", found);
	return field_check_no_backsteps(field, path, found);
}

int field_check_range(const struct field *field, const struct cJSON *item, int64_t least,
		      int64_t most, struct violations *found)
{
	char detail[80];
	int64_t value;

	if (!json_int64(item, &value) || (value >= least && value <= most))
		return 0;
	(void) snprintf(detail, sizeof(detail),
			"must be between %" PRId64 " and %" PRId64 ", inclusive", least, most);
	return field_invalid_number(field, value, detail, found);
}

int field_check_quantity(const struct field *field, const struct cJSON *item, bool positive,
			 struct violations *found)
{
	const char *text = json_string(item, NULL);
	struct failure why = { 0 };
	struct quantity quantity;

	if (!text)
		return 0;
	if (quantity_parse(text, &quantity, &why) < 0)
		return field_invalid(field, text,
				     "quantities are numbers with a suffix, such as \"10Gi\" or "
				     "\"1500m\"",
				     found);
	if (quantity.milli < 0)
		return field_invalid(field, text, "must be greater than or equal to 0", found);
	if (positive && quantity.milli == 0)
		return field_invalid(field, text, "must be greater than zero", found);
	return 0;
}
