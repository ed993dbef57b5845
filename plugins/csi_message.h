/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_message - messages to drivers, field by field as kubelet fills them
 *
 * A message borrows from the volume, and is packed by the call that it is made for. Pure, but for
 * the calls themselves. The loop thread only.
 */
#pragma once

#include "csi/csi_access.h"
#include "csi/csi_map.h"
#include "plugins/csi_volume.h"

/* How the volume is to be used, with all that it points to. Not to be moved once it is filled. */
struct csi_use {
	struct csi_capability use;
	char group[sizeof("4294967295")];
};

/* What a worker gathered for a set-up. Zeroed: nothing. */
struct csi_contexts {
	struct csi_map publish, volume, secrets, expand_secrets;
};
void csi_contexts_done(struct csi_contexts *contexts);

/**
 * csi_contexts_gather - publish context, volume context and secrets [worker]
 * @secrets: the volume's secret is to be read
 *
 * A publish also gets pod info and tokens, as its CSIDriver wants. Return: 0; -EINVAL a secret that
 * is no text; as the token source fails; -ENOMEM.
 */
int csi_contexts_gather(struct csi_contexts *contexts, const struct csi_volume *volume,
			bool secrets, struct failure *reterr);

/* Paths are absolute. All as csi_caller_call(). */
int csi_call_stage(struct csi_caller *caller, const struct csi_volume *volume,
		   struct csi_contexts *contexts, const char *staging_path,
		   const struct csi_stage_end *end);
struct csi_publish {
	struct csi_contexts *contexts;
	const char *staging_path; /* "" none */
	const char *target_path;
};
int csi_call_publish(struct csi_caller *caller, const struct csi_volume *volume,
		     const struct csi_publish *publish, const struct csi_stage_end *end,
		     int (*then)(void *data, const ProtobufCMessage *reply), void *data);
/* Inside of the answer to a publish: the volume as large as volume->expand_bytes. */
int csi_call_expand(struct csi_caller *caller, const struct csi_volume *volume,
		    const struct csi_publish *publish);
/* @end: NULL inside of another call's answer. */
int csi_call_unstage(struct csi_caller *caller, const char *handle, const char *staging_path,
		     const struct csi_stage_end *end);
int csi_call_unpublish(struct csi_caller *caller, const char *handle, const char *target_path,
		       const struct csi_stage_end *end);
