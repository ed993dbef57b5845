/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster - a kube-apiserver's objects that this node needs, mirrored into the store
 *
 * Runs above src/store/remote/: pods of the node by list and watch; what they lead to by GET or by
 * a watch of one name; the own Node and CSIDrivers. With the rights of a node (system:node:NAME)
 * and no more. The store keeps them, so the last good objects are there after a restart without a
 * server. An error of the server, of the network or of the credentials changes nothing in the
 * store. A pod leaves it when the server, known to be the same cluster, says of that very pod that
 * it is gone. The loop thread only.
 */
#pragma once

#include "plugins/plugin.h"
#include "store/mirror.h"
#include "token/token_source.h"

#include <systemd/sd-event.h>

struct cJSON;
struct cluster;

struct cluster_options {
	sd_event *event;
	struct store *store;
	const char *node_name;  /* borrowed */
	const char *kubeconfig; /* path, or KUBECONFIG_IN_CLUSTER; borrowed */
	bool is_new_cluster;    /* forget which cluster it was */
	bool is_takeover;       /* the store may lack pods that another agent mounted meanwhile */
	/* Register the Node with these labels, and keep it Ready; NULL: another agent does.
	 * Borrowed. */
	const struct labels *registered_labels;
	/* Are volumes of this provisioner made here? NULL: none are. */
	bool (*provisions)(const char *provisioner);
	/* Every pod that the server has for this node is in the store: once. */
	void (*complete)(void *userdata);
	void *userdata;
};

/**
 * cluster_new - read the kubeconfig and begin with the loop
 *
 * Blocks on the disk: at start. The store must be there and outlive it. Return: 0; -EINVAL the
 * kubeconfig; else what reading it gave; -ENOMEM.
 */
int cluster_new(const struct cluster_options *options, struct cluster **ret,
		struct failure *reterr);
/* Workers that wait for a token go on without. Accepts NULL. */
void cluster_stop(struct cluster *cluster);
/* After the workers ended; requests are cancelled. Accepts NULL. Return: NULL. */
struct cluster *cluster_free(struct cluster *cluster);

/* A pod leads to this object, or none does any more: populator_options.uses. Accepts NULL. */
void cluster_uses(struct cluster *cluster, const struct object_reference *reference, bool is_used);

/* May an object that the store lacks exist, because the server has not said that it is absent? Of
 * what pods lead to; false: it is absent. Accepts NULL. */
bool cluster_is_unknown(const struct cluster *cluster, const struct object_reference *reference);

/* Do requests to the server wait for their turn? Accepts NULL. */
bool cluster_is_behind(const struct cluster *cluster);

/* Tokens of service accounts, from the server. Borrowed; workers may use it until cluster_stop().
 */
const struct token_source *cluster_tokens(const struct cluster *cluster);

/* Adds server, cluster, last contact, what failed last, what is kept and why: for people and
 * machines. Accepts a @cluster of NULL. */
void cluster_view(const struct cluster *cluster, struct cJSON *view);
