/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_capacity - keeps CSIStorageCapacity objects of a cluster: how much room this node's base
 * paths have, for each class of local.podvol.io
 *
 * As external-provisioner on each node: for a class that waits for its first consumer, while there
 * is a CSIDriver of that name with storageCapacity. One object for each class, CLASS.NODE, owned by
 * the Node. Room is looked at once a minute, and when volumes of this node came or went; what
 * differs little is not written. Nothing is published for the other provisioners' names: they are
 * no names of CSIDrivers.
 */
#pragma once

#include "controller/local/local_provisioner.h"

struct local_capacity;

struct local_capacity_options {
	/* start() is used with DIRECTORY_CHOOSE alone. */
	struct local_provisioner_options local;
	/* The object may be there already: have it stored. Its name goes with the call. */
	void (*uses)(void *userdata, const char *name, bool is_used);
};

/* @options: copied. Return: 0 or -ENOMEM, or as sd_event. */
int local_capacity_new(const struct local_capacity_options *options, struct local_capacity **ret);
/* No order goes out any more. Before the threads end; accepts NULL. */
void local_capacity_stop(struct local_capacity *capacity);
/* After they have. Accepts NULL. Return: NULL. */
struct local_capacity *local_capacity_free(struct local_capacity *capacity);
