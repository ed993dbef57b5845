/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text - formatted texts in memory of their own, two texts as one key, and bytes as digits
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Both with a byte between, for look-ups: a tenth of what asprintf() costs. Freed with free();
 * NULL: no memory. */
static inline char *new_pair(const char *first, char between, const char *second,
			     size_t *ret_length)
{
	size_t head = strlen(first), tail = strlen(second);
	char *pair = malloc(head + 1 + tail + 1);

	if (!pair)
		return NULL;
	memcpy(pair, first, head);
	pair[head] = between;
	memcpy(pair + head + 1, second, tail + 1);
	*ret_length = head + 1 + tail;
	return pair;
}

/* The same into @to, cut to @room bytes. Return: the length of what is there. */
static inline size_t put_pair(char *to, size_t room, const char *first, char between,
			      const char *second)
{
	size_t head = strnlen(first, room - 2), tail = strnlen(second, room - 2 - head);

	memcpy(to, first, head);
	to[head] = between;
	memcpy(to + head + 1, second, tail);
	to[head + 1 + tail] = '\0';
	return head + 1 + tail;
}

/* Two small digits for each byte, and a NUL. */
static inline void print_hex(const unsigned char *bytes, size_t length, char *ret)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < length; i++) {
		*ret++ = digits[bytes[i] >> 4];
		*ret++ = digits[bytes[i] & 15];
	}
	*ret = '\0';
}

/* As asprintf(3), freed with free(); NULL: no memory. */
#define new_text(...)                                                                              \
	({                                                                                         \
		char *new_text_;                                                                   \
		asprintf(&new_text_, __VA_ARGS__) < 0 ? NULL : new_text_;                          \
	})
