/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_detach_wants - which pods want which volumes attached where; see attach_detach.h
 *
 * A pod is looked up until all its claims are bound; a result is kept until the pod is deleted, has
 * finished, or has no node: a failed look-up of a claim is no reason to detach.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "controller/attach/attach_detach_internal.h"

#include "base/text.h"
#include "base/log.h"
#include "object/kinds/csi_driver.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* ---- pods ---- */

/* Return: how long it is. */
static size_t pod_text(const struct object *pod, char ret[POD_KEY_BYTES])
{
	return put_pair(ret, POD_KEY_BYTES, pod->meta.name_space, '\0', pod->meta.name);
}

static struct attach_pod *find_pod(struct attach_detach *controller, const struct object *object)
{
	char key[POD_KEY_BYTES];
	size_t length = pod_text(object, key);
	struct attach_pod *pod;

	HASH_FIND(hh, controller->pods, key, length, pod);
	return pod;
}

static void drop_wants(struct attach_pod *pod)
{
	struct attach_want *want;

	while ((want = pod->wants)) {
		pod->wants = want->next_of_pod;
		DL_DELETE(want->item->wants, want);
		work_item_due(&want->item->work);
		free(want);
	}
}

/* Those with unbound claims: looked up again at each change of a claim or volume. */
static void set_incomplete(struct attach_detach *controller, struct attach_pod *pod,
			   bool incomplete)
{
	if (pod->is_incomplete && !incomplete)
		DL_DELETE(controller->incomplete, pod);
	else if (!pod->is_incomplete && incomplete)
		DL_APPEND(controller->incomplete, pod);
	pod->is_incomplete = incomplete;
}

void attach_pod_free(struct attach_detach *controller, struct attach_pod *pod)
{
	drop_wants(pod);
	set_incomplete(controller, pod, false);
	if (pod->hh.tbl)
		HASH_DEL(controller->pods, pod);
	free(pod);
}

static struct attach_pod *add_pod(struct attach_detach *controller, const struct object *object)
{
	char key[POD_KEY_BYTES];
	size_t length = pod_text(object, key), uid = strlen(object->meta.uid);
	struct attach_pod *pod = calloc(1, sizeof(*pod) + length + 1 + uid + 1);

	if (!pod)
		return NULL;
	pod->name_space = memcpy(pod->bytes, key, length);
	pod->name = pod->name_space + strlen(pod->name_space) + 1;
	pod->uid = memcpy(pod->bytes + length + 1, object->meta.uid, uid);
	HASH_ADD(hh, controller->pods, bytes, length, pod);
	if (pod->hh.tbl)
		return pod;
	attach_pod_free(controller, pod);
	return NULL;
}

/* ---- volumes ---- */

static bool needs_attaching(struct attach_detach *controller, const char *driver)
{
	const struct object *object =
		store_get(controller->options.common.store, KIND_CSI_DRIVER, "", driver);

	return !object || object->csi_driver->attach_required;
}

/* NULL: attached nowhere, or unknown. */
static const struct persistent_volume *attachable_volume(struct attach_detach *controller,
							 const char *volume_name)
{
	const struct object *object = store_get(controller->options.common.store,
						KIND_PERSISTENT_VOLUME, "", volume_name);
	const struct csi_source *source = object ? object->persistent_volume->csi : NULL;

	return source && needs_attaching(controller, source->driver) ? object->persistent_volume
								     : NULL;
}

/* Bound to each other, and the pod's own where it was made for it. */
static const struct object *claim_of(struct attach_detach *controller, const struct object *pod,
				     const struct pod_volume *volume)
{
	const struct object *claim =
		store_get(controller->options.common.store, KIND_PERSISTENT_VOLUME_CLAIM,
			  pod->meta.name_space, volume->claim_name);

	if (!claim || claim->claim->phase != CLAIM_BOUND ||
	    (volume->source == SOURCE_EPHEMERAL &&
	     strcmp(claim->claim->controller_owner_uid, pod->meta.uid) != 0))
		return NULL;
	return claim;
}

static bool has_claim(const struct pod_volume *volume)
{
	return volume->source == SOURCE_CLAIM || volume->source == SOURCE_EPHEMERAL;
}

/* ---- what a pod wants ---- */

static int add_want(struct attach_detach *controller, struct attach_pod *pod,
		    const struct persistent_volume *volume, const char *node_name)
{
	struct attach_item *item = attach_item_of(controller, volume, node_name);
	struct attach_want *want;

	if (!item)
		return -ENOMEM;
	for (want = pod->wants; want; want = want->next_of_pod)
		if (want->item == item)
			return 0;
	want = calloc(1, sizeof(*want));
	if (!want)
		return -ENOMEM;
	*want = (struct attach_want){ .pod = pod, .item = item, .next_of_pod = pod->wants };
	pod->wants = want;
	DL_APPEND(item->wants, want);
	work_item_due(&item->work);
	return 0;
}

/* A volume that is not there, or is another claim's, may still come. */
static int add_volume(struct attach_detach *controller, struct attach_pod *pod,
		      const struct object *claim, const char *node_name, bool *incomplete)
{
	const struct object *object =
		store_get(controller->options.common.store, KIND_PERSISTENT_VOLUME, "",
			  claim->claim->volume_name);
	const struct persistent_volume *volume = object ? object->persistent_volume : NULL;

	if (!volume || strcmp(volume->claim_uid, claim->meta.uid) != 0) {
		*incomplete = true;
		return 0;
	}
	if (!attachable_volume(controller, object->meta.name))
		return 0;
	return add_want(controller, pod, volume, node_name);
}

static int add_claims(struct attach_detach *controller, struct attach_pod *pod,
		      const struct object *object, const char *node_name)
{
	bool incomplete = false;
	int r = 0;

	for (size_t i = 0; i < object->pod->volume_count && r == 0; i++) {
		const struct pod_volume *volume = &object->pod->volumes[i];
		const struct object *claim =
			has_claim(volume) ? claim_of(controller, object, volume) : NULL;

		if (claim)
			r = add_volume(controller, pod, claim, node_name, &incomplete);
		else if (has_claim(volume))
			incomplete = true;
	}
	set_incomplete(controller, pod, incomplete);
	return r;
}

/* Over, or about to be gone with nothing running. */
static bool is_terminated(const struct object *pod)
{
	return strcmp(pod->pod->phase, "Succeeded") == 0 ||
	       strcmp(pod->pod->phase, "Failed") == 0 ||
	       (pod->meta.deletes && pod->pod->containers_terminated);
}

static const char *node_of(const struct attach_detach *controller, const struct object *pod)
{
	return pod->pod->node_name[0] ? pod->pod->node_name : controller->options.common.node_name;
}

static bool may_want(const struct attach_detach *controller, const struct object *pod)
{
	const struct object *object = store_get(controller->options.common.store, KIND_NODE, "",
						node_of(controller, pod));
	const struct node *node = object ? object->node : NULL;

	return node && node->is_managed && (node->keeps_terminated || !is_terminated(pod));
}

static bool has_claims(const struct pod *pod)
{
	for (size_t i = 0; i < pod->volume_count; i++)
		if (has_claim(&pod->volumes[i]))
			return true;
	return false;
}

/* One without a node was taken for this node's. */
static bool has_moved(const struct attach_pod *pod, const char *node_name)
{
	return pod->wants && strcmp(pod->wants->item->node->work.name, node_name) != 0;
}

int attach_pod_changed(struct attach_detach *controller, const struct object *object)
{
	struct attach_pod *pod = find_pod(controller, object);

	assert(object->kind == KIND_POD);
	if (pod && strcmp(pod->uid, object->meta.uid) != 0) {
		attach_pod_free(controller, pod);
		pod = NULL;
	}
	if (!pod && !has_claims(object->pod))
		return 0;
	if (!pod)
		pod = add_pod(controller, object);
	if (!pod)
		return -ENOMEM;
	if (has_moved(pod, node_of(controller, object)))
		drop_wants(pod);
	if (may_want(controller, object))
		return add_claims(controller, pod, object, node_of(controller, object));
	set_incomplete(controller, pod, false);
	drop_wants(pod);
	return 0;
}

void attach_pod_gone(struct attach_detach *controller, const struct object *object)
{
	struct attach_pod *pod = find_pod(controller, object);

	if (pod && strcmp(pod->uid, object->meta.uid) == 0)
		attach_pod_free(controller, pod);
}

static bool all_need_attaching(struct attach_detach *controller, const struct attach_pod *pod)
{
	for (const struct attach_want *want = pod->wants; want; want = want->next_of_pod)
		if (!needs_attaching(controller, want->item->driver))
			return false;
	return true;
}

static void resync_pod(struct attach_detach *controller, struct attach_pod *pod)
{
	const struct object *object =
		store_get(controller->options.common.store, KIND_POD, pod->name_space, pod->name);

	if (!object || strcmp(object->meta.uid, pod->uid) != 0)
		return;
	/* A driver may turn out to need no attaching. */
	if (!all_need_attaching(controller, pod))
		drop_wants(pod);
	if (attach_pod_changed(controller, object) < 0)
		log_message(LOG_ERR, "out of memory: pod '%s/%s' waits for its next change",
			    pod->name_space, pod->name);
}

void attach_pods_sync(struct attach_detach *controller, bool all)
{
	struct attach_pod *pod, *next;

	if (all)
		HASH_ITER (hh, controller->pods, pod, next)
			resync_pod(controller, pod);
	else
		DL_FOREACH_SAFE (controller->incomplete, pod, next)
			resync_pod(controller, pod);
}
