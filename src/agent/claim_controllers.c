/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_controllers - makes the controllers of claims: the binder, those of ephemeral volumes and
 * of snapshot schedules, the local provisioner
 *
 * Nothing is decided here.
 */
#include "agent/parts.h"
#include "agent/wiring.h"

static int open_binder(struct agent *agent)
{
	const struct pv_binder_options options = {
		.event = agent->event,
		.priority = PRIORITY_STORE,
		.store = agent->store,
		.node_name = agent->config->node_name,
		.event_fn = agent_record_event,
		.userdata = agent,
	};

	return pv_binder_new(&options, &agent->controllers.binder);
}

static bool is_claim_in_use(void *userdata, const struct object *claim, const char *pod_uid)
{
	const struct agent *agent = userdata;
	const struct object *volume = NULL;

	if (claim->claim->volume_name[0])
		volume = store_get(agent->store, KIND_PERSISTENT_VOLUME, "",
				   claim->claim->volume_name);
	return actual_pod_may_be_mounted(agent->actual, pod_uid) ||
	       (volume && agent_uses_volume(userdata, volume->persistent_volume));
}

static int open_ephemeral(struct agent *agent)
{
	const struct ephemeral_volumes_options options = {
		.event = agent->event,
		.priority = PRIORITY_STORE,
		.store = agent->store,
		.node_name = agent->config->node_name,
		.is_in_use = is_claim_in_use,
		.is_complete = agent_has_all_sources,
		.userdata = agent,
	};

	return ephemeral_volumes_new(&options, &agent->controllers.ephemeral);
}

static int open_schedules(struct agent *agent)
{
	const struct snapshot_schedules_options options = {
		.event = agent->event,
		.priority = PRIORITY_STORE,
		.store = agent->store,
		.event_fn = agent_record_event,
		.is_complete = agent_has_all_sources,
		.userdata = agent,
	};

	return snapshot_schedules_new(&options, &agent->controllers.schedules);
}

int agent_open_claim_controllers(struct agent *agent)
{
	int r = open_binder(agent);

	if (r >= 0)
		r = open_ephemeral(agent);
	return r < 0 ? r : open_schedules(agent);
}

void agent_close_claim_controllers(struct agent *agent)
{
	agent->controllers.schedules = snapshot_schedules_free(agent->controllers.schedules);
	agent->controllers.ephemeral = ephemeral_volumes_free(agent->controllers.ephemeral);
	agent->controllers.binder = pv_binder_free(agent->controllers.binder);
}

int agent_open_directories(struct agent *agent, struct failure *reterr)
{
	const struct volume_directories_options options = {
		.event = agent->event,
		.priority = PRIORITY_STORE,
		.to_loop = agent->to_loop,
		.store = agent->store,
		.node_name = agent->config->node_name,
		.in_cluster = cluster_mode(agent),
		.own = &agent->host.own,
		.copies = &agent->views.copies,
		.host = &agent->host,
		.is_in_use = agent_uses_volume,
		.is_wanted = agent_wants_volume,
		.is_complete = agent_has_all_sources,
		.record = agent_record_event,
		.uses_capacity = cluster_mode_capacity,
		.userdata = agent,
	};
	int r = volume_directories_new(&options, &agent->controllers.directories);

	return r < 0 ? failed(reterr, r, "cannot start the local provisioner") : 0;
}
