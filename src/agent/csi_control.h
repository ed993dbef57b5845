/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_control - the controllers of CSI drivers on this node, while podvold does their work
 *
 * Made when the configuration says so (csi-controllers: podvol) and there is a store. Which driver
 * has a controller is each controller's to ask (csi/csi_drivers.h). The loop thread only.
 */
#pragma once

#include "base/failure.h"

struct agent;
struct csi_control;

/* After the store and the binder, before drivers are watched. Return: 0 or negative errno. */
int csi_control_open(struct agent *agent, struct failure *reterr);
/* What this driver can do is known now. Accepts NULL. */
void csi_control_driver_changed(struct csi_control *control, const char *driver);
/* A step ended, a volume is forgotten, or the sources were read: one may have become free. Accepts
 * NULL. Cheap. */
void csi_control_changed(struct csi_control *control);
/* Before the drivers and the store go: calls are broken off. Accepts NULL. Return: NULL. */
struct csi_control *csi_control_free(struct csi_control *control);
