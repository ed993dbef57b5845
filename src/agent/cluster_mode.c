/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_mode - wires a kube-apiserver's objects into the agent; see wiring.h
 */
#include "agent/wiring.h"

#include "agent/parts.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "controller/csi/csi_capacity_rule.h"
#include "controller/local/local_plan.h"

bool cluster_mode(const struct agent *agent)
{
	return *agent->config->kubeconfig != '\0';
}

bool cluster_mode_makes_volumes(const struct agent *agent)
{
	return !cluster_mode(agent) || agent->config->provisioner;
}

int cluster_mode_make_directory(struct agent *agent, struct failure *reterr)
{
	cleanup_close int fd = -EBADF;

	agent->own.store_dir =
		new_text("%s%s", agent->config->state_dir, cluster_mode(agent) ? "/cluster" : "");
	if (!agent->own.store_dir)
		return failed(reterr, -ENOMEM, "cannot open the store");
	fd = make_host_directories(agent->own.store_dir, 0700, reterr);
	return fd < 0 ? fd : 0;
}

int cluster_mode_open(struct agent *agent, struct failure *reterr)
{
	const struct cluster_options options = {
		.event = agent->event,
		.store = agent->store,
		.node_name = agent->config->node_name,
		.kubeconfig = agent->config->kubeconfig,
		.is_new_cluster = agent->config->new_cluster,
		.is_takeover = agent->config->takeover.how != CONFIG_TAKEOVER_NONE,
		.registered_labels = agent->config->register_node ? &agent->config->labels : NULL,
		.provisions = agent->config->provisioner ? local_is_provisioner : NULL,
		.complete = agent_on_sources_ready,
		.userdata = agent,
	};
	int r;

	if (!cluster_mode(agent))
		return 0;
	if (!agent->config->keep_secrets)
		store_keep_off_disk(agent->store, 1U << KIND_SECRET);
	r = cluster_new(&options, &agent->cluster, reterr);
	if (r == 0)
		agent->host.tokens = cluster_tokens(agent->cluster);
	return r;
}

void cluster_mode_uses(void *userdata, const struct object_reference *reference, bool is_used)
{
	cluster_uses(((struct agent *) userdata)->cluster, reference, is_used);
}

bool cluster_mode_is_unknown(void *userdata, const struct object_reference *reference)
{
	return cluster_is_unknown(((struct agent *) userdata)->cluster, reference);
}

bool cluster_mode_is_behind(void *userdata)
{
	return cluster_is_behind(((struct agent *) userdata)->cluster);
}

void cluster_mode_attachment(void *userdata, const char *name, bool is_used)
{
	cluster_mode_uses(userdata, &(struct object_reference){ KIND_VOLUME_ATTACHMENT, "", name },
			  is_used);
}

void cluster_mode_capacity(void *userdata, const char *name, bool is_used)
{
	cluster_mode_uses(userdata,
			  &(struct object_reference){ KIND_CSI_STORAGE_CAPACITY,
						      CSI_CAPACITY_NAMESPACE, name },
			  is_used);
}
