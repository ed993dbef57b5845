/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_filter - which rows of a view a request means, and in which order
 *
 * Pure: parameters and a tree in, a tree out. What cannot be honoured is refused, never passed
 * over: a list that is longer than it was asked for looks like an answer.
 */
#pragma once

#include "api/path.h"
#include "api/view_table.h"

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
