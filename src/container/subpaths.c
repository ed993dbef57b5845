/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subpaths - calls that have a pod's sub-paths bound: one at a time for each pod
 *
 * What is to be bound is decided on the loop when a call's turn comes (subpath_items.c); a worker
 * opens and binds. The intent that the ledger needs is the volume's own row: it is
 * there from before the volume's mount until after its teardown, and every teardown begins with the
 * clean-up of the volume's sub-paths, also those of another program.
 *
 * A teardown waits for a call that runs, and is proposed again when that ends; a call that has not
 * begun waits for nothing and finds the volume leaving.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "container/subpath_items.h"

#include "base/cleanup.h"
#include "base/hash_table.h"
#include "base/log.h"
#include "operation/attempt.h"

#include <assert.h>
#include <string.h>
#include <utlist.h>

enum {
	SUBPATH_BURST = 64, /* bound in one go; each holds three descriptors meanwhile */
};

struct pod_calls {
	char *uid;
	struct subpath_call *calls; /* the first runs, or is ready to */
	UT_hash_handle hh;
};

struct subpath_call {
	struct attempt attempt;     /* first: what a pool gives back */
	struct stage_report report; /* of the burst under way */
	struct subpaths *subpaths;  /* NULL: they have gone, this one was stuck on a thread */
	struct pod_calls *of;
	char *container;   /* NULL: all */
	subpaths_fn *done; /* NULL: the caller left */
	void *userdata;
	struct subpath_items items;
	size_t begin, end; /* of the burst under way */
	bool is_running;
	bool in_the_way;                              /* of a teardown, which has to wait */
	struct subpath_call *prev, *next;             /* of the same pod */
	struct subpath_call *prev_ready, *next_ready; /* first of their pods, not begun */
};

struct subpaths {
	struct pod_mounts *owner;
	struct pod_calls *by_uid;
	struct subpath_call *ready;
	size_t count;
	sd_event_source *start;
};

/* ---- the list per pod ---- */

static struct pod_calls *find_pod(struct subpaths *subpaths, const char *uid)
{
	struct pod_calls *pod;

	HASH_FIND_STR(subpaths->by_uid, uid, pod);
	return pod;
}

static struct pod_calls *pod_calls_new(struct subpaths *subpaths, const char *uid)
{
	struct pod_calls *pod = calloc(1, sizeof(*pod));

	if (!pod)
		return NULL;
	pod->uid = strdup(uid);
	if (pod->uid)
		HASH_ADD_KEYPTR(hh, subpaths->by_uid, pod->uid, strlen(pod->uid), pod);
	if (!pod->uid || !pod->hh.tbl) {
		free(pod->uid);
		free(pod);
		return NULL;
	}
	return pod;
}

static void make_ready(struct subpaths *subpaths, struct subpath_call *call)
{
	DL_APPEND2(subpaths->ready, call, prev_ready, next_ready);
	(void) sd_event_source_set_enabled(subpaths->start, SD_EVENT_ONESHOT);
}

static int link_call(struct subpaths *subpaths, const char *pod_uid, struct subpath_call *call)
{
	struct pod_calls *pod = find_pod(subpaths, pod_uid) ?: pod_calls_new(subpaths, pod_uid);

	if (!pod)
		return -ENOMEM;
	call->subpaths = subpaths;
	call->of = pod;
	DL_APPEND(pod->calls, call);
	subpaths->count++;
	if (pod->calls == call)
		make_ready(subpaths, call);
	return 0;
}

/* The last call of a pod takes the list along; else the next one's turn has come. */
static void unlink_call(struct subpath_call *call)
{
	struct subpaths *subpaths = call->subpaths;
	struct pod_calls *pod = call->of;
	bool was_first = pod->calls == call;

	if (was_first && !call->is_running)
		DL_DELETE2(subpaths->ready, call, prev_ready, next_ready);
	DL_DELETE(pod->calls, call);
	subpaths->count--;
	call->of = NULL;
	if (pod->calls) {
		if (was_first)
			make_ready(subpaths, pod->calls);
		return;
	}
	HASH_DEL(subpaths->by_uid, pod);
	free(pod->uid);
	free(pod);
}

static void call_free(struct subpath_call *call)
{
	stage_list_done(&call->attempt.list);
	subpath_items_done(&call->items);
	free(call->container);
	free(call);
}

/* ---- the end of a call ---- */

/* A teardown that had to wait is proposed again. */
static void wake_teardowns(struct pod_mounts *owner, const char *pod_uid)
{
	const char *name;

	for (size_t i = 0; (name = actual_volume_of_pod(owner->with.tables->actual, pod_uid, i));
	     i++)
		(void) dirty_add(owner->with.dirty, name);
	owner->with.turn(owner->with.userdata);
}

/* A pod that is gone gets no events. */
static void report_failure(struct pod_mounts *owner, const struct subpath_call *call,
			   const struct failure *why)
{
	const struct object *pod = call->items.pod;
	char key[POD_KEY_BYTES];
	struct log_subject subject = { .pod_uid = call->of->uid };

	if (!pod)
		return;
	subject.pod = pod_key(pod->pod, key);
	log_about(LOG_WARNING, &subject, "%s", why->text);
	owner->with.record(owner->with.userdata, pod, "Warning", "Failed", why->text);
}

/* Unlinked before it tells: the callback may call again for the same pod. */
static void finish(struct subpath_call *call, int error, const struct failure *why)
{
	struct pod_mounts *owner = call->subpaths->owner;
	struct bound_subpaths result = { call->items.results, error < 0 ? 0 : call->items.count };

	if (error < 0 && error != -ECANCELED && error != -EAGAIN)
		report_failure(owner, call, why);
	if (call->in_the_way)
		wake_teardowns(owner, call->of->uid);
	unlink_call(call);
	if (call->done)
		call->done(call->userdata, error, &result, error < 0 ? why : NULL);
	call_free(call);
}

/* ---- the stages ---- */

static int item_failed(const struct subpath_item *item, struct failure *reterr)
{
	subpath_item_hide_path(item, reterr);
	return failure_prefix(reterr,
			      "failed to prepare subPath for volumeMount \"%s\" of container "
			      "\"%s\"",
			      item->volume_mount, item->request.container);
}

static int open_ends(void *data, struct stage_report *report)
{
	struct subpath_call *call = data;

	for (size_t i = call->begin; i < call->end; i++) {
		struct subpath_item *item = &call->items.items[i];
		int r = subpath_open(&item->request, &item->subpath, &report->failure);

		if (r < 0)
			return item_failed(item, &report->failure);
		call->items.results[i].is_directory = item->subpath.is_directory;
	}
	return STAGE_NEXT;
}

static void take_back(struct subpath_call *call)
{
	for (size_t i = call->begin; i < call->end; i++) {
		struct subpath_item *item = &call->items.items[i];

		if (!item->subpath.is_bound)
			subpath_undo(&item->request, &item->subpath);
	}
}

static int bind_ends(void *data, struct stage_report *report)
{
	struct subpath_call *call = data;

	for (size_t i = call->begin; i < call->end; i++) {
		struct subpath_item *item = &call->items.items[i];

		if (subpath_bind(&item->subpath, &report->failure) < 0) {
			take_back(call);
			return item_failed(item, &report->failure);
		}
	}
	return STAGE_NEXT;
}

static void close_ends(void *data)
{
	struct subpath_call *call = data;

	for (size_t i = call->begin; i < call->end; i++)
		subpath_done(&call->items.items[i].subpath);
}

static const struct stage burst_stages[] = {
	WORKER_STAGE("open the sub-paths", open_ends),
	WORKER_STAGE("bind the sub-paths", bind_ends),
};

/* ---- one call after the other ---- */

static void on_burst_ended(struct attempt *attempt);

/* A bounded number at a time: each holds descriptors while it is under way. */
static void start_burst(struct subpath_call *call)
{
	struct pod_mounts *owner = call->subpaths->owner;

	call->begin = call->end;
	call->end = call->begin + SUBPATH_BURST;
	if (call->end > call->items.count)
		call->end = call->items.count;
	call->report = (struct stage_report){ .error_class = ERROR_FINAL };
	call->attempt = (struct attempt){
		.report = &call->report,
		.pools = { .workers = *owner->with.workers },
		.list = { burst_stages, ARRAY_SIZE(burst_stages), call, close_ends },
		.is_cancellable = true,
		.ended = on_burst_ended,
	};
	call->is_running = true;
	/* The first stage belongs to a worker, so it cannot be over already. */
	(void) attempt_start(&call->attempt);
}

static void on_burst_ended(struct attempt *attempt)
{
	static const struct failure leaving = { -ECANCELED, "the pod is being taken down" };
	struct subpath_call *call = (struct subpath_call *) attempt;

	if (!call->subpaths)
		call_free(call);
	else if (attempt->result < 0)
		finish(call, attempt->result, &attempt->report->failure);
	else if (call->end < call->items.count && call->in_the_way)
		finish(call, -ECANCELED, &leaving);
	else if (call->end < call->items.count)
		start_burst(call);
	else
		finish(call, 0, NULL);
}

/* Its turn has come: what is to be bound is decided by what is true now. */
static void begin_call(struct subpaths *subpaths, struct subpath_call *call)
{
	struct failure why = { .error = 0 };
	int r = subpath_items_collect(subpaths->owner, call->of->uid, call->container, &call->items,
				      &why);

	if (r < 0 || call->items.count == 0) {
		finish(call, r, &why);
		return;
	}
	DL_DELETE2(subpaths->ready, call, prev_ready, next_ready);
	start_burst(call);
}

static int on_start(sd_event_source *source, void *userdata)
{
	struct subpaths *subpaths = userdata;

	while (subpaths->ready)
		begin_call(subpaths, subpaths->ready);
	return 0;
}

/* ---- for others ---- */

int subpaths_prepare(struct pod_mounts *owner, const char *pod_uid, const char *container,
		     subpaths_fn *done, void *userdata, struct subpath_call **ret)
{
	struct subpath_call *call;
	int r;

	assert(owner && pod_uid && done && ret);
	r = subpath_items_check(owner, pod_uid, container);
	if (r < 0)
		return r;
	if (owner->subpaths->count == SUBPATH_CALLS_MAX)
		return -ENOBUFS;
	call = calloc(1, sizeof(*call));
	if (!call)
		return -ENOMEM;
	call->done = done;
	call->userdata = userdata;
	call->container = container ? strdup(container) : NULL;
	if ((container && !call->container) || link_call(owner->subpaths, pod_uid, call) < 0) {
		call_free(call);
		return -ENOMEM;
	}
	*ret = call;
	return 0;
}

/* What runs goes on: it does no harm, and the next call finds it done. */
void subpaths_cancel(struct subpath_call *call)
{
	assert(call && call->done);
	call->done = NULL;
	if (call->is_running)
		return;
	unlink_call(call);
	call_free(call);
}

bool subpaths_pass(void *subpaths, const struct step *step)
{
	const struct pod_calls *pod;

	if (step->kind != STEP_UNPUBLISH)
		return true;
	pod = find_pod(subpaths, step->pod_uid);
	if (!pod || !pod->calls->is_running)
		return true;
	pod->calls->in_the_way = true;
	attempt_cancel(&pod->calls->attempt);
	return false;
}

int subpaths_new(struct pod_mounts *owner, struct subpaths **ret)
{
	struct subpaths *subpaths = calloc(1, sizeof(*subpaths));
	int r;

	assert(owner && ret);
	if (!subpaths)
		return -ENOMEM;
	subpaths->owner = owner;
	r = sd_event_add_defer(owner->with.event, &subpaths->start, on_start, subpaths);
	if (r >= 0)
		r = sd_event_source_set_priority(subpaths->start, owner->with.priority);
	if (r >= 0)
		r = sd_event_source_set_enabled(subpaths->start, SD_EVENT_OFF);
	if (r < 0) {
		(void) subpaths_free(subpaths);
		return r;
	}
	*ret = subpaths;
	return 0;
}

/* A thread that still has it takes it along when it comes back. */
static void leave_behind(struct subpath_call *call)
{
	if (call->attempt.on_thread && !attempt_give_up(&call->attempt))
		call->subpaths = NULL;
	else
		call_free(call);
}

/* Each caller is notified; those that still wait must not hang on a socket that is not served. */
struct subpaths *subpaths_free(struct subpaths *subpaths)
{
	static const struct failure stopping = { -ECANCELED, "podvold is shutting down" };
	static const struct bound_subpaths nothing = { .count = 0 };

	if (!subpaths)
		return NULL;
	while (subpaths->by_uid) {
		struct subpath_call *call = subpaths->by_uid->calls;

		unlink_call(call);
		if (call->done)
			call->done(call->userdata, -ECANCELED, &nothing, &stopping);
		leave_behind(call);
	}
	sd_event_source_disable_unref(subpaths->start);
	free(subpaths);
	return NULL;
}
