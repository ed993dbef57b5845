/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_claim_item - what external-resizer's two controllers have in common: an item is a claim, and
 * its volume is a driver's
 *
 * The resizer makes volumes larger, the modifier changes their attributes. Each has a queue of its
 * own, so that one waits for the other only where both write to one object.
 */
#pragma once

#include "controller/csi/csi_controller.h"
#include "controller/work_queue.h"

/* The first member of the two's own items. */
struct csi_claim_item {
	struct work_item work; /* "NAMESPACE/NAME" */
	char *name_space, *name;
	struct csi_call *call; /* under way; NULL: none */
};

/* The item of a claim is due. Return: 0 or -ENOMEM. */
int csi_claim_item_take(struct work_queue *queue, const struct object *claim);
/* For work_queue_options.clear. */
void csi_claim_item_clear(struct work_item *work);
/* Their queues; external-resizer's --workers. */
#define CSI_CLAIM_QUEUE(item, look_)                                                               \
	{                                                                                          \
		.what = "claim", .item_bytes = sizeof(item), .busy_max = 10, .sync = look_,        \
		.clear = csi_claim_item_clear                                                      \
	}

/* NULL: there is none. */
const struct object *csi_claim_item_claim(const struct csi_claim_item *item, struct store *store);
const struct persistent_volume *csi_claim_volume(struct store *store, const struct object *claim);
/* The claim that a volume of a driver is bound to, or NULL. */
const struct object *csi_volume_claim(struct store *store, const struct object *volume);

/* Each thing is reported once; @about NULL: not at all. */
void csi_claim_item_report(struct csi_claim_item *item,
			   const struct csi_controller_options *options, const struct object *about,
			   const char *type, const char *reason, const char *text);
