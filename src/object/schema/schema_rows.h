/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_rows - a schema and its rows, one field each
 *
 * Name, flags, description; the last two may be left out. The end of the rows is not written.
 *
 *	static const struct schema local_volume_source_schema = SCHEMA("LocalVolumeSource",
 *		"A directory or a disk of the node.",
 *		STRING("fsType"),
 *		STRING("path", REQUIRED, "Where it is."),
 *	);
 */
#pragma once

#include "object/schema/schema.h"

/* Its name and its description, NULL for none; then the rows, each with a comma behind it. */
#define SCHEMA(NAME, ...) SCHEMA_OF(NULL, NAME, __VA_ARGS__)
/* The same of another package than io.k8s.api.core.v1. */
#define SCHEMA_OF(PACKAGE_, NAME, DESCRIPTION, ...)                                                \
	{                                                                                          \
		.name = NAME, .package = PACKAGE_, .description = DESCRIPTION, .fields = {         \
			__VA_ARGS__{ 0 }                                                           \
		}                                                                                  \
	}

#define SCHEMA_ROW(TYPE, ...)                                                                      \
	{                                                                                          \
		.type = SCHEMA_##TYPE, .name = __VA_ARGS__                                         \
	}
#define STRING(...)        SCHEMA_ROW(STRING, __VA_ARGS__)
#define BYTES(...)         SCHEMA_ROW(BYTES, __VA_ARGS__)
#define TIME(...)          SCHEMA_ROW(TIME, __VA_ARGS__)
#define MICRO_TIME(...)    SCHEMA_ROW(MICRO_TIME, __VA_ARGS__)
#define INT_OR_STRING(...) SCHEMA_ROW(INT_OR_STRING, __VA_ARGS__)
#define BOOL(...)          SCHEMA_ROW(BOOL, __VA_ARGS__)
#define INTEGER(...)       SCHEMA_ROW(INTEGER, __VA_ARGS__)
#define QUANTITY(...)      SCHEMA_ROW(QUANTITY, __VA_ARGS__)
#define STRINGS(...)       SCHEMA_ROW(STRINGS, __VA_ARGS__)
#define INTEGERS(...)      SCHEMA_ROW(INTEGERS, __VA_ARGS__)
#define STRING_MAP(...)    SCHEMA_ROW(STRING_MAP, __VA_ARGS__)
#define BYTES_MAP(...)     SCHEMA_ROW(BYTES_MAP, __VA_ARGS__)
#define QUANTITY_MAP(...)  SCHEMA_ROW(QUANTITY_MAP, __VA_ARGS__)
#define ANY_OBJECT(...)    SCHEMA_ROW(OBJECT, __VA_ARGS__)
/* A list of strings of which a patch adds what is not there. */
#define STRING_SET(...)                                                                            \
	{                                                                                          \
		.type = SCHEMA_STRINGS, .merge_key = "", .name = __VA_ARGS__                       \
	}
#define OBJECT(SCHEMA, ...)                                                                        \
	{                                                                                          \
		.type = SCHEMA_OBJECT, .of = &(SCHEMA), .name = __VA_ARGS__                        \
	}
#define OBJECTS(SCHEMA, ...)                                                                       \
	{                                                                                          \
		.type = SCHEMA_OBJECTS, .of = &(SCHEMA), .name = __VA_ARGS__                       \
	}
/* A list of which a patch merges the elements that have the same KEY. */
#define OBJECTS_BY(SCHEMA, KEY, ...)                                                               \
	{                                                                                          \
		.type = SCHEMA_OBJECTS, .of = &(SCHEMA), .merge_key = KEY, .name = __VA_ARGS__     \
	}
