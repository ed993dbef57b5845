/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_attacher - carries out VolumeAttachments: external-attacher's work
 *
 * A VolumeAttachment of a driver whose controller attaches becomes ControllerPublishVolume, and its
 * deletion ControllerUnpublishVolume, each again until the driver said that it is done; finalizers
 * on the VolumeAttachment and its volume keep both until then, so that a kill at any moment is
 * finished by the next start. Of a driver that attaches nothing it is said at once that it is
 * attached. Better than external-attacher: nothing is detached that the node says it uses, whoever
 * deleted the VolumeAttachment, unless it says that the detach is forced.
 */
#ifndef PODVOL_CONTROLLER_CSI_ATTACHER_H
#define PODVOL_CONTROLLER_CSI_ATTACHER_H

#include "controller/csi/csi_controller.h"

struct csi_attacher;

/* @options: copied; is_complete is not asked. Return: 0 or negative errno. */
int csi_attacher_new(const struct csi_controller_options *options, struct csi_attacher **ret);
/* A driver told what it can do. */
void csi_attacher_driver_changed(struct csi_attacher *attacher, const char *driver);
/* What is_in_use() says has changed. */
void csi_attacher_look_again(struct csi_attacher *attacher);
/* Calls are broken off, objects stay. Accepts NULL. Return: NULL. */
struct csi_attacher *csi_attacher_free(struct csi_attacher *attacher);

#endif
