/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_access - Kubernetes' access modes and volume modes in CSI's words: VolumeCapability; pure
 */
#pragma once

#include "csi/csi.pb-c.h"
#include "object/kinds/persistent_volume.h"

/* "Many" stays as it is, "Once" depends on what the driver knows. @mode 0: none is given.
 * @has_single_node_multi_writer: the service that is asked has SINGLE_NODE_MULTI_WRITER. */
Csi__V1__VolumeCapability__AccessMode__Mode csi_access_mode(enum access_mode mode,
							    bool has_single_node_multi_writer);

/* A VolumeCapability with its parts, which point at each other: not to be moved. */
struct csi_capability {
	Csi__V1__VolumeCapability capability;
	Csi__V1__VolumeCapability__AccessMode mode;
	Csi__V1__VolumeCapability__MountVolume mount; /* what it says counts unless it is a block */
	Csi__V1__VolumeCapability__BlockVolume block;
};

/* @mode: its access mode. What a mount of it needs is the caller's to say in ret->mount. */
void csi_capability_fill(struct csi_capability *ret, bool is_block,
			 Csi__V1__VolumeCapability__AccessMode__Mode mode);
/* Of a volume of a driver; what it points to is borrowed. */
void csi_capability_of(struct csi_capability *ret, const struct persistent_volume *volume,
		       Csi__V1__VolumeCapability__AccessMode__Mode mode);
