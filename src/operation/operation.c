/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation - one step of a plan being done; see operation.h
 *
 * An operation is one attempt (attempt.h) under one key (key.h). While it runs it is the owner of
 * its key's record; after a failure it stays there as what is known about it, until the next
 * operation under that record takes its place. So the key table holds every operation there is.
 *
 * Nothing ends inside operation_submit(): what is over before it began waits for the next turn of
 * the loop in the list of `over`.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "operation/record.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_table.h"
#include "operation/checks.h"
#include "operation/step_stages.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* A volume to look at later, without an operation. */
struct later {
	struct retry_entry retry;
	UT_hash_handle hh; /* by unique_name */
	char unique_name[];
};

/* ---- birth and death ---- */

static void operation_free(struct operation *operation)
{
	attempt_report_free(&operation->attempt);
	(void) failure_drop(operation->last_failure);
	stage_list_done(&operation->attempt.first);
	stage_list_done(&operation->attempt.list);
	stage_list_done(&operation->attempt.last);
	object_unref(operation->pod);
	object_unref(operation->pv);
	free(operation->unique_name);
	free(operation->pod_uid);
	free(operation->device_mount_path);
	free(operation);
}

/* Its record has another owner, or none: a failed operation leaves, now or when the callback that
 * reads it returns. */
static void supersede(struct operations *operations, struct operation *operation)
{
	retry_remove(operations->failed, &operation->retry);
	operation->record = NULL;
	if (operation->in_callback)
		operation->superseded = true;
	else
		operation_free(operation);
}

static void drop_failed(struct operations *operations, struct operation *operation)
{
	key_drop(operations->keys, operation->record);
	supersede(operations, operation);
}

static void on_attempt_ended(struct attempt *attempt);
static int on_attempt_note(struct attempt *attempt, enum unfinished unfinished,
			   struct failure *reterr);

static struct operation *operation_new(struct operations *operations, const struct step *step)
{
	struct operation *operation = calloc(1, sizeof(*operation));

	if (!operation)
		return NULL;
	operation->operations = operations;
	operation->kind = step->kind;
	operation->name = step_operation_name(step);
	operation->begun_usec = monotonic_usec();
	operation->unique_name = strdup(step->unique_name);
	operation->pod_uid = strdup(step->pod_uid ?: "");
	operation->attempt.report = operation->attempt.brief = stage_report_brief();
	if (!operation->unique_name || !operation->pod_uid || !operation->attempt.report) {
		operation_free(operation);
		return NULL;
	}
	if (step->want_pod) {
		operation->pod = object_ref(step->want_pod->pod);
		operation->pv = object_ref(step->want_pod->spec.pv);
		operation->requested_usec = step->want_pod->requested_usec;
	}
	operation->attempt.is_cancellable = step->kind == STEP_STAGE || step->kind == STEP_PUBLISH;
	operation->attempt.pools.workers = operations->options.workers;
	if (!operation->attempt.is_cancellable && operations->options.unmounters)
		operation->attempt.pools.workers = operations->options.unmounters;
	operation->attempt.pools.walkers = operations->options.walkers;
	operation->attempt.pools.io_slots = operations->io_slots;
	operation->attempt.pools.source_locks = operations->source_locks;
	operation->attempt.ended = on_attempt_ended;
	if (operations->options.note)
		operation->attempt.note = on_attempt_note;
	return operation;
}

/* ---- the end of an operation ---- */

/* Borrows from the operation: the callback copies what it keeps. */
static struct step_result make_result(const struct operation *operation, uint64_t now_usec)
{
	const struct attempt *attempt = &operation->attempt;
	bool mounted = operation->kind == STEP_PUBLISH && attempt->result == 0;

	return (struct step_result){
		.kind = operation->kind,
		.unique_name = operation->unique_name,
		.pod_uid = *operation->pod_uid ? operation->pod_uid : NULL,
		.error = attempt->result,
		.error_class = attempt->report->error_class,
		.touched = attempt->touched,
		.needs_stage = attempt->report->needs_stage,
		.device_path = attempt->report->device_path,
		.device_mount_path = operation->device_mount_path,
		.mount_id = attempt->report->mount_id,
		.mount_mark = attempt->report->mount_mark,
		.took_usec = mounted && now_usec > operation->requested_usec
				     ? now_usec - operation->requested_usec
				     : 0,
	};
}

/* What is missing tells when it is there: time alone changes nothing. */
static bool awaits_driver(const struct attempt *attempt)
{
	return attempt->result == -ENOTCONN && attempt->report->error_class == ERROR_TRANSIENT &&
	       *attempt->report->driver;
}

/* The record knows first, so that the callback may submit the next step of this volume. */
static void operation_end(struct operation *operation)
{
	struct operations *operations = operation->operations;
	struct key_record *record = operation->record;
	uint64_t now_usec = monotonic_usec();
	/* What is no longer wanted is not retried. */
	bool forget = operation->attempt.result == 0 || operation->attempt.result == -ECANCELED;
	struct operation_ended ended = {
		.result = make_result(operation, now_usec),
		.name = operation->name,
		.pod = operation->pod,
		.pv = operation->pv,
		.report = operation->attempt.report,
		.attempt = record->failures + 1,
		.failing_usec = record->failures > 0 ? record->failing_usec : now_usec,
		.begun_usec = operation->begun_usec,
		.ran_usec = now_usec - operation->begun_usec,
		.stages = operation->attempt.times,
		.stage_count = attempt_times(&operation->attempt),
	};

	hang_timer_stop(operation);
	operation->failed_usec = now_usec;
	operation->last_failure = failure_drop(operation->last_failure);
	operation->failed_at = ended.report->failed_at ?: attempt_stage_name(&operation->attempt);
	if (ended.report->failure.error < 0)
		operation->last_failure = failure_keep(&ended.report->failure);
	ended.retry_usec = key_end(operations->keys, record, forget, now_usec);
	if (forget) {
		operation->record = NULL;
		operation->superseded = true;
	} else if (awaits_driver(&operation->attempt)) {
		key_wait(record);
		(void) snprintf(operation->awaits, sizeof(operation->awaits), "%s",
				ended.report->driver);
		ended.retry_usec = 0;
		ended.waits = true;
	} else {
		retry_add(operations->failed, &operation->retry, ended.retry_usec);
	}

	operation->in_callback = true;
	operations->options.ended(operations->options.userdata, &ended);
	if (operation->renewed && !operation->superseded) {
		drop_failed(operations, operation);
		operations->options.retry(operations->options.userdata, operation->unique_name);
	}
	operation->in_callback = false;
	if (operation->superseded)
		operation_free(operation);
	else
		attempt_report_free(&operation->attempt);
}

static void on_attempt_ended(struct attempt *attempt)
{
	struct operation *operation = (struct operation *) attempt;

	if (operation->operations)
		operation_end(operation);
	else
		operation_free(operation);
}

static int on_attempt_note(struct attempt *attempt, enum unfinished unfinished,
			   struct failure *reterr)
{
	struct operation *operation = (struct operation *) attempt;
	const struct operations *operations = operation->operations;

	if (!operations)
		return failed_plain(reterr, -ECANCELED, "podvold is shutting down");
	return operations->options.note(operations->options.userdata, operation->unique_name,
					operation->pod_uid, unfinished, reterr);
}

/* Through the loop, so that the caller of operation_submit() is never called back inside it. */
static void end_later(struct operations *operations, struct operation *operation)
{
	*operations->last_over = operation;
	operations->last_over = &operation->next_over;
	(void) sd_event_source_set_enabled(operations->over_source, SD_EVENT_ONESHOT);
}

/* The list is taken whole: what ends during the callbacks waits for the next turn. */
static int on_over(sd_event_source *source, void *userdata)
{
	struct operations *operations = userdata;
	struct operation *operation = operations->over;

	operations->over = NULL;
	operations->last_over = &operations->over;
	while (operation) {
		struct operation *next = operation->next_over;

		operation_end(operation);
		operation = next;
	}
	return 0;
}

/* ---- retries ---- */

/* Not submitted again for the second time: it is no longer wanted. The agent hears
 * of that too, because a drain may wait for the last operation to go. */
static void on_failed_due(void *userdata, struct retry_entry *entry)
{
	struct operations *operations = userdata;
	struct operation *operation =
		(struct operation *) ((char *) entry - offsetof(struct operation, retry));
	bool is_last_call = operation->announced;

	operation->in_callback = true;
	if (is_last_call) {
		drop_failed(operations, operation);
	} else {
		operation->announced = true;
		retry_add(operations->failed, entry,
			  entry->due_usec + operation->record->delay_usec +
				  operations->options.back_off_first_usec);
	}
	operations->options.retry(operations->options.userdata, operation->unique_name);
	operation->in_callback = false;
	if (operation->superseded)
		operation_free(operation);
}

static void on_later_due(void *userdata, struct retry_entry *entry)
{
	struct operations *operations = userdata;
	struct later *later = (struct later *) entry;

	HASH_DEL(operations->later_by_name, later);
	operations->options.retry(operations->options.userdata, later->unique_name);
	free(later);
}

/* One entry for a name, however often it was asked for. */
static struct later *later_new(struct operations *operations, const char *unique_name)
{
	size_t length = strlen(unique_name);
	struct later *later = calloc(1, sizeof(*later) + length + 1);

	if (!later)
		return NULL;
	memcpy(later->unique_name, unique_name, length);
	HASH_ADD_KEYPTR(hh, operations->later_by_name, later->unique_name, length, later);
	if (!later->hh.tbl) {
		free(later);
		return NULL;
	}
	return later;
}

void operation_retry_later(struct operations *operations, const char *unique_name,
			   uint64_t now_usec)
{
	struct later *later;

	assert(operations && unique_name);
	HASH_FIND_STR(operations->later_by_name, unique_name, later);
	if (later)
		return;
	later = later_new(operations, unique_name);
	if (later)
		retry_add(operations->later, &later->retry,
			  now_usec + operations->options.back_off_first_usec);
	else
		operations->options.retry(operations->options.userdata, unique_name);
}

/* ---- submit and cancel ---- */

int operation_may_start(struct operations *operations, const struct step *step, uint64_t now_usec)
{
	struct operation_key key = step_key(step);

	assert(operations);
	/* A step to be forgotten has a name of its own, so no back-off is its own. */
	return key_may_begin(operations->keys, &key, step_operation_name(step), now_usec);
}

/* The Node object also has what drivers say of this node; the configuration is there before it. */
static const struct labels *labels_for(const struct operations *operations, const struct step *step)
{
	const struct operations_options *options = &operations->options;
	const struct object_reference self = { .kind = KIND_NODE,
					       .name_space = "",
					       .name = options->host->node_name };
	const struct object *node = NULL;

	if ((step->kind == STEP_STAGE || step->kind == STEP_PUBLISH) && options->objects.find &&
	    check_node_affinity(&step->want_pod->spec, options->node_labels, NULL) < 0)
		node = options->objects.find(options->objects.userdata, &self);
	return node ? &node->meta.labels : options->node_labels;
}

/* Failing checks are ends like any other: reported by callback, with a back-off. */
static void start(struct operations *operations, struct operation *operation,
		  const struct step *step)
{
	struct attempt *attempt = &operation->attempt;
	struct failure why, *failure;
	int r;

	why.error = 0;
	r = check_step(step, labels_for(operations, step), operations->options.actual, &why);
	if (r >= 0)
		r = step_stages(operations->options.host, &operations->options.objects, step,
				&attempt->list, &operation->device_mount_path, &why);
	if (r >= 0)
		r = step_stages_before(operations->options.host, step, &attempt->first, &why);
	if (r >= 0 && operations->options.stages_after)
		operations->options.stages_after(operations->options.userdata, step,
						 &attempt->last);
	if (r < 0) {
		if (why.error == 0)
			(void) failed(&why, r, "cannot begin %s", operation->name);
		failure = attempt_failure(attempt);
		if (failure)
			*failure = why;
		/* Nothing was started: what was in doubt before stays so. */
		attempt->report->error_class = ERROR_TRANSIENT;
		attempt->result = r;
		attempt->is_over = true;
	}
	if (attempt->is_over || !attempt_start(attempt))
		end_later(operations, operation);
	else
		hang_timer_start(operation);
}

static void take_failure(struct operation *operation, struct operation *before)
{
	operation->last_failure = TAKE_PTR(before->last_failure);
	operation->failed_at = before->failed_at;
}

int operation_submit(struct operations *operations, const struct step *step, uint64_t now_usec)
{
	struct operation_key key = step_key(step);
	struct operation *operation, *failed_before;
	struct key_record *record;
	int r;

	assert(operations && step->kind != STEP_FORGET);
	r = key_begin(operations->keys, &key, step_operation_name(step), now_usec, &record);
	if (r < 0)
		return r;

	failed_before = record->owner;
	operation = operation_new(operations, step);
	if (operation) {
		record->owner = operation;
		operation->record = record;
		if (failed_before && record->failures > 0)
			take_failure(operation, failed_before);
	} else {
		(void) key_end(operations->keys, record, true, now_usec);
	}
	if (failed_before)
		supersede(operations, failed_before);
	if (!operation)
		return -ENOMEM;
	start(operations, operation, step);
	return 0;
}

/* Teardowns are not cancelled: what is half removed must be removed. */
static bool is_meant(const struct operation *operation, const char *pod_uid)
{
	enum step_kind kind = pod_uid && *pod_uid ? STEP_PUBLISH : STEP_STAGE;

	return operation->kind == kind &&
	       (kind == STEP_STAGE || strcmp(operation->pod_uid, pod_uid) == 0);
}

void operation_cancel(struct operations *operations, const char *unique_name, const char *pod_uid)
{
	struct key_record *record, *next;

	assert(operations && unique_name);
	for (record = key_records(operations->keys, unique_name); record; record = next) {
		struct operation *operation = record->owner;

		next = record->next;
		if (!is_meant(operation, pod_uid))
			continue;
		if (record->pending)
			attempt_cancel(&operation->attempt);
		else
			drop_failed(operations, operation);
	}
}

void operation_retry_now(struct operations *operations, const char *unique_name)
{
	struct key_record *record, *next;

	assert(operations && unique_name);
	for (record = key_records(operations->keys, unique_name); record; record = next) {
		struct operation *operation = record->owner;

		next = record->next;
		if (!operation->attempt.is_cancellable)
			continue;
		if (record->pending)
			operation->renewed = true;
		else
			drop_failed(operations, operation);
	}
}

static bool is_failed_teardown(const struct operation *operation, const char *pod_uid)
{
	return !operation->record->pending && strcmp(operation->pod_uid, pod_uid) == 0 &&
	       (operation->kind == STEP_UNPUBLISH || operation->kind == STEP_UNSTAGE);
}

void operation_tear_down_now(struct operations *operations, const char *unique_name,
			     const char *pod_uid, uint64_t now_usec)
{
	struct key_record *record;

	assert(operations && unique_name && pod_uid);
	for (record = key_records(operations->keys, unique_name); record; record = record->next) {
		struct operation *operation = record->owner;

		if (!is_failed_teardown(operation, pod_uid))
			continue;
		key_retry_now(record, now_usec);
		operation->announced = false;
		retry_add(operations->failed, &operation->retry, now_usec);
	}
}

/* ---- all of them ---- */

int operations_new(const struct operations_options *options, struct operations **ret)
{
	struct back_off back_off;
	struct operations *operations;
	int r;

	assert(options && ret);
	assert(options->event && options->host && options->node_labels && options->actual);
	assert(options->workers && options->walkers);
	assert(options->ended && options->retry);
	operations = calloc(1, sizeof(*operations));
	if (!operations)
		return -ENOMEM;
	operations->options = *options;
	operations->last_over = &operations->over;
	back_off = (struct back_off){ .first_usec = options->back_off_first_usec,
				      .max_usec = options->back_off_max_usec };

	r = key_table_new(&back_off, &operations->keys);
	if (r >= 0)
		r = io_slots_new(&operations->io_slots);
	if (r >= 0)
		r = source_locks_new(&operations->source_locks);
	if (r >= 0)
		r = retry_queue_new(options->event, on_failed_due, operations, &operations->failed);
	if (r >= 0)
		r = retry_queue_new(options->event, on_later_due, operations, &operations->later);
	if (r >= 0)
		r = retry_queue_new(options->event, hang_timer_on_due, operations,
				    &operations->running);
	if (r >= 0)
		r = sd_event_add_defer(options->event, &operations->over_source, on_over,
				       operations);
	if (r >= 0)
		r = sd_event_source_set_enabled(operations->over_source, SD_EVENT_OFF);
	if (r < 0) {
		(void) operations_free(operations);
		return r;
	}
	*ret = operations;
	return 0;
}

void operations_stop(struct operations *operations)
{
	if (!operations)
		return;
	for (struct key_record *record = key_next(operations->keys, NULL); record;
	     record = key_next(operations->keys, record))
		if (record->pending)
			attempt_stop(&((struct operation *) record->owner)->attempt);
}

static void leave(struct operations *operations, struct operation *operation)
{
	hang_timer_stop(operation);
	operation->operations = NULL;
	operation->record = NULL;
	/* A thread still has it, and takes it along when it comes back. */
	if (!operation->attempt.on_thread || attempt_give_up(&operation->attempt))
		operation_free(operation);
}

struct operations *operations_free(struct operations *operations)
{
	struct key_record *record;
	struct later *later, *next;

	if (!operations)
		return NULL;
	sd_event_source_disable_unref(operations->over_source);
	if (operations->keys)
		for (record = key_next(operations->keys, NULL); record;
		     record = key_next(operations->keys, record))
			leave(operations, record->owner);
	HASH_ITER (hh, operations->later_by_name, later, next) {
		HASH_DEL(operations->later_by_name, later);
		retry_remove(operations->later, &later->retry);
		free(later);
	}
	(void) retry_queue_free(operations->failed);
	(void) retry_queue_free(operations->later);
	(void) retry_queue_free(operations->running);
	(void) key_table_free(operations->keys);
	(void) io_slots_free(operations->io_slots);
	(void) source_locks_free(operations->source_locks);
	free(operations);
	return NULL;
}
