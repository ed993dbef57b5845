/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_ca_publisher - keeps the ConfigMap kube-root-ca.crt in every namespace: a cluster's
 * root-ca-cert-publisher
 *
 * It holds the certificate of this node's authority. One from elsewhere, such as a
 * cluster's from an exported file, is left as it is; one that is deleted comes back; one whose
 * namespace was deleted goes with it. All is decided from stored objects. The loop thread only.
 */
#pragma once

#include "controller/controller.h"

struct root_ca_publisher;

struct root_ca_publisher_options {
	sd_event *event; /* borrowed, like store */
	int64_t priority;
	struct store *store;
	const char *certificate; /* PEM; copied */
};

/* Return: 0 or -ENOMEM. */
int root_ca_publisher_new(const struct root_ca_publisher_options *options,
			  struct root_ca_publisher **ret);
/* Before the store is freed. Leaves objects as they are. Accepts NULL. Return: NULL. */
struct root_ca_publisher *root_ca_publisher_free(struct root_ca_publisher *publisher);
