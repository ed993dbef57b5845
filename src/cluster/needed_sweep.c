/* SPDX-License-Identifier: Apache-2.0 */
/*
 * needed_sweep - what no pod leads to any more leaves the store
 *
 * Only when every pod is known: who calls it has made sure. What the provisioner keeps stays.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "cluster/needed_internal.h"
#include "cluster/provisioning.h"

static int sweep_object(const struct object *object, void *userdata)
{
	struct needed *needed = userdata;
	const struct object_reference reference = { object->kind, object->meta.name_space,
						    object->meta.name };

	if (needed_is_served(&reference) && !needed_find(needed, &reference) &&
	    !provisioning_keeps(needed->cluster, object))
		needed_remove_stored(needed->cluster, object);
	return 0;
}

/* A volume's item goes with its claim's. */
static void drop_orphaned_volumes(struct needed *needed)
{
	struct item *item, *next;

	HASH_ITER (hh, needed->items, item, next) {
		const struct object *volume =
			item->kind == KIND_PERSISTENT_VOLUME ? needed_stored(item) : NULL;

		if (volume && volume->persistent_volume->has_claim_ref &&
		    !needed_find(needed, &(struct object_reference){
						 KIND_PERSISTENT_VOLUME_CLAIM,
						 volume->persistent_volume->claim_namespace,
						 volume->persistent_volume->claim_name }))
			needed_drop(item);
	}
}

void needed_sweep(struct needed *needed)
{
	static const enum object_kind kinds[] = { KIND_PERSISTENT_VOLUME_CLAIM,
						  KIND_PERSISTENT_VOLUME, KIND_SECRET,
						  KIND_CONFIG_MAP };

	drop_orphaned_volumes(needed);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		(void) store_list(needed->cluster->options.store, kinds[i], NULL, sweep_object,
				  needed);
}
