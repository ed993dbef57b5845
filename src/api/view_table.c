/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_table - a view as a Table
 *
 * Pure: a tree, columns and a time in, a tree out.
 */
#include "api/view_cells.h"

#include <assert.h>

static void add_definitions(struct cJSON *table, const struct view_columns *columns)
{
	struct cJSON *definitions = json_add_array(table, "columnDefinitions");

	for (size_t i = 0; i < columns->count; i++) {
		struct cJSON *definition;

		if (!columns->columns[i].name)
			continue;
		definition = json_add_object(definitions, NULL);
		(void) json_set_string(definition, "name", columns->columns[i].name);
		(void) json_set_string(definition, "type", "string");
		(void) json_set_string(definition, "format", "");
		(void) json_set_string(definition, "description", columns->columns[i].key);
		(void) json_set_int(definition, "priority", columns->columns[i].priority);
	}
}

static void add_row(struct cJSON *rows, const struct cJSON *item,
		    const struct view_columns *columns, uint64_t now_usec)
{
	struct cJSON *row = json_add_object(rows, NULL);
	struct cJSON *cells = json_add_array(row, "cells");

	for (size_t i = 0; i < columns->count; i++) {
		const struct view_column *column = &columns->columns[i];
		char text[VIEW_CELL_BYTES];

		if (!column->name)
			continue;
		if (column->format)
			column->format(item, column->key, now_usec, text);
		else
			view_format_plain(item, column->key, text);
		(void) json_set_string(cells, NULL, text);
	}
	/* What clients take namespace and name from; only objects have it. */
	if (json_is_object(json_get(item, "metadata"))) {
		struct cJSON *object = json_add_object(row, "object");

		(void) json_set(object, "metadata", json_copy(json_get(item, "metadata")));
	}
}

struct cJSON *view_table(const struct cJSON *view, const struct view_columns *columns,
			 uint64_t now_usec)
{
	struct cJSON *table = json_new_object();
	struct cJSON *rows;

	assert(view && columns);
	(void) json_set_string(table, "kind", "Table");
	(void) json_set_string(table, "apiVersion", "meta.k8s.io/v1");
	(void) json_set(table, "metadata",
			json_copy(json_get(view, "metadata")) ?: json_new_object());
	add_definitions(table, columns);
	rows = json_add_array(table, "rows");
	JSON_FOREACH (item, json_get(view, "items"))
		add_row(rows, item, columns, now_usec);
	return table;
}
