/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printed - a text that is to be an object's, with the places of its metadata and spec
 *
 * Only src/object/ uses it.
 */
#pragma once

#include "object/json/text_buffer.h"
#include "object/object.h"

enum { PRINTED_BYTES = 8192 }; /* on the stack; larger texts are printed on the heap */

/* The members are nowhere when it is not known where they are. */
struct printed {
	struct text_buffer text;
	struct object_span metadata, spec;
	char array[PRINTED_BYTES];
};

void printed_init(struct printed *printed);
void printed_done(struct printed *printed);
/* The text of @tree, an object's. */
void printed_object(struct printed *printed, const struct cJSON *tree);

/* The tree of a text that printed_object() made before. Return: as json_parse(). */
int printed_parse(struct printed *printed, struct cJSON **ret, struct failure *reterr);

/* In a text of @from with another metadata than before, and nothing else changed. */
void printed_note_metadata(struct printed *printed, const struct object *from);

/* In a text that was printed without noting them. */
void object_find_members(struct object *object);
