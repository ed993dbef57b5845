/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_object - one v1.Event as a tree, and what makes two of them the same
 *
 * Pure. For events.c alone.
 */
#pragma once

#include "object/object.h"

#include <stdint.h>

struct cJSON;

/* What is to be recorded, while it becomes an object. */
struct event_record {
	const struct object *about;
	const char *type, *reason, *text;
	uint64_t first_usec, last_usec, count;
};

/* What makes two events the same. The caller's; NULL: no memory. */
char *event_key(const char *kind, const char *name, const char *uid, const char *reason,
		const char *text);
/* The same of one that is stored. */
char *event_stored_key(const struct cJSON *tree);

/* Events of objects without a namespace live in "default", as in a cluster. */
const char *event_namespace(const struct object *about);

/* @path: "namespace/name" of the event. The caller's; NULL: no memory. */
struct cJSON *event_tree(const char *node_name, const char *path,
			 const struct event_record *record);
