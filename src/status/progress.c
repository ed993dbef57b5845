/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress - events about long walks and copies; see status.h
 *
 * The timer runs while a walk or a copy is expected or under way, and looks at those alone.
 */
#include "status/status.h"

#include "status/copies.h"
#include "events/events.h"
#include "base/clock.h"
#include "base/timer.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	FIRST_EVENT_USEC = 5 * USEC_PER_SEC,   /* most walks are over by then */
	EVENT_PERIOD_USEC = 30 * USEC_PER_SEC, /* as often as an event is news to people */
	TIMER_ACCURACY_USEC = 500000,
};

struct walks {
	const struct reporter *reporter;
	const struct copies *copies;
	sd_event_source *timer;
};

/* ---- events ---- */

struct report_pass {
	const struct reporter *reporter;
	bool found;
};

static int report_walk(const struct operation_view *view, void *userdata)
{
	struct report_pass *pass = userdata;
	struct desired_volume *volume =
		desired_find(pass->reporter->tables->desired, view->unique_name);
	const struct desired_pod *pod = volume ? desired_find_pod(volume, view->pod_uid) : NULL;
	char progress[PROGRESS_TEXT_BYTES], text[EVENT_TEXT_BYTES];

	progress_text(view, monotonic_usec(), progress);
	if (*progress == '\0' || !pod)
		return 0;
	pass->found = true;
	(void) snprintf(text, sizeof(text), "volume '%s': changing the group of its files: %s",
			pod->outer_names[0], progress);
	pass->reporter->record(pass->reporter->userdata, pod->pod, "Normal",
			       "VolumePermissionChangeInProgress", text);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct walks *walks = userdata;
	struct report_pass pass = { .reporter = walks->reporter };

	(void) operation_walk(*walks->reporter->tables->operations, report_walk, &pass);
	pass.found |= copies_report(walks->copies, walks->reporter);
	if (pass.found)
		timer_set_in(walks->timer, EVENT_PERIOD_USEC);
	return 0;
}

int walks_new(const struct reporter *reporter, struct copies *copies, struct walks **ret)
{
	struct walks *walks = calloc(1, sizeof(*walks));
	int r;

	assert(reporter && copies && ret);
	if (!walks)
		return -ENOMEM;
	walks->reporter = reporter;
	walks->copies = copies;
	r = timer_new(reporter->event, TIMER_ACCURACY_USEC, on_timer, walks, &walks->timer);
	if (r < 0) {
		(void) walks_free(walks);
		return r;
	}
	copies->walks = walks;
	*ret = walks;
	return 0;
}

struct walks *walks_free(struct walks *walks)
{
	if (!walks)
		return NULL;
	sd_event_source_disable_unref(walks->timer);
	free(walks);
	return NULL;
}

void walks_expect(struct walks *walks)
{
	if (walks && !timer_is_set(walks->timer))
		timer_set_in(walks->timer, FIRST_EVENT_USEC);
}
