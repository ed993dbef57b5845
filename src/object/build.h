/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build - an object from a tree that its maker gives up
 *
 * Only src/object/ uses it.
 */
#pragma once

#include "object/object.h"

/* As object_from_json(), but defaults are written into @tree itself, which spares a copy. @tree
 * stays the caller's to free. */
int object_from_tree(struct cJSON *tree, const struct object **ret, struct failure *reterr);
