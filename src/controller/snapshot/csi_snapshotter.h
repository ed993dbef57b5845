/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_snapshotter - snapshots of CSI drivers' volumes: CreateSnapshot, DeleteSnapshot,
 * ListSnapshots
 *
 * The snapshotter's backend for drivers whose socket offers the controller. One that is not there
 * is waited for; one that cannot take snapshots is refused, and the content says so. Parameters are
 * the class's, but for those of the sidecar; secrets are those that the content names.
 */
#ifndef PODVOL_CONTROLLER_CSI_SNAPSHOTTER_H
#define PODVOL_CONTROLLER_CSI_SNAPSHOTTER_H

#include "controller/csi/csi_controller.h"

struct csi_snapshotter;

/* @options: copied. Return: 0 or -ENOMEM, or as sd_event. */
int csi_snapshotter_new(const struct csi_controller_options *options, struct csi_snapshotter **ret);
/* It is registered, or what it can do is known now. */
void csi_snapshotter_driver_changed(struct csi_snapshotter *snapshotter, const char *driver);
/* is_complete() may have changed. Cheap when it was asked and true before. */
void csi_snapshotter_look_again(struct csi_snapshotter *snapshotter);
/* Calls under way are broken off. Accepts NULL. Return: NULL. */
struct csi_snapshotter *csi_snapshotter_free(struct csi_snapshotter *snapshotter);

#endif
