/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadline - three queues and a timer; see deadline.h
 */
#include "api/http/deadline.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timer.h"

#include <assert.h>
#include <sys/socket.h>
#include <utlist.h>

/* A second late is soon enough, and connections that end together cost one wake-up. */
#define ACCURACY_USEC USEC_PER_SEC

struct deadlines {
	sd_event_source *timer;
	uint64_t length_usec[DEADLINE_PHASES];
	struct deadline *queues[DEADLINE_PHASES]; /* the first to end first */
	uint64_t armed_usec;                      /* UINT64_MAX: the timer is off */
};

static void arm(struct deadlines *deadlines, uint64_t until_usec)
{
	if (until_usec >= deadlines->armed_usec)
		return; /* it looks again when it fires */
	deadlines->armed_usec = until_usec;
	timer_set(deadlines->timer, until_usec);
}

void deadline_init(struct deadline *deadline, int fd)
{
	assert(deadline && fd >= 0);
	*deadline = (struct deadline){ .fd = fd, .phase = DEADLINE_NONE };
}

void deadline_enter(struct deadlines *deadlines, struct deadline *deadline,
		    enum deadline_phase phase)
{
	assert(deadlines && deadline && phase <= DEADLINE_NONE);
	if (deadline->phase != DEADLINE_NONE)
		DL_DELETE2(deadlines->queues[deadline->phase], deadline, previous, next);
	deadline->phase = phase;
	if (phase == DEADLINE_NONE)
		return;
	deadline->until_usec = monotonic_usec() + deadlines->length_usec[phase];
	DL_APPEND2(deadlines->queues[phase], deadline, previous, next);
	arm(deadlines, deadline->until_usec);
}

size_t deadlines_pass(struct deadlines *deadlines, uint64_t now_usec)
{
	size_t late = 0;

	assert(deadlines);
	for (int phase = 0; phase < DEADLINE_PHASES; phase++) {
		struct deadline *first;

		while ((first = deadlines->queues[phase]) && first->until_usec <= now_usec) {
			(void) shutdown(first->fd, SHUT_RDWR);
			deadline_enter(deadlines, first, DEADLINE_NONE);
			late++;
		}
		if (first)
			arm(deadlines, first->until_usec);
	}
	return late;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct deadlines *deadlines = userdata;

	deadlines->armed_usec = UINT64_MAX;
	(void) deadlines_pass(deadlines, monotonic_usec());
	return 0;
}

int deadlines_new(sd_event *event, const uint64_t length_usec[static DEADLINE_PHASES],
		  struct deadlines **ret)
{
	struct deadlines *deadlines = calloc(1, sizeof(*deadlines));
	int r;

	assert(event && length_usec && ret);
	if (!deadlines)
		return -ENOMEM;
	for (int phase = 0; phase < DEADLINE_PHASES; phase++)
		deadlines->length_usec[phase] = length_usec[phase];
	deadlines->armed_usec = UINT64_MAX;
	r = timer_new(event, ACCURACY_USEC, on_timer, deadlines, &deadlines->timer);
	if (r < 0) {
		(void) deadlines_free(deadlines);
		return r;
	}
	*ret = deadlines;
	return 0;
}

struct deadlines *deadlines_free(struct deadlines *deadlines)
{
	if (!deadlines)
		return NULL;
	for (int phase = 0; phase < DEADLINE_PHASES; phase++)
		assert(!deadlines->queues[phase]);
	deadlines->timer = sd_event_source_disable_unref(deadlines->timer);
	free(deadlines);
	return NULL;
}
