/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection - which objects of a kind a request means: labelSelector and fieldSelector
 *
 * Labels: "a=b", "a==b", "a!=b", "a in (b,c)", "a notin (b,c)", "a", "!a", "a>1", "a<1", joined by
 * commas; all must hold. Fields: "metadata.name=x", "status.phase!=Running", only those that
 * Kubernetes knows for the kind; an unknown one is refused, never passed over.
 */
#ifndef PODVOL_OBJECT_SELECTION_H
#define PODVOL_OBJECT_SELECTION_H

#include "object/kind.h"

struct selection;

enum {
	SELECTION_VALUES_MAX = 256,     /* of one "in" or "notin" */
	SELECTION_WORD_BYTES_MAX = 512, /* of a field's path or value */
};

/**
 * selection_parse - read both selectors
 * @labels, @fields: as in the query; NULL or "": all
 * @ret:             NULL when all objects are meant; else for selection_free()
 *
 * Return: 0; -EINVAL with what is wrong; -ENOMEM.
 */
int selection_parse(const struct kind_row *row, const char *labels, const char *fields,
		    struct selection **ret, struct failure *reterr);
/* Accepts NULL. Return: NULL. */
struct selection *selection_free(struct selection *selection);

/* A selection that is NULL matches every object. Without memory nothing matches. */
bool selection_matches(const struct selection *selection, const struct object *object);

#endif
