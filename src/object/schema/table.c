/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table - see table.h
 */
#include "object/schema/table.h"

#include "base/clock.h"
#include "object/kind.h"
#include "object/timestamp.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR, YEAR = 365 * DAY };

static void two_units(char text[TABLE_CELL_BYTES], uint64_t high, char high_unit, uint64_t low,
		      char low_unit)
{
	if (low == 0)
		(void) snprintf(text, TABLE_CELL_BYTES, "%" PRIu64 "%c", high, high_unit);
	else
		(void) snprintf(text, TABLE_CELL_BYTES, "%" PRIu64 "%c%" PRIu64 "%c", high,
				high_unit, low, low_unit);
}

void table_age(uint64_t since_usec, uint64_t now_usec, char text[TABLE_CELL_BYTES])
{
	uint64_t age = now_usec > since_usec ? (now_usec - since_usec) / USEC_PER_SEC : 0;

	if (since_usec == 0)
		(void) snprintf(text, TABLE_CELL_BYTES, "<unknown>");
	else if (age < 2 * MINUTE)
		two_units(text, age, 's', 0, 's');
	else if (age < 10 * MINUTE)
		two_units(text, age / MINUTE, 'm', age % MINUTE, 's');
	else if (age < 3 * HOUR)
		two_units(text, age / MINUTE, 'm', 0, 'm');
	else if (age < 8 * HOUR)
		two_units(text, age / HOUR, 'h', age % HOUR / MINUTE, 'm');
	else if (age < 2 * DAY)
		two_units(text, age / HOUR, 'h', 0, 'h');
	else if (age < 8 * DAY)
		two_units(text, age / DAY, 'd', age % DAY / HOUR, 'h');
	else if (age < 2 * YEAR)
		two_units(text, age / DAY, 'd', 0, 'd');
	else if (age < 8LL * YEAR)
		two_units(text, age / YEAR, 'y', age % YEAR / DAY, 'd');
	else
		two_units(text, age / YEAR, 'y', 0, 'd');
}

/* A row carries its object's metadata, from which kubectl takes the namespace. */
static void add_metadata(struct cJSON *row, const struct object *object)
{
	struct cJSON *partial = json_add_object(row, "object"), *metadata;
	char text[TIMESTAMP_BYTES];

	json_set_string(partial, "kind", "PartialObjectMetadata");
	json_set_string(partial, "apiVersion", "meta.k8s.io/v1");
	metadata = json_add_object(partial, "metadata");
	json_set_string(metadata, "name", object->meta.name);
	if (*object->meta.name_space)
		json_set_string(metadata, "namespace", object->meta.name_space);
	if (*object->meta.uid)
		json_set_string(metadata, "uid", object->meta.uid);
	if (object->meta.resource_version > 0) {
		(void) snprintf(text, sizeof(text), "%" PRIu64, object->meta.resource_version);
		json_set_string(metadata, "resourceVersion", text);
	}
	if (object->meta.creation_usec > 0) {
		timestamp_print(object->meta.creation_usec, text);
		json_set_string(metadata, "creationTimestamp", text);
	}
	if (object->meta.labels.count > 0) {
		struct cJSON *labels = json_add_object(metadata, "labels");

		for (size_t i = 0; i < object->meta.labels.count; i++)
			json_set_string(labels, object->meta.labels.labels[i].key,
					object->meta.labels.labels[i].value);
	}
}

static void add_columns(struct cJSON *table, const struct kind_row *kind)
{
	struct cJSON *definitions = json_add_array(table, "columnDefinitions");

	for (size_t i = 0; kind->columns[i].name; i++) {
		struct cJSON *column = json_add_object(definitions, NULL);
		bool is_name = strcmp(kind->columns[i].name, "Name") == 0;

		json_set_string(column, "name", kind->columns[i].name);
		json_set_string(column, "type", "string");
		json_set_string(column, "format", is_name ? "name" : "");
		json_set_string(column, "description", "");
		json_set_int(column, "priority", kind->columns[i].priority);
	}
}

static void cell_of_path(const struct table_column *column, const struct table_source *source,
			 char text[TABLE_CELL_BYTES])
{
	const struct cJSON *item = json_get_path(source->tree, column->path);
	const char *absent = column->when_absent ? column->when_absent : "";
	const char *value = json_string(item, absent);
	int64_t number;

	if (column->type == CELL_COUNT)
		put_count(text, source->tree, column->path);
	else if (column->type == CELL_STRINGS)
		put_strings(text, item, absent);
	else if (column->type == CELL_SINCE)
		put_since(text, item, source->now_usec, absent);
	else if (json_int64(item, &number))
		(void) snprintf(text, TABLE_CELL_BYTES, "%" PRId64, number);
	else if (json_is_bool(item))
		(void) snprintf(text, TABLE_CELL_BYTES, "%s",
				json_bool(item, false) ? "true" : "false");
	else
		(void) snprintf(text, TABLE_CELL_BYTES, "%s", value);
}

/* Whose columns are what decoding gives, needs not be parsed again. */
static bool needs_tree(const struct kind_row *kind)
{
	bool has_paths = false;

	for (const struct table_column *column = kind->columns; column->name; column++)
		has_paths |= column->path != NULL;
	return !kind->decode || has_paths;
}

static void add_row(struct cJSON *rows, const struct kind_row *kind, const struct object *object,
		    uint64_t now_usec, const struct table_words *words)
{
	cleanup_json struct cJSON *tree = needs_tree(kind) ? object_tree(object) : NULL;
	const struct table_source source = {
		.object = object, .words = words, .tree = tree, .now_usec = now_usec
	};
	struct cJSON *row = json_add_object(rows, NULL);
	struct cJSON *cells = json_add_array(row, "cells");

	assert(object->kind == kind->kind);
	for (const struct table_column *column = kind->columns; column->name; column++) {
		char text[TABLE_CELL_BYTES];

		text[0] = '\0';
		if (column->cell)
			column->cell(&source, text);
		else if (column->path)
			cell_of_path(column, &source, text);
		else
			put_member(text, column->type, (const char *) object->pod + column->member,
				   column->when_absent ? column->when_absent : "");
		json_set_string(cells, NULL, text);
	}
	add_metadata(row, object);
}

/* A part that found no memory makes json_print() of the table fail; see json.h. */
struct cJSON *table_from_objects(enum object_kind kind, const struct object *const *objects,
				 size_t count, uint64_t now_usec, const struct table_words *words)
{
	const struct kind_row *row = kind_row(kind);
	struct cJSON *table = json_new_object(), *rows;

	json_set_string(table, "kind", "Table");
	json_set_string(table, "apiVersion", "meta.k8s.io/v1");
	json_add_object(table, "metadata");
	add_columns(table, row);
	rows = json_add_array(table, "rows");
	for (size_t i = 0; i < count; i++)
		add_row(rows, row, objects[i], now_usec, words);
	return table;
}
