/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_expand - see local_item.h
 *
 * What was reached is known by the item alone: after a kill the limit is set once more, to the
 * same.
 */
#include "controller/local/local_item.h"

#include "base/log.h"
#include "controller/csi/claim_resize.h"

#include <assert.h>
#include <string.h>

/* @r: of making @made, which is taken. */
static void write_made(struct item *item, int r, const struct object *old,
		       const struct object *made)
{
	if (r == 0)
		local_item_write(item, old, made);
	else
		work_item_failed(&item->work);
	(void) object_unref(made);
}

static void write_claim(struct item *item, const struct object *claim,
			enum claim_resize_state state, int64_t bytes, const char *text)
{
	const struct object *made = NULL;
	int r = claim_resize_edit(claim, state, bytes, text, &made, NULL);

	write_made(item, r, claim, made);
}

/* The volume says its size before the claim does: the node compares the two. */
static void note_expand(struct item *item, const struct persistent_volume *volume,
			const struct object *claim)
{
	int64_t grown = item->grown;
	bool on_node = strcmp(volume->origin.capacity, "quota") != 0 &&
		       quantity_value(&claim->claim->status_capacity) < grown;
	const struct object *made = NULL;
	int r;

	if (quantity_value(&volume->capacity) < grown) {
		r = claim_resize_edit_volume(volume->object, grown, &made, NULL);
		write_made(item, r, volume->object, made);
		return;
	}
	item->grown = 0;
	work_item_succeeded(&item->work);
	if (on_node)
		local_item_report(item, claim, "Normal", "FileSystemResizeRequired",
				  "Require file system resize of volume on node");
	else
		local_item_report(item, claim, "Normal", "VolumeResizeSuccessful",
				  "Resize volume succeeded");
	write_claim(item, claim, on_node ? CLAIM_RESIZE_ON_NODE : CLAIM_RESIZE_DONE, grown, NULL);
}

bool local_expand_sync(struct item *item, const struct persistent_volume *volume,
		       const struct object *claim)
{
	struct claim_resize resize;

	assert(item && volume);
	if (!claim || volume->phase != VOLUME_BOUND || !volume->origin.capacity[0] ||
	    claim_resize_decide(claim->claim, volume, &resize) < 0 ||
	    resize.next == CLAIM_RESIZE_NOTHING)
		return false;
	if (resize.next == CLAIM_RESIZE_BEGIN)
		write_claim(item, claim, CLAIM_RESIZE_BEGUN, resize.bytes, NULL);
	else if (resize.next == CLAIM_RESIZE_FORGET)
		write_claim(item, claim, CLAIM_RESIZE_FORGOTTEN, 0, NULL);
	else if (item->grown == resize.bytes)
		note_expand(item, volume, claim);
	else if (!work_item_backs_off(&item->work))
		local_item_grow(item, volume, resize.bytes);
	return true;
}

void local_expand_ended(struct item *item, const struct persistent_volume *volume,
			const struct object *claim, int error, const struct failure *why)
{
	struct failure refusal;

	if (error == 0) {
		item->grown = item->aim;
		return; /* it is due, and looked at next */
	}
	(void) failed_plain(&refusal, error, "resize volume \"%s\" failed: %s",
			    volume->object->meta.name, why->text);
	log_message(LOG_WARNING, "%s", refusal.text);
	local_item_report(item, claim, "Warning", "VolumeResizeFailed", refusal.text);
	work_item_failed(&item->work);
	if (claim)
		write_claim(item, claim, CLAIM_RESIZE_FAILED, item->aim, refusal.text);
}
