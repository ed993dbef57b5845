/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_provision_item - what the files of the CSI provisioner share; no other file includes it
 *
 * csi_provisioner.c watches and says which items are due; csi_provision_item.c decides what is next
 * for one of them, csi_provision_delete.c the same once its volume is stored, and
 * csi_provision_work.c calls, writes and tells.
 */
#pragma once

#include "controller/csi/csi_provision_plan.h"
#include "controller/csi/csi_controller.h"
#include "csi/csi_access.h"

/* One volume that is or will be made, by its name; busy while a call or a write is under way. */
struct provision_item {
	struct work_item work;
	char *claim_space, *claim_name; /* NULL: not known yet */
	struct csi_call *call;          /* under way; NULL: none */
	struct csi_provision_plan plan; /* of the last CreateVolume */
	/* Handle of a volume that the driver made and no claim wants; NULL: none is known of. */
	char *unwanted;
	/* The driver said for sure that nothing of this name is there or being made. */
	bool is_clear;
	bool is_deleted; /* and that the stored volume is */
	bool waits;      /* for a resync() */
	bool waits_for_source;
};

struct csi_provisioner {
	struct controller base;
	struct csi_controller_options options;
	bool has_waiting;
};

/* ---- csi_provision_item.c ---- */

/* Decide from the stored objects what is next, and begin it. Return: false: there is nothing the
 * item stands for any more. */
bool provision_item_sync(struct work_item *work);
/* Free what is in it. */
void provision_item_clear(struct work_item *work);
/* The item's claim: the very one, not another of its name. */
const struct object *provision_claim(const struct provision_item *item,
				     const struct persistent_volume *volume);

/* ---- csi_provision_delete.c ---- */

/* Its volume is stored: what comes off the claim, and whether the volume goes. */
void provision_sync_volume(struct provision_item *item, const struct persistent_volume *volume);

/* ---- csi_provision_work.c ---- */

struct csi_provisioner *provision_owner(const struct provision_item *item);
/* The same thing is said once. @about may be NULL. */
void provision_report(struct provision_item *item, const struct object *about, const char *type,
		      const char *reason, const char *text);
/* A driver whose controller's work is podvol's, and known; NULL. */
const struct csi_driver *provision_driver(const struct provision_item *item, const char *name);

bool provision_has_finalizer(const struct object *object, const char *name);
/* Writes: the item is busy until they end. */
void provision_add_finalizer(struct provision_item *item, const struct object *object,
			     const char *name);
void provision_remove_finalizer(struct provision_item *item, const struct object *object,
				const char *name);
void provision_remove_annotation(struct provision_item *item, const struct object *object,
				 const char *name);

/**
 * provision_call - begin a call of the driver
 * @what: driver, method, message and done; the rest is filled in
 *
 * @what->done begins with provision_call_ended(). What cannot begin is reported and tried again.
 */
void provision_call(struct provision_item *item, const struct csi_call_request *what,
		    const struct object *about, const char *reason);
void provision_call_ended(struct provision_item *item);
/* DeleteVolume. */
void provision_call_delete(struct provision_item *item, const char *driver, const char *handle,
			   struct csi_map *secrets, csi_done_fn *done);
/* As csi_controller_read_secret(). */
int provision_read_secret(const struct provision_item *item, const struct csi_secret_name *name,
			  struct csi_map *ret, struct failure *reterr);
/* Tell who is concerned that the driver has more or less room now, or had too little. */
void provision_note_room(const struct provision_item *item, const char *driver,
			 const struct csi_reply *reply);
/* "DeadlineExceeded: too late", as the driver or podvold said. */
void provision_failure_text(const struct csi_reply *reply, struct failure *ret);

/* ---- csi_provision_message.c: the request that a plan becomes; pure ---- */

/* A CreateVolumeRequest with all that it points to; not to be moved once it is filled. */
struct csi_create_message {
	Csi__V1__CreateVolumeRequest request;
	Csi__V1__CapacityRange range;
	struct csi_capability capabilities[CSI_CAPABILITIES_MAX];
	Csi__V1__VolumeCapability *capability_list[CSI_CAPABILITIES_MAX];
	Csi__V1__VolumeContentSource content;
	Csi__V1__VolumeContentSource__VolumeSource volume_source;
	Csi__V1__VolumeContentSource__SnapshotSource snapshot_source;
	Csi__V1__TopologyRequirement requirement;
	Csi__V1__Topology topology;
	Csi__V1__Topology *topologies[1];
};

/* @plan and @secrets: borrowed for as long as the message is used. Return: 0 or -ENOMEM. */
int csi_create_message_fill(struct csi_create_message *message, struct csi_provision_plan *plan,
			    struct csi_map *secrets);
