/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ephemeral_volumes - claims of generic ephemeral volumes: the ephemeral volume controller and, for
 * these claims alone, the garbage collector
 *
 * A claim POD-VOLUME is created from volumeClaimTemplate with the pod as its controller. A claim of
 * that name with another controller is left alone; the populator reports the conflict. The claim is
 * deleted after its pod: the pod's uid is gone from the store, every source of objects was read and
 * nothing of the volume is mounted. A claim that merely names an unknown owner stays: only one
 * whose owner was seen in this store (ANNOTATION_EPHEMERAL_OWNER) is deleted. All is decided from
 * stored objects, so a kill between two writes is finished after the next start. The loop thread
 * only.
 */
#pragma once

#include "controller/controller.h"

/* The uid of the pod that owned the claim while both were stored. */
#define ANNOTATION_EPHEMERAL_OWNER "podvol.io/ephemeral-owner"

struct ephemeral_volumes;

struct ephemeral_volumes_options {
	struct controller_options common; /* pods of other nodes get no claims here */
	/* May something of the claim's volume be mounted, for this pod or any other? */
	bool (*is_in_use)(void *userdata, const struct object *claim, const char *pod_uid);
};

/* @options: copied. Return: 0 or -ENOMEM. */
int ephemeral_volumes_new(const struct ephemeral_volumes_options *options,
			  struct ephemeral_volumes **ret);
/* What is_in_use() or is_complete() says has changed. Accepts NULL. */
void ephemeral_volumes_resync(struct ephemeral_volumes *controller);
/* Leaves objects as they are. Accepts NULL. Return: NULL. */
struct ephemeral_volumes *ephemeral_volumes_free(struct ephemeral_volumes *controller);
