/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observers - the table of what watches steps; see observers.h
 */
#include "agent/observers.h"

#include "agent/parts.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include <assert.h>
#include <errno.h>

/* ---- hooks of the agent's own: of boxes that know no step ---- */

static void controllers_changed(void *userdata, const struct volume_change *change)
{
	const struct agent *agent = userdata;

	ephemeral_volumes_look_again(agent->controllers.ephemeral);
	volume_directories_changed(agent->controllers.directories, change->spec_name);
	csi_controllers_look_again(agent->controllers.csi);
}

static void waiters_changed(void *waits, const struct volume_change *change)
{
	if (change->pod_uid)
		mount_waiters_pod_changed(waits, change->pod_uid);
}

static void forget_renewal(void *userdata, const char *unique_name, const char *pod_uid)
{
	const struct agent *agent = userdata;

	if (pod_uid)
		(void) renewals_set(agent->own.tokens.renewals, unique_name, pod_uid, 0);
}

/* Who keeps a volume from the only pod that may have it. */
static bool explain_other_pod(void *userdata, const char *unique_name, const char *pod_uid,
			      const char *name, struct failure *ret)
{
	const struct agent *agent = userdata;
	const struct desired_volume *want = desired_find(agent->desired, unique_name);
	const struct desired_pod *want_pod = want ? desired_find_pod(want, pod_uid) : NULL;
	const struct persistent_volume *pv = want_pod ? spec_pv(&want_pod->spec) : NULL;
	const struct actual_volume *have = actual_find(agent->actual, unique_name);
	const struct actual_pod *pod;
	struct failure why;

	if (!pv || pv->access_modes != ACCESS_READ_WRITE_ONCE_POD || !have)
		return false;
	for (pod = have->pods; pod; pod = pod->hh.next)
		if (strcmp(pod->pod_uid, pod_uid) != 0 &&
		    pod_holds_explain(&agent->holds, pod->pod_uid, &why)) {
			(void) failed_plain(ret, -EBUSY,
					    "volume '%s': waits for pod '%s', which has it: %s",
					    name, pod->pod_key, why.text);
			return true;
		}
	return false;
}

static bool explain_hold(void *userdata, const char *unique_name, const char *pod_uid,
			 const char *name, struct failure *ret)
{
	const struct agent *agent = userdata;
	struct failure why;

	(void) unique_name;
	if (!pod_holds_explain(&agent->holds, pod_uid, &why))
		return false;
	(void) failed_plain(ret, -EBUSY, "volume '%s': stays mounted, %s", name, why.text);
	return true;
}

static bool explain_gate(void *gate, const char *unique_name, const char *pod_uid, const char *name,
			 struct failure *ret)
{
	struct unstage_view view;

	if (!unstage_gate_look(gate, unique_name, pod_uid, &view) || !view.failure)
		return false;
	(void) failed_plain(ret, -EBUSY, "volume '%s': keeps its %s, %s", name, view.keeps,
			    view.failure->text);
	return true;
}

/* A mount that is as it should be waits for nothing. */
static bool needs_step(const struct agent *agent, const char *unique_name, const char *pod_uid)
{
	const struct desired_volume *want = desired_find(agent->desired, unique_name);
	const struct actual_volume *have = actual_find(agent->actual, unique_name);
	const struct actual_pod *pod = have ? actual_find_pod(have, pod_uid) : NULL;
	bool is_wanted = want && desired_find_pod(want, pod_uid);

	return is_wanted != (pod && pod->state == MOUNT_DONE);
}

/* Which operation of another pod it waits for: one at a time changes the volume. */
static bool explain_operation(void *userdata, const char *unique_name, const char *pod_uid,
			      const char *name, struct failure *ret)
{
	const struct agent *agent = userdata;
	const struct actual_volume *have = actual_find(agent->actual, unique_name);
	const struct actual_pod *other = NULL;
	char text[SLOW_TEXT_BYTES], key[POD_KEY_BYTES] = "";
	struct operation_view view;

	if (!needs_step(agent, unique_name, pod_uid) ||
	    !operation_in_way(agent->operations, unique_name, pod_uid, &view))
		return false;
	slow_text(&view, text);
	other = have ? actual_find_pod(have, view.pod_uid) : NULL;
	(void) snprintf(key, sizeof(key), "%s", other ? other->pod_key : "");
	if (view.pod)
		(void) pod_key(view.pod->pod, key);
	(void) failed_plain(ret, -EBUSY,
			    "volume '%s': waits for '%s'%s%s%s of the same volume, at '%s' for "
			    "%.0f s%s%s",
			    name, view.name, *key ? " of pod '" : "", key, *key ? "'" : "",
			    view.stage, (double) (monotonic_usec() - view.since_usec) / 1e6,
			    *text ? "; " : "", text);
	return true;
}

/* ---- the table ---- */

enum { OBSERVERS = 19 };

struct observers {
	struct observer rows[OBSERVERS];
};

/* Made for each use, because boxes come late and go early. In this order: the unstage gate lets a
 * step pass once, so what may still refuse one stands before it; a growth that failed is due by a
 * renewal; who waits hears last. */
static struct observers observers_of(struct agent *agent)
{
	return (struct observers){ {
		{ agent->views.events, .ending = volume_events_note },
		{ agent->views.steps, .ending = step_log_note },
		{ agent->views.metrics, .ending = metrics_note },
		{ &agent->holds, .ending = volume_users_note },
		{ agent->views.links, .planned = volume_links_planned,
		  .started = volume_links_started, .ended = volume_links_ended },
		{ agent->foreign_volumes, .ended = foreign_volumes_step_ended },
		{ agent->pod_mounts.subpaths, .may_start = subpaths_pass },
		{ agent->mounts.drift, .may_start = drift_passes, .ended = drift_step_ended,
		  .forgotten = drift_forget, .explain_set_up = drift_explain,
		  .explain_teardown = drift_explain },
		{ agent, .explain_set_up = explain_other_pod, .explain_teardown = explain_hold },
		{ agent->controllers.volumes_in_use, .planned = volumes_in_use_look,
		  .may_start = volumes_in_use_pass, .forgotten = volumes_in_use_forget,
		  .explain_set_up = volumes_in_use_explain },
		{ agent->holds.gate, .may_start = unstage_gate_passes,
		  .explain_teardown = explain_gate },
		{ agent->mounts.faults, .ended = volume_faults_step_ended },
		{ agent->views.size_limits, .ended = size_limits_step_ended },
		{ agent->drivers, .planned = drivers_planned, .ended = drivers_note },
		{ agent, .ended = agent_note_renewal, .forgotten = forget_renewal },
		{ &agent->node_expand, .started = node_expand_step_started,
		  .ended = node_expand_step_ended },
		{ agent, .changed = controllers_changed },
		{ agent->waits, .changed = waiters_changed },
		{ agent, .explain_set_up = explain_operation,
		  .explain_teardown = explain_operation },
	} };
}

/* Each row's hook, where it has one. */
#define CALL(agent, hook, ...)                                                                     \
	do {                                                                                       \
		const struct observers all = observers_of(agent);                                  \
                                                                                                   \
		for (const struct observer *row = all.rows; row < all.rows + OBSERVERS; row++)     \
			if (row->hook)                                                             \
				row->hook(row->box, __VA_ARGS__);                                  \
	} while (0)

void observers_planned(struct agent *agent, const char *unique_name)
{
	CALL(agent, planned, unique_name);
}

bool observers_may_start(struct agent *agent, const struct step *step)
{
	const struct observers all = observers_of(agent);

	for (const struct observer *row = all.rows; row < all.rows + OBSERVERS; row++)
		if (row->may_start && !row->may_start(row->box, step))
			return false;
	return true;
}

void observers_started(struct agent *agent, const struct step *step)
{
	CALL(agent, started, step);
}

void observers_ending(struct agent *agent, const struct operation_ended *ended)
{
	CALL(agent, ending, ended);
}

void observers_ended(struct agent *agent, const struct operation_ended *ended)
{
	CALL(agent, ended, ended);
}

void observers_forgotten(struct agent *agent, const struct volume_change *change)
{
	CALL(agent, forgotten, change->unique_name, change->pod_uid);
}

void observers_changed(struct agent *agent, const struct volume_change *change)
{
	CALL(agent, changed, change);
}

bool observers_explain(void *agent, const struct volume_row *about, struct failure *ret)
{
	const struct observers all = observers_of(agent);

	for (const struct observer *row = all.rows; row < all.rows + OBSERVERS; row++) {
		observer_explain_fn *explain =
			about->want_pod ? row->explain_set_up : row->explain_teardown;

		if (explain &&
		    explain(row->box, about->unique_name, about->pod_uid, about->outer_name, ret))
			return true;
	}
	return false;
}
