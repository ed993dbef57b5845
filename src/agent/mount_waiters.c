/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_waiters - who waits for a pod's volumes, and what they are told
 *
 * Event-driven: a wait is looked at when its pod changed and when its time is over. It goes on
 * until then whatever fails, because claims, volumes and drivers may arrive; only what no other
 * object can mend ends it at once: an unsupported source, a pod of another node, one that has
 * finished.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "agent/parts.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <assert.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

enum { WAIT_ACCURACY_USEC = 1000 };

struct agent_wait {
	struct waits *waits;
	enum agent_wait_for what;
	char *name_space, *name, *uid;
	void (*done)(void *userdata, int error, const struct failure *why);
	void *userdata;
	sd_event_source *timer; /* the first look, then the end of the wait */
	uint64_t deadline_usec;
	struct agent_wait *prev, *next; /* of the same pod */
};

struct pod_waits {
	char *uid;
	struct agent_wait *waits;
	UT_hash_handle hh;
};

struct waits {
	struct agent *agent;
	struct pod_waits *by_uid;
	size_t count;
};

int mount_waiters_new(struct agent *agent, struct waits **ret)
{
	struct waits *waits = calloc(1, sizeof(*waits));

	assert(agent && ret);
	if (!waits)
		return -ENOMEM;
	waits->agent = agent;
	*ret = waits;
	return 0;
}

/* ---- the list per pod ---- */

static struct pod_waits *find_pod(struct waits *waits, const char *uid)
{
	struct pod_waits *pod;

	HASH_FIND_STR(waits->by_uid, uid, pod);
	return pod;
}

/* Without memory nothing is left behind: a list is made only for the wait that goes into it. */
static int link_wait(struct waits *waits, struct agent_wait *wait)
{
	struct pod_waits *pod = find_pod(waits, wait->uid);

	if (!pod) {
		pod = calloc(1, sizeof(*pod));
		if (!pod)
			return -ENOMEM;
		pod->uid = strdup(wait->uid);
		if (!pod->uid) {
			free(pod);
			return -ENOMEM;
		}
		HASH_ADD_KEYPTR(hh, waits->by_uid, pod->uid, strlen(pod->uid), pod);
		if (!pod->hh.tbl) {
			free(pod->uid);
			free(pod);
			return -ENOMEM;
		}
	}
	DL_APPEND(pod->waits, wait);
	waits->count++;
	return 0;
}

/* The last wait of a pod takes the list along: no memory for pods nobody waits for. */
static void unlink_wait(struct agent_wait *wait)
{
	struct waits *waits = wait->waits;
	struct pod_waits *pod = find_pod(waits, wait->uid);

	assert(pod);
	DL_DELETE(pod->waits, wait);
	waits->count--;
	if (pod->waits)
		return;
	HASH_DEL(waits->by_uid, pod);
	free(pod->uid);
	free(pod);
}

static void wait_free(struct agent_wait *wait)
{
	sd_event_source_disable_unref(wait->timer);
	free(wait->name_space);
	free(wait->name);
	free(wait->uid);
	free(wait);
}

void agent_wait_cancel(struct agent_wait *wait)
{
	assert(wait);
	unlink_wait(wait);
	wait_free(wait);
}

/* Unlinked first: the callback may start another wait for the same pod. */
static void finish(struct agent_wait *wait, int error, const struct failure *why)
{
	unlink_wait(wait);
	wait->done(wait->userdata, error, why);
	wait_free(wait);
}

/* Each client is told; those who still wait must not hang on a socket that nobody serves. */
struct waits *mount_waiters_free(struct waits *waits)
{
	static const struct failure stopping = { -ECANCELED, "podvold is stopping" };

	if (!waits)
		return NULL;
	while (waits->by_uid)
		finish(waits->by_uid->waits, -ECANCELED, &stopping);
	free(waits);
	return NULL;
}

/* ---- is it over? ---- */

struct look {
	const struct agent *agent;
	const char *outer_name; /* the volume looked for; NULL: the first that is in the way */
	bool found;
	struct volume_row in_the_way;
	bool has_in_the_way;
};

static bool is_mounted(const struct volume_row *row)
{
	return row->want_pod && row->have_pod && row->have_pod->state == MOUNT_DONE;
}

/* By the name in the pod: two names of one claim are mounted, or not, as one. */
static int look_at_wanted(const struct volume_row *row, void *userdata)
{
	struct look *look = userdata;

	if (strcmp(row->outer_name, look->outer_name) != 0 || !row->want_pod)
		return 0;
	look->found = is_mounted(row);
	look->in_the_way = *row;
	look->has_in_the_way = !look->found;
	return 1;
}

/* All that is in the way, joined by "; " as kubelet does. */
static void add_reason(struct failure *reasons, const struct failure *one)
{
	if (reasons->text[0])
		(void) failure_append(reasons, "; %s", one->text);
	else
		(void) failed_plain(reasons, one->error, "%s", one->text);
}

/* A name of the pod for which the look-up failed; NULL volume: of the pod as a whole. */
static const char *look_up_error(const struct agent *agent, const char *pod_uid, const char *volume)
{
	const struct desired_errors *errors = desired_errors(agent->desired, pod_uid);

	for (size_t i = 0; errors && i < errors->count; i++)
		if (strcmp(errors->volumes[i], volume) == 0)
			return errors->texts[i];
	return NULL;
}

static void explain_missing(const struct agent *agent, const struct object *pod, const char *volume,
			    struct failure *ret)
{
	const char *text = look_up_error(agent, pod->meta.uid, volume);

	if (!text)
		text = look_up_error(agent, pod->meta.uid, "");
	if (text)
		(void) failed_plain(ret, -EINPROGRESS, "volume '%s': %s", volume, text);
	else if (!agent_explain_pod_wait(agent, pod, ret))
		(void) failed_plain(ret, -EINPROGRESS, "volume '%s': not looked up yet", volume);
}

/* 0 all mounted; -EINPROGRESS with every volume that is not. */
static int look_for_mounted(const struct agent *agent, const struct pod *pod,
			    struct failure *reterr)
{
	reterr->text[0] = '\0';
	for (size_t i = 0; i < pod->volume_count; i++) {
		const char *volume = pod->volumes[i].name;
		struct look look = { .agent = agent, .outer_name = volume };
		struct failure one = { .error = 0 };

		if (agent_explain_unused(pod->object, volume, NULL))
			continue;
		(void) volume_rows_of_pod(&agent->views.tables, pod->object->meta.uid,
					  look_at_wanted, &look);
		if (look.found)
			continue;
		if (look.has_in_the_way)
			volume_row_explain(&agent->views.tables, &look.in_the_way, &one);
		else
			explain_missing(agent, pod->object, volume, &one);
		add_reason(reterr, &one);
	}
	return reterr->text[0] ? -EINPROGRESS : 0;
}

/* Is there something that no wait mends? @reterr has all reasons already, or becomes the one. */
static bool is_hopeless(const struct agent *agent, const struct object *pod, struct failure *reterr)
{
	const struct desired_errors *errors = desired_errors(agent->desired, pod->meta.uid);

	for (size_t i = 0; errors && i < errors->count; i++)
		if (errors->codes[i] == -EOPNOTSUPP)
			return true;
	return agent_explain_idle_pod(agent, pod, reterr);
}

/* Any row will do, wanted or not: the pod is not free of volumes. */
static int look_at_left(const struct volume_row *row, void *userdata)
{
	struct look *look = userdata;

	look->in_the_way = *row;
	look->has_in_the_way = true;
	return 1;
}

/* Unlike kubelet's, an uncertain entry counts as left: it may be a mount. */
static int look_for_unmounted(const struct agent *agent, const char *pod_uid,
			      struct failure *reterr)
{
	struct look look = { .agent = agent };

	(void) volume_rows_of_pod(&agent->views.tables, pod_uid, look_at_left, &look);
	if (!look.has_in_the_way)
		return 0;
	if (is_mounted(&look.in_the_way))
		(void) failed_plain(reterr, -EINPROGRESS,
				    "volume '%s' is mounted and stays so until its pod is deleted",
				    look.in_the_way.outer_name);
	else
		volume_row_explain(&agent->views.tables, &look.in_the_way, reterr);
	return -EINPROGRESS;
}

static int look_at_pod(struct agent_wait *wait, struct failure *reterr)
{
	const struct agent *agent = wait->waits->agent;
	const struct object *pod = store_get(agent->store, KIND_POD, wait->name_space, wait->name);
	int r;

	if (!pod || strcmp(pod->meta.uid, wait->uid) != 0)
		return failed_plain(reterr, -ENOENT, "pod '%s/%s' was deleted", wait->name_space,
				    wait->name);
	r = look_for_mounted(agent, pod->pod, reterr);
	return r < 0 && is_hopeless(agent, pod, reterr) ? -EIO : r;
}

/* May free the wait: whoever calls must not look at it again. */
static void look_at(struct agent_wait *wait)
{
	struct failure why = { .error = 0 };
	int r = wait->what == WAIT_UNMOUNTED
			? look_for_unmounted(wait->waits->agent, wait->uid, &why)
			: look_at_pod(wait, &why);

	if (r == 0)
		finish(wait, 0, NULL);
	else if (r != -EINPROGRESS)
		finish(wait, r, &why);
	else if (monotonic_usec() >= wait->deadline_usec)
		finish(wait, -ETIMEDOUT, &why);
}

void mount_waiters_pod_changed(struct waits *waits, const char *pod_uid)
{
	struct pod_waits *pod = waits->count > 0 ? find_pod(waits, pod_uid) : NULL;
	struct agent_wait *wait, *next;

	assert(waits && pod_uid);
	if (!pod)
		return;
	/* The last wait frees its list: read what comes next before looking. */
	for (wait = pod->waits; wait; wait = next) {
		next = wait->next;
		look_at(wait);
	}
}

/* Armed for the deadline again before the look, which may end the wait. */
static int on_timer(sd_event_source *source, uint64_t now, void *userdata)
{
	struct agent_wait *wait = userdata;

	if (now < wait->deadline_usec) {
		(void) sd_event_source_set_time(wait->timer, wait->deadline_usec);
		(void) sd_event_source_set_enabled(wait->timer, SD_EVENT_ONESHOT);
	}
	look_at(wait);
	return 0;
}

static struct agent_wait *wait_new(const struct agent_wait_request *request)
{
	struct agent_wait *wait = calloc(1, sizeof(*wait));

	if (!wait)
		return NULL;
	wait->what = request->what;
	wait->done = request->done;
	wait->userdata = request->userdata;
	wait->name_space = strdup(request->name_space);
	wait->name = strdup(request->name);
	wait->uid = strdup(request->uid);
	if (wait->name_space && wait->name && wait->uid)
		return wait;
	wait_free(wait);
	return NULL;
}

int agent_wait_pod(struct agent *agent, const struct agent_wait_request *request,
		   struct agent_wait **ret)
{
	struct agent_wait *wait;
	uint64_t now = monotonic_usec();
	int r;

	assert(agent && request && ret);
	assert(request->name_space && request->name && request->uid && request->done);
	if (agent->waits->count >= (size_t) agent->config->waits_max)
		return -ENOBUFS;
	/* Before the wait is there: looking at the pod would end it within this call. */
	populator_pod(agent->populator, request->name_space, request->name, now);
	wait = wait_new(request);
	if (!wait)
		return -ENOMEM;
	wait->waits = agent->waits;
	wait->deadline_usec =
		request->timeout_usec < UINT64_MAX - now ? now + request->timeout_usec : UINT64_MAX;

	/* Due at once: the first look is a later turn of the loop, never inside this call. */
	r = sd_event_add_time(agent->event, &wait->timer, CLOCK_MONOTONIC, now, WAIT_ACCURACY_USEC,
			      on_timer, wait);
	if (r < 0 || link_wait(agent->waits, wait) < 0) {
		wait_free(wait);
		return -ENOMEM;
	}
	*ret = wait;
	return 0;
}
