/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_json_internal - what reading and writing share: how a field lies in its message, and which
 * messages JSON writes in a way of their own
 */
#pragma once

#include "csi/csi_json.h"

enum {
	FIELD_NAME_BYTES = 128,
	FRACTION_DIGITS = 9, /* of a Timestamp */
};

/* "volume_context" as "volumeContext". */
void field_json_name(const ProtobufCFieldDescriptor *field, char ret[FIELD_NAME_BYTES]);

/* Size of one element of this type. */
size_t field_element_size(const ProtobufCFieldDescriptor *field);

/* protobuf-c knows no maps: they are repeated messages of key and value. */
bool field_is_map(const ProtobufCFieldDescriptor *field);

/* google.protobuf.BoolValue and its kin: one field, "value", written bare. */
bool message_is_wrapper(const ProtobufCMessageDescriptor *descriptor);
bool message_is_timestamp(const ProtobufCMessageDescriptor *descriptor);

static inline void *field_member(const ProtobufCMessage *message,
				 const ProtobufCFieldDescriptor *field)
{
	return (uint8_t *) message + field->offset;
}

/* size_t for repeated fields, uint32_t (which member is set) for those of a oneof. */
static inline void *field_quantifier(const ProtobufCMessage *message,
				     const ProtobufCFieldDescriptor *field)
{
	return (uint8_t *) message + field->quantifier_offset;
}

static inline bool field_in_oneof(const ProtobufCFieldDescriptor *field)
{
	return field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF;
}
