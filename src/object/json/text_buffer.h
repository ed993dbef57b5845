/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_buffer - a text that grows while it is printed
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* All zero is an empty one; so is { .bytes = array, .size = sizeof(array), .is_lent = true }, which
 * takes no memory until the text outgrows the array. */
struct text_buffer {
	char *bytes;
	size_t used, size;
	bool is_lent; /* bytes are the caller's, and not to be freed */
	bool failed;  /* no memory, or what is printed is not whole: nothing comes of it */
};

/* text_buffer_room() of a buffer that is full, or has failed. */
char *text_buffer_grow(struct text_buffer *buffer, size_t length);

/* Room for @length more bytes behind the used ones; NULL: no memory. */
static inline char *text_buffer_room(struct text_buffer *buffer, size_t length)
{
	return buffer->size - buffer->used < length || buffer->failed
		       ? text_buffer_grow(buffer, length)
		       : buffer->bytes + buffer->used;
}

static inline void text_buffer_put(struct text_buffer *buffer, const char *bytes, size_t length)
{
	char *to = text_buffer_room(buffer, length);

	if (!to)
		return;
	memcpy(to, bytes, length);
	buffer->used += length;
}

/* Frees what was taken for the text. */
void text_buffer_done(struct text_buffer *buffer);

/* The text with a NUL behind it, to be freed with free(); NULL when it failed. */
char *text_buffer_take(struct text_buffer *buffer);
