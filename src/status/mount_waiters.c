/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_waiters - who waits for a pod's volumes; see mount_waiters.h
 *
 * Event-driven: a wait is checked when its pod changed and when it times out. Failures do not end
 * it, because claims, volumes and drivers may be added; only what no other object can fix ends it
 * at once: an unsupported source, a pod of another node, one that has finished.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "status/mount_waiters.h"

#include "base/clock.h"
#include "base/hash_table.h"
#include "base/timer.h"
#include "object/kinds/pod.h"
#include "status/view_time.h"
#include "status/status.h"
#include "status/volume_row.h"

#include <assert.h>
#include <string.h>
#include <utlist.h>

enum { WAIT_ACCURACY_USEC = 1000 };

struct mount_wait {
	struct waits *waits;
	enum mount_wait_for what;
	char *name_space, *name, *uid;
	void (*done)(void *userdata, int error, const struct failure *why);
	void *userdata;
	sd_event_source *timer; /* the first check, then the timeout */
	uint64_t deadline_usec;
	struct mount_wait *prev, *next; /* of the same pod */
};

struct pod_waits {
	char *uid;
	struct mount_wait *waits;
	UT_hash_handle hh;
};

struct waits {
	struct mount_waiters_options options;
	struct pod_waits *by_uid;
	size_t count;
};

int mount_waiters_new(const struct mount_waiters_options *options, struct waits **ret)
{
	struct waits *waits = calloc(1, sizeof(*waits));

	assert(options && ret);
	if (!waits)
		return -ENOMEM;
	waits->options = *options;
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

/* Out of memory nothing is left behind: a list is created only for the wait that goes into it. */
static int link_wait(struct waits *waits, struct mount_wait *wait)
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

/* The last wait of a pod takes the list along: no memory for pods without a waiter. */
static void unlink_wait(struct mount_wait *wait)
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

static void wait_free(struct mount_wait *wait)
{
	sd_event_source_disable_unref(wait->timer);
	free(wait->name_space);
	free(wait->name);
	free(wait->uid);
	free(wait);
}

void mount_wait_cancel(struct mount_wait *wait)
{
	assert(wait);
	unlink_wait(wait);
	wait_free(wait);
}

/* Unlinked first: the callback may start another wait for the same pod. */
static void finish(struct mount_wait *wait, int error, const struct failure *why)
{
	unlink_wait(wait);
	wait->done(wait->userdata, error, why);
	wait_free(wait);
}

/* Each client gets a reply; none may hang on a socket that is no longer served. */
struct waits *mount_waiters_free(struct waits *waits)
{
	static const struct failure stopping = { -ECANCELED, "podvold is shutting down" };

	if (!waits)
		return NULL;
	while (waits->by_uid)
		finish(waits->by_uid->waits, -ECANCELED, &stopping);
	free(waits);
	return NULL;
}

/* ---- is it over? ---- */

struct row_query {
	const char *outer_name; /* the volume; NULL: the first that is in the way */
	bool found;
	struct volume_row in_the_way;
	bool has_in_the_way;
};

static bool is_mounted(const struct volume_row *row)
{
	return row->want_pod && row->have_pod && row->have_pod->state == MOUNT_DONE;
}

/* By the name in the pod: two names of one claim are mounted, or not, as one. */
static int check_wanted(const struct volume_row *row, void *userdata)
{
	struct row_query *query = userdata;

	if (strcmp(row->outer_name, query->outer_name) != 0 || !row->want_pod)
		return 0;
	query->found = is_mounted(row);
	query->in_the_way = *row;
	query->has_in_the_way = !query->found;
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

/* The look-up of this name of the pod failed, or, with name "", of the pod as a whole. */
static bool explain_look_up(const struct mount_waiters_options *options, const char *pod_uid,
			    const char *name, const char *volume, struct failure *ret)
{
	const struct desired_errors *errors = desired_errors(options->tables->desired, pod_uid);
	uint64_t since = look_up_errors_since(*options->look_up_errors, pod_uid);
	char age[sizeof("failing for 18446744073709.6 s, ")] = "";

	if (since > 0)
		(void) snprintf(age, sizeof(age), "failing for %.1f s, ",
				(double) (monotonic_usec() - since) / 1e6);
	for (size_t i = 0; errors && i < errors->count; i++)
		if (strcmp(errors->volumes[i], name) == 0) {
			(void) failed_plain(ret, -EINPROGRESS,
					    "volume '%s': %s; %s" LOOK_UP_NEXT "%s", volume,
					    errors->texts[i], age, advice_clause(errors->codes[i]));
			return true;
		}
	return false;
}

static void explain_missing(const struct mount_waiters_options *options, const struct object *pod,
			    const char *volume, struct failure *ret)
{
	if (!explain_look_up(options, pod->meta.uid, volume, volume, ret) &&
	    !explain_look_up(options, pod->meta.uid, "", volume, ret) &&
	    !options->explain_wait(options->userdata, pod, ret))
		(void) failed_plain(ret, -EINPROGRESS, "volume '%s': not looked up yet", volume);
}

/* 0 all mounted; -EINPROGRESS with every volume that is not. */
static int check_mounted(const struct mount_waiters_options *options, const struct pod *pod,
			 struct failure *reterr)
{
	reterr->text[0] = '\0';
	for (size_t i = 0; i < pod->volume_count; i++) {
		const char *volume = pod->volumes[i].name;
		struct row_query query = { .outer_name = volume };
		struct pod_volume_use use = pod_volume_use(pod, volume);
		struct failure one = { .error = 0 };

		if (!use.mounted && !use.as_device)
			continue;
		(void) volume_rows_of_pod(options->tables, pod->object->meta.uid, check_wanted,
					  &query);
		if (query.found)
			continue;
		if (query.has_in_the_way)
			volume_row_explain(options->tables, &query.in_the_way, &one);
		else
			explain_missing(options, pod->object, volume, &one);
		add_reason(reterr, &one);
	}
	return reterr->text[0] ? -EINPROGRESS : 0;
}

/* Is there something that no wait fixes? @reterr has all reasons already, or becomes the one. */
static bool is_hopeless(const struct mount_waiters_options *options, const struct object *pod,
			struct failure *reterr)
{
	const struct desired_errors *errors =
		desired_errors(options->tables->desired, pod->meta.uid);

	for (size_t i = 0; errors && i < errors->count; i++)
		if (errors->codes[i] == -EOPNOTSUPP)
			return true;
	return options->explain_idle(options->userdata, pod, reterr);
}

/* Any row will do, wanted or not: the pod is not free of volumes. */
static int check_left(const struct volume_row *row, void *userdata)
{
	struct row_query *query = userdata;

	query->in_the_way = *row;
	query->has_in_the_way = true;
	return 1;
}

/* Unlike kubelet's, an uncertain entry counts as left: it may be a mount. */
static int check_unmounted(const struct mount_waiters_options *options, const char *pod_uid,
			   struct failure *reterr)
{
	struct row_query query = { .found = false };

	(void) volume_rows_of_pod(options->tables, pod_uid, check_left, &query);
	if (!query.has_in_the_way)
		return 0;
	if (is_mounted(&query.in_the_way))
		(void) failed_plain(reterr, -EINPROGRESS,
				    "volume '%s' is mounted and stays so until its pod is deleted",
				    query.in_the_way.outer_name);
	else
		volume_row_explain(options->tables, &query.in_the_way, reterr);
	return -EINPROGRESS;
}

static int check_pod(struct mount_wait *wait, struct failure *reterr)
{
	const struct mount_waiters_options *options = &wait->waits->options;
	const struct object *pod =
		options->find_pod(options->userdata, wait->name_space, wait->name);
	int r;

	if (!pod || strcmp(pod->meta.uid, wait->uid) != 0)
		return failed_plain(reterr, -ENOENT, "pod '%s/%s' was deleted", wait->name_space,
				    wait->name);
	r = check_mounted(options, pod->pod, reterr);
	return r < 0 && is_hopeless(options, pod, reterr) ? -EIO : r;
}

/* May free the wait: the caller must not use it afterwards. */
static void check_wait(struct mount_wait *wait)
{
	struct failure why = { .error = 0 };
	int r = wait->what == WAIT_UNMOUNTED
			? check_unmounted(&wait->waits->options, wait->uid, &why)
			: check_pod(wait, &why);

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
	struct mount_wait *wait, *next;

	assert(waits && pod_uid);
	if (!pod)
		return;
	/* The last wait frees its list: read the next one first. */
	for (wait = pod->waits; wait; wait = next) {
		next = wait->next;
		check_wait(wait);
	}
}

/* Armed for the deadline again before the check, which may end the wait. */
static int on_timer(sd_event_source *source, uint64_t now, void *userdata)
{
	struct mount_wait *wait = userdata;

	if (now < wait->deadline_usec)
		timer_set(wait->timer, wait->deadline_usec);
	check_wait(wait);
	return 0;
}

static struct mount_wait *wait_new(const struct mount_wait_request *request)
{
	struct mount_wait *wait = calloc(1, sizeof(*wait));

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

int mount_waiters_add(struct waits *waits, const struct mount_wait_request *request,
		      struct mount_wait **ret)
{
	struct mount_wait *wait;
	uint64_t now = monotonic_usec();
	int r;

	assert(waits && request && ret);
	assert(request->name_space && request->name && request->uid && request->done);
	if (waits->count >= (size_t) *waits->options.waits_max)
		return -ENOBUFS;
	/* Before the wait exists: processing the pod would end it within this call. */
	waits->options.look_up(waits->options.userdata, request->name_space, request->name, now);
	wait = wait_new(request);
	if (!wait)
		return -ENOMEM;
	wait->waits = waits;
	wait->deadline_usec =
		request->timeout_usec < UINT64_MAX - now ? now + request->timeout_usec : UINT64_MAX;

	/* Due at once: the first check is in a later turn of the loop, never inside this call. */
	r = sd_event_add_time(waits->options.event, &wait->timer, CLOCK_MONOTONIC, now,
			      WAIT_ACCURACY_USEC, on_timer, wait);
	if (r < 0 || link_wait(waits, wait) < 0) {
		wait_free(wait);
		return -ENOMEM;
	}
	*ret = wait;
	return 0;
}
