/* SPDX-License-Identifier: Apache-2.0 */
/*
 * byte_buffer - bytes that arrive in pieces, up to a limit
 *
 * Not for secrets: growing leaves copies behind.
 */
#pragma once

#include <stddef.h>

/* All zero is an empty one; freed by free(bytes). */
struct byte_buffer {
	char *bytes; /* NUL-terminated, or NULL */
	size_t length, allocated;
};

/* Append; memory grows by doubling. Return: 0; -E2BIG more than @limit bytes with the NUL, -ENOMEM:
 * nothing is appended. */
int byte_buffer_add(struct byte_buffer *buffer, const char *data, size_t length, size_t limit);
