/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_resizer - has drivers make volumes larger whose claims ask for more
 *
 * What external-resizer does: ControllerExpandVolume, the volume's new size, and then either the
 * claim's or the node's turn. A driver without EXPAND_VOLUME in its controller and with it on the
 * node is not asked here: its node grows the volume. What cannot grow while it is in use waits. The
 * rule is claim_resize.h.
 */
#ifndef PODVOL_CONTROLLER_CSI_RESIZER_H
#define PODVOL_CONTROLLER_CSI_RESIZER_H

#include "controller/csi/csi_controller.h"

struct csi_resizer;

/* As those of csi_provisioner.h. */
int csi_resizer_new(const struct csi_controller_options *options, struct csi_resizer **ret);
void csi_resizer_driver_changed(struct csi_resizer *resizer, const char *driver);
void csi_resizer_look_again(struct csi_resizer *resizer);
struct csi_resizer *csi_resizer_free(struct csi_resizer *resizer);

#endif
