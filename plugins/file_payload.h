/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_payload - what the files of a configMap, secret, downwardAPI or projected volume hold
 *
 * From the pod and the objects that its volume names (spec: plugins, 5); pure, but for tokens,
 * which an issuer signs. Any thread.
 */
#pragma once

#include "mount/files/payload.h"
#include "plugins/file_tokens.h"
#include "plugins/file_trust.h"
#include "plugins/plugin.h"

struct file_inputs {
	const struct object *pod;
	const struct pod_volume *source;     /* of that pod */
	const struct object *const *objects; /* as source->objects; NULL: there is none */
	struct node_resources allocatable;
	struct file_tokens *tokens;     /* for a source that has some */
	const struct file_trust *trust; /* as source->trust_bundles */
};

/**
 * file_payload_build - the files
 * @ret: finished; to be given to payload_done()
 *
 * Of a projected volume all errors are reported at once. An object that is missing, or a key of it,
 * is one unless the source is optional.
 *
 * Return: 0; -ENOENT an object or key is missing; -EINVAL; -E2BIG; -ENOMEM; else as
 * file_tokens_add().
 */
int file_payload_build(const struct file_inputs *inputs, struct payload *ret,
		       struct failure *reterr);
