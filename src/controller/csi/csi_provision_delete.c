/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_provision_delete - what is next for a volume that a driver made and that is stored; see
 * csi_provision_item.h
 *
 * The volume bears a finalizer while its policy is Delete, so that its object outlives what is
 * behind it. DeleteVolume is asked for by binding.h's rule and by nothing else; it may be asked for
 * again after a kill.
 */
#include "controller/csi/csi_provision_item.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "controller/binding/binding.h"
#include "controller/controller.h"
#include "object/json/json.h"

#include <stdio.h>
#include <string.h>

/* ---- the claim ---- */

/* A claim that was deleted while its volume was being stored: the binder saw no volume to note that
 * on. Return: true: a write is under way. */
static bool note_deletion(struct provision_item *item, const struct persistent_volume *volume,
			  const struct object *claim)
{
	const struct binding_step step = { .write = BINDING_CLAIM_DELETED, .volume = volume };
	const struct object *made = NULL;
	int r;

	if (!claim->meta.deletes || strcmp(volume->origin.claim_deleted, claim->meta.uid) == 0)
		return false;
	r = binding_make(&step, claim, &made, NULL);
	work_item_update(&item->work, r, volume->object, made);
	return true;
}

/* The volume is stored: nothing is unknown any more. Return: true: a write is under way. */
static bool release_claim(struct provision_item *item, const struct persistent_volume *volume,
			  const struct object *claim)
{
	if (!claim || !object_has_finalizer(claim, FINALIZER_PROVISIONING))
		return false;
	if (!note_deletion(item, volume, claim))
		provision_remove_finalizer(item, claim, FINALIZER_PROVISIONING);
	return true;
}

/* ---- deleting ---- */

static void on_deleted(void *userdata, const struct csi_reply *reply)
{
	struct provision_item *item = userdata;
	struct work_queue *queue = item->work.queue;
	const struct object *object = store_get(provision_owner(item)->options.common.store,
						KIND_PERSISTENT_VOLUME, "", item->work.name);
	const struct persistent_volume *volume = object ? object->persistent_volume : NULL;
	struct failure why;

	provision_call_ended(item);
	if (reply->status.code != GRPC_OK && reply->status.code != GRPC_NOT_FOUND) {
		provision_failure_text(reply, &why);
		log_message(LOG_WARNING, "volume '%s' cannot be deleted: %s", item->work.name,
			    why.text);
		provision_report(item, object, "Warning", "VolumeFailedDelete", why.text);
		work_item_failed(&item->work);
	} else if (volume) {
		const char *by = volume->origin.deleted_by;

		provision_note_room(item, volume->origin.provisioned_by, reply);
		log_message(LOG_NOTICE,
			    "volume '%s': driver '%s' deleted '%s' with all that was in it: claim "
			    "'%s/%s' was deleted%s%s, under policy Delete",
			    item->work.name, volume->origin.provisioned_by,
			    volume->csi ? volume->csi->volume_handle : "", volume->claim_namespace,
			    volume->claim_name, by[0] ? " by " : "", by);
		item->is_deleted = true;
		work_item_succeeded(&item->work);
	}
	work_queue_run(queue);
}

/* As it was when the volume was made, else as the class has it now. */
static void deletion_secret(const struct provision_item *item,
			    const struct persistent_volume *volume, struct csi_secret_name *ret)
{
	cleanup_json struct cJSON *tree = object_tree(volume->object), *class_tree = NULL;
	const struct cJSON *annotations = json_get_path(tree, "metadata.annotations");
	const char *name = json_text(annotations, ANNOTATION_DELETION_SECRET_NAME);
	const struct object *class;
	struct failure why;

	*ret = (struct csi_secret_name){ .name = "" };
	if (name[0]) {
		(void) snprintf(ret->name, sizeof(ret->name), "%s", name);
		(void) snprintf(ret->name_space, sizeof(ret->name_space), "%s",
				json_text(annotations, ANNOTATION_DELETION_SECRET_SPACE));
		return;
	}
	class = store_get(provision_owner(item)->options.common.store, KIND_STORAGE_CLASS, "",
			  volume->storage_class);
	class_tree = class ? object_tree(class) : NULL;
	if (csi_secret_resolve(&(struct csi_secret_query){ json_get(class_tree, "parameters"),
							   item->work.name, NULL },
			       CSI_SECRET_PROVISIONER, ret, &why) < 0)
		log_message(LOG_WARNING, "volume '%s': %s", item->work.name, why.text);
}

/* As external-provisioner: a secret that is gone may not be needed. */
static void delete_volume(struct provision_item *item, const struct persistent_volume *volume)
{
	cleanup(csi_map_done) struct csi_map secrets = { 0 };
	struct csi_secret_name secret;
	struct failure why;

	deletion_secret(item, volume, &secret);
	if (provision_read_secret(item, &secret, &secrets, &why) < 0)
		log_message(LOG_WARNING, "volume '%s' is deleted without its secret: %s",
			    item->work.name, why.text);
	provision_call_delete(item, volume->csi->driver, volume->csi->volume_handle, &secrets,
			      on_deleted);
}

static void reclaim(struct provision_item *item, const struct persistent_volume *volume,
		    bool claim_exists)
{
	const struct csi_controller_options *options = &provision_owner(item)->options;
	struct reclaim_facts facts = {
		.volume = volume,
		.claim_exists = claim_exists,
		.sources_complete = options->common.is_complete(options->common.userdata),
	};
	struct failure why = { .error = 0 };
	enum reclaim_verdict verdict;

	/* The dear questions only where the answer may matter. */
	if (volume->phase == VOLUME_RELEASED && volume->reclaim_policy == RECLAIM_DELETE)
		facts.is_in_use = csi_controller_uses_volume(options, volume);
	verdict = reclaim_decide(&facts, &why);
	item->waits = verdict == RECLAIM_WAIT;
	provision_owner(item)->has_waiting |= item->waits;
	if (verdict == RECLAIM_WAIT) {
		provision_report(item, volume->object, "Normal", "VolumeDelete", why.text);
	} else if (verdict == RECLAIM_REFUSED) {
		provision_report(item, volume->object, "Warning", "VolumeFailedDelete", why.text);
		/* The object was deleted by hand: what is behind it stays. */
		if (volume->object->meta.deletes)
			volume_finalizer_forget(&item->work, volume->object);
	} else if (verdict == RECLAIM_REMOVE && !work_item_backs_off(&item->work)) {
		delete_volume(item, volume);
	}
}

void provision_sync_volume(struct provision_item *item, const struct persistent_volume *volume)
{
	const struct object *claim = provision_claim(item, volume);

	/* One that a user wrote is not managed, whatever its annotation says. */
	if (!volume->csi || strcmp(volume->csi->driver, volume->origin.provisioned_by) != 0 ||
	    !provision_driver(item, volume->csi->driver))
		return;
	if (release_claim(item, volume, claim))
		return;
	if (item->is_deleted) {
		volume_finalizer_forget(&item->work, volume->object);
		return;
	}
	/* Deleted by a user who took our finalizer off: what is left is not judged. */
	if (volume->object->meta.deletes && !volume_finalizer_is_there(volume->object))
		return;
	if (!volume_finalizer_keep(&item->work, volume))
		reclaim(item, volume, claim != NULL);
}
