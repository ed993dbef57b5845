/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_json - protobuf-c's messages as JSON and back, by their descriptors
 *
 * The JSON mapping of proto3: fields by their lowerCamelCase names (reading also takes the names of
 * the .proto), enums by name or number, maps as objects, 64-bit integers as strings (reading also
 * takes numbers), bytes as base64, wrappers as bare values, Timestamp as RFC 3339. What has its
 * default value is left out in writing. Reading refuses what the type does not know, with the path
 * to it. Pure.
 */
#pragma once

#include "object/json/json.h"

#include <protobuf-c/protobuf-c.h>

/**
 * csi_json_read - a message of JSON
 * @json:  an object; NULL: the empty message
 * @ret:   to be freed with csi_message_free()
 *
 * Return: 0; -EINVAL with the path and what is wrong there; -ENOMEM.
 */
int csi_json_read(const struct cJSON *json, const ProtobufCMessageDescriptor *descriptor,
		  ProtobufCMessage **ret, struct failure *reterr);

/* Strings are overwritten before they go, for some are secrets. Accepts NULL. */
void csi_message_free(ProtobufCMessage *message);

/* Is every string of it UTF-8, as proto3 demands and protobuf-c does not check? */
bool csi_message_is_text(const ProtobufCMessage *message);

/* Of a message whose strings are UTF-8. NULL: no memory; see json.h for what was lost on the way.
 */
struct cJSON *csi_json_write(const ProtobufCMessage *message);
