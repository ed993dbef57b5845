/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_detach - Kubernetes' attach/detach controller: which VolumeAttachments there are
 *
 * For every Node of the store that has a controller attach for it (the annotation says so), this
 * one's and others: each volume of a CSI driver that needs attaching, and that a pod of the node
 * uses through a claim, has a VolumeAttachment; Node.status.volumesAttached lists what the node may
 * use. An unwanted volume is detached once the node no longer lists it in volumesInUse. The
 * decisions are attach_detach_rule.h's; everything is decided from stored objects, so that a start
 * continues where a kill interrupted. Local volumes are not attached. Who attaches, driver or
 * operator, is csi_attacher.c's matter.
 *
 * A VolumeAttachment that is deleted by hand is created again while it is wanted.
 */
#pragma once

#include "controller/controller.h"

#include <systemd/sd-event.h>

/* On a VolumeAttachment: force the detach although the node uses the volume; the value is the
 * reason. */
#define ANNOTATION_FORCED_DETACH "podvol.io/forced-detach"

struct attach_detach;

struct attach_detach_options {
	struct controller_options common; /* pods of node_name need not name it */
	/* Volumes of a node that is not ready are detached six minutes after they become unwanted,
	 * used or not. */
	bool may_force;
	/* Does podvold's own node use this volume, whatever its Node reports? */
	bool (*is_in_use)(void *userdata, const char *unique_name);
	void *userdata; /* of that */
};

/* @options: copied. The loop thread only, as all of these. Return: 0 or negative errno. */
int attach_detach_new(const struct attach_detach_options *options, struct attach_detach **ret);
/* is_complete() may have changed. Accepts NULL. */
void attach_detach_resync(struct attach_detach *controller);
/* Objects are kept. Accepts NULL. Return: NULL. */
struct attach_detach *attach_detach_free(struct attach_detach *controller);
