/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build - objects and the trees that they are made from
 *
 * A proposal, which object_edit() makes, keeps the tree that it was printed from until it is
 * admitted or gone, so that what looks at it next parses nothing. What is stored has none: it would
 * need many times the memory of its text. Only src/object/ uses it.
 */
#pragma once

#include "object/object.h"

/* As object_from_json(), but defaults are written into @tree itself, which spares a copy. @tree
 * stays the caller's to free. */
int object_from_tree(struct cJSON *tree, const struct object **ret, struct failure *reterr);

/* The same from a tree that was an object of this kind already, in which the store has changed
 * nothing but metadata of its own: types, defaults and rules are not looked at again. */
int object_of_valid_tree(enum object_kind kind, const struct cJSON *tree, const struct object **ret,
			 struct failure *reterr);

/**
 * object_stamped - what a proposal becomes when the store has set its own members of the metadata
 * @proposed: its tree was taken; it becomes the result itself when the caller alone holds it
 * @tree:     that tree, in which nothing but uid, resourceVersion, generation, the two timestamps,
 *            deletionGracePeriodSeconds and finalizers may differ from it
 *
 * Return: 0; -EINVAL: it is too large now; -ENOMEM. After a failure @proposed may have its old
 * metadata or the new one, and is only to be released.
 */
int object_stamped(const struct object *proposed, const struct cJSON *tree,
		   const struct object **ret, struct failure *reterr);

/* The object's tree to be changed and freed: its own when the object has no other holder, and it
 * goes on without; a copy otherwise. NULL: no memory. */
struct cJSON *object_take_tree(const struct object *object);

/**
 * object_member - one member of an object, to be read
 * @own: NULL at first; what had to be parsed for it, to be freed by the caller
 * @ret: valid as long as @object and @own; NULL: there is none
 *
 * Return: 0; -ENOMEM.
 */
int object_member(const struct object *object, const char *key, struct cJSON **own,
		  const struct cJSON **ret);

/* Are all members but metadata and status the same, in the same order and to the byte? False does
 * not say that they differ: members may stand in another order. */
bool object_content_is_same(const struct object *a, const struct object *b);
