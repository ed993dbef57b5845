/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unstage_calls - what the unstage gate says goes to the journal and the events; calls that force
 * it; see inuse.h
 */
#include "inuse/inuse.h"
#include "inuse/unstage_gate.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <syslog.h>

/* ---- what holds a volume ---- */

static void on_held(void *userdata, const struct unstage_view *view)
{
	const struct step_result about = { .unique_name = view->unique_name,
					   .pod_uid = *view->pod_uid ? view->pod_uid : NULL };
	const struct failure *why = view->failure;
	char text[FAILURE_TEXT_BYTES + 64];
	bool is_known = why->error == -EBUSY;

	(void) snprintf(text, sizeof(text), "the volume keeps its %s%s: %s", view->keeps,
			is_known ? "" : ", retrying", why->text);
	volume_users_report(userdata, &about, is_known ? LOG_NOTICE : LOG_WARNING, "VolumeBusy",
			    text);
}

static void on_changed(void *userdata, const char *unique_name)
{
	const struct inuse *inuse = userdata;

	inuse->with.retry(inuse->with.userdata, unique_name);
}

static void on_lost(void *userdata)
{
	const struct inuse *inuse = userdata;

	inuse->with.lost(inuse->with.userdata);
}

int unstage_calls_open(struct inuse *inuse)
{
	const struct unstage_gate_options options = {
		.event = inuse->with.event,
		.priority = inuse->with.priority,
		.workers = *inuse->with.workers,
		.changed = on_changed,
		.held = on_held,
		.lost = on_lost,
		.userdata = inuse,
	};

	return unstage_gate_new(&options, &inuse->gate);
}

/* ---- calls ---- */

struct unstage_call {
	struct inuse *inuse;
	char *unique_name, *pod_uid, *by;
	unstage_call_fn *done; /* NULL: the caller left */
	void *userdata;
};

static void call_free(struct unstage_call *call)
{
	free(call->unique_name);
	free(call->pod_uid);
	free(call->by);
	free(call);
}

/* The journal and the event have who forced what, be it done or refused. */
static void on_forced(void *userdata, int error, const struct mount_passed *passed,
		      const struct failure *why)
{
	struct unstage_call *call = userdata;
	const struct step_result about = { .unique_name = call->unique_name,
					   .pod_uid = *call->pod_uid ? call->pod_uid : NULL };
	char text[MOUNT_PASSED_TEXT_BYTES + FAILURE_TEXT_BYTES];

	if (error < 0)
		(void) snprintf(text, sizeof(text), "%s cannot force the unstage: %s", call->by,
				why->text);
	else if (passed->count == 0)
		(void) snprintf(text, sizeof(text),
				"%s forces the unstage: no holder is left, unstaging", call->by);
	else
		(void) snprintf(text, sizeof(text),
				"%s forces the unstage past %zu holder%s, unstaging: %s%s",
				call->by, passed->count, passed->count > 1 ? "s" : "", passed->text,
				passed->is_cut ? ", and others" : "");
	volume_users_report(call->inuse, &about, LOG_WARNING, "UnstageForced", text);
	if (call->done)
		call->done(call->userdata, error, text);
	call_free(call);
}

struct lookup {
	struct inuse *inuse;
	const char *word;
	struct unstage_view found;
};

/* By the names that the view of a volume takes. */
static int is_meant(const struct unstage_view *view, void *userdata)
{
	struct lookup *lookup = userdata;
	const struct actual_volume *volume =
		actual_find(lookup->inuse->with.actual, view->unique_name);

	if (strcmp(view->unique_name, lookup->word) != 0 &&
	    (!volume || (strcmp(volume->spec_name, lookup->word) != 0 &&
			 strcmp(volume->device_mount_path, lookup->word) != 0)))
		return 0;
	lookup->found = *view;
	return 1;
}

static struct unstage_call *make_call(struct inuse *inuse, const struct unstage_view *view,
				      const char *by)
{
	struct unstage_call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->inuse = inuse;
	call->unique_name = strdup(view->unique_name);
	call->pod_uid = strdup(view->pod_uid);
	call->by = strdup(by);
	if (call->unique_name && call->pod_uid && call->by)
		return call;
	call_free(call);
	return NULL;
}

int unstage_call_new(struct inuse *inuse, const struct unstage_call_request *request,
		     struct unstage_call **ret)
{
	struct lookup lookup = { .inuse = inuse, .word = request->volume };
	struct unstage_call *call;
	struct unstage_force *force;
	int r;

	assert(inuse && request->volume && request->by && request->done && ret);
	if (unstage_gate_walk(inuse->gate, is_meant, &lookup) == 0)
		return -ENOENT;
	call = make_call(inuse, &lookup.found, request->by);
	force = call ? unstage_force_new(inuse->table, on_forced, call) : NULL;
	r = force ? unstage_gate_force(inuse->gate, call->unique_name, call->pod_uid, force)
		  : -ENOMEM;
	if (r < 0) {
		unstage_force_free(force);
		if (call)
			call_free(call);
		return r;
	}
	call->done = request->done;
	call->userdata = request->userdata;
	*ret = call;
	return 0;
}

void unstage_call_cancel(struct unstage_call *call)
{
	assert(call);
	call->done = NULL;
}
