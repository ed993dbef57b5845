/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64_text - a Secret's value as a text; see base64_text.h
 */
#include "object/base64_text.h"

#include "base/cleanup.h"

#include <assert.h>
#include <string.h>

/* 0 to 63; -1 no digit. */
static int digit_value(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int) (found - digits) : -1;
}

/* Four digits make three bytes; one or two "=" stand for bytes that are not there. */
int base64_decode_text(const char *encoded, char **ret)
{
	cleanup_free char *text = NULL;
	unsigned int bits = 0, digits = 0, padding = 0;
	size_t length = 0;

	assert(encoded && ret);
	text = malloc(strlen(encoded) / 4 * 3 + 4);
	if (!text)
		return -ENOMEM;
	for (const char *at = encoded; *at; at++) {
		int value = digit_value(*at);

		if (*at == '\n' || *at == '\r')
			continue;
		if ((value < 0 || padding > 0) && *at != '=')
			return -EINVAL;
		padding += *at == '=';
		bits = bits << 6 | (unsigned int) (value < 0 ? 0 : value);
		if (++digits % 4 > 0)
			continue;
		text[length++] = (char) (bits >> 16);
		text[length++] = (char) (bits >> 8);
		text[length++] = (char) bits;
	}
	if (digits % 4 > 0 || padding > 2)
		return -EINVAL;
	length -= padding;
	if (memchr(text, '\0', length))
		return -EILSEQ;
	text[length] = '\0';
	*ret = TAKE_PTR(text);
	return 0;
}
