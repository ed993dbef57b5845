/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_json - what reading and writing share, and how a message goes
 */
#include "csi/csi_json_internal.h"

#include "grpc/status.h"

#include <assert.h>
#include <string.h>

void field_json_name(const ProtobufCFieldDescriptor *field, char ret[FIELD_NAME_BYTES])
{
	size_t written = 0;
	bool upper = false;

	for (const char *from = field->name; *from && written + 1 < FIELD_NAME_BYTES; from++) {
		if (*from == '_') {
			upper = true;
			continue;
		}
		ret[written++] =
			upper && *from >= 'a' && *from <= 'z' ? (char) (*from - 'a' + 'A') : *from;
		upper = false;
	}
	ret[written] = '\0';
}

size_t field_element_size(const ProtobufCFieldDescriptor *field)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return 8;
	case PROTOBUF_C_TYPE_BOOL:
		return sizeof(protobuf_c_boolean);
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	default:
		return 4;
	}
}

bool field_is_map(const ProtobufCFieldDescriptor *field)
{
	const ProtobufCMessageDescriptor *entry = field->descriptor;

	return field->type == PROTOBUF_C_TYPE_MESSAGE &&
	       field->label == PROTOBUF_C_LABEL_REPEATED && entry->n_fields == 2 &&
	       strcmp(entry->fields[0].name, "key") == 0 &&
	       strcmp(entry->fields[1].name, "value") == 0 &&
	       entry->fields[0].type == PROTOBUF_C_TYPE_STRING;
}

bool message_is_wrapper(const ProtobufCMessageDescriptor *descriptor)
{
	return strncmp(descriptor->name, "google.protobuf.", 16) == 0 &&
	       descriptor->n_fields == 1 && strcmp(descriptor->fields[0].name, "value") == 0;
}

bool message_is_timestamp(const ProtobufCMessageDescriptor *descriptor)
{
	return strcmp(descriptor->name, "google.protobuf.Timestamp") == 0;
}

/* Calls @visit with each string that is set, until one answer is false. */
static bool visit_strings(const ProtobufCMessage *message,
			  bool (*visit)(char *text, const ProtobufCFieldDescriptor *field))
{
	const ProtobufCMessageDescriptor *descriptor = message->descriptor;

	for (unsigned int i = 0; i < descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
		bool many = field->label == PROTOBUF_C_LABEL_REPEATED;
		size_t count = many ? *(size_t *) field_quantifier(message, field) : 1;
		void **members = many ? *(void ***) field_member(message, field)
				      : (void **) field_member(message, field);
		bool go_on = true;

		if (field->type != PROTOBUF_C_TYPE_STRING && field->type != PROTOBUF_C_TYPE_MESSAGE)
			continue;
		if (field_in_oneof(field) &&
		    *(uint32_t *) field_quantifier(message, field) != field->id)
			continue;
		for (size_t j = 0; j < count && go_on; j++) {
			if (members[j] && field->type == PROTOBUF_C_TYPE_STRING)
				go_on = visit(members[j], field);
			else if (members[j])
				go_on = visit_strings(members[j], visit);
		}
		if (!go_on)
			return false;
	}
	return true;
}

static bool is_text(char *text, const ProtobufCFieldDescriptor *field)
{
	const unsigned char *at = (const unsigned char *) text;
	size_t left = strlen(text);

	while (left > 0) {
		size_t bytes = grpc_utf8_length(at, left);

		if (bytes == 0)
			return false;
		at += bytes;
		left -= bytes;
	}
	return true;
}

bool csi_message_is_text(const ProtobufCMessage *message)
{
	assert(message);
	return visit_strings(message, is_text);
}

static bool wipe_text(char *text, const ProtobufCFieldDescriptor *field)
{
	if (text != field->default_value)
		explicit_bzero(text, strlen(text));
	return true;
}

void csi_message_free(ProtobufCMessage *message)
{
	if (!message)
		return;
	(void) visit_strings(message, wipe_text);
	protobuf_c_message_free_unpacked(message, NULL);
}
