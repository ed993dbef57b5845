/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table - a Table answer, to be walked by row and column
 *
 * All texts are copied out of the tree once, so that a cell is a pointer and numbers are texts.
 */
#include "client/handle.h"

#include "object/json/json.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

enum { TABLE_DEPTH_MAX = 64 };

struct column {
	const char *name;
	int priority;
};

struct podvol_table {
	struct cJSON *tree; /* what names and string cells point into */
	struct column *columns;
	size_t column_count;
	const struct cJSON **rows;
	const char **cells; /* row by row */
	char **numbers;     /* cells that were no strings; owned */
	size_t row_count, number_count;
};

/* "" for what has no text: null, lists, maps. */
static int cell_text(struct podvol_table *table, const struct cJSON *cell, const char **ret)
{
	int64_t number;
	char *text;

	*ret = json_string(cell, "");
	if (json_is_bool(cell))
		*ret = json_bool(cell, false) ? "true" : "false";
	if (!json_int64(cell, &number))
		return 0;
	if (asprintf(&text, "%" PRId64, number) < 0)
		return -ENOMEM;
	table->numbers[table->number_count++] = text;
	*ret = text;
	return 0;
}

static int read_row(struct podvol_table *table, const struct cJSON *row, size_t index)
{
	const struct cJSON *cell = json_first(json_get(row, "cells"));

	table->rows[index] = row;
	for (size_t i = 0; i < table->column_count; i++) {
		int r = cell_text(table, cell, &table->cells[index * table->column_count + i]);

		if (r < 0)
			return r;
		cell = cell ? json_next(cell) : NULL;
	}
	return 0;
}

static int read_tree(struct podvol_table *table)
{
	const struct cJSON *definitions = json_get(table->tree, "columnDefinitions");
	const struct cJSON *rows = json_get(table->tree, "rows");
	const struct cJSON *item;
	size_t cells, index = 0;
	int r = 0;

	/* A watch names the columns in its first Table only. */
	table->column_count = json_count(definitions);
	if (table->column_count == 0)
		table->column_count = json_count(json_get(json_first(rows), "cells"));
	table->row_count = json_count(rows);
	cells = table->column_count * table->row_count;
	table->columns = calloc(table->column_count + 1, sizeof(*table->columns));
	table->rows = calloc(table->row_count + 1, sizeof(*table->rows));
	table->cells = calloc(cells + 1, sizeof(*table->cells));
	table->numbers = calloc(cells + 1, sizeof(*table->numbers));
	if (!table->columns || !table->rows || !table->cells || !table->numbers)
		return -ENOMEM;
	for (size_t i = 0; i < table->column_count; i++)
		table->columns[i].name = "";

	for (item = json_first(definitions); item; item = json_next(item)) {
		int64_t priority = 0;

		(void) json_int64(json_get(item, "priority"), &priority);
		table->columns[index].name = json_text(item, "name");
		table->columns[index++].priority = priority > 0 ? (int) priority : 0;
	}
	index = 0;
	for (item = json_first(rows); item && r == 0; item = json_next(item))
		r = read_row(table, item, index++);
	return r;
}

int table_parse(struct podvol *podvol, const char *text, size_t length, struct podvol_table **ret)
{
	int r = podvol_table_parse(text, length, ret);

	if (r < 0)
		return handle_failed(podvol, r, "%s",
				     r == -EPROTO ? "the answer is not a Table" : "out of memory");
	return 0;
}

int podvol_table_parse(const char *text, size_t length, struct podvol_table **ret)
{
	const struct json_limits limits = { .bytes = length + 1, .depth = TABLE_DEPTH_MAX };
	struct podvol_table *table;
	int r;

	if (!text || !ret)
		return -EINVAL;
	table = calloc(1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	r = json_parse(text, length, &limits, &table->tree, NULL);
	if (r == 0 || r == -EINVAL)
		r = json_text_is(table->tree, "kind", "Table") ? read_tree(table) : -EPROTO;
	if (r < 0) {
		podvol_table_free(table);
		return r;
	}
	*ret = table;
	return 0;
}

void podvol_table_free(struct podvol_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->number_count; i++)
		free(table->numbers[i]);
	free(table->numbers);
	free(table->cells);
	free(table->rows);
	free(table->columns);
	json_free(table->tree);
	free(table);
}

size_t podvol_table_rows(const struct podvol_table *table)
{
	return table ? table->row_count : 0;
}

size_t podvol_table_columns(const struct podvol_table *table)
{
	return table ? table->column_count : 0;
}

const char *podvol_table_name(const struct podvol_table *table, size_t column)
{
	return column < podvol_table_columns(table) ? table->columns[column].name : "";
}

int podvol_table_priority(const struct podvol_table *table, size_t column)
{
	return column < podvol_table_columns(table) ? table->columns[column].priority : -1;
}

size_t podvol_table_find(const struct podvol_table *table, const char *name)
{
	size_t column;

	for (column = 0; column < podvol_table_columns(table); column++)
		if (name && strcasecmp(table->columns[column].name, name) == 0)
			break;
	return column;
}

int podvol_table_column(const struct podvol_table *table, const char *name, size_t *ret)
{
	size_t column = podvol_table_find(table, name);

	if (!ret || column == podvol_table_columns(table))
		return -EINVAL;
	*ret = column;
	return 0;
}

const char *podvol_table_cell(const struct podvol_table *table, size_t row, size_t column)
{
	if (row >= podvol_table_rows(table) || column >= podvol_table_columns(table))
		return "";
	return table->cells[row * table->column_count + column];
}

static const char *row_metadata(const struct podvol_table *table, size_t row, const char *key)
{
	const struct cJSON *metadata;

	if (row >= podvol_table_rows(table))
		return "";
	metadata = json_get(json_get(table->rows[row], "object"), "metadata");
	return json_text(metadata, key);
}

const char *podvol_table_row_namespace(const struct podvol_table *table, size_t row)
{
	return row_metadata(table, row, "namespace");
}

const char *podvol_table_row_name(const struct podvol_table *table, size_t row)
{
	return row_metadata(table, row, "name");
}

char *podvol_table_row_labels(const struct podvol_table *table, size_t row)
{
	const struct cJSON *labels = NULL, *label;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (row < podvol_table_rows(table))
		labels = json_get_path(table->rows[row], "object.metadata.labels");
	for (label = json_first(labels); label; label = json_next(label))
		(void) fprintf(out, "%s%s=%s", label == json_first(labels) ? "" : ",",
			       json_key(label), json_string(label, ""));
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
