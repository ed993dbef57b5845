/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doubts - answers that wait for the identity of the cluster; see doubts.h
 *
 * The question is sent after the answer came: what came while one was on its way waits for the
 * next.
 */
#include "cluster/doubts.h"

#include "cluster/cluster_internal.h"

#include <assert.h>
#include <errno.h>
#include <utlist.h>

struct doubt {
	struct doubt *prev, *next;
	const struct object *object; /* own reference */
	bool is_absent;
};

struct doubts {
	struct cluster *cluster;
	doubts_decided_fn *decided;
	void *userdata;
	struct doubt *waiting; /* for a question that is not sent yet */
	size_t waiting_count;
	struct doubt *asked; /* for the answer to @check */
	struct identity_check *check;
};

static void drop(struct doubt **list)
{
	struct doubt *doubt, *next;

	DL_FOREACH_SAFE (*list, doubt, next) {
		(void) object_unref(doubt->object);
		free(doubt);
	}
	*list = NULL;
}

static void decide(struct doubts *doubts, struct doubt **list, bool is_same)
{
	struct doubt *doubt;

	DL_FOREACH (*list, doubt)
		doubts->decided(doubts->userdata, doubt->object, doubt->is_absent, is_same);
	drop(list);
}

static void ask(struct doubts *doubts);

static void on_identity(void *userdata, enum identity_verdict verdict)
{
	struct doubts *doubts = userdata;

	doubts->check = NULL;
	decide(doubts, &doubts->asked, verdict == IDENTITY_SAME);
	ask(doubts);
}

static void ask(struct doubts *doubts)
{
	if (doubts->check || !doubts->waiting)
		return;
	doubts->asked = doubts->waiting;
	doubts->waiting = NULL;
	doubts->waiting_count = 0;
	if (identity_check_start(doubts->cluster, on_identity, doubts, &doubts->check) < 0)
		decide(doubts, &doubts->asked, false);
}

int doubts_add(struct doubts *doubts, const struct object *object, bool is_absent)
{
	struct doubt *doubt;

	assert(doubts);
	if (doubts->waiting_count >= DOUBTS_MAX)
		return -ENOBUFS;
	doubt = calloc(1, sizeof(*doubt));
	if (!doubt)
		return -ENOMEM;
	doubt->object = object_ref(object);
	doubt->is_absent = is_absent;
	DL_APPEND(doubts->waiting, doubt);
	doubts->waiting_count++;
	ask(doubts);
	return 0;
}

int doubts_new(struct cluster *cluster, doubts_decided_fn *decided, void *userdata,
	       struct doubts **ret)
{
	struct doubts *doubts = calloc(1, sizeof(*doubts));

	if (!doubts)
		return -ENOMEM;
	doubts->cluster = cluster;
	doubts->decided = decided;
	doubts->userdata = userdata;
	*ret = doubts;
	return 0;
}

bool doubts_drop(struct doubts *doubts)
{
	bool has_any = doubts->waiting || doubts->asked;

	doubts->check = identity_cancel(doubts->check);
	drop(&doubts->waiting);
	drop(&doubts->asked);
	doubts->waiting_count = 0;
	return has_any;
}

bool doubts_wait(const struct doubts *doubts)
{
	return doubts->waiting != NULL;
}

struct doubts *doubts_free(struct doubts *doubts)
{
	if (!doubts)
		return NULL;
	(void) doubts_drop(doubts);
	free(doubts);
	return NULL;
}
