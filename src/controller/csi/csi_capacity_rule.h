/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_capacity_rule - the next step for the CSIStorageCapacity of a StorageClass, and the object to
 * write; pure
 *
 * As external-provisioner: one object for each class that waits for its first consumer, of a driver
 * whose CSIDriver has storageCapacity and whose controller has GET_CAPACITY, and for each place
 * that volumes are reachable from. On one node that is one place, so that the object has the
 * class's name. Objects that others wrote are left alone.
 */
#pragma once

#include "csi/csi_drivers.h"
#include "object/kinds/csi_driver.h"
#include "object/kinds/persistent_volume.h"

#define CSI_CAPACITY_NAMESPACE "kube-system"
/* external-provisioner's labels. */
#define CSI_CAPACITY_LABEL_DRIVER     "csi.storage.k8s.io/drivername"
#define CSI_CAPACITY_LABEL_MANAGED_BY "csi.storage.k8s.io/managed-by"
#define CSI_CAPACITY_MANAGED_BY       "podvol"

/* A GetCapacityResponse. */
struct csi_capacity_figures {
	int64_t available, maximum; /* bytes; not negative */
	bool has_maximum;
};

struct csi_capacity_facts {
	const struct storage_class *storage_class;  /* NULL: there is none */
	const struct object *csi_driver;            /* the CSIDriver; NULL: there is none */
	const struct csi_driver *driver;            /* registered; NULL: it is not */
	const struct object *object;                /* CSIStorageCapacity; NULL: there is none */
	const struct object *node;                  /* its owner; NULL: unknown */
	const struct csi_capacity_figures *figures; /* the last response; NULL: not called yet */
};

enum csi_capacity_next {
	CSI_CAPACITY_NOTHING,
	CSI_CAPACITY_REMOVE, /* the object */
	CSI_CAPACITY_ASK,    /* GetCapacity */
	CSI_CAPACITY_WRITE,  /* the object, with the figures */
};

enum csi_capacity_next csi_capacity_decide(const struct csi_capacity_facts *facts);

/* Is the class one that has a capacity? */
bool csi_capacity_is_wanted(const struct csi_capacity_facts *facts);

/* Written by podvol? */
bool csi_capacity_is_managed(const struct object *object);

/* Must volumes of this driver be accessible from this node's topology? */
bool csi_capacity_has_place(const struct csi_driver *driver);

/* For CSI_CAPACITY_WRITE: the object to store. Return: 0; -EINVAL; -ENOMEM. */
int csi_capacity_make(const struct csi_capacity_facts *facts, const struct object **ret,
		      struct failure *reterr);
