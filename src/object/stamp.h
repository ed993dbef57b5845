/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stamp - what the store says of an object, written into the text of its metadata
 *
 * In canonical text: the members of others are copied as they are, and nothing is parsed. Only
 * src/object/ uses it.
 */
#pragma once

#include "object/json/text_buffer.h"
#include "object/object.h"

#include <stdbool.h>
#include <stdint.h>

struct object_stamp {
	const char *uid; /* as metadata_validate() allows it */
	uint64_t resource_version, generation;
	uint64_t created_usec, deleted_usec; /* whole seconds count; deleted 0: it is not */
	const char *finalizer;               /* of the kind; NULL: it has none */
	bool adds_finalizer;                 /* it is to be there */
	bool has_finalizer;                  /* set by stamp_print(): it is */
};

/* Behind what the buffer has: an object with such metadata. The store's members come last and
 * always in this order, so that an unchanged object keeps its bytes; other finalizers stay. */
void stamp_print(struct text_buffer *buffer, const struct object *object,
		 struct object_stamp *stamp);

/* Has an object any finalizer? */
bool stamp_has_finalizers(const struct object *object);
