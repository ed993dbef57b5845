/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_controllers - all controllers of CSI drivers on this node, while podvold does their work
 *
 * Which driver has a controller is each controller's to ask (csi/csi_drivers.h); what one does of
 * interest to the others reaches them from here. The loop thread only.
 */
#pragma once

#include "controller/csi/csi_controller.h"

struct csi_controllers;

/* After the store and the binder, before drivers are watched. @options: copied, without
 * room_changed. Return: 0 or negative errno. */
int csi_controllers_new(const struct csi_controller_options *options, struct csi_controllers **ret);
/* What this driver can do is known now. Accepts NULL. */
void csi_controllers_driver_changed(struct csi_controllers *controllers, const char *driver);
/* A step ended, a volume is forgotten, or the sources were read: one may have become free. Accepts
 * NULL. Cheap. */
void csi_controllers_look_again(struct csi_controllers *controllers);
/* Before the drivers and the store go: calls are broken off. Accepts NULL. Return: NULL. */
struct csi_controllers *csi_controllers_free(struct csi_controllers *controllers);
