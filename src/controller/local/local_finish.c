/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_finish - a volume that was made is finished, and its claim bound to it; see local_item.h
 *
 * One group of two writes. The binder would make them one after the other, and does so where this
 * does not: in a cluster, after a kill between the two, and for a claim that changed meanwhile.
 */
#include "controller/binding/binding.h"
#include "controller/local/local_item.h"
#include "object/json/json.h"

#include <string.h>

static struct local_provisioner *provisioner_of(const struct item *item)
{
	return work_queue_userdata(item->work.queue);
}

static int edit_bound(struct cJSON *tree, void *userdata)
{
	(void) json_set_string(json_ensure_object(tree, "status"), "phase", "Bound");
	return local_move_edit_finished(tree, userdata);
}

/* The claim as the binder would write it next. Return: -EAGAIN it would write something else. */
static int bind_claim(const struct object *claim, const struct object *finished,
		      const struct object **ret)
{
	const struct persistent_volume *volume = finished->persistent_volume;
	struct claim_facts facts = { .claim = claim->claim,
				     .candidates = &volume,
				     .candidate_count = 1 };
	struct binding_step step;

	if (strcmp(claim->claim->volume_name, finished->meta.name) == 0)
		facts.named = volume;
	binding_decide_claim(&facts, &step);
	return step.write == BINDING_CLAIM_SPEC ? binding_make(&step, claim, ret, NULL) : -EAGAIN;
}

static int queue(struct item *item, const struct object *made, bool is_last)
{
	const struct store_precondition seen = {
		.uid = made->meta.uid,
		.resource_version = made->meta.resource_version,
		.follows = is_last,
	};

	return store_update(provisioner_of(item)->options.common.store, made, &seen,
			    is_last ? work_item_written : NULL, is_last ? item : NULL);
}

void local_finish(struct item *item, const struct persistent_volume *volume,
		  const struct object *claim)
{
	cleanup_object const struct object *finished = NULL, *bound = NULL;
	int r = provisioner_of(item)->options.in_cluster ? -EAGAIN : 0;

	if (r == 0)
		r = object_edit(volume->object, edit_bound, NULL, &finished, NULL);
	if (r == 0)
		r = bind_claim(claim, finished, &bound);
	if (r < 0) {
		work_item_edit(&item->work, volume->object, local_move_edit_finished, NULL);
		return;
	}
	r = queue(item, finished, false);
	if (r == 0)
		r = queue(item, bound, true);
	work_item_queued(&item->work, r);
}
