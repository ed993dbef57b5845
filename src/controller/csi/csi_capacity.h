/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_capacity - keeps CSIStorageCapacity objects: how much a driver can still make, for each of
 * its classes
 *
 * What external-provisioner does with --enable-capacity; the rule is csi_capacity_rule.h. A driver
 * is asked (GetCapacity) when its class or the driver changed and when volumes came, went or grew,
 * or did not fit. What others do to its storage has no event: while a claim of a class waits, the
 * class's figures are never older than a minute. So nothing wakes up when nobody waits, and what is
 * too old then costs a CreateVolume that says so.
 */
#ifndef PODVOL_CONTROLLER_CSI_CAPACITY_H
#define PODVOL_CONTROLLER_CSI_CAPACITY_H

#include "controller/csi/csi_controller.h"

struct csi_capacity;

/* As those of csi_provisioner.h. */
int csi_capacity_new(const struct csi_controller_options *options, struct csi_capacity **ret);
void csi_capacity_driver_changed(struct csi_capacity *capacity, const char *driver);
/* As csi_controller_options.room_changed. */
void csi_capacity_room_changed(struct csi_capacity *capacity, const char *driver);
struct csi_capacity *csi_capacity_free(struct csi_capacity *capacity);

#endif
