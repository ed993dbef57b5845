/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_provision_message - the request that a plan becomes; see csi_provision_item.h
 */
#include "controller/csi/csi_provision_item.h"

#include <assert.h>

static void fill_capabilities(struct csi_create_message *message,
			      const struct csi_provision_plan *plan)
{
	for (size_t i = 0; i < plan->mode_count; i++) {
		struct csi_capability *one = &message->capabilities[i];

		csi_capability_fill(one, plan->is_block, plan->modes[i]);
		one->mount.fs_type = (char *) plan->fs_type;
		one->mount.mount_flags = (char **) plan->mount_flags;
		one->mount.n_mount_flags = plan->mount_flag_count;
		message->capability_list[i] = &one->capability;
	}
	message->request.volume_capabilities = message->capability_list;
	message->request.n_volume_capabilities = plan->mode_count;
}

static void fill_content(struct csi_create_message *message, const struct csi_provision_plan *plan)
{
	if (plan->content_kind == DATA_SOURCE_NONE)
		return;
	csi__v1__volume_content_source__init(&message->content);
	if (plan->content_kind == DATA_SOURCE_CLAIM) {
		csi__v1__volume_content_source__volume_source__init(&message->volume_source);
		message->volume_source.volume_id = plan->content;
		message->content.type_case = CSI__V1__VOLUME_CONTENT_SOURCE__TYPE_VOLUME;
		message->content.volume = &message->volume_source;
	} else {
		csi__v1__volume_content_source__snapshot_source__init(&message->snapshot_source);
		message->snapshot_source.snapshot_id = plan->content;
		message->content.type_case = CSI__V1__VOLUME_CONTENT_SOURCE__TYPE_SNAPSHOT;
		message->content.snapshot = &message->snapshot_source;
	}
	message->request.volume_content_source = &message->content;
}

/* One place, required and preferred. */
static int fill_topology(struct csi_create_message *message, struct csi_provision_plan *plan)
{
	Csi__V1__TopologyRequirement *requirement = &message->requirement;

	if (plan->segments.count == 0)
		return 0;
	csi__v1__topology_requirement__init(requirement);
	csi__v1__topology__init(&message->topology);
	message->topologies[0] = &message->topology;
	requirement->requisite = requirement->preferred = message->topologies;
	requirement->n_requisite = requirement->n_preferred = 1;
	message->request.accessibility_requirements = requirement;
	return csi_map_fill(&plan->segments, &csi__v1__topology__segments_entry__descriptor,
			    &message->topology.n_segments, &message->topology.segments);
}

int csi_create_message_fill(struct csi_create_message *message, struct csi_provision_plan *plan,
			    struct csi_map *secrets)
{
	Csi__V1__CreateVolumeRequest *request = &message->request;
	int r;

	assert(plan->mode_count <= CSI_CAPABILITIES_MAX && plan->name[0]);
	*message = (struct csi_create_message){ 0 };
	csi__v1__create_volume_request__init(request);
	csi__v1__capacity_range__init(&message->range);
	request->name = (char *) plan->name;
	message->range.required_bytes = plan->bytes;
	request->capacity_range = &message->range;
	fill_capabilities(message, plan);
	fill_content(message, plan);
	r = CSI_MAP_FILL(&plan->parameters, request, create_volume, parameters);
	if (r == 0)
		r = CSI_MAP_FILL(&plan->mutable_parameters, request, create_volume,
				 mutable_parameters);
	if (r == 0)
		r = CSI_MAP_FILL(secrets, request, create_volume, secrets);
	return r < 0 ? r : fill_topology(message, plan);
}
