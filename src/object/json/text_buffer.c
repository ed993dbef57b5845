/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_buffer - see text_buffer.h
 */
#include "object/json/text_buffer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void reserve(struct text_buffer *buffer, size_t more)
{
	size_t size = buffer->size ? buffer->size : 2048;
	char *grown;

	assert(buffer->used <= buffer->size);
	if (buffer->failed || buffer->size - buffer->used >= more)
		return;
	while (size - buffer->used < more)
		size *= 2;
	grown = realloc(buffer->bytes, size);
	if (!grown) {
		buffer->failed = true;
		return;
	}
	buffer->bytes = grown;
	buffer->size = size;
}

void text_buffer_put(struct text_buffer *buffer, const char *bytes, size_t length)
{
	reserve(buffer, length);
	if (buffer->failed)
		return;
	memcpy(buffer->bytes + buffer->used, bytes, length);
	buffer->used += length;
}

char *text_buffer_take(struct text_buffer *buffer)
{
	char *kept;

	text_buffer_put(buffer, "", 1);
	if (buffer->failed) {
		free(buffer->bytes);
		return NULL;
	}
	/* Kept for as long as its object: give back what it does not need. */
	kept = realloc(buffer->bytes, buffer->used);
	if (!kept)
		free(buffer->bytes);
	return kept;
}
