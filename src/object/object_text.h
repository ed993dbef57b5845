/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_text - the text of an object, and where in it metadata and spec stand
 *
 * Each write looks at these two several times: where they are is noted when the text is made, so
 * that no reader has to search the whole for it. Changes nothing.
 */
#pragma once

#include "object/json/json_text.h"
#include "object/object.h"

/* The members by their text; no bytes: there is none. */
static inline struct json_bytes object_metadata_text(const struct object *object)
{
	return (struct json_bytes){ object->json + object->metadata.at, object->metadata.length };
}

static inline struct json_bytes object_spec_text(const struct object *object)
{
	return (struct json_bytes){ object->json + object->spec.at, object->spec.length };
}

/**
 * object_copy_members - of a member, such as spec, those of some names
 * @keys: ended by NULL
 * @ret:  a map of those that are there, to be freed; one parse for all
 *
 * Return: 0; -ENOMEM.
 */
int object_copy_members(const struct object *object, const char *member, const char *const keys[],
			struct cJSON **ret);
