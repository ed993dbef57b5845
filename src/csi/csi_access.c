/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_access - Kubernetes' access modes and volume modes in CSI's words; see csi_access.h
 */
#include "csi/csi_access.h"

Csi__V1__VolumeCapability__AccessMode__Mode csi_access_mode(enum access_mode mode,
							    bool has_single_node_multi_writer)
{
#define MODE(name) CSI__V1__VOLUME_CAPABILITY__ACCESS_MODE__MODE__##name
	switch (mode) {
	case ACCESS_READ_WRITE_ONCE:
		return has_single_node_multi_writer ? MODE(SINGLE_NODE_MULTI_WRITER)
						    : MODE(SINGLE_NODE_WRITER);
	case ACCESS_READ_WRITE_ONCE_POD:
		return has_single_node_multi_writer ? MODE(SINGLE_NODE_SINGLE_WRITER)
						    : MODE(SINGLE_NODE_WRITER);
	case ACCESS_READ_ONLY_MANY:
		return MODE(MULTI_NODE_READER_ONLY);
	case ACCESS_READ_WRITE_MANY:
		return MODE(MULTI_NODE_MULTI_WRITER);
	default:
		return MODE(UNKNOWN);
	}
#undef MODE
}

void csi_capability_fill(struct csi_capability *ret, bool is_block,
			 Csi__V1__VolumeCapability__AccessMode__Mode mode)
{
	csi__v1__volume_capability__init(&ret->capability);
	csi__v1__volume_capability__access_mode__init(&ret->mode);
	csi__v1__volume_capability__mount_volume__init(&ret->mount);
	csi__v1__volume_capability__block_volume__init(&ret->block);
	ret->mode.mode = mode;
	ret->capability.access_mode = &ret->mode;
	if (is_block) {
		ret->capability.access_type_case = CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_BLOCK;
		ret->capability.block = &ret->block;
	} else {
		ret->capability.access_type_case = CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_MOUNT;
		ret->capability.mount = &ret->mount;
	}
}

void csi_capability_of(struct csi_capability *ret, const struct persistent_volume *volume,
		       Csi__V1__VolumeCapability__AccessMode__Mode mode)
{
	csi_capability_fill(ret, volume->mode == VOLUME_MODE_BLOCK, mode);
	ret->mount.fs_type = (char *) volume->csi->fs_type;
	ret->mount.mount_flags = (char **) volume->csi->mount_flags;
	ret->mount.n_mount_flags = volume->csi->mount_flag_count;
}
