/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_provision_plan - what a driver is asked to make for a claim, and the volume that comes of it;
 * pure
 *
 * As external-provisioner: parameters of the class without those that are not the driver's,
 * capabilities from the claim's access modes and mode, a size, where it must be reachable, and what
 * it is filled from. On one node that is one place: what the driver says of this node. A volume is
 * stored only when it is at least as large as asked for, filled from what was asked for, and
 * reachable from here.
 */
#pragma once

#include "controller/csi/csi_secret.h"
#include "csi/csi_drivers.h"
#include "csi/csi_map.h"
#include "object/kinds/persistent_volume.h"
#include "store/store.h"

struct cJSON;

#define ANNOTATION_DELETION_SECRET_NAME "volume.kubernetes.io/provisioner-deletion-secret-name"
#define ANNOTATION_DELETION_SECRET_SPACE                                                           \
	"volume.kubernetes.io/provisioner-deletion-secret-namespace"
/* Of a volume: it goes when what is behind it is deleted. */
/* Of a claim: a driver may have made a volume that is not stored yet. */
#define FINALIZER_PROVISIONING "podvol.io/provisioning"
/* Of a claim: volumes are being made from it. */
#define FINALIZER_CLONING  "provisioner.storage.kubernetes.io/cloning-protection"
#define ATTRIBUTE_IDENTITY "storage.kubernetes.io/csiProvisionerIdentity"

enum { CSI_CAPABILITIES_MAX = 4 }; /* there are four access modes */

/* What a volume is to be filled from; looked up and checked (csi_content_source.c). */
struct csi_content {
	enum data_source_kind kind; /* DATA_SOURCE_NONE, _CLAIM or _SNAPSHOT */
	const char *identifier;     /* the driver's: handle of volume or snapshot */
};

/* "pvc-" and all of the claim's uid, in a buffer of the caller: a part of it may be another's. */
#define CSI_VOLUME_NAME_BYTES (4 + OBJECT_UID_BYTES_MAX + 1)
const char *csi_volume_name(const struct object *claim, char buffer[CSI_VOLUME_NAME_BYTES]);

struct csi_provision_request {
	const struct persistent_volume_claim *claim;
	const struct storage_class *storage_class;
	const struct csi_driver *driver;
	const char *node_name;
	const struct object *attributes_class; /* that the claim names; NULL: it names none */
	struct csi_content content;
};

struct csi_provision_plan {
	char name[CSI_VOLUME_NAME_BYTES]; /* of the volume, here and at the driver */
	struct cJSON *claim, *claim_ref, *storage_class;
	char *driver, *node_name;
	struct csi_map parameters; /* the driver's */
	struct csi_map mutable_parameters;
	char *attributes_class;  /* "": none */
	struct csi_map segments; /* where it must be reachable; empty: anywhere */
	struct csi_secret_name secrets[CSI_SECRET_USE_COUNT];
	const char *fs_type;      /* "": the driver's choice */
	const char **mount_flags; /* borrowed from storage_class, as are their strings */
	size_t mount_flag_count;
	Csi__V1__VolumeCapability__AccessMode__Mode modes[CSI_CAPABILITIES_MAX];
	size_t mode_count;
	int64_t bytes;
	bool is_block, is_read_only;
	enum reclaim_policy reclaim_policy;
	enum data_source_kind content_kind;
	char *content;
};

/* Is this claim to be provisioned by a driver, here and now? As external-provisioner's library. */
bool csi_should_provision(const struct persistent_volume_claim *claim,
			  const struct storage_class *storage_class, const char *node_name);

/**
 * csi_provision_plan_make - what to ask for
 * @ret: to be given to csi_provision_plan_done(), also after a failure
 *
 * Return: 0; -EINVAL it cannot be asked for like this; -EOPNOTSUPP the driver cannot do it; -ENODEV
 * not for this node; -ENOMEM.
 */
int csi_provision_plan_make(const struct csi_provision_request *request,
			    struct csi_provision_plan *ret, struct failure *reterr);
void csi_provision_plan_done(struct csi_provision_plan *plan);

/**
 * csi_provision_plan_check - is what the driver made what was asked for
 *
 * Return: 0; -EPROTO it is of no use, and @reterr says why: to be deleted.
 */
int csi_provision_plan_check(const struct csi_provision_plan *plan, const Csi__V1__Volume *made,
			     struct failure *reterr);

/* The volume to be stored, of one that was checked. Return: 0; -EINVAL; -ENOMEM. */
int csi_provision_plan_volume(const struct csi_provision_plan *plan, const Csi__V1__Volume *made,
			      const struct object **ret, struct failure *reterr);

/* ---- csi_content_source.c: may a new volume be filled from what its claim names, and from what
 * ---- */

/*
 * external-provisioner's checks: of another claim, that it is Bound to a volume of the same driver,
 * of the same mode and no larger; of a VolumeSnapshot, that it is ready, of the same driver, bound
 * to its content from both sides, and no larger.
 */

/**
 * csi_content_source_find - what the claim's new volume is to be filled from
 * @ret: borrowed from stored objects
 *
 * Return: 0, also where nothing is named; -EAGAIN not yet, and @reterr says why; -EINVAL never like
 * this; -EOPNOTSUPP the driver cannot do it.
 */
int csi_content_source_find(struct store *store, const struct persistent_volume_claim *claim,
			    const struct csi_driver *driver, struct csi_content *ret,
			    struct failure *reterr);

/* The claim that this one is a clone of; NULL: it is none. */
const struct object *csi_content_source_claim(struct store *store,
					      const struct persistent_volume_claim *claim);
