/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check - could a pod run on a node, as far as its volumes go
 *
 * The body holds a Pod, and may hold a Node to ask about instead of this one. Neither is stored.
 */
#include "api/exchange.h"

#include "base/cleanup.h"
#include "object/object.h"

#include <assert.h>
#include <errno.h>

enum { DOCUMENTS_MAX = 16 };

/* The one of its kind; NULL: none. Return: false when there are several, or one is broken. */
static bool find_one(const struct document_list *list, enum object_kind kind,
		     const struct object **ret)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct object *object = list->documents[i].object;

		if (!object || object->kind != kind)
			continue;
		if (*ret)
			return false;
		*ret = object;
	}
	return true;
}

static const struct failure *first_failure(const struct document_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (!list->documents[i].object)
			return &list->documents[i].failure;
	return list->failure.error ? &list->failure : NULL;
}

void check_post(struct exchange *exchange)
{
	cleanup(document_list_done) struct document_list list = { 0 };
	const struct object *pod = NULL, *node = NULL;
	struct failure why = { .error = 0 };
	int r;

	assert(exchange);
	r = documents_parse_few(exchange->body ? exchange->body : "", exchange->body_length, &list,
				&why);
	if (r < 0 || list.count > DOCUMENTS_MAX)
		reply_refusal(exchange, API_BAD_REQUEST, "%s",
			      r < 0 ? why.text : "the body holds too many documents");
	else if (first_failure(&list))
		reply_refusal(exchange, API_INVALID, "%s", first_failure(&list)->text);
	else if (!find_one(&list, KIND_POD, &pod) || !find_one(&list, KIND_NODE, &node) || !pod)
		reply_refusal(exchange, API_BAD_REQUEST,
			      "the body must hold one Pod, and at most one Node");
	else
		reply_tree(exchange, 200, agent_check(exchange->agent, pod, node));
}
