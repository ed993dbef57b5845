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

/* For each answer, in order: is it of the cluster whose objects are stored? @object: borrowed. */
typedef void doubts_decided_fn(void *userdata, const struct object *object, bool is_absent,
			       bool is_same);

enum { DOUBTS_MAX = 20000 }; /* answers that wait for one question */

/* Return: 0 or -ENOMEM. */
int doubts_new(struct cluster *cluster, doubts_decided_fn *decided, void *userdata,
	       struct doubts **ret);
/* Decides nothing more. Accepts NULL. Return: NULL. */
struct doubts *doubts_free(struct doubts *doubts);

/* @is_absent: the server has no @object, which is stored; else that is what it has. NULL: a mark
 * of the caller's. Return: 0, and it is decided later; negative errno, and it never is. */
int doubts_add(struct doubts *doubts, const struct object *object, bool is_absent);
/* What waits is never decided. Return: did anything wait? */
bool doubts_drop(struct doubts *doubts);
/* Does anything wait for a question that is not sent yet? */
bool doubts_wait(const struct doubts *doubts);
