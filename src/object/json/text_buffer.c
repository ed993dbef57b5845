/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_buffer - see text_buffer.h
 */
#include "object/json/text_buffer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

char *text_buffer_grow(struct text_buffer *buffer, size_t length)
{
	size_t size = buffer->size ? buffer->size : 2048;
	char *grown;

	assert(buffer->used <= buffer->size);
	if (buffer->failed)
		return NULL;
	while (size - buffer->used < length)
		size *= 2;
	grown = realloc(buffer->is_lent ? NULL : buffer->bytes, size);
	if (!grown) {
		buffer->failed = true;
		return NULL;
	}
	if (buffer->is_lent)
		memcpy(grown, buffer->bytes, buffer->used);
	buffer->bytes = grown;
	buffer->size = size;
	buffer->is_lent = false;
	return buffer->bytes + buffer->used;
}

void text_buffer_done(struct text_buffer *buffer)
{
	if (!buffer->is_lent)
		free(buffer->bytes);
	*buffer = (struct text_buffer){ 0 };
}

char *text_buffer_take(struct text_buffer *buffer)
{
	char *kept;

	text_buffer_put(buffer, "", 1);
	if (buffer->failed) {
		text_buffer_done(buffer);
		return NULL;
	}
	/* Kept for as long as its object: give back what it does not need. */
	kept = realloc(buffer->is_lent ? NULL : buffer->bytes, buffer->used);
	if (!kept)
		text_buffer_done(buffer);
	else if (buffer->is_lent)
		memcpy(kept, buffer->bytes, buffer->used);
	return kept;
}
