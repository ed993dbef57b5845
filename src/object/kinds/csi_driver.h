/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_driver - storage.k8s.io/v1 CSIDriver, decoded: what a driver can do and wants to know
 *
 * Written once by the driver's installer. Whether it runs on this node is another matter, see
 * csi/csi_drivers.h.
 */
#pragma once

#include "object/object.h"

enum fs_group_policy {
	FS_GROUP_POLICY_UNSET, /* of an object that never passed the defaults: no default is assumed
				*/
	FS_GROUP_POLICY_READ_WRITE_ONCE_WITH_FS_TYPE,
	FS_GROUP_POLICY_FILE,
	FS_GROUP_POLICY_NONE,
};

struct csi_token_request {
	const char *audience;       /* "": the API server's own */
	int64_t expiration_seconds; /* 0: the issuer decides */
};

struct csi_driver_spec {
	const struct object *object;
	bool attach_required, pod_info_on_mount, requires_republish, selinux_mount,
		storage_capacity;
	bool tokens_in_secrets;           /* and not in the volume's context, which is logged */
	bool is_persistent, is_ephemeral; /* volumeLifecycleModes */
	enum fs_group_policy fs_group_policy;
	const struct csi_token_request *token_requests;
	size_t token_request_count;
};
