/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_text - a message to a driver as one line; see message_text.h
 */
#include "message_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void append(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	assert_true((size_t) vsnprintf(text + length, size - length, format, arguments) <
		    size - length);
	va_end(arguments);
}

static void print_value(const ProtobufCFieldDescriptor *field, const void *value, char *text,
			size_t size)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_STRING:
		append(text, size, "%s", *(char *const *) value);
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		message_text(*(const ProtobufCMessage *const *) value, text, size);
		break;
	case PROTOBUF_C_TYPE_INT64:
		append(text, size, "%lld", (long long) *(const int64_t *) value);
		break;
	case PROTOBUF_C_TYPE_BOOL:
	case PROTOBUF_C_TYPE_ENUM:
		append(text, size, "%d", *(const int *) value);
		break;
	default:
		fail_msg("field '%s' has a type that nobody expected", field->name);
	}
}

static size_t size_of(const ProtobufCFieldDescriptor *field)
{
	return field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_MESSAGE
		       ? sizeof(void *)
	       : field->type == PROTOBUF_C_TYPE_INT64 ? sizeof(int64_t)
						      : sizeof(int);
}

static void print_list(const ProtobufCFieldDescriptor *field, const char *base, char *text,
		       size_t size)
{
	size_t count = *(const size_t *) (base + field->quantifier_offset);
	const char *values = *(char *const *) (base + field->offset);

	for (size_t i = 0; i < count; i++) {
		append(text, size, "%s", i == 0 ? "[" : " ");
		print_value(field, values + i * size_of(field), text, size);
	}
	append(text, size, "]");
}

static int is_default(const ProtobufCFieldDescriptor *field, const char *base)
{
	const void *value = base + field->offset;

	if (field->label == PROTOBUF_C_LABEL_REPEATED)
		return *(const size_t *) (base + field->quantifier_offset) == 0;
	if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		return *(const uint32_t *) (base + field->quantifier_offset) != field->id;
	if (field->type == PROTOBUF_C_TYPE_STRING)
		return **(char *const *) value == '\0';
	if (field->type == PROTOBUF_C_TYPE_MESSAGE)
		return *(void *const *) value == NULL;
	if (field->type == PROTOBUF_C_TYPE_INT64)
		return *(const int64_t *) value == 0;
	return *(const int *) value == 0;
}

void message_text(const ProtobufCMessage *message, char *text, size_t size)
{
	const ProtobufCMessageDescriptor *type = message->descriptor;
	const char *base = (const char *) message, *before = "{";

	for (unsigned int i = 0; i < type->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &type->fields[i];

		if (is_default(field, base))
			continue;
		append(text, size, "%s%s=", before, field->name);
		before = " ";
		if (field->label == PROTOBUF_C_LABEL_REPEATED)
			print_list(field, base, text, size);
		else
			print_value(field, base + field->offset, text, size);
	}
	append(text, size, "%s}", *before == '{' ? "{" : "");
}
