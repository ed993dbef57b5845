/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_modifier - has drivers change volumes whose claims name another VolumeAttributesClass
 *
 * What external-resizer does beside resizing: ControllerModifyVolume with the class's parameters,
 * then the volume and the claim say which class the volume has. The rule is claim_modify.h.
 */
#ifndef PODVOL_CONTROLLER_CSI_MODIFIER_H
#define PODVOL_CONTROLLER_CSI_MODIFIER_H

#include "controller/csi/csi_controller.h"

struct csi_modifier;

/* As those of csi_provisioner.h. */
int csi_modifier_new(const struct csi_controller_options *options, struct csi_modifier **ret);
void csi_modifier_driver_changed(struct csi_modifier *modifier, const char *driver);
struct csi_modifier *csi_modifier_free(struct csi_modifier *modifier);

#endif
