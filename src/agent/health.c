/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health - the checks that /healthz and /readyz answer with
 */
#include "agent/parts.h"

#include "base/clock.h"

#include <assert.h>

static int find_stuck(const struct operation_view *view, void *userdata)
{
	struct failure *why = userdata;
	char text[SLOW_TEXT_BYTES];

	if (!view->running || view->pace != PACE_STUCK)
		return 0;
	slow_text(view, text);
	(void) failed_plain(why, -EBUSY, "%s of '%s' is stuck at '%s' for %.0f s; %s", view->name,
			    view->unique_name, view->stage,
			    (double) (monotonic_usec() - view->since_usec) / 1e6, text);
	return 1;
}

void agent_check_health(struct agent *agent,
			void (*check)(void *userdata, const struct health_check *check),
			void *userdata)
{
	struct health_check sources = { .name = "sources", .concerns = HEALTH_READY };
	struct health_check operations = { .name = "operations", .concerns = HEALTH_OK };
	struct health_check threads = { .name = "threads", .concerns = HEALTH_OK };
	struct worker_counts counts;

	assert(agent && check);
	if (!agent->sources_complete)
		(void) failed_plain(&sources.why, -EAGAIN,
				    "a source has not delivered everything yet");
	(void) operation_walk(agent->operations, find_stuck, &operations.why);
	worker_pool_count(agent->pools.workers, &counts);
	if (counts.all_hang)
		(void) failed_plain(&threads.why, -EBUSY,
				    "all %u worker threads hang, and %u jobs wait",
				    counts.threads_max, counts.queued);
	check(userdata, &sources);
	check(userdata, &operations);
	check(userdata, &threads);
}
