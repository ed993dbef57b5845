/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doubts - answers of the server that may be another cluster's wait until its identity was asked
 *
 * One question serves all that came before it. Judges nothing else of an object, and stores none.
 */
#pragma once

#include <stdbool.h>

struct cluster;
struct doubts;
struct object;

/* For each answer, in order: is it of the cluster whose objects are stored? Borrowed. */
typedef void doubts_decided_fn(void *userdata, const struct object *object, bool is_absent,
			       bool is_same);

enum { DOUBTS_MAX = 20000 }; /* answers that wait for one question */

/* Return: 0 or -ENOMEM. */
int doubts_new(struct cluster *cluster, doubts_decided_fn *decided, void *userdata,
	       struct doubts **ret);
/* Decides nothing more. Accepts NULL. Return: NULL. */
struct doubts *doubts_free(struct doubts *doubts);

/* @is_absent: the server has no @object, which is stored; else that is what it has. Return: 0, and
 * it is decided later; negative errno, and it never is. */
int doubts_add(struct doubts *doubts, const struct object *object, bool is_absent);
