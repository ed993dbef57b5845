/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observers - the table of what watches steps; see observers.h
 */
#include "agent/observers.h"

#include "agent/parts.h"
#include "object/json/json.h"
#include "status/volume_view.h"

/* ---- hooks of the agent's own: of boxes that know no step ---- */

static void controllers_changed(void *userdata, const struct volume_change *change)
{
	const struct agent *agent = userdata;

	ephemeral_volumes_resync(agent->controllers.ephemeral);
	volume_directories_changed(agent->controllers.directories, change->spec_name);
	csi_controllers_resync(agent->controllers.csi);
}

static void pod_changed(void *userdata, const struct volume_change *change)
{
	struct agent *agent = userdata;

	if (change->pod_uid)
		agent_pod_changed(agent, change->pod_uid);
	else if (pod_conditions_volume_changed(agent->views.pods, change->unique_name))
		agent_request_turn(agent);
}

static void uid_changed(void *userdata, const struct volume_change *change)
{
	if (change->pod_uid)
		manifest_source_uid_freed(((const struct agent *) userdata)->manifests,
					  change->pod_uid);
}

static void describe_drift(const void *drift, struct cJSON *item, const char *unique_name,
			   const char *pod_uid)
{
	struct drift_view view;

	if (!drift_view_of(drift, unique_name, pod_uid, &view))
		return;
	(void) json_set_string(item, "drift", view.text);
	view_set_time(item, "driftSince", view.since_usec);
}

/* ---- the table ---- */

enum { OBSERVERS = 21 };

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
		{ &agent->holds, .ending = volume_users_note,
		  .describe[VIEW_OPERATION] = volume_users_view },
		{ agent->views.links, .planned = volume_links_planned,
		  .started = volume_links_started, .ended = volume_links_ended },
		{ agent->foreign_volumes, .ended = foreign_volumes_step_ended },
		{ agent->pod_mounts.subpaths, .may_start = subpaths_pass },
		{ agent->mounts.drift, .may_start = drift_passes, .ended = drift_step_ended,
		  .forgotten = drift_forget, .explain_set_up = drift_explain,
		  .explain_teardown = drift_explain, .describe[VIEW_ROW] = describe_drift },
		{ &agent->holds, .explain_set_up = pod_holds_explain_other,
		  .explain_teardown = pod_holds_explain_teardown },
		{ agent->controllers.volumes_in_use, .planned = volumes_in_use_sync,
		  .may_start = volumes_in_use_pass, .forgotten = volumes_in_use_forget,
		  .explain_set_up = volumes_in_use_explain },
		{ agent->holds.gate, .may_start = unstage_gate_passes,
		  .explain_teardown = unstage_gate_explain },
		{ agent->mounts.faults, .ended = volume_faults_step_ended },
		{ agent->views.size_limits, .ended = size_limits_step_ended },
		{ agent->views.directory_usage, .started = directory_usage_step_started,
		  .forgotten = directory_usage_forget,
		  .describe[VIEW_ROW] = directory_usage_describe },
		{ agent->drivers, .planned = drivers_planned, .ended = drivers_note,
		  .describe[VIEW_CLOSE] = drivers_describe },
		{ agent->own.tokens.renewals, .ended = renewals_step_ended,
		  .forgotten = renewals_forget },
		{ &agent->node_expand, .started = node_expand_step_started,
		  .ended = node_expand_step_ended },
		{ agent, .changed = controllers_changed },
		{ agent, .changed = pod_changed },
		{ agent, .changed = uid_changed },
		{ &agent->views.tables, .explain_set_up = operation_list_explain,
		  .explain_teardown = operation_list_explain },
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

void observers_describe(void *agent, enum view_of what, struct cJSON *item, const char *unique_name,
			const char *pod_uid)
{
	const struct observers all = observers_of(agent);

	for (const struct observer *row = all.rows; row < all.rows + OBSERVERS; row++)
		if (row->describe[what])
			row->describe[what](row->box, item, unique_name, pod_uid);
}
