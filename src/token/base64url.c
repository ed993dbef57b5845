/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64url - see jwt.h
 */
#include "token/jwt.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

size_t base64url_encode(const void *bytes, size_t length, char *ret)
{
	const unsigned char *at = bytes;
	uint32_t bits = 0;
	int count = 0;
	char *to = ret;

	assert(ret && (bytes || length == 0));
	for (size_t i = 0; i < length; i++) {
		bits = bits << 8 | at[i];
		for (count += 8; count >= 6; count -= 6)
			*to++ = alphabet[bits >> (count - 6) & 63];
	}
	if (count > 0)
		*to++ = alphabet[bits << (6 - count) & 63];
	*to = '\0';
	return (size_t) (to - ret);
}

int base64url_decode(const char *text, size_t length, void *ret, size_t *ret_length)
{
	unsigned char *to = ret;
	uint32_t bits = 0;
	int count = 0;

	assert(ret && ret_length && (text || length == 0));
	for (size_t i = 0; i < length; i++) {
		const char *digit = text[i] ? strchr(alphabet, text[i]) : NULL;

		if (!digit)
			return -EINVAL;
		bits = bits << 6 | (uint32_t) (digit - alphabet);
		count += 6;
		if (count >= 8) {
			count -= 8;
			*to++ = (unsigned char) (bits >> count);
		}
	}
	if (length % 4 == 1 || (bits & ((1U << count) - 1)) != 0)
		return -EINVAL;
	*ret_length = (size_t) (to - (unsigned char *) ret);
	return 0;
}
