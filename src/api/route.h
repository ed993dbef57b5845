/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route - one path and method that the server answers, and what OpenAPI tells of it
 *
 * The rows of podvol's own paths say what they take and answer; the document below
 * /openapi/v3/podvol/v1 is made of nothing else. A query parameter that a row does not name is
 * refused before its handler runs, so that a handler reads none that is not described.
 */
#pragma once

#include "api/exchange.h"
#include "api/view_table.h"
#include "object/schema/schema.h"

enum { ROUTE_PARAMETERS_MAX = 8 };

/* How success looks. */
enum route_code {
	CODE_200,
	CODE_201,
	CODE_202, /* or 200 */
};

struct route {
	enum api_method method;
	const char *pattern; /* see api_path_matches() */
	api_handler *handler;

	/* ---- of podvol's own paths ---- */
	const char *operation; /* "waitForPod"; NULL: of another API, nothing of it is described */
	const char *summary;
	/* Names of query parameters; a GET of rows takes those of every view as well. */
	const char *parameters[ROUTE_PARAMETERS_MAX];
	const struct schema *body;       /* of the request; NULL: none */
	unsigned int takes_yaml : 1;     /* there */
	const struct schema *answer;     /* NULL: a Status, unless there are @rows */
	const struct view_columns *rows; /* the answer is a list of these; NULL: it is none */
	unsigned int one_row : 1;        /* the answer is one of @rows */
	unsigned int or_status : 1;      /* or a Status */
	enum route_code code;
};

struct route_parameter {
	const char *name;
	enum schema_type type;
	bool required;
	const char *description;
};

extern const struct route podvol_routes[]; /* ended by a NULL pattern */

/**
 * route_next_parameter - walk the query parameters of a route of podvol's own
 * @at: 0 at first; changed
 *
 * Return: its row; NULL after the last.
 */
const struct route_parameter *route_next_parameter(const struct route *route, size_t *at);

/* The first parameter of a request that the route does not take; NULL: there is none. "timeout" is
 * always taken, since clients of Kubernetes send theirs with every request. */
const char *route_refused_parameter(const struct route *route, const struct api_path *path);
