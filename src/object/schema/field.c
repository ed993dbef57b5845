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
#include "object/select/name_index.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_BYTES_MAX = 63, SUBDOMAIN_BYTES_MAX = 253 };

struct field field_first(const struct field *parent)
{
	const struct cJSON *item = json_first(parent->item);

	if (!json_is_object(parent->item))
		return field_with(parent, NULL, item);
	return (struct field){ parent, json_key(item), 0, true, item, parent->found };
}

void field_next(struct field *at)
{
	at->item = json_next(at->item);
	at->index++;
	if (at->is_key)
		at->name = json_key(at->item);
}

static void append(const struct field *field, char path[FIELD_PATH_BYTES])
{
	size_t used;

	if (!field->parent)
		return;
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

bool violations_broken(struct violations *found, int error)
{
	assert(error < 0);
	found->error = error;
	return false;
}

/* @value as it is to be shown; "" where the sentence names none. */
static bool note(const struct field *field, enum violation_type type, const char *value,
		 const char *detail)
{
	struct violations *found = field->found;
	struct violation *violation;

	assert(found && detail);
	assert(found->count < VIOLATIONS_MAX);
	violation = &found->list[found->count++];
	violation->type = type;
	field_spell(field, violation->field);
	(void) snprintf(violation->message, sizeof(violation->message), "%s%s%s%s%s",
			types[type].text, *value ? ": " : "", value, *detail ? ": " : "", detail);
	return found->want_all && found->count < VIOLATIONS_MAX;
}

/* @value NULL: the sentence names none. */
static bool wrong(const struct field *field, enum violation_type type, const char *value,
		  const char *detail)
{
	char quoted[90] = "";

	if (value && !field->found->is_secret)
		(void) snprintf(quoted, sizeof(quoted), "\"%.80s\"", value);
	return note(field, type, quoted, detail);
}

bool field_required(const struct field *field, const char *detail)
{
	return wrong(field, VIOLATION_REQUIRED, NULL, detail);
}

bool field_forbidden(const struct field *field, const char *detail)
{
	return wrong(field, VIOLATION_FORBIDDEN, NULL, detail);
}

bool field_too_long(const struct field *field, const char *detail)
{
	return wrong(field, VIOLATION_TOO_LONG, NULL, detail);
}

bool field_invalid(const struct field *field, const char *value, const char *detail)
{
	return wrong(field, VIOLATION_INVALID, value, detail);
}

bool field_invalid_number(const struct field *field, int64_t value, const char *detail)
{
	char text[24];

	(void) snprintf(text, sizeof(text), "%" PRId64, value);
	return note(field, VIOLATION_INVALID, text, detail);
}

bool field_duplicate(const struct field *field, const char *value)
{
	return wrong(field, VIOLATION_DUPLICATE, value, "");
}

bool field_not_found(const struct field *field, const char *value)
{
	return wrong(field, VIOLATION_NOT_FOUND, value, "");
}

bool field_not_supported(const struct field *field, const char *value, const char *const *supported)
{
	char detail[VIOLATION_BYTES] = "supported values: ";

	assert(supported);
	for (size_t i = 0; supported[i]; i++) {
		size_t used = strlen(detail);

		(void) snprintf(detail + used, sizeof(detail) - used, "%s\"%s\"", i ? ", " : "",
				supported[i]);
	}
	return wrong(field, VIOLATION_NOT_SUPPORTED, value, detail);
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

bool field_is_label(const char *value)
{
	return strlen(value) <= LABEL_BYTES_MAX && is_label(value, strlen(value));
}

bool field_is_subdomain(const char *value)
{
	return strlen(value) <= SUBDOMAIN_BYTES_MAX && is_subdomain(value);
}

bool field_check_present(const struct field *field)
{
	return *field_text(field) != '\0' || field_required(field, "");
}

bool field_check_label(const struct field *field)
{
	const char *value = field_text(field);

	if (*value == '\0')
		return field_required(field, "");
	if (strlen(value) > LABEL_BYTES_MAX)
		return field_invalid(field, value, "must be no more than 63 characters");
	return field_is_label(value) ||
	       field_invalid(field, value,
			     "a lowercase RFC 1123 label must consist of lower case alphanumeric "
			     "characters or '-'");
}

bool field_check_subdomain_in(const struct field *field, const char *value)
{
	if (*value == '\0')
		return field_required(field, "");
	if (strlen(value) > SUBDOMAIN_BYTES_MAX)
		return field_invalid(field, value, "must be no more than 253 characters");
	return field_is_subdomain(value) ||
	       field_invalid(field, value,
			     "a lowercase RFC 1123 subdomain must consist of lower case "
			     "alphanumeric characters, '-' or '.'");
}

bool field_check_subdomain(const struct field *field)
{
	return field_check_subdomain_in(field, field_text(field));
}

bool field_check_one_of(const struct field *field, const char *const *supported, bool optional)
{
	const char *value = field_text(field);

	assert(supported);
	if (*value == '\0')
		return optional || field_required(field, "");
	for (size_t i = 0; supported[i]; i++) {
		if (strcmp(value, supported[i]) == 0)
			return true;
	}
	return field_not_supported(field, value, supported);
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

bool field_check_no_backsteps(const struct field *field)
{
	return !has_backstep(field_text(field)) ||
	       field_invalid(field, field_text(field), "must not contain '..'");
}

bool field_check_descending(const struct field *field)
{
	if (*field_text(field) == '/')
		return field_invalid(field, field_text(field), "must be a relative path");
	return field_check_no_backsteps(field);
}

bool field_check_range(const struct field *field, int64_t least, int64_t most)
{
	char detail[80];
	int64_t value;

	if (!json_int64(field->item, &value) || (value >= least && value <= most))
		return true;
	(void) snprintf(detail, sizeof(detail),
			"must be between %" PRId64 " and %" PRId64 ", inclusive", least, most);
	return field_invalid_number(field, value, detail);
}

bool field_check_quantity(const struct field *field, bool positive)
{
	const char *text = json_string(field->item, NULL);
	struct failure why = { 0 };
	struct quantity quantity;

	if (!text)
		return true;
	if (quantity_parse(text, &quantity, &why) < 0)
		return field_invalid(field, text,
				     "quantities are numbers with a suffix, such as \"10Gi\" or "
				     "\"1500m\"");
	if (quantity.milli < 0)
		return field_invalid(field, text, "must be greater than or equal to 0");
	if (positive && quantity.milli == 0)
		return field_invalid(field, text, "must be greater than zero");
	return true;
}

bool field_check_each(const struct field *field, bool (*check)(const struct field *element))
{
	FIELD_FOREACH (at, field)
		if (!check(&at))
			return false;
	return true;
}

bool field_check_unique(const struct field *list, const char *key)
{
	cleanup_name_index struct name_index index = { 0 };
	const struct name_entry *again;
	struct field at = field_first(list);

	if (name_index_init(&index, list->item, key) < 0)
		return violations_broken(list->found, -ENOMEM);
	again = name_index_duplicate(&index);
	if (!again)
		return true;
	at.index = again->position;
	return field_duplicate(FIELD_OF(&at, key, NULL), again->name);
}
