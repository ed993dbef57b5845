/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registration - registers the own Node and keeps it Ready: --register-node
 *
 * The lease of kube-node-lease is renewed four times in its life, the status is written when it
 * differs, and every five minutes. Refuses while another agent keeps the Node: nothing is written
 * then, podvold mounts as ever, and looks again until the other one has been silent for as long as
 * its lease lasts, by podvold's own clock. A Node that is deleted later is not made again by the
 * same process, as kubelet's is not. The loop thread only.
 */
#pragma once

#include "cluster/cluster_internal.h"

/* Nothing, unless options.registered_labels. */
int registration_new(struct cluster *cluster);
struct registration *registration_free(struct registration *registration);
void registration_view(const struct cluster *cluster, struct cJSON *view);
