/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive - the next version of a stored object where its metadata alone differs
 *
 * The text is copied with what is new in it, and what was decoded is shared: nothing is parsed. An
 * edit by a tree (object_edit()) costs eighteen times as much, and ten times the memory until the
 * write is admitted.
 */
#pragma once

#include "object/object.h"

/**
 * object_annotated - a stored object with one annotation more, or with another value of it: to be
 * written
 * @key, @value: of the program; printable, without quotes and backslashes. No kind decodes @key.
 *
 * Return: 0; -EINVAL: it is too large now; -ENOMEM.
 */
int object_annotated(const struct object *stored, const char *key, const char *value,
		     const struct object **ret, struct failure *reterr);

/* For object/ alone: does @proposed differ from @old by such an annotation alone? */
bool object_keeps_names(const struct object *proposed, const struct object *old);

/* The same: may what is decoded of @from be shared? */
bool derive_may(const struct object *from);
struct printed;
/* Such an object with @printed, where another metadata stands. Return: 0; -ENOMEM. */
int derive_from(const struct object *from, const struct printed *printed, const struct object **ret,
		struct failure *reterr);
