/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_trust - ClusterTrustBundles as one file of a projected volume: by name, or all of a signer
 * with certain labels
 *
 * The file holds each certificate once, sorted by its bytes, in PEM without comments, so that it
 * says the same whatever order the bundles were written in.
 */
#pragma once

#include "mount/files/payload.h"
#include "plugins/plugin.h"

/* The bundles of one source, in no order; references. */
struct file_trust {
	const struct object **bundles;
	size_t count, capacity;
};

/* One for each of the volume's trust bundle sources, in their order; given to file_trust_free().
 * The loop thread. Return: 0 or -ENOMEM. */
int file_trust_gather(const struct pod_volume *source, const struct object_finder *objects,
		      struct file_trust **ret);
/* Accepts NULL. Return: NULL. */
struct file_trust *file_trust_free(struct file_trust *trust, const struct pod_volume *source);

/**
 * file_trust_add - one clusterTrustBundle of a projected volume; pure
 * @item: {name | signerName, labelSelector, optional, path}
 *
 * With none that fits the file is empty where it is optional. Return: 0; -ENOENT there is none;
 * -EINVAL one holds no certificates; -ENOMEM; else as payload_add().
 */
int file_trust_add(const struct file_trust *trust, const struct object *pod,
		   const struct cJSON *item, mode_t default_mode, struct payload *payload,
		   struct failure *reterr);
