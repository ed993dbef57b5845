/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_rows - the rows of a shape, one field each
 *
 * Name, flags, description; the last two may be left out.
 *
 *	static const struct shape local_volume_source_shape = {
 *		.name = "LocalVolumeSource",
 *		.description = "A directory or a disk of the node.",
 *		.fields = {
 *			STRING("fsType"),
 *			STRING("path", REQUIRED, "Where it is."),
 *			{ 0 },
 *		},
 *	};
 */
#ifndef PODVOL_OBJECT_SHAPE_ROWS_H
#define PODVOL_OBJECT_SHAPE_ROWS_H

#include "object/shape.h"

#define SHAPE_ROW(TYPE, ...)                                                                       \
	{                                                                                          \
		.type = SHAPE_##TYPE, .name = __VA_ARGS__                                          \
	}
#define STRING(...)        SHAPE_ROW(STRING, __VA_ARGS__)
#define BYTES(...)         SHAPE_ROW(BYTES, __VA_ARGS__)
#define TIME(...)          SHAPE_ROW(TIME, __VA_ARGS__)
#define MICRO_TIME(...)    SHAPE_ROW(MICRO_TIME, __VA_ARGS__)
#define INT_OR_STRING(...) SHAPE_ROW(INT_OR_STRING, __VA_ARGS__)
#define BOOL(...)          SHAPE_ROW(BOOL, __VA_ARGS__)
#define INTEGER(...)       SHAPE_ROW(INTEGER, __VA_ARGS__)
#define QUANTITY(...)      SHAPE_ROW(QUANTITY, __VA_ARGS__)
#define STRINGS(...)       SHAPE_ROW(STRINGS, __VA_ARGS__)
#define INTEGERS(...)      SHAPE_ROW(INTEGERS, __VA_ARGS__)
#define STRING_MAP(...)    SHAPE_ROW(STRING_MAP, __VA_ARGS__)
#define BYTES_MAP(...)     SHAPE_ROW(BYTES_MAP, __VA_ARGS__)
#define QUANTITY_MAP(...)  SHAPE_ROW(QUANTITY_MAP, __VA_ARGS__)
#define ANY_OBJECT(...)    SHAPE_ROW(OBJECT, __VA_ARGS__)
/* A list of strings of which a patch adds what is not there. */
#define STRING_SET(...)                                                                            \
	{                                                                                          \
		.type = SHAPE_STRINGS, .merge_key = "", .name = __VA_ARGS__                        \
	}
#define OBJECT(SHAPE, ...)                                                                         \
	{                                                                                          \
		.type = SHAPE_OBJECT, .of = &(SHAPE), .name = __VA_ARGS__                          \
	}
#define OBJECTS(SHAPE, ...)                                                                        \
	{                                                                                          \
		.type = SHAPE_OBJECTS, .of = &(SHAPE), .name = __VA_ARGS__                         \
	}
/* A list of which a patch merges the elements that have the same KEY. */
#define OBJECTS_BY(SHAPE, KEY, ...)                                                                \
	{                                                                                          \
		.type = SHAPE_OBJECTS, .of = &(SHAPE), .merge_key = KEY, .name = __VA_ARGS__       \
	}

#endif
