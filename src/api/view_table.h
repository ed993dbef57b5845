/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_table - node views as rows of a meta.k8s.io/v1 Table
 */
#pragma once

#include "object/json/json.h"

#include <stddef.h>
#include <stdint.h>

enum { VIEW_CELL_BYTES = 4608 } /* a whole failure */;

enum view_priority {
	VIEW_ALWAYS = 0,
	VIEW_WIDE = 1,
	VIEW_DETAIL = 2, /* for describe only */
};

struct view_column {
	const char *name; /* "Unique Name" */
	enum view_priority priority;
	const char *key; /* of the item; what @format, or the plain text of it, shows */
	/* NULL: a string or integer as it is, "-" when it is absent or empty. */
	void (*format)(const struct cJSON *item, const char *key, uint64_t now_usec,
		       char text[VIEW_CELL_BYTES]);
};

struct view_columns {
	const struct view_column *columns;
	size_t count;
};

extern const struct view_columns view_volume_columns, view_operation_columns, view_manifest_columns,
	view_step_columns, view_hold_columns, view_applied_columns, view_version_columns,
	view_statistics_columns, view_driver_columns, view_thread_columns,
	view_foreign_volume_columns, view_volume_event_columns, view_token_key_columns,
	view_token_columns;

/**
 * view_table - a Table of a view's items
 * @view:     {"items": [...]}
 * @now_usec: real time, for ages
 *
 * Return: the tree, the caller's; NULL: no memory.
 */
struct cJSON *view_table(const struct cJSON *view, const struct view_columns *columns,
			 uint64_t now_usec);
