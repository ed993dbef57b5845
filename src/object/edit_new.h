/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit_new - the binding of an object that is about to be created, changed in place
 *
 * An edit of a stored object makes another one: its whole text is parsed, printed and decoded
 * again. Of one that was just admitted and that nothing else has read, the members of a binding
 * alone are: metadata.annotations, spec.claimRef, spec.volumeName and status of a claim or a
 * volume. Nothing else can be changed this way, and no object that was read.
 */
#pragma once

#include "object/object.h"

/* A larger one is not edited in place. */
enum { EDIT_NEW_BYTES_MAX = 65536 };

/**
 * object_edit_new - change the binding of an object that was admitted and not committed yet
 * @edit: gets a tree of these members alone, as they are; it adds and replaces
 * @ret_before: the text as it was, for object_restore_new() or free()
 *
 * Return: 0; -E2BIG the object is left alone; what @edit returned; -ENOMEM. It is as it was then.
 */
int object_edit_new(const struct object *object, int (*edit)(struct cJSON *tree, void *userdata),
		    void *userdata, char **ret_before);

/* It was not committed: the text is what it was. Takes @before. */
void object_restore_new(const struct object *object, char *before);
