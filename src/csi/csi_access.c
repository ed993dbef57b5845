/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_access - Kubernetes' access modes in CSI's words; see csi_access.h
 */
#include "csi/csi_access.h"

Csi__V1__VolumeCapability__AccessMode__Mode csi_access_mode(enum access_mode mode,
							    bool knows_writers)
{
#define MODE(name) CSI__V1__VOLUME_CAPABILITY__ACCESS_MODE__MODE__##name
	switch (mode) {
	case ACCESS_READ_WRITE_ONCE:
		return knows_writers ? MODE(SINGLE_NODE_MULTI_WRITER) : MODE(SINGLE_NODE_WRITER);
	case ACCESS_READ_WRITE_ONCE_POD:
		return knows_writers ? MODE(SINGLE_NODE_SINGLE_WRITER) : MODE(SINGLE_NODE_WRITER);
	case ACCESS_READ_ONLY_MANY:
		return MODE(MULTI_NODE_READER_ONLY);
	case ACCESS_READ_WRITE_MANY:
		return MODE(MULTI_NODE_MULTI_WRITER);
	default:
		return MODE(UNKNOWN);
	}
#undef MODE
}
