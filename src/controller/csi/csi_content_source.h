/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_content_source - may a new volume be filled from what its claim names, and from what; looks
 * up and writes nothing
 *
 * external-provisioner's checks: of another claim, that it is Bound to a volume of the same driver,
 * of the same mode and no larger; of a VolumeSnapshot, that it is ready, of the same driver, bound
 * to its content from both sides, and no larger.
 */
#pragma once

#include "controller/csi/csi_provision_plan.h"
#include "store/store.h"

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
