/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_controllers - makes the controllers of claims: the binder, those of ephemeral volumes and
 * of snapshot schedules, the local provisioner
 *
 * Nothing is decided here.
 */
#include "agent/parts.h"
#include "agent/wiring.h"

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
		.common = agent_controller_options(agent),
		.is_in_use = is_claim_in_use,
	};

	return ephemeral_volumes_new(&options, &agent->controllers.ephemeral);
}

int agent_open_claim_controllers(struct agent *agent)
{
	const struct controller_options options = agent_controller_options(agent);
	int r = pv_binder_new(&options, &agent->controllers.binder);

	if (r >= 0)
		r = open_ephemeral(agent);
	return r < 0 ? r : snapshot_schedules_new(&options, &agent->controllers.schedules);
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
		.common = agent_controller_options(agent),
		.to_loop = agent->to_loop,
		.in_cluster = cluster_mode(agent),
		.is_wanted = agent_wants_volume,
		.own = &agent->host.own,
		.copies = &agent->views.copies,
		.host = &agent->host,
		.uses_capacity = cluster_mode_capacity,
	};
	int r = volume_directories_new(&options, &agent->controllers.directories);

	return r < 0 ? failed(reterr, r, "cannot start the local provisioner") : 0;
}
