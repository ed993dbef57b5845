/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_users - who uses volumes that cannot be unmounted; see inuse.h
 *
 * What is found changes nothing here: it is for people, and wakes the teardown early. One line of
 * the journal and one event for each new answer.
 */
#include "inuse/inuse.h"
#include "inuse/busy_watch.h"
#include "inuse/server_probe.h"
#include "inuse/volume_users_search.h"
#include "operation/operation.h"
#include "store/store.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "mount/path/subpath.h"
#include "object/json/json.h"
#include "status/view_time.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { ANSWER_BYTES = FAILURE_TEXT_BYTES + 256 };

/* ---- queries ---- */

char *volume_users_mount_point(const struct actual_volume *volume, const struct actual_pod *pod)
{
	const char *device_mount_path = volume->device_mount_path ?: "";
	char *path = NULL;

	if (!pod)
		return volume->block || !*device_mount_path ? NULL : strdup(device_mount_path);
	if (!volume->block)
		return strdup(pod->path);
	/* The file that the device is bound to, named by the pod. */
	if (!*device_mount_path || asprintf(&path, "%s/%s", device_mount_path, pod->pod_uid) < 0)
		return NULL;
	return path;
}

char *volume_users_subpaths(const struct inuse *inuse, const struct actual_volume *volume,
			    const struct actual_pod *pod)
{
	char *path = NULL;

	if (!pod || volume->block ||
	    asprintf(&path, "%s/pods/%s/" SUBPATH_FOLDER "/%s", inuse->with.root->path,
		     pod->pod_uid, volume->spec_name) < 0)
		return NULL;
	return path;
}

static void search_users(struct inuse *inuse, const struct operation_ended *ended)
{
	const struct step_result *result = &ended->result;
	const struct actual_volume *volume = actual_find(inuse->with.actual, result->unique_name);
	const struct actual_pod *pod =
		volume && result->pod_uid ? actual_find_pod(volume, result->pod_uid) : NULL;
	cleanup_free char *mount_point = NULL, *folder = NULL;
	struct busy_teardown teardown = { .unique_name = result->unique_name };

	if (!volume || (result->pod_uid && !pod))
		return;
	mount_point = volume_users_mount_point(volume, pod);
	if (!mount_point)
		return;
	folder = volume_users_subpaths(inuse, volume, pod);
	teardown.pod_uid = result->pod_uid ?: "";
	teardown.mount_point = mount_point;
	teardown.folder = folder;
	teardown.begun_usec = monotonic_usec() - ended->ran_usec;
	teardown.retry_usec = ended->retry_usec;
	busy_watch_failed(inuse->users, &teardown);
}

void volume_users_note(void *userdata, const struct operation_ended *ended)
{
	struct inuse *inuse = userdata;
	const struct step_result *result = &ended->result;

	assert(inuse && ended);
	stuck_policy_note(inuse, ended);
	if (step_takes_down(result->kind) && result->error == -EBUSY)
		search_users(inuse, ended);
	else
		busy_watch_over(inuse->users, result->unique_name, result->pod_uid ?: "");
}

/* ---- reports ---- */

void volume_users_print(const struct busy_holders *holders, char text[USERS_TEXT_BYTES])
{
	size_t used = 0, printed = 0;

	text[0] = '\0';
	for (; printed < holders->count; printed++) {
		char one[BUSY_TEXT_BYTES];

		busy_holder_print(&holders->list[printed], one);
		if (used + strlen(one) + 40 > USERS_TEXT_BYTES)
			break;
		used += (size_t) snprintf(text + used, USERS_TEXT_BYTES - used, "%s%s",
					  printed > 0 ? "; " : "", one);
	}
	if (holders->total > printed)
		(void) snprintf(text + used, USERS_TEXT_BYTES - used, "; and %zu more",
				holders->total - printed);
}

/* What a search could not see, in brackets; "" when it saw everything. */
static void print_doubt(const struct busy_holders *holders, char *text, size_t size)
{
	text[0] = '\0';
	if (holders->cut_short)
		(void) snprintf(text, size, " (the search was cut short)");
	else if (holders->hidden > 0 && holders->total == 0)
		(void) snprintf(text, size, " (%zu processes may not be looked at)",
				holders->hidden);
}

static void print_answer(const struct busy_view *view, char text[ANSWER_BYTES])
{
	char users[USERS_TEXT_BYTES], doubt[64];

	if (view->failure) {
		(void) snprintf(text, ANSWER_BYTES, "the volume is in use: %s",
				view->failure->text);
		return;
	}
	volume_users_print(view->holders, users);
	print_doubt(view->holders, doubt, sizeof(doubt));
	if (view->holders->total > 0)
		(void) snprintf(text, ANSWER_BYTES, "the volume is in use: %s%s", users, doubt);
	else
		(void) snprintf(text, ANSWER_BYTES,
				"the volume is in use, by no process that can be found%s", doubt);
}

/* The pod has mostly left the store by now: its name and uid are what an event needs. */
static void record_event(struct inuse *inuse, const struct actual_volume *volume,
			 const struct actual_pod *pod, const char *reason, const char *text)
{
	const char *slash = pod ? strchr(pod->pod_key, '/') : NULL;
	struct object about = { .kind = KIND_POD };
	cleanup_free char *name_space = NULL;
	const struct object *pv;

	if (!*inuse->with.store)
		return; /* draining: no events are kept */
	if (!pod) {
		pv = store_get(*inuse->with.store, KIND_PERSISTENT_VOLUME, "", volume->spec_name);
		if (pv)
			inuse->with.record(inuse->with.userdata, pv, "Warning", reason, text);
		return;
	}
	name_space = slash ? strndup(pod->pod_key, (size_t) (slash - pod->pod_key)) : NULL;
	if (!name_space)
		return;
	about.meta.name_space = name_space;
	about.meta.name = slash + 1;
	about.meta.uid = pod->pod_uid;
	inuse->with.record(inuse->with.userdata, &about, "Warning", reason, text);
}

void volume_users_report(struct inuse *inuse, const struct step_result *about, int priority,
			 const char *reason, const char *text)
{
	const struct actual_volume *volume = actual_find(inuse->with.actual, about->unique_name);
	const struct actual_pod *pod =
		volume && about->pod_uid ? actual_find_pod(volume, about->pod_uid) : NULL;
	struct log_subject subject = {
		.pod = pod && *pod->pod_key ? pod->pod_key : NULL,
		.pod_uid = about->pod_uid,
		.volume = about->unique_name,
		.plugin = volume ? volume->plugin_name : NULL,
	};

	log_about(priority, &subject, "%s", text);
	if (volume)
		record_event(inuse, volume, pod, reason, text);
}

/* Last, where it makes no other event: see events_record(). */
static void add_attempt(const struct inuse *inuse, const struct busy_view *view,
			char text[ANSWER_BYTES])
{
	size_t used = strlen(text);
	char attempts[ATTEMPT_TEXT_BYTES];
	struct operation_view step;

	if (!operation_find(*inuse->with.operations, view->unique_name, view->pod_uid, &step) ||
	    step.attempts == 0 || step.retry_usec == 0)
		return;
	attempt_text(step.attempts, step.failing_usec, step.retry_usec, true, attempts);
	(void) snprintf(text + used, ANSWER_BYTES - used, " (%s)", attempts);
}

static void on_found(void *userdata, const struct busy_view *view)
{
	const struct step_result about = { .unique_name = view->unique_name,
					   .pod_uid = *view->pod_uid ? view->pod_uid : NULL };
	char text[ANSWER_BYTES];

	print_answer(view, text);
	add_attempt(userdata, view, text);
	volume_users_report(userdata, &about, LOG_NOTICE, "VolumeBusy", text);
}

static void on_retry(void *userdata, const char *unique_name, const char *pod_uid)
{
	struct inuse *inuse = userdata;

	log_about(LOG_INFO, &(struct log_subject){ .volume = unique_name },
		  "a process that used the volume ended: retrying");
	operation_tear_down_now(*inuse->with.operations, unique_name, pod_uid, monotonic_usec());
}

static void on_turn(void *userdata)
{
	((struct inuse *) userdata)->with.turn(((struct inuse *) userdata)->with.userdata);
}

/* ---- showing ---- */

void volume_users_add(struct cJSON *items, const struct busy_holder *holder)
{
	struct cJSON *item = json_add_object(items, NULL);
	char text[BUSY_TEXT_BYTES], mount_namespace[24];

	busy_holder_print(holder, text);
	(void) json_set_string(item, "kind", busy_kind_name(holder->kind));
	if (holder->pid > 0) {
		(void) json_set_int(item, "pid", holder->pid);
		(void) json_set_int(item, "uid", holder->uid);
	}
	(void) json_set_string(item, "command", holder->command);
	(void) json_set_string(item, "name", holder->name);
	(void) json_set_int(item, "count", holder->count);
	if (holder->mount_namespace) {
		(void) snprintf(mount_namespace, sizeof(mount_namespace), "%" PRIu64,
				holder->mount_namespace);
		(void) json_set_string(item, "mountNamespace", mount_namespace);
	}
	(void) json_set_string(item, "text", text);
}

void volume_users_view(const void *box, struct cJSON *item, const char *unique_name,
		       const char *pod_uid)
{
	const struct inuse *inuse = box;
	struct busy_view view;
	struct cJSON *users;

	if (!busy_watch_check(inuse->users, unique_name, pod_uid, &view) || !view.holders ||
	    view.holders->total == 0)
		return;
	users = json_add_object(item, "users");
	(void) json_set_int(users, "total", (int64_t) view.holders->total);
	item = json_add_array(users, "items");
	for (size_t i = 0; i < view.holders->count; i++)
		volume_users_add(item, &view.holders->list[i]);
}

void volume_users_append(const struct inuse *inuse, const char *unique_name, const char *pod_uid,
			 struct failure *text)
{
	char users[USERS_TEXT_BYTES];
	struct busy_view view;

	if (!busy_watch_check(inuse->users, unique_name, pod_uid, &view) || !view.holders ||
	    view.holders->total == 0)
		return;
	volume_users_print(view.holders, users);
	(void) failure_append(text, "; used by: %s", users);
}

/* ---- the watch ---- */

int volume_users_open(struct inuse *inuse)
{
	const struct busy_watch_options options = {
		.event = inuse->with.event,
		.priority = inuse->with.priority,
		.workers = *inuse->with.workers,
		.found = on_found,
		.turn = on_turn,
		.retry = on_retry,
		.userdata = inuse,
	};

	int r = busy_watch_new(&options, &inuse->users);

	return r < 0 ? r : server_probes_new(*inuse->with.workers, &inuse->probes);
}
