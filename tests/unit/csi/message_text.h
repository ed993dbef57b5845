/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_text - a message to a driver as one line, for tests that compare every field
 */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

/* "{volume_id=v secrets=[{key=a value=b}] readonly=1}": what has its default is left out, fields
 * stand in the order of their numbers. Appended to @text. */
void message_text(const ProtobufCMessage *message, char *text, size_t size);
