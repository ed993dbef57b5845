/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_provisioner - has drivers make volumes for claims, and delete those whose claims were deleted
 *
 * What external-provisioner does. A volume has the claim's uid in its name, here and at the driver,
 * so that asking twice makes one. Before the first call for a claim the claim gets a finalizer, and
 * that comes off when the volume is stored, or when the driver has said for sure that there is
 * none: so a kill at any moment, also of a claim that goes meanwhile, leaves no volume behind that
 * nobody knows of. Deleting is reclaim.h's one rule. No file of its own: the store has it all.
 */
#ifndef PODVOL_CONTROLLER_CSI_PROVISIONER_H
#define PODVOL_CONTROLLER_CSI_PROVISIONER_H

#include "controller/csi/csi_controller.h"

struct csi_provisioner;

/* @options: copied. Return: 0 or -ENOMEM, or as sd_event. */
int csi_provisioner_new(const struct csi_controller_options *options, struct csi_provisioner **ret);
/* What a driver can do is known now. */
void csi_provisioner_driver_changed(struct csi_provisioner *provisioner, const char *driver);
/* Something that is_in_use() or is_complete() asks has changed. Cheap when nobody waits for it. */
void csi_provisioner_look_again(struct csi_provisioner *provisioner);
/* Calls are broken off, writes end in the store. Accepts NULL. Return: NULL. */
struct csi_provisioner *csi_provisioner_free(struct csi_provisioner *provisioner);

#endif
