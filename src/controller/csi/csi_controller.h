/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_controller - what every controller of CSI drivers is given: the work of the sidecars
 *
 * One file each does what external-provisioner, -attacher, -resizer and -snapshotter do in a
 * cluster, store to store, with calls to the driver's controller in between. A driver that is not
 * there, or whose capabilities are not known yet, is waited for, not asked. The loop thread only.
 *
 * What each refuses and why stands at the top of its file.
 */
#pragma once

#include "controller/controller.h"
#include "controller/controller_class.h"
#include "csi/csi_drivers.h"
#include "csi/csi_map.h"
#include "object/kinds/csi_source.h"
#include "object/kinds/persistent_volume.h"

struct csi_controllers;

/* How long a driver may take for one call; then it is in doubt, and asked again. */
enum { CSI_CONTROLLER_SECONDS = 60 };

struct csi_controller_options {
	struct controller_options common;
	struct csi_drivers *drivers; /* borrowed */
	/* Volumes of this driver came, went or grew, or it had no room for one. */
	void (*room_changed)(void *userdata, const char *driver);
	void *room_userdata;
};

extern const struct controller_class csi_attacher_class; /* attach/csi_attacher.c */
extern const struct controller_class csi_capacity_class;
extern const struct controller_class csi_modifier_class;
extern const struct controller_class csi_provisioner_class;
extern const struct controller_class csi_resizer_class;
extern const struct controller_class csi_snapshotter_class;       /* snapshot/csi_snapshotter.c */
extern const struct controller_class csi_group_snapshotter_class; /* so is this */

/* @options: copied. @ret: for controller_free(). Return: as controller_new(). */
int csi_controller_new(const struct controller_class *class,
		       const struct csi_controller_options *options, struct controller **ret);
/* What a driver can do is known now, or it is gone. Accepts NULL, as the other two. */
void csi_controller_driver_changed(struct controller *controller, const char *driver);
/* Something that is_in_use() or is_complete() asks has changed. Cheap when nothing waits for it. */
void csi_controller_resync(struct controller *controller);
/* As csi_controller_options.room_changed. */
void csi_controller_room_changed(struct controller *controller, const char *driver);

/* Add what is in the Secret of a call; name "": none is referenced. Return: 0; -ENOKEY it is
 * missing; -EINVAL; -ENOMEM. */
int csi_controller_read_secret(struct store *store, const struct csi_secret_reference *reference,
			       struct csi_map *ret, struct failure *reterr);

/* Is there a VolumeAttachment of this volume, of any node? */
bool csi_controller_has_attachment(struct store *store, const char *volume_name);
/* The same, or may something of it be used here? */
bool csi_controller_uses_volume(const struct csi_controller_options *options,
				const struct persistent_volume *volume);

/* For controller_class.end_item of one that has call_at. */
void csi_item_end_call(struct work_item *item);

/* ---- csi_controllers.c: all controllers of CSI drivers on this node, while podvold does their
 * work ---- */

/*
 * Which driver has a controller is each controller's to ask (csi/csi_drivers.h); what one does of
 * interest to the others reaches them from here.
 */

/* After the store and the binder, before drivers are watched. @options: copied, without
 * room_changed. Return: 0 or negative errno. */
int csi_controllers_new(const struct csi_controller_options *options, struct csi_controllers **ret);
/* What this driver can do is known now. Accepts NULL. */
void csi_controllers_driver_changed(struct csi_controllers *controllers, const char *driver);
/* A step ended, a volume is forgotten, or the sources were read: one may have become free. Accepts
 * NULL. Cheap. */
void csi_controllers_resync(struct csi_controllers *controllers);
/* Before the drivers and the store go: calls are broken off. Accepts NULL. Return: NULL. */
struct csi_controllers *csi_controllers_free(struct csi_controllers *controllers);
