/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hang_timer - operations that take long are reported: once for each stage, and once for the whole
 *
 * Each operation that runs is looked at every few seconds; when none does, nothing is armed. A
 * program, a walk that goes on and a wait for an IO slot are signs of life: they have limits of
 * their own. Nothing is ended here: a thread in a system call cannot be, and what it does may still
 * happen, so the key stays taken.
 */
#include "operation/record.h"

#include "base/clock.h"

#include <assert.h>
#include <stddef.h>

static bool is_walking(const struct operation_view *view)
{
	return atomic_load(&view->progress->begun_usec) > 0 &&
	       atomic_load(&view->progress->ended_usec) == 0;
}

/* A walk tells its progress itself. */
static bool is_reported_elsewhere(const struct operation_view *view)
{
	return view->waits_for_io_slot || view->waits_for_source || is_walking(view);
}

static void check_patience(struct operation *operation, const struct operation_view *view,
			   uint64_t now_usec)
{
	const struct operations_options *options = &operation->operations->options;
	bool is_alive = is_reported_elsewhere(view) || view->tool_pid > 0;

	if (is_alive)
		operation->alive_usec = now_usec;
	if (is_alive || options->limit_usec == 0 ||
	    now_usec < operation->alive_usec + options->limit_usec)
		operation->is_stuck = false;
	else
		operation->is_stuck = true;
}

/* What the loop reads while a thread goes on may be of the next stage already: reported at the next
 * look.
 */
void hang_timer_on_due(void *userdata, struct retry_entry *entry)
{
	struct operations *operations = userdata;
	struct operation *operation =
		(struct operation *) ((char *) entry - offsetof(struct operation, patience));
	struct operation_view view = operation_view_of(operation);
	bool was_stuck = operation->is_stuck, is_news;
	uint64_t now_usec = monotonic_usec();

	check_patience(operation, &view, now_usec);
	retry_add(operations->running, entry, now_usec + operations->options.slow_usec);
	view = operation_view_of(operation);
	is_news =
		view.pace == PACE_STUCK ? !was_stuck : operation->reported_usec != view.since_usec;
	if (view.pace == PACE_USUAL || is_reported_elsewhere(&view) || !is_news)
		return;
	operation->reported_usec = view.since_usec;
	operations->options.slow(operations->options.userdata, &view);
}

void hang_timer_start(struct operation *operation)
{
	const struct operations_options *options = &operation->operations->options;

	assert(operation->record->pending);
	operation->alive_usec = operation->begun_usec;
	if (options->slow && options->slow_usec > 0)
		retry_add(operation->operations->running, &operation->patience,
			  operation->begun_usec + options->slow_usec);
}

void hang_timer_stop(struct operation *operation)
{
	assert(operation->operations);
	retry_remove(operation->operations->running, &operation->patience);
}
