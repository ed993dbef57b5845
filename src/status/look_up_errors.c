/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look_up_errors - tells of pods whose volumes cannot be looked up, once that has stood for a
 * moment
 *
 * A pod that comes together with its claim is looked at before the claim is bound; that heals
 * within milliseconds and is not reported. What stands longer becomes an event of the pod and a
 * line in the journal, once until it changes; not while a kube-apiserver is still being asked for
 * objects. A queue in order of time, one timer, no wake-up while it is empty.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "status/status.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_table.h"
#include "base/log.h"
#include "base/timer.h"
#include "events/events.h"
#include "status/view_time.h"
#include "store/store.h"

#include <assert.h>
#include <string.h>

/* Below a second, and longer than the claims of some hundred pods take to be bound: an event is a
 * write. */
enum { STANDS_USEC = 800000, TIMER_ACCURACY_USEC = 10000 };

struct waiting_pod {
	char *uid, *name_space, *name;
	char *text; /* all that was reported last; NULL while waiting */
	uint64_t due_usec;
	UT_hash_handle
		hh; /* by uid; uthash keeps the order of insertion, which is that of due_usec */
};

struct look_up_errors {
	const struct reporter *reporter;
	struct waiting_pod *pods, *reported;
	sd_event_source *timer;
};

static void waiting_pod_free(struct waiting_pod *pod)
{
	free(pod->uid);
	free(pod->name_space);
	free(pod->name);
	free(pod->text);
	free(pod);
}

static void forget(struct waiting_pod **list, struct waiting_pod *pod)
{
	HASH_DEL(*list, pod);
	waiting_pod_free(pod);
}

static struct waiting_pod *find(struct waiting_pod *list, const char *uid)
{
	struct waiting_pod *pod;

	HASH_FIND_STR(list, uid, pod);
	return pod;
}

/* For the oldest; the queue is in order of time because each waits equally long. */
static void set_timer(struct look_up_errors *errors)
{
	if (errors->pods)
		timer_set(errors->timer, errors->pods->due_usec);
}

/* A claim that is being provisioned is no failure of the pod's: nothing has to be done. */
static bool is_reported(const struct desired_errors *errors, size_t i)
{
	return errors->codes[i] != -EINPROGRESS;
}

/* All that is to be reported, in one text to compare; NULL: nothing, or no memory. */
static char *join(const struct desired_errors *errors)
{
	size_t room = 1, used = 0;
	char *text;

	for (size_t i = 0; errors && i < errors->count; i++)
		room += is_reported(errors, i) ? strlen(errors->texts[i]) + 1 : 0;
	text = room > 1 ? malloc(room) : NULL;
	for (size_t i = 0; text && i < errors->count; i++)
		if (is_reported(errors, i))
			used += (size_t) snprintf(text + used, room - used, "%s\n",
						  errors->texts[i]);
	return text;
}

/* Returns whether there was anything to tell; @ret_text is then all of it. */
static bool report(const struct reporter *reporter, const struct object *pod, char **ret_text)
{
	const struct desired_errors *errors =
		desired_errors(reporter->tables->desired, pod->meta.uid);
	char key[POD_KEY_BYTES];
	struct log_subject subject = { .pod = pod_key(pod->pod, key), .pod_uid = pod->meta.uid };
	char event[EVENT_TEXT_BYTES];

	for (size_t i = 0; errors && i < errors->count; i++) {
		if (!is_reported(errors, i))
			continue;
		(void) snprintf(event, sizeof(event),
				"volume '%s' cannot be looked up: %s; " LOOK_UP_NEXT "%s",
				errors->volumes[i], errors->texts[i],
				advice_clause(errors->codes[i]));
		log_about(LOG_WARNING, &subject, "%s", event);
		reporter->record(reporter->userdata, pod, "Warning", "FailedMount", event);
	}
	*ret_text = join(errors);
	return *ret_text != NULL;
}

/* Kept to be silent about the same text; its turn in the queue is over. Without memory it may be
 * reported once more. */
static void keep_reported(struct look_up_errors *errors, struct waiting_pod *pod)
{
	assert(pod->text);
	HASH_DEL(errors->pods, pod);
	HASH_ADD_KEYPTR(hh, errors->reported, pod->uid, strlen(pod->uid), pod);
	if (!pod->hh.tbl)
		waiting_pod_free(pod);
}

/* A pod that came back under the same name with another uid is another pod. */
static int on_due(sd_event_source *source, uint64_t now, void *userdata)
{
	struct look_up_errors *errors = userdata;
	struct waiting_pod *pod;

	if (errors->reporter->is_behind(errors->reporter->userdata)) {
		timer_set(source, now + STANDS_USEC);
		return 0;
	}
	while ((pod = errors->pods) && pod->due_usec <= now) {
		const struct object *object =
			store_get(*errors->reporter->store, KIND_POD, pod->name_space, pod->name);

		if (object && strcmp(object->meta.uid, pod->uid) == 0 &&
		    report(errors->reporter, object, &pod->text))
			keep_reported(errors, pod);
		else
			forget(&errors->pods, pod);
	}
	set_timer(errors);
	return 0;
}

int look_up_errors_new(const struct reporter *reporter, struct look_up_errors **ret)
{
	struct look_up_errors *errors = calloc(1, sizeof(*errors));
	int r;

	assert(reporter && ret);
	if (!errors)
		return -ENOMEM;
	errors->reporter = reporter;
	r = timer_new(reporter->event, TIMER_ACCURACY_USEC, on_due, errors, &errors->timer);
	if (r < 0) {
		look_up_errors_free(errors);
		return r;
	}
	*ret = errors;
	return 0;
}

struct look_up_errors *look_up_errors_free(struct look_up_errors *errors)
{
	if (!errors)
		return NULL;
	while (errors->pods)
		forget(&errors->pods, errors->pods);
	while (errors->reported)
		forget(&errors->reported, errors->reported);
	sd_event_source_disable_unref(errors->timer);
	free(errors);
	return NULL;
}

static struct waiting_pod *waiting_pod_new(const struct object *pod)
{
	struct waiting_pod *waiting = calloc(1, sizeof(*waiting));

	if (!waiting)
		return NULL;
	waiting->uid = strdup(pod->meta.uid);
	waiting->name_space = strdup(pod->meta.name_space);
	waiting->name = strdup(pod->meta.name);
	if (waiting->uid && waiting->name_space && waiting->name)
		return waiting;
	waiting_pod_free(waiting);
	return NULL;
}

/* It heals, or says something new: either may be reported again. */
static void forget_reported(struct look_up_errors *errors, const char *uid)
{
	struct waiting_pod *reported = find(errors->reported, uid);

	if (reported)
		forget(&errors->reported, reported);
}

void look_up_errors_note(struct look_up_errors *errors, const struct object *pod)
{
	const struct desired_errors *found =
		desired_errors(errors->reporter->tables->desired, pod->meta.uid);
	const struct waiting_pod *reported = find(errors->reported, pod->meta.uid);
	cleanup_free char *text = join(found);
	struct waiting_pod *waiting;

	assert(errors && pod && pod->kind == KIND_POD);
	if (reported && text && strcmp(text, reported->text) == 0)
		return;
	forget_reported(errors, pod->meta.uid);
	if (!text || find(errors->pods, pod->meta.uid))
		return;
	waiting = waiting_pod_new(pod);
	if (!waiting)
		return; /* the wait and describe still say it */
	waiting->due_usec = monotonic_usec() + STANDS_USEC;
	HASH_ADD_KEYPTR(hh, errors->pods, waiting->uid, strlen(waiting->uid), waiting);
	if (!waiting->hh.tbl) {
		waiting_pod_free(waiting);
		return;
	}
	if (errors->pods == waiting)
		set_timer(errors);
}

uint64_t look_up_errors_since(const struct look_up_errors *errors, const char *pod_uid)
{
	const struct waiting_pod *pod = NULL;

	if (errors)
		pod = find(errors->reported, pod_uid) ?: find(errors->pods, pod_uid);
	return pod ? pod->due_usec - STANDS_USEC : 0;
}
