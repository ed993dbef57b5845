/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_buffer - a text that grows while it is printed
 *
 * Only src/object/ uses it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* All zero is an empty one. */
struct text_buffer {
	char *bytes;
	size_t used, size;
	bool failed; /* no memory, or what is printed is not whole: nothing comes of it */
};

void text_buffer_put(struct text_buffer *buffer, const char *bytes, size_t length);

/* The text with a NUL behind it, to be freed with free(); NULL when it failed. */
char *text_buffer_take(struct text_buffer *buffer);
