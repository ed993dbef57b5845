/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_table - node views as rows of a meta.k8s.io/v1 Table
 */
#pragma once

#include "api/path.h"
#include "object/json/json.h"
#include "object/schema/schema.h"

#include <stddef.h>
#include <stdint.h>

enum { VIEW_CELL_BYTES = 4608 } /* a whole failure */;

enum view_priority {
	VIEW_ALWAYS = 0,
	VIEW_WIDE = 1,
	VIEW_DETAIL = 2, /* for describe only */
};

struct view_column {
	const char *name; /* "Unique Name"; NULL: a member that no table shows */
	enum view_priority priority;
	const char *key; /* of the item; what @format, or the plain text of it, shows */
	/* NULL: a string or integer as it is, "-" when it is absent or empty. */
	void (*format)(const struct cJSON *item, const char *key, uint64_t now_usec,
		       char text[VIEW_CELL_BYTES]);
	enum schema_type type; /* of the member, for OpenAPI; without a key of no member */
	const struct schema *of;
};

#define PODVOL_PACKAGE "io.podvol.v1" /* before the names of schemas of podvol's own */

struct view_columns {
	const struct view_column *columns;
	size_t count;
	const char *item; /* "Volume": the name of a row in OpenAPI */
};

extern const struct view_columns view_volume_columns, view_operation_columns, view_manifest_columns,
	view_step_columns, view_hold_columns, view_applied_columns, view_version_columns,
	view_statistics_columns, view_driver_columns, view_thread_columns,
	view_foreign_volume_columns, view_volume_event_columns, view_token_key_columns,
	view_token_columns;
/* An item of member "users". */
extern const struct schema view_user_schema;

/**
 * view_table - a Table of a view's items
 * @view:     {"items": [...]}
 * @now_usec: real time, for ages
 *
 * Return: the tree, the caller's; NULL: no memory.
 */
struct cJSON *view_table(const struct cJSON *view, const struct view_columns *columns,
			 uint64_t now_usec);

/* ---- view_filter.c ---- */

/*
 * Which rows of a view a request means, and in which order
 *
 * Pure: parameters and a tree in, a tree out. What cannot be honoured is refused, never passed
 * over: a list that is longer than it was asked for looks like an answer.
 */

/**
 * view_filter - apply namespace, fieldSelector and sortBy to the items of a view
 * @path:    whose parameters say what: "pod=NS/NAME"; "namespace=NS", of views whose rows are of
 * pods or name namespaces; "fieldSelector=MEMBER=VALUE,MEMBER!=VALUE", all must hold;
 * "sortBy=MEMBER", numbers by value. Members are those that @columns show
 * @columns: of the view
 * @tree:    replaced by a new one where something is asked for; an order is the one before among
 *           equal rows
 *
 * Return: 0; -EINVAL with the parameter and the reason; -ENOMEM.
 */
int view_filter(const struct api_path *path, const struct view_columns *columns,
		struct cJSON **tree, struct failure *reterr);
