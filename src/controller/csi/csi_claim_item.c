/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_claim_item - look-ups, writes and events of claims whose volumes change; see csi_claim_item.h
 */
#include "controller/csi/csi_claim_item.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- items ---- */

int csi_claim_item_take(struct work_queue *queue, const struct object *claim)
{
	cleanup_free char *key = NULL;
	struct csi_claim_item *item;

	assert(claim->kind == KIND_PERSISTENT_VOLUME_CLAIM);
	key = new_text("%s/%s", claim->meta.name_space, claim->meta.name);
	if (!key)
		return -ENOMEM;
	item = (struct csi_claim_item *) work_queue_item(queue, key);
	if (!item)
		return -ENOMEM;
	if (!item->name) {
		free(item->name_space);
		item->name_space = strdup(claim->meta.name_space);
		item->name = item->name_space ? strdup(claim->meta.name) : NULL;
	}
	if (!item->name)
		return -ENOMEM;
	work_item_due(&item->work);
	return 0;
}

void csi_claim_item_clear(struct work_item *work)
{
	struct csi_claim_item *item = (struct csi_claim_item *) work;

	free(item->name_space);
	free(item->name);
}

/* ---- the stored objects ---- */

const struct object *csi_claim_item_claim(const struct csi_claim_item *item, struct store *store)
{
	return store_get(store, KIND_PERSISTENT_VOLUME_CLAIM, item->name_space, item->name);
}

const struct persistent_volume *csi_claim_volume(struct store *store, const struct object *claim)
{
	const struct object *object =
		store_get(store, KIND_PERSISTENT_VOLUME, "", claim->claim->volume_name);

	return object ? object->persistent_volume : NULL;
}

const struct object *csi_volume_claim(struct store *store, const struct object *volume)
{
	const struct persistent_volume *about = volume->persistent_volume;

	return about->csi && about->has_claim_ref
		       ? store_get(store, KIND_PERSISTENT_VOLUME_CLAIM, about->claim_namespace,
				   about->claim_name)
		       : NULL;
}

/* ---- reports ---- */

void csi_claim_item_report(struct csi_claim_item *item,
			   const struct csi_controller_options *options, const struct object *about,
			   const char *type, const char *reason, const char *text)
{
	if (about && work_item_is_news(&item->work, text))
		options->common.event_fn(options->common.userdata, about, type, reason, text);
}
