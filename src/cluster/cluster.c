/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster - builds its parts and takes them down in reverse; see cluster.h
 */
#include "cluster/cluster_internal.h"
#include "cluster/own_node.h"
#include "cluster/provisioning.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "object/json/json.h"

#include <assert.h>

static void free_pointer(struct cluster **cluster)
{
	(void) cluster_free(*cluster);
}

static int make_client(struct cluster *cluster, struct failure *reterr)
{
	const char *path = cluster->options.kubeconfig;
	int r = strcmp(path, KUBECONFIG_IN_CLUSTER) == 0
			? kubeconfig_in_cluster(IN_CLUSTER_DIRECTORY, &cluster->kubeconfig, reterr)
			: kubeconfig_read(path, &cluster->kubeconfig, reterr);

	if (r == 0)
		r = http_client_new(cluster->options.event, &cluster->kubeconfig, &cluster->client,
				    reterr);
	return r == 0 ? credentials_new(cluster, reterr) : r;
}

int cluster_new(const struct cluster_options *options, struct cluster **ret, struct failure *reterr)
{
	static int (*const parts[])(struct cluster * cluster) = {
		contact_new,       identity_new,     writes_new,         tokens_new,
		needed_new,        provisioning_new, pods_new,           kinds_new,
		server_events_new, registration_new, node_annotation_new
	};
	cleanup(free_pointer) struct cluster *cluster = calloc(1, sizeof(*cluster));
	int r;

	assert(options && options->complete && ret);
	if (!cluster)
		return failed(reterr, -ENOMEM, "cannot use a kube-apiserver");
	cluster->options = *options;
	r = make_client(cluster, reterr);
	if (r < 0)
		return r;
	r = requests_new(options->event, cluster->client, &cluster->requests);
	if (r >= 0)
		r = heartbeat_new(options->event, cluster->client, HEARTBEAT_SILENT_MSEC,
				  HEARTBEAT_ANSWER_MSEC, &cluster->heartbeat);
	for (size_t i = 0; i < ARRAY_SIZE(parts) && r >= 0; i++)
		r = parts[i](cluster);
	if (r < 0)
		return failed(reterr, r, "cannot use the kube-apiserver");
	needed_use(cluster->needed,
		   &(struct object_reference){ KIND_CSI_NODE, "", options->node_name }, true);
	log_message(LOG_INFO, "pods of node '%s' come from the kube-apiserver '%s'",
		    options->node_name, cluster->kubeconfig.server);
	*ret = TAKE_PTR(cluster);
	return 0;
}

struct cluster *cluster_free(struct cluster *cluster)
{
	if (!cluster)
		return NULL;
	(void) node_annotation_free(cluster->node_annotation);
	(void) registration_free(cluster->registration);
	(void) server_events_free(cluster->events);
	(void) kinds_free(cluster->kinds);
	cluster->provisioning = provisioning_free(cluster->provisioning);
	(void) pods_free(cluster->pods);
	(void) needed_free(cluster->needed);
	(void) writes_free(cluster->writes);
	versions_free(cluster);
	(void) identity_free(cluster->identity);
	(void) tokens_free(cluster->tokens);
	(void) requests_free(cluster->requests);
	(void) contact_free(cluster->contact);
	(void) credentials_free(cluster->credentials);
	(void) heartbeat_free(cluster->heartbeat);
	(void) http_client_free(cluster->client);
	kubeconfig_done(&cluster->kubeconfig);
	free(cluster);
	return NULL;
}

void cluster_stop(struct cluster *cluster)
{
	if (cluster)
		tokens_stop(cluster->tokens);
}

const struct token_source *cluster_tokens(const struct cluster *cluster)
{
	return tokens_source(cluster->tokens);
}

void cluster_uses(struct cluster *cluster, const struct object_reference *reference, bool is_used)
{
	if (cluster)
		needed_use(cluster->needed, reference, is_used);
}

bool cluster_is_unknown(const struct cluster *cluster, const struct object_reference *reference)
{
	return cluster && needed_is_unknown(cluster->needed, reference);
}

bool cluster_is_behind(const struct cluster *cluster)
{
	return cluster && requests_are_waiting(cluster->requests);
}

void cluster_view(const struct cluster *cluster, struct cJSON *view)
{
	if (!cluster)
		return;
	contact_view(cluster, view);
	identity_view(cluster, view);
	pods_view(cluster, view);
	needed_view(cluster, view);
	provisioning_view(cluster, view);
	registration_view(cluster, view);
	writes_view(cluster, view);
	server_events_view(cluster, view);
}
