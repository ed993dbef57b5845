/* SPDX-License-Identifier: Apache-2.0 */
/*
 * condition - one condition in the status of a pod or a claim, written to the store
 *
 * Made again from the object that is there when the write's turn comes, so it takes nothing else
 * away. A write that fails is logged and not repeated: the next change of the fact writes again.
 * The loop thread only.
 */
#pragma once

#include "object/object.h"

struct store;

/**
 * condition_write - replace the condition @type of an object
 * @about: the object as it is stored; of any kind that has status.conditions
 * @type:  a constant
 * @text:  its message, copied; "" takes the condition away
 *
 * Never blocks. An object that is gone by then needs no condition.
 */
void condition_write(struct store *store, const struct object *about, const char *type,
		     const char *text);
