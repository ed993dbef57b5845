/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_conditions - see pod_conditions.h
 *
 * Changes only mark a pod; one look a turn sees all of them, whatever their order. What is kept of
 * a pod is its word and since when that is True or False, for lastTransitionTime.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "status/pod_conditions.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_table.h"
#include "object/json/json.h"
#include "object/json/json_text.h"
#include "object/timestamp.h"
#include "store/touch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char volumes_held[] = "VolumesHeld";

struct known_pod {
	const char *word, *shown; /* constants; now, and as watches saw it last */
	uint64_t since_usec;      /* real time; since when the condition has its status */
	struct known_pod *next;   /* in due */
	bool is_due, is_reported;
	UT_hash_handle hh;             /* by uid */
	const char *name_space, *name; /* in the bytes of uid */
	char uid[];
};

struct pod_conditions {
	struct pod_conditions_options options;
	struct known_pod *pods;
	struct known_pod *due;
};

/* ---- what is known ---- */

static struct known_pod *find(const struct pod_conditions *conditions, const char *uid)
{
	struct known_pod *pod = NULL;

	if (conditions)
		HASH_FIND_STR(conditions->pods, uid, pod);
	return pod;
}

static bool is_mounted(const char *word)
{
	return word == volumes_mounted || word == volumes_held;
}

static const char *word_of(const struct pod_conditions *conditions, const char *pod_uid,
			   struct failure *why)
{
	const struct pod_conditions_options *options = &conditions->options;
	const char *word =
		volume_rows_word(options->reporter->tables, *options->faults, pod_uid, why);

	return word == volumes_mounted && options->is_held(options->userdata, pod_uid)
		       ? volumes_held
		       : word;
}

const char *pod_conditions_word(const struct pod_conditions *conditions, const char *pod_uid)
{
	return conditions ? word_of(conditions, pod_uid, NULL) : NULL;
}

static void mark(struct pod_conditions *conditions, struct known_pod *pod)
{
	if (pod->is_due)
		return;
	pod->is_due = true;
	pod->next = conditions->due;
	conditions->due = pod;
}

/* Without memory for it the condition is shown all the same, and no watch hears when it changes. */
static struct known_pod *ensure_known(struct pod_conditions *conditions,
				      const struct object *object)
{
	const struct object_meta *meta = &object->meta;
	size_t uid = strlen(meta->uid) + 1, name_space = strlen(meta->name_space) + 1;
	size_t name = strlen(meta->name) + 1;
	struct known_pod *pod = calloc(1, sizeof(*pod) + uid + name_space + name);

	if (!pod)
		return NULL;
	pod->name_space = memcpy(pod->uid + uid, meta->name_space, name_space);
	pod->name = memcpy(pod->uid + uid + name_space, meta->name, name);
	memcpy(pod->uid, meta->uid, uid);
	HASH_ADD_KEYPTR(hh, conditions->pods, pod->uid, uid - 1, pod);
	if (!pod->hh.tbl) {
		free(pod);
		return NULL;
	}
	return pod;
}

bool pod_conditions_resolved(struct pod_conditions *conditions, const struct object *pod)
{
	struct known_pod *known = find(conditions, pod->meta.uid);

	if (!conditions)
		return false;
	if (!known)
		known = ensure_known(conditions, pod);
	if (known)
		mark(conditions, known);
	return known != NULL;
}

bool pod_conditions_changed(struct pod_conditions *conditions, const char *pod_uid)
{
	struct known_pod *pod = find(conditions, pod_uid);

	if (pod)
		mark(conditions, pod);
	return pod != NULL;
}

bool pod_conditions_reported(struct pod_conditions *conditions, const struct object *about)
{
	struct known_pod *pod = about->kind == KIND_POD ? find(conditions, about->meta.uid) : NULL;

	if (!pod || pod->is_reported)
		return false;
	pod->is_reported = true;
	mark(conditions, pod);
	return true;
}

bool pod_conditions_volume_changed(struct pod_conditions *conditions, const char *unique_name)
{
	const struct desired_volume *volume =
		conditions
			? desired_find(conditions->options.reporter->tables->desired, unique_name)
			: NULL;
	bool any = false;

	for (const struct desired_pod *pod = volume ? volume->pods : NULL; pod; pod = pod->hh.next)
		any |= pod_conditions_changed(conditions, pod->pod_uid);
	return any;
}

/* ---- a check ---- */

/* That volumes of a new pod are not mounted yet is no change, and claims of a new pod are bound
 * within milliseconds: what stands longer is reported. */
static bool is_expected(const struct pod_conditions *conditions, const struct known_pod *pod)
{
	return !pod->shown && !pod->is_reported && !is_mounted(pod->word) &&
	       (strcmp(pod->word, "VolumesPending") == 0 ||
		desired_errors(conditions->options.reporter->tables->desired, pod->uid));
}

/* What was reported as not mounted now is. A pod without trouble has no event. */
static void report_mounted(const struct pod_conditions *conditions, const struct known_pod *known)
{
	const struct reporter *reporter = conditions->options.reporter;
	const struct object *pod =
		store_get(*reporter->store, KIND_POD, known->name_space, known->name);

	if (pod && strcmp(pod->meta.uid, known->uid) == 0)
		reporter->record(reporter->userdata, pod, "Normal", volumes_mounted,
				 "all volumes of the pod are mounted");
}

static void update_pod(struct pod_conditions *conditions, struct known_pod *pod)
{
	struct store *store = *conditions->options.reporter->store;
	const struct store_key key = { KIND_POD, pod->name_space, pod->name };
	const char *word = word_of(conditions, pod->uid, NULL);

	if (!word) {
		HASH_DEL(conditions->pods, pod);
		free(pod);
		return;
	}
	if (!pod->word || is_mounted(word) != is_mounted(pod->word))
		pod->since_usec = realtime_usec();
	pod->word = word;
	if (word == pod->shown || is_expected(conditions, pod))
		return;
	if (store && pod->shown && !is_mounted(pod->shown) && is_mounted(word))
		report_mounted(conditions, pod);
	pod->shown = word;
	if (store)
		(void) store_touch(store, &key, pod->uid);
}

void pod_conditions_settle(struct pod_conditions *conditions)
{
	struct known_pod *pod;

	while (conditions && (pod = conditions->due)) {
		conditions->due = pod->next;
		pod->is_due = false;
		update_pod(conditions, pod);
	}
}

/* ---- what is shown ---- */

static void set_condition(struct cJSON *status, const char *word, const char *message,
			  uint64_t since_usec)
{
	const struct cJSON *old = json_get(status, "conditions");
	struct cJSON *list = json_new_array(), *own;
	char since[TIMESTAMP_BYTES];

	JSON_FOREACH (i, old)
		if (!json_text_is(i, "type", POD_CONDITION))
			(void) json_set(list, NULL, json_copy(i));
	own = json_add_object(list, NULL);
	timestamp_print(since_usec, since);
	(void) json_set_string(own, "type", POD_CONDITION);
	(void) json_set_string(own, "status", is_mounted(word) ? "True" : "False");
	(void) json_set_string(own, "lastTransitionTime", since);
	(void) json_set_string(own, "reason", word);
	if (*message)
		(void) json_set_string(own, "message", message);
	json_remove(status, "conditions");
	(void) json_set(status, "conditions", list);
}

/* A phase that says more than that the pod is there is its runtime's. */
static bool shows_phase(const struct pod_conditions *conditions, const struct object *pod)
{
	const char *phase = pod->pod->phase;

	return conditions->options.with_phase && (!*phase || strcmp(phase, "Pending") == 0);
}

bool pod_conditions_show_phases(const struct pod_conditions *conditions)
{
	return conditions && conditions->options.with_phase;
}

const char *pod_conditions_phase(const struct pod_conditions *conditions, const struct object *pod)
{
	const char *uid = pod->meta.uid;
	bool is_held = conditions && conditions->options.is_held(conditions->options.userdata, uid);

	if (!conditions || !shows_phase(conditions, pod) ||
	    (!is_held && !word_of(conditions, uid, NULL)))
		return NULL;
	return is_held ? "Running" : "Pending";
}

static char *print_status(const struct pod_conditions *conditions, const struct object *pod,
			  const struct json_bytes *stored)
{
	const struct json_limits limits = { .bytes = OBJECT_BYTES_MAX,
					    .depth = OBJECT_DEPTH_MAX,
					    .is_own = true };
	const struct known_pod *known = find(conditions, pod->meta.uid);
	bool is_held = conditions->options.is_held(conditions->options.userdata, pod->meta.uid);
	struct failure why = { 0 };
	const char *word = word_of(conditions, pod->meta.uid, &why);
	cleanup_json struct cJSON *status = NULL;

	if (stored->length == 0)
		status = json_new_object();
	else if (json_parse(stored->start, stored->length, &limits, &status, NULL) < 0)
		return NULL;
	if (shows_phase(conditions, pod))
		(void) json_set_string(status, "phase", is_held ? "Running" : "Pending");
	if (word)
		set_condition(status, word, why.text,
			      known && known->word ? known->since_usec : realtime_usec());
	return json_print(status);
}

int pod_conditions_print(const struct pod_conditions *conditions, const struct object *pod,
			 char **ret)
{
	const char *uid = pod->meta.uid;
	struct json_bytes stored;
	cleanup_free char *status = NULL;
	int length;

	*ret = NULL;
	/* Most of a list's pods are another node's. */
	if (!conditions || (!word_of(conditions, uid, NULL) &&
			    !conditions->options.is_held(conditions->options.userdata, uid)))
		return 0;
	stored = json_text_member(pod->json, "status");
	status = print_status(conditions, pod, &stored);
	if (!status)
		return -ENOMEM;
	if (stored.length > 0)
		length = asprintf(ret, "%.*s%s%s", (int) (stored.start - pod->json), pod->json,
				  status, stored.start + stored.length);
	else
		length = asprintf(ret, "%.*s,\"status\":%s}", (int) pod->json_length - 1, pod->json,
				  status);
	return length < 0 ? -ENOMEM : 0;
}

/* ---- start and stop ---- */

int pod_conditions_new(const struct pod_conditions_options *options, struct pod_conditions **ret)
{
	struct pod_conditions *conditions = calloc(1, sizeof(*conditions));

	if (!conditions)
		return -ENOMEM;
	conditions->options = *options;
	*ret = conditions;
	return 0;
}

struct pod_conditions *pod_conditions_free(struct pod_conditions *conditions)
{
	struct known_pod *pod, *next;

	if (!conditions)
		return NULL;
	HASH_ITER (hh, conditions->pods, pod, next) {
		HASH_DEL(conditions->pods, pod);
		free(pod);
	}
	free(conditions);
	return NULL;
}
