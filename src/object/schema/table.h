/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table - kubectl's columns: objects as rows of a meta.k8s.io/v1 Table
 */
#pragma once

#include "object/json/json.h"
#include "object/object.h"

enum { TABLE_CELL_BYTES = 4608 } /* an event's message */;

/* What a cell is made from. */
/* What only the node knows of an object. */
struct table_words {
	/* How it is with a pod's volumes, a constant; NULL: it has none here. */
	const char *(*pod_volumes)(void *userdata, const struct object *pod);
	void *userdata;
};

struct table_source {
	const struct object *object;
	const struct table_words *words; /* NULL: none */
	const struct cJSON *tree;        /* of kinds without a decoded struct; NULL otherwise */
	uint64_t now_usec;               /* real time, for ages */
};

/* What a cell shows of a value; nothing, or when_absent, where there is none. */
enum cell_type {
	CELL_AS_IS,        /* at a path: string, number or boolean */
	CELL_COUNT,        /* at a path: how many elements or members */
	CELL_STRINGS,      /* at a path: a list's, with commas between */
	CELL_SINCE,        /* at a path: how long ago a time was */
	CELL_TEXT,         /* a member of the decoded struct: const char * */
	CELL_NUMBER,       /* unsigned int */
	CELL_QUANTITY,     /* struct quantity */
	CELL_ACCESS_MODES, /* unsigned int, a set of enum access_mode */
};

struct table_column {
	const char *name; /* "Access Modes" */
	int priority;     /* 0 always, 1 only wide */
	void (*cell)(const struct table_source *source, char text[TABLE_CELL_BYTES]);
	/* Where @cell is NULL: the members "spec.source.name", else a member of what is decoded. */
	const char *path;
	enum cell_type type;
	size_t member;           /* offset */
	const char *when_absent; /* NULL: nothing */
};

/* A row: its name, then a function; a path; TEXT, NUMBER, ... of a member of struct @of. Then what
 * is not usual. */
#define COLUMN(name_, ...)                                                                         \
	{                                                                                          \
		.name = name_, __VA_ARGS__                                                         \
	}
#define COLUMN_BY(name_, cell_, ...) COLUMN(name_, .cell = cell_, __VA_ARGS__)
#define COLUMN_AT(name_, path_, ...) COLUMN(name_, .path = path_, __VA_ARGS__)
#define COLUMN_OF(name_, type_, of, member_, ...)                                                  \
	COLUMN(name_, .type = CELL_##type_, .member = offsetof(struct of, member_), __VA_ARGS__)
#define WIDE         .priority = 1
#define ABSENT(text) .when_absent = text

/* A Table of @count objects of one kind; NULL: no memory. Freed with json_free(). */
struct cJSON *table_from_objects(enum object_kind kind, const struct object *const *objects,
				 size_t count, uint64_t now_usec, const struct table_words *words);

/* "5d3h", "12m", "8s" as kubectl shows an age. */
void table_age(uint64_t since_usec, uint64_t now_usec, char text[TABLE_CELL_BYTES]);

/* ---- the cells that many kinds have in common; for src/object/ alone ---- */

void cell_name(const struct table_source *source, char text[TABLE_CELL_BYTES]);
void cell_age(const struct table_source *source, char text[TABLE_CELL_BYTES]);

/* A cell of a value that the decoded struct holds, of a type for members. */
void put_member(char text[TABLE_CELL_BYTES], enum cell_type type, const void *member,
		const char *when_absent);
/* How many elements or members there are at a path, "spec.drivers". */
void put_count(char text[TABLE_CELL_BYTES], const struct cJSON *tree, const char *path);
/* The strings of a list, joined by commas; @when_empty where there are none. */
void put_strings(char text[TABLE_CELL_BYTES], const struct cJSON *list, const char *when_empty);
/* How long ago a time was; @when_absent where there is none. */
void put_since(char text[TABLE_CELL_BYTES], const struct cJSON *time, uint64_t now_usec,
	       const char *when_absent);
