/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply_merge - one document of an apply and the object that is there become the object to store
 *
 * As `kubectl apply` does it, in three ways; see apply.c. Pure, so that a thread can do it: looks
 * at no table, and who stores the result expects the version that it was made from.
 */
#pragma once

#include "object/object.h"

/**
 * apply_merge - what is to be stored
 * @document: with an object and its source
 * @present:  NULL: there is none, the object is to be created
 * @ret:      a new reference
 *
 * Any thread. Return: 0; -ESTALE the document names another version; -EINVAL the result is no valid
 * object; -ENOMEM.
 */
int apply_merge(const struct document *document, const struct object *present,
		const struct object **ret, struct failure *reterr);
