/* SPDX-License-Identifier: Apache-2.0 */
/*
 * byte_buffer - see byte_buffer.h
 */
#include "base/byte_buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int byte_buffer_add(struct byte_buffer *buffer, const char *data, size_t length, size_t limit)
{
	size_t needed = buffer->length + length + 1;

	if (needed > limit)
		return -E2BIG;
	if (needed > buffer->allocated) {
		size_t doubled = buffer->allocated * 2;
		size_t allocated = doubled > needed ? doubled : needed;
		char *grown = realloc(buffer->bytes, allocated);

		if (!grown)
			return -ENOMEM;
		buffer->bytes = grown;
		buffer->allocated = allocated;
	}
	memcpy(buffer->bytes + buffer->length, data, length);
	buffer->length += length;
	buffer->bytes[buffer->length] = '\0';
	return 0;
}
