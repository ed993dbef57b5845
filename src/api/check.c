/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check - could a pod run on a node, as far as its volumes go
 *
 * The body holds a Pod, and may hold a Node to ask about instead of this one. Neither is stored. Of
 * this node it is also foretold which containers cannot write.
 */
#include "api/auth/authorize.h"
#include "api/exchange.h"

#include "base/cleanup.h"
#include "base/worker.h"
#include "object/json/json.h"
#include "object/object.h"

#include <assert.h>
#include <stdlib.h>

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
			return list->documents[i].failure;
	return list->failure.error ? &list->failure : NULL;
}

/* ---- could its containers write: asked of the file systems, on a thread ---- */

struct check {
	struct worker_job job;     /* first: the pool hands it back */
	struct exchange *exchange; /* NULL: abandoned */
	struct write_check *writes;
	struct cJSON *tree;
};

static void check_abandon(void *work)
{
	((struct check *) work)->exchange = NULL;
}

static void check_run(struct worker_job *job)
{
	write_check_run(((struct check *) job)->writes);
}

static void check_done(struct worker_job *job)
{
	struct check *check = (struct check *) job;

	if (check->tree)
		write_check_report(check->writes, check->tree);
	if (check->exchange)
		reply_tree(check->exchange, 200, check->tree);
	else
		json_free(check->tree);
	write_check_free(check->writes);
	free(check);
}

static void start_write_check(struct exchange *exchange, const struct object *pod,
			      struct cJSON *tree)
{
	struct check *check = calloc(1, sizeof(*check));

	if (!check || agent_check_writes(exchange->agent, pod, &check->writes) < 0) {
		free(check);
		json_free(tree);
		reply_bytes(exchange, 500, NULL, NULL, 0);
		return;
	}
	check->job.run = check_run;
	check->job.done = check_done;
	check->exchange = exchange;
	check->tree = tree;
	exchange_wait(exchange, check, check_abandon);
	worker_submit_or_run(exchange->readers, &check->job);
}

/* Of a Node of the body the directories are not here; who may not name a directory of this one is
 * shown nothing of it. */
static void answer(struct exchange *exchange, const struct object *pod, const struct object *node)
{
	if (node || !(exchange->rights & RIGHT_HOST))
		reply_tree(exchange, 200, agent_check(exchange->agent, pod, node));
	else if (exchange->may_wait)
		start_write_check(exchange, pod, agent_check(exchange->agent, pod, NULL));
	else
		reply_refusal(exchange, API_TOO_MANY_REQUESTS, REPLY_BUSY);
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
			      "a manifest to be checked must hold one Pod, and at most one Node");
	else
		answer(exchange, pod, node);
}
