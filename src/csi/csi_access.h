/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_access - Kubernetes' access modes in CSI's words; pure
 */
#ifndef PODVOL_CSI_CSI_ACCESS_H
#define PODVOL_CSI_CSI_ACCESS_H

#include "csi/csi.pb-c.h"
#include "object/kinds/persistent_volume.h"

/* "Many" stays as it is, "Once" depends on what the driver knows. @mode 0: none is given.
 * @knows_writers: the service that is asked has SINGLE_NODE_MULTI_WRITER. */
Csi__V1__VolumeCapability__AccessMode__Mode csi_access_mode(enum access_mode mode,
							    bool knows_writers);

#endif
