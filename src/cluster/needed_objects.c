/* SPDX-License-Identifier: Apache-2.0 */
/*
 * needed_objects - which objects a pod leads to are the server's, when one says all that it has to,
 * and when a file is read again
 *
 * Knows kinds and their members alone: no server, no store.
 */
#include "cluster/cluster_internal.h"

#include "object/kinds/persistent_volume.h"
#include "object/kinds/volume_attachment.h"

bool needed_is_file(enum object_kind kind)
{
	return kind == KIND_SECRET || kind == KIND_CONFIG_MAP;
}

bool needed_is_claim(enum object_kind kind)
{
	return kind == KIND_PERSISTENT_VOLUME_CLAIM || kind == KIND_PERSISTENT_VOLUME;
}

bool needed_is_settled(const struct object *object)
{
	switch (object->kind) {
	case KIND_PERSISTENT_VOLUME_CLAIM:
		return object->claim->volume_name[0] != '\0' && object->claim->phase == CLAIM_BOUND;
	case KIND_PERSISTENT_VOLUME: /* until the binder has written which claim has it */
		return object->persistent_volume->claim_uid[0] != '\0';
	case KIND_VOLUME_ATTACHMENT:
		return object->volume_attachment->attached;
	default:
		return true;
	}
}

bool needed_is_served(const struct object_reference *reference)
{
	switch (reference->kind) {
	case KIND_PERSISTENT_VOLUME_CLAIM:
	case KIND_PERSISTENT_VOLUME:
	case KIND_VOLUME_ATTACHMENT:
	case KIND_CSI_NODE:
	case KIND_CSI_STORAGE_CAPACITY:
	case KIND_SECRET:
	case KIND_CLUSTER_TRUST_BUNDLE:
		return reference->name[0] != '\0';
	case KIND_CONFIG_MAP:
		return strcmp(reference->name_space, IDENTITY_NAMESPACE) != 0 ||
		       strcmp(reference->name, IDENTITY_NAME) != 0;
	default:
		return false;
	}
}

unsigned int needed_file_pause(unsigned int refusals)
{
	return refusals > 0 && refusals < 6 ? 1U << refusals : 60;
}
