/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table - kubectl's columns: objects as rows of a meta.k8s.io/v1 Table
 */
#ifndef PODVOL_OBJECT_TABLE_H
#define PODVOL_OBJECT_TABLE_H

#include "object/json/json.h"
#include "object/object.h"

enum { TABLE_CELL_BYTES = 4608 } /* an event's message */;

/* What a cell is made from. */
struct table_source {
	const struct object *object;
	const struct cJSON *tree; /* of kinds without a decoded struct; NULL otherwise */
	uint64_t now_usec;        /* real time, for ages */
};

struct table_column {
	const char *name; /* "Access Modes" */
	int priority;     /* 0 always, 1 only wide */
	void (*cell)(const struct table_source *source, char text[TABLE_CELL_BYTES]);
	/* Where @cell is NULL: the string or number at these members, "spec.source.name" ... */
	const char *path;
	const char *when_absent; /* ... and what stands for it; NULL: nothing */
};

/* A Table of @count objects of one kind; NULL: no memory. Freed with json_free(). */
struct cJSON *table_from_objects(enum object_kind kind, const struct object *const *objects,
				 size_t count, uint64_t now_usec);

/* "5d3h", "12m", "8s" as kubectl shows an age. */
void table_age(uint64_t since_usec, uint64_t now_usec, char text[TABLE_CELL_BYTES]);

#endif
