/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64_text - a Secret's value as a text; see base64.h
 */
#include "object/json/base64.h"

#include "base/cleanup.h"

#include <assert.h>
#include <string.h>

int base64_decode_text(const char *encoded, char **ret)
{
	cleanup_free char *text = NULL;
	size_t length;
	int r;

	assert(encoded && ret);
	r = base64_decode(encoded, &text, &length);
	if (r < 0)
		return r;
	if (memchr(text, '\0', length))
		return -EILSEQ;
	*ret = TAKE_PTR(text);
	return 0;
}
