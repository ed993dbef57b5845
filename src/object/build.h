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

/* A proposal from a document that is edited first; without its tree. */
int object_of_document(struct cJSON *tree, const struct document_edit *edit, size_t index,
		       const struct object **ret, struct failure *reterr);

/**
 * object_stamped - what an object becomes when the store has set its own members of the metadata
 * @from: a proposal becomes the result itself when the caller alone holds it, or it was handed over
 *
 * Return: 0; -EINVAL: it is too large now; -ENOMEM. After a failure a proposal may have its old
 * metadata or the new one, and is only to be released.
 */
struct object_stamp;
int object_stamped(const struct object *from, struct object_stamp *stamp, const struct object **ret,
		   struct failure *reterr);

/* For edit_new.c, of a proposal that nothing has read yet: room for a text of so many bytes in the
 * place of the present one, which may move. Return: 0; -ENOMEM. */
int object_text_room(const struct object *object, size_t length);
/* Another text, for which there is room, in the place of the present one. */
struct printed;
void object_put_text(const struct object *object, const struct printed *printed);
/* What is decoded of a binding, from a tree that has at least its members. Return: 0; -ENOMEM,
 * nothing has changed. */
int object_decode_binding(const struct object *object, const struct cJSON *tree);

/* Was the object made of a document that meets the rules for what is created? */
bool object_is_creatable(const struct object *object);

/**
 * object_member - one member of an object, or all of it (@key NULL), to be read
 * @own: NULL at first; what had to be parsed for it, to be freed by the caller
 * @ret: valid as long as @object and @own; NULL: there is none
 *
 * Return: 0; -ENOMEM.
 */
int object_member(const struct object *object, const char *key, struct cJSON **own,
		  const struct cJSON **ret);
