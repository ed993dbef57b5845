/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array - see array.h
 */
#include "base/array.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int array_grow(void *items, size_t item_bytes, size_t count, size_t *room, size_t first)
{
	size_t more = *room ? 2 * *room : first;
	void *grown;

	assert(item_bytes > 0 && count == *room && first > 0);
	memcpy(&grown, items, sizeof(grown)); /* a pointer to another type than this */
	grown = reallocarray(grown, more, item_bytes);
	if (!grown)
		return -ENOMEM;
	memcpy(items, &grown, sizeof(grown));
	*room = more;
	return 0;
}
