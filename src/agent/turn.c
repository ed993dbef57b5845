/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn - one turn of the loop: what changed in the store becomes desired, what is dirty becomes a
 * plan, intents go to the ledger, steps to the operations
 *
 * The ledger is written once per turn, before any step of that turn starts: a kill after that finds
 * the intent. When it cannot be written nothing starts; what runs already goes on, and the steps
 * come again with the retry.
 */
#include "agent/parts.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <string.h>

enum {
	TURN_CHANGES_MAX =
		1000, /* store changes taken in one turn: the API gets its turns in between */
	TURN_VOLUMES_MAX = 1000, /* dirty volumes reconciled in one turn */
};

void agent_request_turn(struct agent *agent)
{
	(void) sd_event_source_set_enabled(agent->turn, SD_EVENT_ONESHOT);
}

/* ---- store changes ---- */

static void pod_changed(struct agent *agent, const struct object *pod)
{
	look_up_errors_note(agent->look_up_errors, pod); /* a pod that is gone is forgotten there */
	waits_pod_changed(agent->waits, pod->meta.uid);
}

static void take_changes(struct agent *agent)
{
	const struct store_change *change;
	uint64_t now = monotonic_usec();
	int r = 0;

	if (!agent->watch)
		return;
	for (unsigned int i = 0; i < TURN_CHANGES_MAX; i++) {
		r = store_watch_next(agent->watch, &change);
		if (r <= 0)
			break;
		populator_change(agent->populator, change, now);
		if (change->object->kind == KIND_POD)
			pod_changed(agent, change->object);
	}
	if (r == -ESTALE) {
		log_message(LOG_WARNING, "too many changes at once; looking at every pod again");
		populator_full_pass(agent->populator, now);
	}
	if (r != 0)
		agent_request_turn(agent);
}

/* ---- steps ---- */

/* What an intent says; owns the two paths that the plugin made. */
struct intent {
	struct ledger_row row;
	char *path, *device_mount_path;
	char pod_key[POD_KEY_BYTES];
};

static void intent_done(struct intent *intent)
{
	free(intent->path);
	free(intent->device_mount_path);
}

static void describe_volume(const struct step *step, struct actual_entry *ret)
{
	const struct desired_volume *want = step->want;

	*ret = (struct actual_entry){
		.unique_name = want->unique_name,
		.plugin_name = want->plugin->name,
		.plugin = want->plugin,
		.spec_name = step->want_pod->spec.name,
		.device_mountable = want->device_mountable,
		.block = want->block,
	};
}

/* Where the device will be mounted; what an earlier stage found out is kept. */
static int describe_stage(const struct step *step, const struct volume_request *request,
			  struct intent *ret)
{
	const struct volume_plugin *plugin = step->want->plugin;

	if (plugin->get_device_mount_path) {
		ret->device_mount_path = plugin->get_device_mount_path(request);
		if (!ret->device_mount_path)
			return -ENOMEM;
	}
	ret->row.device_path = step->have ? step->have->device_path : "";
	ret->row.device_mount_path = ret->device_mount_path ?: "";
	return 0;
}

static int describe_publish(const struct step *step, const struct volume_request *request,
			    struct intent *ret)
{
	const struct desired_pod *want_pod = step->want_pod;
	const struct persistent_volume *pv = spec_pv(&want_pod->spec);
	struct actual_entry *entry = &ret->row.entry;

	ret->path = step->want->plugin->get_path(request);
	if (!ret->path)
		return -ENOMEM;
	entry->pod_uid = want_pod->pod_uid;
	entry->pod_key = pod_key(want_pod->pod->pod, ret->pod_key);
	entry->outer_name = want_pod->outer_names[0]; /* for people; the path is the same */
	entry->path = ret->path;
	entry->read_only = want_pod->spec.read_only;
	entry->single_writer = pv && pv->access_modes == ACCESS_READ_WRITE_ONCE_POD;
	entry->remount_generation = want_pod->remount_generation;
	return 0;
}

static int describe_intent(const struct agent *agent, const struct step *step, struct intent *ret)
{
	const struct desired_pod *want_pod = step->want_pod;
	struct volume_request request = {
		.host = &agent->host,
		.spec = &want_pod->spec,
		.volume_name = want_pod->spec.name,
		.pod = want_pod->pod,
		.pod_uid = want_pod->pod_uid,
	};

	ret->row.state = MOUNT_UNCERTAIN;
	describe_volume(step, &ret->row.entry);
	return step->kind == STEP_STAGE ? describe_stage(step, &request, ret)
					: describe_publish(step, &request, ret);
}

/* From here on there may be a mount: the actual table and the ledger know it before the step
 * begins. A remount has its row already, and what is mounted stays so. */
static int note_intent(struct agent *agent, const struct step *step)
{
	cleanup(intent_done) struct intent intent = { .path = NULL };
	int r;

	if (step->kind != STEP_STAGE && step->kind != STEP_PUBLISH)
		return 0; /* a teardown's row is there since its set-up */
	r = describe_intent(agent, step, &intent);
	if (r >= 0)
		r = actual_begin(agent->actual, &intent.row.entry);
	if (r < 0 || step->remount)
		return r;
	return ledger_put(agent->ledger, &intent.row);
}

/* Its row leaves the ledger with this turn's commit; the table follows when no step points into it
 * any more. */
static int note_forgetting(struct agent *agent, const struct step *step)
{
	return ledger_forget(agent->ledger, step->unique_name, step->pod_uid);
}

static void forget(struct agent *agent, const struct step *step)
{
	cleanup_free char *unique_name = strdup(step->unique_name);
	cleanup_free char *pod_uid = step->pod_uid ? strdup(step->pod_uid) : NULL;
	struct step_result result = {
		.kind = STEP_FORGET,
		.unique_name = unique_name,
		.pod_uid = pod_uid,
	};

	if (!unique_name || (step->pod_uid && !pod_uid)) {
		(void) dirty_add(agent->dirty, step->unique_name);
		return;
	}
	actual_apply(agent->actual, &result);
	if (pod_uid)
		waits_pod_changed(agent->waits, pod_uid);
}

static bool commit_ledger(struct agent *agent)
{
	struct failure failure = { .error = 0 };
	int r = ledger_commit(agent->ledger, &failure);

	if (r < 0 && !agent->ledger_failing)
		log_message(LOG_ERR,
			    "nothing can be mounted or unmounted until the ledger can be "
			    "written: %s",
			    failure.text);
	else if (r >= 0 && agent->ledger_failing)
		log_message(LOG_NOTICE, "the ledger can be written again");
	agent->ledger_failing = r < 0;
	return r >= 0;
}

static void plan_volume(struct agent *agent, const char *unique_name)
{
	struct reconcile_conditions conditions = { .may_unmount = agent->sources_complete };

	if (reconcile_volume(agent->desired, agent->actual, unique_name, &conditions,
			     &agent->plan) < 0)
		(void) dirty_add(agent->dirty, unique_name);
}

/* After a name was lost for want of memory, or when unmounting becomes allowed. */
static void mark_all_dirty(struct agent *agent)
{
	struct desired_volume *want;
	struct actual_volume *have;

	for (want = desired_first(agent->desired); want; want = want->hh.next)
		(void) dirty_add(agent->dirty, want->unique_name);
	for (have = actual_first(agent->actual); have; have = have->hh.next)
		(void) dirty_add(agent->dirty, have->unique_name);
}

static void make_plan(struct agent *agent)
{
	char *name;

	agent->plan.count = 0;
	if (dirty_take_full_pass(agent->dirty))
		mark_all_dirty(agent);
	for (unsigned int i = 0; i < TURN_VOLUMES_MAX; i++) {
		name = dirty_take(agent->dirty);
		if (!name)
			return;
		plan_volume(agent, name);
		free(name);
	}
	if (dirty_count(agent->dirty) > 0)
		agent_request_turn(agent);
}

/* Steps whose key is busy or backs off are dropped here; they are proposed again when that is over.
 * What takes away tells a set-up in its way that nobody wants it any more. */
static void drop_refused(struct agent *agent, uint64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < agent->plan.count; i++) {
		struct step *step = &agent->plan.steps[i];
		int r = operation_may_start(agent->operations, step, now);

		if (r == 0)
			agent->plan.steps[kept++] = *step;
		else if (r == -EBUSY && step->kind != STEP_STAGE && step->kind != STEP_PUBLISH)
			operation_cancel(agent->operations, step->unique_name, step->pod_uid);
	}
	agent->plan.count = kept;
}

/* Returns false when nothing may start: the ledger does not know what is about to happen. */
static bool note_plan(struct agent *agent)
{
	bool noted = true;

	for (size_t i = 0; i < agent->plan.count; i++) {
		const struct step *step = &agent->plan.steps[i];
		int r = step->kind == STEP_FORGET ? note_forgetting(agent, step)
						  : note_intent(agent, step);

		noted = noted && r >= 0;
	}
	return commit_ledger(agent) && noted;
}

static void start_plan(struct agent *agent)
{
	uint64_t now = monotonic_usec();
	bool noted;

	drop_refused(agent, now);
	noted = note_plan(agent);
	for (size_t i = 0; i < agent->plan.count; i++) {
		const struct step *step = &agent->plan.steps[i];

		if (step->kind == STEP_FORGET)
			continue;
		if (!noted || operation_submit(agent->operations, step, now) == -ENOMEM)
			operation_retry_later(agent->operations, step->unique_name, now);
	}
	for (size_t i = 0; i < agent->plan.count; i++)
		if (agent->plan.steps[i].kind == STEP_FORGET)
			forget(agent, &agent->plan.steps[i]);
}

/* ---- what comes back ---- */

static void record_stage_events(struct agent *agent, const struct operation_ended *ended)
{
	for (unsigned int i = 0; i < ended->report->event_count; i++) {
		const struct stage_event *event = &ended->report->events[i];
		const struct object *about = event->about_pv ? ended->pv : ended->pod;

		if (about)
			events_record(agent->events, about, event->type, event->reason, event->text,
				      realtime_usec());
	}
}

static const char *failure_reason(const struct operation_ended *ended)
{
	if (ended->result.kind == STEP_PUBLISH && strcmp(ended->name, "map_volume") == 0)
		return "FailedMapVolume";
	if (ended->result.kind == STEP_PUBLISH || ended->result.kind == STEP_STAGE)
		return "FailedMount";
	return NULL; /* teardowns emit no event, as in kubelet */
}

static void tell_failure(struct agent *agent, const struct operation_ended *ended,
			 const struct log_subject *subject)
{
	const char *text = ended->report->failure.text;
	const char *reason = failure_reason(ended);
	uint64_t now = monotonic_usec();
	double seconds = ended->retry_usec > now ? (double) (ended->retry_usec - now) / 1e6 : 0;

	if (ended->result.error == -ECANCELED) {
		log_about(LOG_INFO, subject, "%s was ended early: nobody wants it any more",
			  ended->name);
		return;
	}
	log_about(LOG_WARNING, subject, "%s failed, attempt %u, next in %.1f s: %s", ended->name,
		  ended->attempt, seconds, text);
	if (reason && ended->pod)
		events_record(agent->events, ended->pod, "Warning", reason, text, realtime_usec());
}

static void tell(struct agent *agent, const struct operation_ended *ended)
{
	const struct actual_volume *volume = actual_find(agent->actual, ended->result.unique_name);
	const struct actual_pod *pod = volume && ended->result.pod_uid
					       ? actual_find_pod(volume, ended->result.pod_uid)
					       : NULL;
	struct log_subject subject = {
		.pod = pod && *pod->pod_key ? pod->pod_key : NULL,
		.pod_uid = ended->result.pod_uid,
		.volume = ended->result.unique_name,
		.plugin = volume ? volume->plugin_name : NULL,
	};

	record_stage_events(agent, ended);
	if (ended->result.error < 0)
		tell_failure(agent, ended, &subject);
	else if (ended->result.took_usec > 0)
		log_about(LOG_INFO, &subject, "%s done in %.1f ms", ended->name,
			  (double) ended->result.took_usec / 1e3);
	else /* a device of a directory is nothing: worth a line only to who looks closely */
		log_about(volume && (ended->result.pod_uid || *volume->device_path) ? LOG_INFO
										    : LOG_DEBUG,
			  &subject, "%s done", ended->name);
}

/* The ledger follows the table: an entry that is gone or absent has no row. */
static void note_result(struct agent *agent, const struct step_result *result)
{
	const struct actual_volume *volume = actual_find(agent->actual, result->unique_name);
	const struct actual_pod *pod =
		volume && result->pod_uid ? actual_find_pod(volume, result->pod_uid) : NULL;
	struct ledger_row row = {
		.entry = { .unique_name = result->unique_name, .pod_uid = result->pod_uid },
	};

	if (!volume || (result->pod_uid && !pod)) {
		(void) ledger_forget(agent->ledger, result->unique_name, result->pod_uid);
		return;
	}
	row.state = pod ? pod->state : volume->device_state;
	if (row.state == MOUNT_ABSENT) {
		(void) ledger_forget(agent->ledger, result->unique_name, result->pod_uid);
		return;
	}
	row.entry.plugin_name = volume->plugin_name;
	row.entry.spec_name = volume->spec_name;
	row.entry.device_mountable = volume->device_mountable;
	row.entry.block = volume->block;
	row.device_path = volume->device_path;
	row.device_mount_path = volume->device_mount_path;
	if (pod) {
		row.entry.pod_key = pod->pod_key;
		row.entry.outer_name = pod->outer_name;
		row.entry.path = pod->path;
		row.entry.read_only = pod->read_only;
		row.entry.single_writer = pod->single_writer;
	}
	if (ledger_put(agent->ledger, &row) < 0)
		agent_request_turn(agent);
}

void agent_on_ended(void *userdata, const struct operation_ended *ended)
{
	struct agent *agent = userdata;

	tell(agent, ended);
	actual_apply(agent->actual, &ended->result);
	note_result(agent, &ended->result);
	if (ended->result.pod_uid)
		waits_pod_changed(agent->waits, ended->result.pod_uid);
	agent_request_turn(agent);
}

void agent_on_retry(void *userdata, const char *unique_name)
{
	struct agent *agent = userdata;

	(void) dirty_add(agent->dirty, unique_name);
}

int agent_on_turn(sd_event_source *source, void *userdata)
{
	struct agent *agent = userdata;

	take_changes(agent);
	make_plan(agent);
	start_plan(agent);
	agent_check_drained(agent);
	return 0;
}
