/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_attachment - storage.k8s.io/v1 VolumeAttachment, decoded
 *
 * Strings are "" where absent; all live as long as the object.
 */
#pragma once

#include "object/object.h"

struct volume_attachment {
	const struct object *object;
	const char *attacher, *node_name;
	const char *volume_name; /* source.persistentVolumeName; "" when it is written out */
	bool attached;
	struct labels metadata; /* status.attachmentMetadata: the publish context */
	bool has_attach_error, has_detach_error;
	const char *attach_error, *detach_error; /* their messages */
};
