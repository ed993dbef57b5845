/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64 - see base64.h
 */
#include "object/base64.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool base64_measure(const char *text, size_t *ret_bytes)
{
	size_t digits = 0, padding = 0;

	assert(text && ret_bytes);
	for (; *text; text++) {
		if (*text == '\r' || *text == '\n')
			continue;
		if (*text == '=')
			padding++;
		else if (padding > 0 || !strchr(alphabet, *text))
			return false;
		else
			digits++;
	}
	if ((digits + padding) % 4 != 0 || padding > 2 || digits % 4 == 1)
		return false;
	*ret_bytes = digits / 4 * 3 + (digits % 4 > 0 ? digits % 4 - 1 : 0);
	return true;
}

char *base64_encode(const char *bytes, size_t length)
{
	char *text = malloc((length + 2) / 3 * 4 + 1), *at = text;

	assert(bytes);
	if (!text)
		return NULL;
	for (size_t i = 0; i < length; i += 3) {
		size_t here = length - i < 3 ? length - i : 3;
		uint32_t group = 0;

		for (size_t k = 0; k < 3; k++)
			group = group << 8 | (k < here ? (unsigned char) bytes[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			*at++ = k <= here ? alphabet[group >> (18 - 6 * k) & 63] : '=';
	}
	*at = '\0';
	return text;
}
