/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64 - see base64.h
 */
#include "object/json/base64.h"

#include "base/cleanup.h"

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

/* 0 to 63; -1 no digit. */
static int digit_value(char c)
{
	const char *found = c ? strchr(alphabet, c) : NULL;

	return found ? (int) (found - alphabet) : -1;
}

/* Four digits make three bytes; one or two "=" stand for bytes that are not there. */
int base64_decode(const char *text, char **ret, size_t *ret_length)
{
	cleanup_free char *bytes = NULL;
	unsigned int bits = 0, digits = 0, padding = 0;
	size_t length = 0;

	assert(text && ret && ret_length);
	bytes = malloc(strlen(text) / 4 * 3 + 4);
	if (!bytes)
		return -ENOMEM;
	for (; *text; text++) {
		int value = digit_value(*text);

		if (*text == '\n' || *text == '\r')
			continue;
		if ((value < 0 || padding > 0) && *text != '=')
			return -EINVAL;
		padding += *text == '=';
		bits = bits << 6 | (unsigned int) (value < 0 ? 0 : value);
		if (++digits % 4 > 0)
			continue;
		bytes[length++] = (char) (bits >> 16);
		bytes[length++] = (char) (bits >> 8);
		bytes[length++] = (char) bits;
	}
	if (digits % 4 > 0 || padding > 2)
		return -EINVAL;
	length -= padding;
	bytes[length] = '\0';
	*ret = TAKE_PTR(bytes);
	*ret_length = length;
	return 0;
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
