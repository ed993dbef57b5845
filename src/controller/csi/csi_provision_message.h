/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_provision_message - the request that a plan becomes; pure
 */
#pragma once

#include "controller/csi/csi_provision_plan.h"
#include "csi/csi_access.h"

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
	struct csi_map_fields parameters, mutable_parameters, secrets, segments;
};

/* @plan and @secrets: borrowed for as long as the message is used. @message is to be given to
 * csi_create_message_done(), also after a failure. Return: 0 or -ENOMEM. */
int csi_create_message_fill(struct csi_create_message *message,
			    const struct csi_provision_plan *plan, const struct csi_map *secrets);
void csi_create_message_done(struct csi_create_message *message);
