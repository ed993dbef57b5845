/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_objects - the objects that podvold keeps for itself: its Node, a Namespace for each name, and
 * the service accounts that do not exist
 *
 * The Node of its own name is made or brought up to date at start: labels of the configuration,
 * what machine and kernel say, condition Ready. What others wrote into it (annotations, taints,
 * further labels) stays.
 *
 * A cluster refuses objects of a namespace that does not exist. Here manifests may name whatever
 * namespace they like, so a Namespace appears with the first object that names it, events and
 * leases apart; "default" and "kube-system" are always there.
 *
 * A cluster has a ServiceAccount "default" in each namespace. Here it appears with the first pod
 * that has a token of it, or a volume whose CSI driver may want one; those of other names are
 * made by users. Nothing is ever deleted here. What could not be stored is asked for again,
 * with a delay that doubles. The loop thread only.
 */
#pragma once

#include "config.h"
#include "store/store.h"

#include <systemd/sd-event.h>

struct own_objects;

/**
 * own_objects_new - write the Node and the namespaces, and watch for new ones
 * @store:  borrowed; freed after the own objects
 * @config: borrowed; node_name and labels
 *
 * Writes are queued; one of the Node that fails is logged and tried again at the next start.
 *
 * Return: 0; -ENOMEM.
 */
int own_objects_new(sd_event *event, struct store *store, const struct config *config,
		    struct own_objects **ret);
/* The objects stay. Accepts NULL. Return: NULL. */
struct own_objects *own_objects_free(struct own_objects *own);
