/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync_loop - one turn of the loop: what changed in the store becomes desired, what is dirty
 * becomes a plan, intents go to the ledger, steps to the operations
 *
 * The ledger is written once per turn, before any step of that turn starts: a kill after that finds
 * the intent. When it cannot be written nothing starts; what runs already goes on, and the steps
 * come again with the retry.
 */
#include "agent/parts.h"
#include "csinode/volumes_in_use.h"

#include "agent/observers.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/heap_trim.h"
#include "base/log.h"
#include "token/token_issuer.h"

#include <assert.h>
#include <string.h>

enum {
	TURN_CHANGES_MAX =
		1000, /* store changes taken in one turn: the API gets its turns in between */
	TURN_VOLUMES_MAX = 1000, /* dirty volumes reconciled in one turn */
};

/* A deferred source that is enabled fires once, however often it was asked for. */
void agent_request_turn(struct agent *agent)
{
	assert(agent);
	(void) sd_event_source_set_enabled(agent->turn, SD_EVENT_ONESHOT);
}

void agent_mark_entries(struct agent *agent, const char *pod_uid)
{
	const char *unique_name;

	for (size_t i = 0; (unique_name = actual_volume_of_pod(agent->actual, pod_uid, i)); i++) {
		const struct desired_volume *want = desired_find(agent->desired, unique_name);

		if (!want || !desired_find_pod(want, pod_uid))
			(void) dirty_add(agent->dirty, unique_name);
	}
}

void agent_pod_changed(struct agent *agent, const char *pod_uid)
{
	if (pod_conditions_changed(agent->views.pods, pod_uid))
		agent_request_turn(agent);
	mount_waiters_pod_changed(agent->waits, pod_uid);
}

/* ---- store changes ---- */

/* Waiters hear of a pod that changed even when no volume of it did. */
static void pod_changed(struct agent *agent, const struct object *pod)
{
	look_up_errors_note(agent->look_up_errors, pod); /* a pod that is gone is forgotten there */
	pod_holds_pod_changed(&agent->holds, pod);
	(void) pod_conditions_resolved(agent->views.pods, pod);
	mount_waiters_pod_changed(agent->waits, pod->meta.uid);
	agent_mark_entries(agent, pod->meta.uid);
}

/* What fell off the ring is gone: everything is looked at, by a watch that begins now. False: there
 * was no memory for one. */
static bool watch_again(struct agent *agent, uint64_t now)
{
	if (agent_watch_store(agent) < 0) {
		agent_resync(agent);
		return false;
	}
	populator_full_pass(agent->populator, now);
	return true;
}

/* A bounded number: a flood of changes must not keep the API and results waiting. Returns true when
 * nothing is left to take. */
static bool take_changes(struct agent *agent)
{
	const struct store_change *change;
	uint64_t now = monotonic_usec();
	unsigned int i;
	int r = 0;

	if (!agent->watch)
		return !agent->store || watch_again(agent, now);
	for (i = 0; i < TURN_CHANGES_MAX; i++) {
		r = store_watch_next(agent->watch, &change);
		if (r <= 0)
			break;
		populator_change(agent->populator, change, now);
		token_issuer_object_changed(agent->own.tokens.issuer, change->object);
		volumes_in_use_object_changed(agent->controllers.volumes_in_use, change->object);
		if (change->object->kind == KIND_POD)
			pod_changed(agent, change->object);
	}
	heap_trim_note(agent->own.heap_trim, i);
	if (r == -ESTALE) {
		log_message(LOG_WARNING, "too many changes at once: resyncing every pod");
		return watch_again(agent, now);
	}
	if (r != 0)
		agent_request_turn(agent);
	return r == 0;
}

void agent_release_changes(void *userdata)
{
	const struct agent *agent = userdata;

	if (agent->store)
		store_trim(agent->store);
	if (agent->ledger)
		ledger_release_memory(agent->ledger);
}

/* ---- steps ---- */

/* Its row leaves the ledger with this turn's commit; the table follows when no step points into it
 * any more. */
static int note_forgetting(struct agent *agent, const struct step *step)
{
	int r = ledger_forget(agent->ledger, step->unique_name, step->pod_uid);

	if (r < 0)
		agent_resync(agent);
	return r;
}

static void forget(struct agent *agent, const struct step *step)
{
	cleanup_free char *unique_name = strdup(step->unique_name);
	cleanup_free char *pod_uid = step->pod_uid ? strdup(step->pod_uid) : NULL;
	cleanup_free char *name = actual_copy_spec_name(agent->actual, step->unique_name);
	struct step_result result = {
		.kind = STEP_FORGET,
		.unique_name = unique_name,
		.pod_uid = pod_uid,
	};

	const struct volume_change change = { unique_name, pod_uid, name };

	if (!unique_name || (step->pod_uid && !pod_uid)) {
		(void) dirty_add(agent->dirty, step->unique_name);
		return;
	}
	actual_apply(agent->actual, &result);
	observers_forgotten(agent, &change);
	observers_changed(agent, &change);
}

static bool commit_ledger(struct agent *agent)
{
	struct failure failure = { .error = 0 };
	int r = ledger_commit(agent->ledger, &failure);

	if (r < 0 && !agent->own.ledger_failing)
		log_message(LOG_ERR,
			    "nothing can be mounted or unmounted until the ledger can be "
			    "written: %s",
			    failure.text);
	else if (r >= 0 && agent->own.ledger_failing)
		log_message(LOG_NOTICE, "the ledger can be written again");
	agent->own.ledger_failing = r < 0;
	return r >= 0;
}

/* Without memory for a step the volume comes again, rather than being half planned. */
static void plan_volume(struct agent *agent, const char *unique_name, bool may_leave)
{
	struct reconcile_conditions conditions = { .may_unmount = may_leave,
						   .holds = agent->holds.table };

	if (reconcile_volume(agent->desired, agent->actual, unique_name, &conditions,
			     &agent->plan) < 0)
		(void) dirty_add(agent->dirty, unique_name);
	observers_planned(agent, unique_name);
}

/* After a name was lost for want of memory, or when unmounting becomes allowed. */
void agent_mark_all_dirty(struct agent *agent)
{
	struct desired_volume *want;
	struct actual_volume *have;

	for (want = desired_first(agent->desired); want; want = want->hh.next)
		(void) dirty_add(agent->dirty, want->unique_name);
	for (have = actual_first(agent->actual); have; have = have->hh.next)
		(void) dirty_add(agent->dirty, have->unique_name);
}

static bool may_unmount(const struct agent *agent, bool all_taken)
{
	return agent->sources_complete && all_taken && !agent_must_resync(agent);
}

/* The plan borrows from the tables: made again each turn, used before they change. */
static void make_plan(struct agent *agent, bool all_taken)
{
	bool may_leave = may_unmount(agent, all_taken);
	char *name;

	agent->plan.count = 0;
	if (dirty_take_full_pass(agent->dirty))
		agent_mark_all_dirty(agent);
	for (unsigned int i = 0; i < TURN_VOLUMES_MAX; i++) {
		name = dirty_take(agent->dirty);
		if (!name)
			break;
		plan_volume(agent, name, may_leave);
		free(name);
	}
	if (dirty_count(agent->dirty) > 0)
		agent_request_turn(agent);
	/* What seems unwanted may be wanted by a change that was not taken yet. */
	if (!all_taken)
		dirty_request_full_pass(agent->dirty);
}

static bool is_confirmed(const struct agent *agent, const struct step *step)
{
	return intent_is_served(&agent->intents, step) &&
	       drift_confirms(agent->mounts.drift, step->unique_name, step->pod_uid);
}

/* What a stage found out of the source is what set-ups of pods go by: it is repeated before one. */
static bool are_pods_confirmed(const struct agent *agent, const struct step *stage)
{
	struct step step = *stage;

	step.kind = STEP_PUBLISH;
	for (step.want_pod = stage->want->pods; step.want_pod;
	     step.want_pod = step.want_pod->hh.next) {
		step.pod_uid = step.want_pod->pod_uid;
		if (!is_confirmed(agent, &step))
			return false;
	}
	return true;
}

/* What a step of before the start left is there, as the ledger and the kernel agree: that step need
 * not be repeated, and no row changes. */
static bool confirm(struct agent *agent, const struct step *step)
{
	const struct actual_volume *have = step->have;
	const struct actual_pod *pod =
		have && step->pod_uid ? actual_find_pod(have, step->pod_uid) : NULL;
	static const struct stage_report nothing_to_report;
	struct operation_ended ended = {
		.result = { .kind = step->kind,
			    .unique_name = step->unique_name,
			    .pod_uid = step->pod_uid,
			    .mount_id = have ? (pod ? pod->mount_id : have->device_mount_id) : 0 },
		.name = "",
		.report = &nothing_to_report,
	};

	if (!is_confirmed(agent, step) ||
	    (step->kind == STEP_STAGE && !are_pods_confirmed(agent, step)))
		return false;
	actual_confirm(agent->actual, step->unique_name, step->pod_uid,
		       step->want_pod->remount_generation);
	observers_ended(agent, &ended);
	observers_changed(agent, &(struct volume_change){ step->unique_name, step->pod_uid,
							  have->spec_name });
	agent_request_turn(agent);
	return true;
}

/* Steps whose key is busy or backs off are dropped here; they are proposed again when that is over.
 * A tear-down cancels a set-up in its way: no longer wanted. Returns true when a step was
 * confirmed: the next one of its volume is due at once. */
static bool drop_refused(struct agent *agent, uint64_t now)
{
	size_t kept = 0;
	bool any = false;

	for (size_t i = 0; i < agent->plan.count; i++) {
		struct step *step = &agent->plan.steps[i];
		int r = operation_may_start(agent->operations, step, now);

		if (r == 0 && !observers_may_start(agent, step))
			continue;
		if (r == 0 && confirm(agent, step)) {
			any = true;
			continue;
		}
		if (r == 0)
			step->manner = stuck_policy_manner(&agent->holds, step, now);
		if (r == 0)
			agent->plan.steps[kept++] = *step;
		else if (r == -EBUSY && step->kind != STEP_STAGE && step->kind != STEP_PUBLISH)
			operation_cancel(agent->operations, step->unique_name, step->pod_uid);
	}
	agent->plan.count = kept;
	unstage_gate_search(agent->holds.gate);
	return any;
}

/* Returns false when nothing may start: the ledger does not know what is about to happen. */
static bool note_plan(struct agent *agent)
{
	bool noted = true;

	for (size_t i = 0; i < agent->plan.count; i++) {
		const struct step *step = &agent->plan.steps[i];
		int r = step->kind == STEP_FORGET ? note_forgetting(agent, step)
						  : intent_note(&agent->intents, step);

		noted = noted && r >= 0;
	}
	return commit_ledger(agent) && noted;
}

/* Does the step lead to a walk through the volume, however short? */
static bool changes_group(const struct step *step)
{
	return step->kind == STEP_PUBLISH && step->want_pod->pod->pod->has_fs_group;
}

static void start_step(struct agent *agent, const struct step *step, uint64_t now)
{
	int r = operation_submit(agent->operations, step, now);

	if (r == -ENOMEM)
		operation_retry_later(agent->operations, step->unique_name, now);
	else if (changes_group(step))
		walks_expect(agent->walks);
	if (r == 0)
		observers_started(agent, step);
}

/* Forgetting comes last: other steps of this plan may borrow from the entries that go. Returns true
 * when a step was confirmed. */
static bool start_plan(struct agent *agent)
{
	uint64_t now = monotonic_usec();
	bool confirmed = drop_refused(agent, now), noted;

	noted = note_plan(agent);
	for (size_t i = 0; i < agent->plan.count; i++) {
		const struct step *step = &agent->plan.steps[i];

		if (step->kind == STEP_FORGET)
			continue;
		if (noted)
			start_step(agent, step, now);
		else
			operation_retry_later(agent->operations, step->unique_name, now);
	}
	for (size_t i = 0; i < agent->plan.count; i++)
		if (agent->plan.steps[i].kind == STEP_FORGET)
			forget(agent, &agent->plan.steps[i]);
	return confirmed;
}

void agent_on_retry(void *userdata, const char *unique_name)
{
	struct agent *agent = userdata;

	assert(unique_name);
	(void) dirty_add(agent->dirty, unique_name);
}

static int find_first_attempt(const struct operation_view *view, void *userdata)
{
	return view->running && view->attempts == 0;
}

/* The sources were read, and what they want was tried once. */
static void check_ready(struct agent *agent)
{
	void (*ready)(void *userdata) = agent->notify.ready;

	if (!ready || !agent->sources_complete || dirty_count(agent->dirty) > 0 ||
	    drift_is_checking(agent->mounts.drift) ||
	    operation_walk(agent->operations, find_first_attempt, NULL) != 0)
		return;
	agent->notify.ready = NULL;
	ready(agent->notify.userdata);
	/* What the start alone needed is given back, whatever it started beside. */
	heap_trim_note(agent->own.heap_trim, HEAP_TRIM_BURST);
}

/* ---- the end ---- */

void agent_drain(struct agent *agent, void (*done)(void *userdata, size_t left), void *userdata)
{
	assert(agent->config->drain);
	agent->notify.drained = done;
	agent->notify.userdata = userdata;
	agent_on_sources_ready(agent);
}

void agent_report_left(const struct agent *agent)
{
	drain_report_left(agent->actual);
}

int agent_hand_back(struct agent *agent, struct failure *reterr)
{
	assert(agent->config->hand_back);
	return reconstruct_hand_back(agent->actual, agent->ledger, agent->config->state_dir,
				     reterr);
}

void agent_check_drained(struct agent *agent)
{
	void (*drained)(void *userdata, size_t left) = agent->notify.drained;
	size_t left = actual_count(agent->actual);

	if (!drained || dirty_count(agent->dirty) > 0 || drift_is_checking(agent->mounts.drift) ||
	    !drain_is_over(&agent->holds, drivers_may_come(agent->drivers)))
		return;
	agent->notify.drained = NULL;
	if (left == 0)
		(void) mount_root_undo(&agent->root, NULL);
	else
		drain_report_held(&agent->holds);
	drained(agent->notify.userdata, left);
}

/* ---- the turn ---- */

int agent_on_turn(sd_event_source *source, void *userdata)
{
	struct agent *agent = userdata;
	bool all_taken = take_changes(agent), confirmed;

	make_plan(agent, all_taken);
	confirmed = start_plan(agent);
	volumes_in_use_settle(agent->controllers.volumes_in_use, may_unmount(agent, all_taken));
	busy_watch_search(agent->holds.users);
	/* A start confirms a volume with a device in two turns: what is known after the first lasts
	 * no longer. */
	if (!confirmed)
		pod_conditions_settle(agent->views.pods);
	if (all_taken) {
		foreign_volumes_settled(agent->foreign_volumes);
		takeover_settled(agent->takeover);
	}
	agent->own.sync_loops++;
	check_ready(agent);
	agent_check_drained(agent);
	return 0;
}
