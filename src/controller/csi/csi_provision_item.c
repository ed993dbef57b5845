/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_provision_item - the next step for a claim without a stored volume; see csi_provision_item.h
 *
 * The claim has a finalizer from before the first call until the result of the last one is known.
 * If the volume is no longer wanted by then, CreateVolume is repeated: it returns the volume left
 * behind, which is deleted.
 */
#include "controller/csi/csi_provision_item.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "controller/csi/csi_provision_plan.h"
#include "controller/local/local_plan.h"

#include <stdio.h>
#include <string.h>

void provision_item_clear(struct work_item *work)
{
	struct provision_item *item = (struct provision_item *) work;

	csi_provision_plan_done(&item->plan);
	free(item->claim_space);
	free(item->claim_name);
	free(item->unwanted);
}

/* ---- the stored objects ---- */

const struct object *provision_claim(const struct provision_item *item,
				     const struct persistent_volume *volume)
{
	const char *space = volume ? volume->claim_namespace : item->claim_space;
	const char *name = volume ? volume->claim_name : item->claim_name;
	char buffer[CSI_VOLUME_NAME_BYTES];
	const struct object *claim;

	if (!space || !name)
		return NULL;
	claim = store_get(provision_owner(item)->options.common.store, KIND_PERSISTENT_VOLUME_CLAIM,
			  space, name);
	if (!claim)
		return NULL;
	if (volume)
		return strcmp(claim->meta.uid, volume->claim_uid) == 0 ? claim : NULL;
	return strcmp(csi_volume_name(claim, buffer), item->work.name) == 0 ? claim : NULL;
}

static const struct storage_class *provision_class(const struct provision_item *item,
						   const struct object *claim)
{
	const struct object *class = store_get(provision_owner(item)->options.common.store,
					       KIND_STORAGE_CLASS, "", claim->claim->storage_class);

	return class ? class->storage_class : NULL;
}

static bool is_wanted(const struct provision_item *item, const struct object *claim)
{
	return claim && csi_should_provision(claim->claim, provision_class(item, claim),
					     provision_owner(item)->options.common.node_name);
}

/* ---- what came of CreateVolume ---- */

/* "failed to provision volume with StorageClass "x": ...", as Kubernetes has it. */
static void report_failed(struct provision_item *item, const struct object *claim, const char *why)
{
	char text[FAILURE_TEXT_BYTES + 128];

	if (!claim)
		return;
	(void) snprintf(text, sizeof(text),
			"failed to provision volume with StorageClass \"%s\": %s",
			claim->claim->storage_class, why);
	provision_report(item, claim, "Warning", "ProvisioningFailed", text);
}

static void on_stored(void *userdata, int error, const struct object *result,
		      const struct failure *why)
{
	struct provision_item *item = userdata;
	const struct object *claim;
	char text[128];

	if (!work_item_end(&item->work))
		return;
	claim = provision_claim(item, NULL);
	if (error == 0) {
		work_item_succeeded(&item->work);
		(void) snprintf(text, sizeof(text), "Successfully provisioned volume %s",
				item->work.name);
		provision_report(item, claim, "Normal", "ProvisioningSucceeded", text);
	} else if (error != -ECANCELED && error != -EEXIST) {
		log_message(LOG_WARNING, "volume '%s' was provisioned and cannot be stored: %s",
			    item->work.name, why->text);
		report_failed(item, claim, why->text);
		work_item_failed(&item->work);
	}
	work_queue_run(item->work.queue);
}

static void give_back(struct provision_item *item, const char *handle)
{
	free(item->unwanted);
	item->unwanted = strdup(handle);
	if (!item->unwanted)
		work_item_failed(&item->work); /* a repeated call returns the handle again */
}

static void take_volume(struct provision_item *item, const struct object *claim,
			const Csi__V1__Volume *made)
{
	cleanup_object const struct object *volume = NULL;
	struct failure why = { .error = 0 };
	int r;

	item->is_clear = false;
	if (!is_wanted(item, claim)) {
		give_back(item, made->volume_id);
		return;
	}
	r = csi_provision_plan_check(&item->plan, made, &why);
	if (r == 0)
		r = csi_provision_plan_volume(&item->plan, made, &volume, &why);
	if (r < 0) {
		report_failed(item, claim, why.text);
		work_item_failed(&item->work);
		if (r != -ENOMEM)
			give_back(item, made->volume_id);
		return;
	}
	work_item_queued(&item->work, store_create(provision_owner(item)->options.common.store,
						   volume, on_stored, item));
}

/* As external-provisioner separates final errors from those of calls still under way. */
static void take_failure(struct provision_item *item, const struct object *claim,
			 const struct csi_reply *reply)
{
	const char *node = claim ? claim->claim->selected_node : "";
	struct failure why;

	provision_failure_text(reply, &why);
	log_message(LOG_WARNING, "volume '%s' is not provisioned: %s", item->work.name, why.text);
	report_failed(item, claim, why.text);
	work_item_failed(&item->work);
	if (!reply->status.was_sent)
		return;
	item->is_clear = csi_classify(&reply->status) == CSI_FINAL;
	if (reply->status.from_server && reply->status.code == GRPC_RESOURCE_EXHAUSTED && node[0] &&
	    !claim->meta.deletes && item->plan.segments.count > 0)
		/* Another node may have room: the scheduler may select again. */
		provision_remove_annotation(item, claim, ANNOTATION_SELECTED_NODE);
}

static void on_created(void *userdata, const struct csi_reply *reply)
{
	const Csi__V1__CreateVolumeResponse *answer = (const void *) reply->message;
	struct provision_item *item = userdata;
	struct work_queue *queue = item->work.queue;
	struct csi_reply empty = *reply;
	const struct object *claim;

	provision_call_ended(item);
	provision_note_room(item, item->plan.driver, reply);
	claim = provision_claim(item, NULL);
	if (answer && answer->volume && answer->volume->volume_id[0]) {
		take_volume(item, claim, answer->volume);
	} else {
		if (reply->status.code == GRPC_OK) {
			empty.status.code = GRPC_INTERNAL;
			empty.status.from_server = false; /* in doubt */
			(void) snprintf(empty.status.text, sizeof(empty.status.text),
					"the driver returned no volume");
		}
		take_failure(item, claim, &empty);
	}
	work_queue_run(queue);
}

/* ---- queries ---- */

static void create(struct provision_item *item, const struct object *claim)
{
	cleanup(csi_map_done) struct csi_map secrets = { 0 };
	struct csi_create_message message;
	const struct csi_call_request request = {
		.driver = item->plan.driver,
		.method = CSI_CREATE_VOLUME,
		.message = &message.request.base,
		.done = on_created,
	};
	struct failure why = { .error = 0 };
	int r = provision_read_secret(item, &item->plan.secrets[CSI_SECRET_PROVISIONER], &secrets,
				      &why);

	if (r == 0)
		r = csi_create_message_fill(&message, &item->plan, &secrets);
	if (r < 0) {
		report_failed(item, claim, why.error ? why.text : "out of memory");
		work_item_failed(&item->work);
		return;
	}
	provision_call(item, &request, claim, "ProvisioningFailed");
}

static int find_classes(const struct provision_item *item, const struct object *claim,
			struct csi_provision_request *request, struct failure *reterr)
{
	const char *attributes = claim->claim->attributes_class;

	request->storage_class = provision_class(item, claim);
	if (!request->storage_class)
		return failed_plain(reterr, -EAGAIN, "storageclass.storage.k8s.io \"%s\" not found",
				    claim->claim->storage_class);
	if (!attributes[0])
		return 0;
	request->attributes_class = store_get(provision_owner(item)->options.common.store,
					      KIND_VOLUME_ATTRIBUTES_CLASS, "", attributes);
	return request->attributes_class
		       ? 0
		       : failed_plain(reterr, -EAGAIN,
				      "volumeattributesclass.storage.k8s.io \"%s\" not found",
				      attributes);
}

/* Return: 0; -EAGAIN something else has to come first, and is reported. */
static int plan(struct provision_item *item, const struct object *claim,
		const struct csi_driver *driver)
{
	struct csi_provisioner *provisioner = provision_owner(item);
	struct csi_provision_request request = {
		.claim = claim->claim,
		.driver = driver,
		.node_name = provisioner->options.common.node_name,
	};
	struct failure why = { .error = 0 };
	int r;

	csi_provision_plan_done(&item->plan);
	r = find_classes(item, claim, &request, &why);
	if (r == 0)
		r = csi_content_source_find(provisioner->options.common.store, claim->claim, driver,
					    &request.content, &why);
	item->waits_for_source = r == -EAGAIN;
	if (r == 0)
		r = csi_provision_plan_make(&request, &item->plan, &why);
	if (r < 0)
		report_failed(item, claim, why.text);
	return r < 0 ? -EAGAIN : 0;
}

static void begin(struct provision_item *item, const struct object *claim)
{
	char text[FAILURE_TEXT_BYTES];

	(void) snprintf(text, sizeof(text),
			"External provisioner is provisioning volume for claim \"%s/%s\"",
			claim->meta.name_space, claim->meta.name);
	provision_report(item, claim, "Normal", "Provisioning", text);
	provision_add_finalizer(item, claim, FINALIZER_PROVISIONING);
}

/* The source of a clone is protected meanwhile. Return: true: its finalizer must be written first.
 * */
static bool protect_source(struct provision_item *item, const struct object *claim)
{
	const struct object *source =
		csi_content_source_claim(provision_owner(item)->options.common.store, claim->claim);

	if (!source || source->meta.deletes || object_has_finalizer(source, FINALIZER_CLONING))
		return false;
	provision_add_finalizer(item, source, FINALIZER_CLONING);
	return true;
}

static void on_given_back(void *userdata, const struct csi_reply *reply)
{
	struct provision_item *item = userdata;
	struct work_queue *queue = item->work.queue;
	struct failure why;

	provision_call_ended(item);
	provision_note_room(item, item->plan.driver, reply);
	if (reply->status.code == GRPC_OK || reply->status.code == GRPC_NOT_FOUND) {
		free(item->unwanted);
		item->unwanted = NULL;
		item->is_clear = true;
	} else {
		provision_failure_text(reply, &why);
		log_message(LOG_WARNING, "volume '%s' cannot be deleted by its driver: %s",
			    item->work.name, why.text);
		provision_report(item, provision_claim(item, NULL), "Warning",
				 "ProvisioningCleanupFailed", why.text);
		work_item_failed(&item->work);
	}
	work_queue_run(queue);
}

static void delete_unwanted(struct provision_item *item)
{
	cleanup(csi_map_done) struct csi_map secrets = { 0 };
	struct failure why;

	/* A secret that was deleted meanwhile may not be needed. */
	if (provision_read_secret(item, &item->plan.secrets[CSI_SECRET_PROVISIONER], &secrets,
				  &why) < 0)
		log_message(LOG_WARNING, "volume '%s' is deleted without its secret: %s",
			    item->work.name, why.text);
	provision_call_delete(item, item->plan.driver, item->unwanted, &secrets, on_given_back);
}

/* The selected node is gone: another must be selected. */
static bool must_reschedule(const struct provision_item *item, const struct object *claim)
{
	const char *node = claim->claim->selected_node;

	return node[0] && !claim->claim->volume_name[0] && !claim->meta.deletes &&
	       !store_get(provision_owner(item)->options.common.store, KIND_NODE, "", node);
}

static void sync_claim(struct provision_item *item, const struct object *claim)
{
	bool wanted = is_wanted(item, claim);
	bool has_begun = object_has_finalizer(claim, FINALIZER_PROVISIONING);
	const struct csi_driver *driver = provision_driver(item, claim->claim->storage_provisioner);

	if (!driver)
		return;
	if (must_reschedule(item, claim) && !has_begun) {
		provision_remove_annotation(item, claim, ANNOTATION_SELECTED_NODE);
		return;
	}
	if ((!wanted && !has_begun) || work_item_backs_off(&item->work))
		return;
	if (item->unwanted)
		delete_unwanted(item);
	else if (!wanted && item->is_clear)
		provision_remove_finalizer(item, claim, FINALIZER_PROVISIONING);
	else if (plan(item, claim, driver) < 0)
		return;
	else if (!has_begun)
		begin(item, claim);
	else if (!protect_source(item, claim))
		create(item, claim);
}

/* ---- what is cloned ---- */

static int find_clone(const struct object *object, void *userdata)
{
	const struct object *source = userdata;
	const struct data_source *from = &object->claim->data_source;

	return from->kind == DATA_SOURCE_CLAIM && !from->name_space[0] &&
	       strcmp(from->name, source->meta.name) == 0 &&
	       object_has_finalizer(object, FINALIZER_PROVISIONING);
}

/* Return: true: a write is under way. */
static bool release_source(struct provision_item *item, const struct object *claim)
{
	if (!claim || !object_has_finalizer(claim, FINALIZER_CLONING) ||
	    store_list(provision_owner(item)->options.common.store, KIND_PERSISTENT_VOLUME_CLAIM,
		       claim->meta.name_space, find_clone, (void *) claim) != 0)
		return false;
	provision_remove_finalizer(item, claim, FINALIZER_CLONING);
	return true;
}

bool provision_item_sync(struct work_item *work)
{
	struct provision_item *item = (struct provision_item *) work;
	const struct object *object = store_get(provision_owner(item)->options.common.store,
						KIND_PERSISTENT_VOLUME, "", work->name);
	const struct persistent_volume *volume = object ? object->persistent_volume : NULL;
	const struct object *claim = provision_claim(item, volume);

	item->is_deleted &= volume != NULL;
	if (release_source(item, claim))
		return true;
	if (volume)
		provision_sync_volume(item, volume);
	else if (claim && !local_is_provisioner(claim->claim->storage_provisioner))
		sync_claim(item, claim);
	return volume || claim;
}
