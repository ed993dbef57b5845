/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_view - what is known about operations, for who looks meanwhile; see operation.h
 */
#include "operation/record.h"

#include "base/clock.h"

#include <assert.h>
#include <string.h>

/* No thread has begun with what was handed over. */
static bool waits_for_thread(const struct attempt *attempt)
{
	return attempt->on_thread && !attempt->io_slot.waits && !attempt->source_lock.waits &&
	       atomic_load(&attempt->job.started_usec) == 0;
}

static enum operation_pace pace_of(const struct operation *operation)
{
	uint64_t slow_usec = operation->operations->options.slow_usec;
	uint64_t since_usec = atomic_load(&operation->attempt.since_usec);

	if (!operation->record->pending || slow_usec == 0)
		return PACE_USUAL;
	if (operation->is_stuck)
		return PACE_STUCK;
	return monotonic_usec() >= since_usec + slow_usec ? PACE_SLOW : PACE_USUAL;
}

/* Read while a thread may be at work: only what is atomic or belongs to the loop. */
struct operation_view operation_view_of(struct operation *operation)
{
	const struct key_record *record = operation->record;
	struct attempt *attempt = &operation->attempt;
	const char *stage = record->pending || !operation->failed_at ? attempt_stage_name(attempt)
								     : operation->failed_at;
	bool waits = !record->pending && record->retry_usec == UINT64_MAX;

	return (struct operation_view){
		.unique_name = operation->unique_name,
		.pod_uid = operation->pod_uid,
		.kind = operation->kind,
		.name = operation->name,
		.stage = *stage ? stage : "checks",
		.running = record->pending,
		.since_usec = record->pending ? atomic_load(&attempt->since_usec)
					      : operation->failed_usec,
		.attempts = record->failures,
		.failing_usec = record->failing_usec,
		.retry_usec = record->pending || waits ? 0 : record->retry_usec,
		.awaits = waits ? operation->awaits : NULL,
		.failure = operation->last_failure,
		.failed_at = operation->failed_at,
		.pod = operation->pod,
		.pace = pace_of(operation),
		.tool_pid = record->pending ? atomic_load(&attempt->tool_pid) : 0,
		.waits_for_thread = record->pending && waits_for_thread(attempt),
		.thread_id = record->pending ? atomic_load(&attempt->job.thread_id) : 0,
		.waits_for_source = record->pending && attempt->source_lock.waits,
		.waits_for_io_slot = record->pending && attempt->io_slot.waits,
		.progress = &attempt->progress,
	};
}

bool operation_find(struct operations *operations, const char *unique_name, const char *pod_uid,
		    struct operation_view *ret)
{
	struct key_record *record;

	assert(operations && unique_name && ret);
	for (record = key_records(operations->keys, unique_name); record; record = record->next) {
		struct operation *operation = record->owner;

		if (strcmp(operation->pod_uid, pod_uid ?: "") != 0)
			continue;
		*ret = operation_view_of(operation);
		return true;
	}
	return false;
}

bool operation_in_way(struct operations *operations, const char *unique_name, const char *pod_uid,
		      struct operation_view *ret)
{
	struct key_record *record;

	assert(operations && unique_name && pod_uid && ret);
	for (record = key_records(operations->keys, unique_name); record; record = record->next)
		if (record->pending && (record->key.alone || !*record->key.pod ||
					strcmp(record->key.pod, pod_uid) == 0)) {
			*ret = operation_view_of(record->owner);
			return true;
		}
	return false;
}

int operation_walk(struct operations *operations,
		   int (*visit)(const struct operation_view *view, void *userdata), void *userdata)
{
	struct key_record *record;

	assert(operations && visit);
	for (record = key_next(operations->keys, NULL); record;
	     record = key_next(operations->keys, record)) {
		struct operation_view view = operation_view_of(record->owner);
		int r = visit(&view, userdata);

		if (r != 0)
			return r;
	}
	return 0;
}
