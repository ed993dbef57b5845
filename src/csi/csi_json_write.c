/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_json_write - a message as JSON
 */
#include "csi/csi_json_internal.h"

#include "base/cleanup.h"
#include "object/json/base64.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

static void write_message(const ProtobufCMessage *message, struct cJSON *object);

/* Sets @key of an object, or appends to an array where @key is NULL. */
static void write_text(struct cJSON *parent, const char *key, const char *text)
{
	(void) json_set_string(parent, key, text);
}

static void write_wide(struct cJSON *parent, const char *key, int64_t value)
{
	char text[24];

	(void) snprintf(text, sizeof(text), "%" PRId64, value);
	write_text(parent, key, text);
}

static void write_unsigned_wide(struct cJSON *parent, const char *key, uint64_t value)
{
	char text[24];

	(void) snprintf(text, sizeof(text), "%" PRIu64, value);
	write_text(parent, key, text);
}

static void write_enum(struct cJSON *parent, const char *key, const ProtobufCEnumDescriptor *type,
		       int number)
{
	const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(type, number);

	if (value)
		write_text(parent, key, value->name);
	else
		(void) json_set_int(parent, key, number);
}

static void write_bytes(struct cJSON *parent, const char *key, const ProtobufCBinaryData *bytes)
{
	cleanup_free char *text = base64_encode((const char *) bytes->data, bytes->len);

	/* Without memory the tree becomes unprintable, as json.h says. */
	if (text)
		write_text(parent, key, text);
	else
		(void) json_set(parent, key, NULL);
}

/* "2024-02-29T12:00:00.5Z": no more digits than needed. */
static void write_timestamp(struct cJSON *parent, const char *key, const ProtobufCMessage *message)
{
	const ProtobufCFieldDescriptor *fields = message->descriptor->fields;
	int64_t seconds = *(int64_t *) field_member(message, &fields[0]);
	int32_t nanos = *(int32_t *) field_member(message, &fields[1]);
	char text[80], fraction[FRACTION_DIGITS + 2] = "";
	time_t time = (time_t) seconds;
	struct tm tm;

	if (!gmtime_r(&time, &tm) || nanos < 0 || nanos > 999999999) {
		write_wide(parent, key, seconds);
		return;
	}
	if (nanos > 0) {
		(void) snprintf(fraction, sizeof(fraction), ".%09" PRId32, nanos);
		for (size_t end = strlen(fraction); fraction[end - 1] == '0'; end--)
			fraction[end - 1] = '\0';
	}
	(void) snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d%sZ", tm.tm_year + 1900,
			tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, fraction);
	write_text(parent, key, text);
}

static void write_element(struct cJSON *parent, const char *key,
			  const ProtobufCFieldDescriptor *field, const void *element);

static void write_nested(struct cJSON *parent, const char *key, const ProtobufCMessage *message)
{
	const ProtobufCFieldDescriptor *first = message->descriptor->fields;

	if (message_is_timestamp(message->descriptor))
		write_timestamp(parent, key, message);
	else if (message_is_wrapper(message->descriptor))
		write_element(parent, key, first, field_member(message, first));
	else
		write_message(message, json_add_object(parent, key));
}

static void write_element(struct cJSON *parent, const char *key,
			  const ProtobufCFieldDescriptor *field, const void *element)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
		(void) json_set_int(parent, key, *(const int32_t *) element);
		break;
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		(void) json_set_int(parent, key, *(const uint32_t *) element);
		break;
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
		write_wide(parent, key, *(const int64_t *) element);
		break;
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		write_unsigned_wide(parent, key, *(const uint64_t *) element);
		break;
	case PROTOBUF_C_TYPE_BOOL:
		(void) json_set_bool(parent, key, *(const protobuf_c_boolean *) element);
		break;
	case PROTOBUF_C_TYPE_ENUM:
		write_enum(parent, key, field->descriptor, *(const int *) element);
		break;
	case PROTOBUF_C_TYPE_STRING:
		write_text(parent, key, *(const char *const *) element);
		break;
	case PROTOBUF_C_TYPE_BYTES:
		write_bytes(parent, key, element);
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		write_nested(parent, key, *(const ProtobufCMessage *const *) element);
		break;
	default: /* float and double: no message of CSI has one */
		assert(false);
	}
}

static void write_map(struct cJSON *object, ProtobufCMessage *const *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const ProtobufCFieldDescriptor *fields = entries[i]->descriptor->fields;
		const char *key = *(const char *const *) field_member(entries[i], &fields[0]);

		write_element(object, key, &fields[1], field_member(entries[i], &fields[1]));
	}
}

static void write_repeated(struct cJSON *object, const char *name, const ProtobufCMessage *message,
			   const ProtobufCFieldDescriptor *field)
{
	size_t count = *(const size_t *) field_quantifier(message, field);
	const uint8_t *elements = *(const uint8_t *const *) field_member(message, field);
	struct cJSON *array;

	if (count == 0)
		return;
	if (field_is_map(field)) {
		write_map(json_add_object(object, name),
			  (ProtobufCMessage *const *) (const void *) elements, count);
		return;
	}
	array = json_add_array(object, name);
	for (size_t i = 0; i < count; i++)
		write_element(array, NULL, field, elements + i * field_element_size(field));
}

static bool has_default(const ProtobufCFieldDescriptor *field, const void *element)
{
	static const uint8_t zeros[sizeof(ProtobufCBinaryData)];
	const char *text;

	if (field->type == PROTOBUF_C_TYPE_STRING) {
		text = *(const char *const *) element;
		return !text || *text == '\0';
	}
	if (field->type == PROTOBUF_C_TYPE_BYTES)
		return ((const ProtobufCBinaryData *) element)->len == 0;
	return memcmp(element, zeros, field_element_size(field)) == 0;
}

static void write_message(const ProtobufCMessage *message, struct cJSON *object)
{
	const ProtobufCMessageDescriptor *descriptor = message->descriptor;

	for (unsigned int i = 0; i < descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
		char name[FIELD_NAME_BYTES];

		field_json_name(field, name);
		if (field->label == PROTOBUF_C_LABEL_REPEATED)
			write_repeated(object, name, message, field);
		else if (field_in_oneof(field)
				 ? *(uint32_t *) field_quantifier(message, field) == field->id
				 : !has_default(field, field_member(message, field)))
			write_element(object, name, field, field_member(message, field));
	}
}

struct cJSON *csi_json_write(const ProtobufCMessage *message)
{
	struct cJSON *object = json_new_object();

	assert(message);

	if (object)
		write_message(message, object);
	return object;
}
