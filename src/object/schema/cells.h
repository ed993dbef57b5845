/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells - the cells that many kinds have in common
 *
 * Only src/object/ uses it.
 */
#ifndef PODVOL_OBJECT_CELLS_H
#define PODVOL_OBJECT_CELLS_H

#include "object/schema/table.h"

void cell_name(const struct table_source *source, char text[TABLE_CELL_BYTES]);
void cell_age(const struct table_source *source, char text[TABLE_CELL_BYTES]);

/* How many elements or members there are at a path, "spec.drivers". */
void put_count(char text[TABLE_CELL_BYTES], const struct cJSON *tree, const char *path);
/* The strings of a list, joined by commas; @when_empty where there are none. */
void put_strings(char text[TABLE_CELL_BYTES], const struct cJSON *list, const char *when_empty);
/* How long ago a time was; @when_absent where there is none. */
void put_since(char text[TABLE_CELL_BYTES], const struct cJSON *time, uint64_t now_usec,
	       const char *when_absent);

#endif
