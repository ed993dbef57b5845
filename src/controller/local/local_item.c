/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_item - what is next for one volume of the local provisioner; see local_item.h
 *
 * Decided from the stored objects alone, so that a start goes on where a kill left it.
 */
#include "controller/local/local_item.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "controller/local/local_reclaim.h"
#include "controller/controller.h"

#include <stdio.h>
#include <string.h>

static struct local_provisioner *provisioner_of(const struct item *item)
{
	return work_queue_userdata(item->work.queue);
}

void local_item_clear(struct work_item *work)
{
	struct item *item = (struct item *) work;

	local_plan_done(&item->plan);
	free(item->claim_space);
	free(item->claim_name);
}

/* ---- the stored objects ---- */

static const struct persistent_volume *volume_of(const struct item *item)
{
	const struct object *object = store_get(provisioner_of(item)->options.common.store,
						KIND_PERSISTENT_VOLUME, "", item->work.name);

	return object ? object->persistent_volume : NULL;
}

/* The very claim, not another of its name. */
static const struct object *claim_of(const struct item *item,
				     const struct persistent_volume *volume)
{
	const char *space = volume ? volume->claim_namespace : item->claim_space;
	const char *name = volume ? volume->claim_name : item->claim_name;
	char buffer[LOCAL_VOLUME_NAME_BYTES], moved[CLAIM_MOVE_NAME_BYTES];
	const struct object *claim;

	if (!space || !name)
		return NULL;
	claim = store_get(provisioner_of(item)->options.common.store, KIND_PERSISTENT_VOLUME_CLAIM,
			  space, name);
	if (!claim)
		return NULL;
	if (volume)
		return strcmp(claim->meta.uid, volume->claim_uid) == 0 ? claim : NULL;
	return strcmp(local_volume_name(claim, buffer), item->work.name) == 0 ||
			       strcmp(claim_move_name(claim, moved), item->work.name) == 0
		       ? claim
		       : NULL;
}

static const struct storage_class *class_of(struct local_provisioner *provisioner,
					    const struct object *claim)
{
	const struct object *class = store_get(provisioner->options.common.store,
					       KIND_STORAGE_CLASS, "", claim->claim->storage_class);

	return class ? class->storage_class : NULL;
}

static const struct object *node_named(struct local_provisioner *provisioner, const char *name)
{
	return store_get(provisioner->options.common.store, KIND_NODE, "", name);
}

static bool is_wanted_here(struct local_provisioner *provisioner, const struct object *claim,
			   const struct storage_class *class)
{
	return local_should_provision(claim->claim, class, provisioner->options.common.node_name) &&
	       (claim->claim->selected_node[0] || !provisioner->options.in_cluster);
}

/* ---- telling and trying again ---- */

void local_item_report(struct item *item, const struct object *about, const char *type,
		       const char *reason, const char *text)
{
	const struct local_provisioner_options *options = &provisioner_of(item)->options;

	if (!about || !work_item_is_news(&item->work, text))
		return;
	options->common.event_fn(options->common.userdata, about, type, reason, text);
}

/* ---- writing ---- */

static void create_volume(struct item *item, const struct directory_choice *choice)
{
	const struct object *made = NULL;
	const struct object *claim = claim_of(item, NULL);
	struct failure failure = { .error = 0 };
	int r = local_plan_volume(&item->plan, choice->base_index, choice->capacity, &made,
				  &failure);

	if (r < 0 && local_move_is(item, NULL, claim)) {
		local_move_refuse(item, claim, failure.text);
		return;
	}
	if (r < 0) {
		local_item_report(item, claim, "Warning", "ProvisioningFailed", failure.text);
		work_item_failed(&item->work);
		return;
	}
	work_item_create(&item->work, 0, made);
}

void local_item_write(struct item *item, const struct object *old, const struct object *made)
{
	work_item_update(&item->work, 0, old, object_ref(made));
}

static void write_without(struct item *item, const struct object *object, const char *annotation)
{
	work_item_edit(&item->work, object, metadata_remove_annotation, (void *) annotation);
}

static void write_finished(struct item *item, const struct object *volume)
{
	work_item_edit(&item->work, volume, local_move_edit_finished, NULL);
}

/* ---- what came of an order ---- */

static void on_choice(struct item *item, int error, const struct directory_choice *choice,
		      const struct failure *why)
{
	const struct object *claim = claim_of(item, NULL);

	if (error == 0) {
		create_volume(item, choice);
		return;
	}
	if (local_move_is(item, NULL, claim)) {
		local_move_refuse(item, claim, why->text);
		return;
	}
	local_item_report(item, claim, "Warning", "ProvisioningFailed", why->text);
	work_item_failed(&item->work);
}

/* Its claim is there, and one that is made for a move is still asked for. */
static bool is_awaited(const struct item *item, const struct persistent_volume *volume,
		       const struct object *claim)
{
	return claim && !claim->meta.deletes &&
	       (!volume->origin.moved_from[0] || local_move_can_end(item, volume, claim));
}

static void on_made(struct item *item, const struct persistent_volume *volume, int error,
		    const struct failure *why)
{
	const struct object *claim = claim_of(item, volume);

	if (error < 0) {
		log_message(LOG_WARNING, "volume '%s': %s", item->work.name, why->text);
		if (local_move_is(item, volume, claim)) {
			local_move_refuse(item, claim, why->text);
			return;
		}
		local_item_report(item, claim, "Warning", "ProvisioningFailed", why->text);
		item->must_go = true;
		return;
	}
	if (!is_awaited(item, volume, claim))
		return; /* the next look takes it back, or finishes it when it is settled */
	item->is_finishing = true;
	if (volume->origin.moved_from[0])
		local_move_switch(item, volume, claim);
	else
		local_finish(item, volume, claim);
}

static void report_made(struct item *item, const struct persistent_volume *volume,
			const struct object *claim)
{
	char text[FAILURE_TEXT_BYTES];

	work_item_succeeded(&item->work);
	if (volume->origin.moved_from[0]) {
		(void) snprintf(text, sizeof(text), "moved from volume %s to %s",
				volume->origin.moved_from, item->work.name);
		local_item_report(item, claim, "Normal", "VolumeMoved", text);
		return;
	}
	if (item->source_in_use)
		local_item_report(item, claim, "Warning", "CloneNotAtomic",
				  "the volume was in use while it was copied, file by file: the "
				  "files are not from one point in time");
	(void) snprintf(text, sizeof(text), "Successfully provisioned volume %s", item->work.name);
	local_item_report(item, claim, "Normal", "ProvisioningSucceeded", text);
}

/* A volume is made when it is stored as such, which a cluster may refuse. */
void local_item_written(struct work_item *work, int error, const struct failure *why)
{
	struct item *item = (struct item *) work;
	const struct persistent_volume *volume = volume_of(item);
	bool was_finishing = item->is_finishing, is_made = volume && !volume->origin.is_unfinished;

	item->is_finishing = false;
	if (error < 0 && !is_made)
		local_item_report(item, claim_of(item, volume), "Warning", "ProvisioningFailed",
				  why->text);
	else if (was_finishing && is_made)
		report_made(item, volume, claim_of(item, volume));
}

/* What is there is foreign: then nothing of podvol's is left. What is settled is never taken back
 * here: it becomes a volume like any other, which goes by the rule for all of them, or stays. */
static void on_unmade(struct item *item, const struct persistent_volume *volume, int error,
		      const struct failure *why)
{
	if (error == 0 || error == -EPERM || error == -EEXIST || error == -ENOTDIR ||
	    error == -ELOOP || error == -EXDEV) {
		if (item->must_go)
			work_item_failed(&item->work);
		item->must_go = false;
		item->is_unmade = true;
		volume_finalizer_forget(&item->work, volume->object);
		return;
	}
	if (error == -EALREADY) {
		if (item->must_go)
			work_item_failed(&item->work); /* its settling failed: once more */
		else
			write_finished(item, volume->object);
		item->must_go = false;
		return;
	}
	log_message(LOG_WARNING, "volume '%s' cannot be taken back: %s", item->work.name,
		    why->text);
	local_item_report(item, volume->object, "Warning", "ProvisioningCleanupFailed", why->text);
	work_item_failed(&item->work);
}

static void on_removed(struct item *item, const struct persistent_volume *volume, int error,
		       const struct failure *why)
{
	const char *by = volume->origin.deleted_by;

	if (error < 0) {
		log_message(LOG_WARNING, "volume '%s' cannot be deleted: %s", item->work.name,
			    why->text);
		if (error == -EBUSY)
			local_item_report(item, volume->object, "Normal", "VolumeDelete",
					  why->text);
		else
			local_item_report(item, volume->object, "Warning", "VolumeFailedDelete",
					  why->text);
		work_item_failed(&item->work);
		return;
	}
	log_message(LOG_NOTICE,
		    "volume '%s': '%s' is removed with all that was in it: claim '%s/%s' was "
		    "deleted%s%s, under policy Delete",
		    item->work.name, local_data_of(volume), volume->claim_namespace,
		    volume->claim_name, by[0] ? " by " : "", by);
	work_item_succeeded(&item->work);
	item->is_removed = true;
	volume_finalizer_forget(&item->work, volume->object);
}

static void order_directory(struct item *item, const struct persistent_volume *volume,
			    enum directory_deed deed, const struct directory_source *source);

/* What was filled is settled before it is finished: until then it can be taken back, all of it. */
static void on_filled_or_made(struct item *item, const struct persistent_volume *volume, int error,
			      const struct failure *why)
{
	const struct object *claim = claim_of(item, volume);

	if (error == 0 && item->deed == DIRECTORY_MAKE && is_awaited(item, volume, claim) &&
	    (volume->origin.moved_from[0] || claim->claim->data_source.kind != DATA_SOURCE_NONE))
		order_directory(item, volume, DIRECTORY_SETTLE, NULL);
	else
		on_made(item, volume, error, why);
}

static void on_done(void *userdata, int error, const struct directory_choice *choice,
		    const struct failure *why)
{
	struct item *item = userdata;
	const struct persistent_volume *volume;

	if (!work_item_end(&item->work))
		return;
	if (provisioner_of(item)->is_stopped)
		return;
	volume = volume_of(item);
	if (item->deed == DIRECTORY_CHOOSE)
		on_choice(item, error, choice, why);
	else if (!volume) /* deleted by hand meanwhile */
		log_message(LOG_WARNING, "volume '%s' went while its directory was worked on",
			    item->work.name);
	else if (item->deed == DIRECTORY_MAKE || item->deed == DIRECTORY_SETTLE)
		on_filled_or_made(item, volume, error, why);
	else if (item->deed == DIRECTORY_GROW)
		local_expand_ended(item, volume, claim_of(item, volume), error, why);
	else if (item->deed == DIRECTORY_UNMAKE)
		on_unmade(item, volume, error, why);
	else
		on_removed(item, volume, error, why);
	work_queue_run(item->work.queue);
}

static void start(struct item *item, const struct directory_order *order)
{
	const struct local_provisioner_options *options = &provisioner_of(item)->options;

	item->deed = order->deed;
	if (options->start(options->start_userdata, order, on_done, item) < 0)
		work_item_failed(&item->work);
	else
		work_item_begin(&item->work);
}

/* ---- looking ---- */

int local_item_plan(struct item *item, const struct object *claim,
		    const struct storage_class *class, const char *move_name,
		    struct failure *reterr)
{
	struct local_provisioner *provisioner = provisioner_of(item);
	const struct local_request request = {
		.claim = claim->claim,
		.storage_class = class,
		.node = node_named(provisioner, provisioner->options.common.node_name),
		.node_map = provisioner->node_map,
		.in_cluster = provisioner->options.in_cluster,
		.move_name = move_name,
	};

	local_plan_done(&item->plan);
	return local_plan_make(&request, &item->plan, reterr);
}

static int plan(struct item *item, const struct object *claim, const struct storage_class *class)
{
	struct failure failure = { .error = 0 };
	int r = local_item_plan(item, claim, class, NULL, &failure);

	if (r < 0)
		local_item_report(item, claim, "Warning", "ProvisioningFailed", failure.text);
	return r;
}

/* Return: false: it is not there, which was reported. */
static bool find_source(struct item *item, const struct object *claim, struct local_filling *ret)
{
	struct local_provisioner *provisioner = provisioner_of(item);
	struct failure why = { .error = 0 };
	int r = local_filling_find(provisioner->options.common.store, claim->claim, ret, &why);

	if (r == -EAGAIN && provisioner->options.in_cluster)
		(void) failure_prefix(&why, "on node '%s'", provisioner->options.common.node_name);
	item->wants_source = r < 0;
	provisioner->has_wanting |= item->wants_source;
	if (r < 0)
		local_item_report(item, claim, "Warning", "ProvisioningFailed", why.text);
	return r == 0;
}

void local_item_choose(struct item *item)
{
	const struct directory_order order = {
		.deed = DIRECTORY_CHOOSE,
		.base_paths = (const char *const *) item->plan.base_paths,
		.base_count = item->plan.base_count,
		.name = item->plan.name,
		.capacity = item->plan.capacity,
		.bytes = item->plan.bytes,
		.storage_class = json_text(json_get(item->plan.volume, "spec"), "storageClassName"),
		.is_named = item->plan.is_named,
	};

	start(item, &order);
}

static void sync_claim(struct item *item, const struct object *claim)
{
	cleanup(local_filling_done) struct local_filling source = { .volume = NULL };
	struct local_provisioner *provisioner = provisioner_of(item);
	const struct storage_class *class = class_of(provisioner, claim);
	char text[FAILURE_TEXT_BYTES];

	if (!provisioner->options.in_cluster &&
	    local_should_reschedule(claim->claim, class,
				    node_named(provisioner, claim->claim->selected_node) != NULL)) {
		write_without(item, claim, ANNOTATION_SELECTED_NODE);
		return;
	}
	if (!is_wanted_here(provisioner, claim, class) || work_item_backs_off(&item->work) ||
	    plan(item, claim, class) < 0 || !find_source(item, claim, &source))
		return;
	if (item->work.failures == 0) {
		(void) snprintf(text, sizeof(text),
				"External provisioner is provisioning volume for claim \"%s/%s\"",
				claim->meta.name_space, claim->meta.name);
		local_item_report(item, claim, "Normal", "Provisioning", text);
	}
	local_item_choose(item);
}

/* Made for a move that came to no end: the writes of one are in an order in which its claim is the
 * first that has the volume. */
static bool was_never_bound(const struct item *item, const struct persistent_volume *volume)
{
	const struct object *claim = claim_of(item, volume);

	return volume->origin.is_unfinished && volume->origin.moved_from[0] &&
	       !volume->origin.moved_to[0] && !volume->origin.is_marked_by_claim && claim &&
	       claim->claim->phase == CLAIM_BOUND &&
	       strcmp(claim->claim->volume_name, item->work.name) != 0;
}

/* The directory of a volume that is stored: where it is stands in it. */
static void order_directory(struct item *item, const struct persistent_volume *volume,
			    enum directory_deed deed, const struct directory_source *source)
{
	struct local_place place;
	struct directory_order order = {
		.deed = deed,
		.base_paths = &place.base_path,
		.base_count = 1,
		.mark = persistent_volume_mark(volume),
		.mode = item->plan.mode,
		.capacity = volume->origin.capacity[0] ? volume->origin.capacity : "none",
		.fs_type = volume->fs_type,
		.is_unused = deed == DIRECTORY_UNMAKE && was_never_bound(item, volume),
		.source = source && source->name ? source : NULL,
		.about = { KIND_PERSISTENT_VOLUME_CLAIM, volume->claim_namespace,
			   volume->claim_name },
		.storage_class = volume->storage_class,
		.flex = volume->program.flex,
	};
	int64_t bytes = deed == DIRECTORY_GROW ? item->aim : quantity_value(&volume->capacity);
	struct failure failure = { .error = 0 };

	if (local_place_of(volume, &place, &failure) < 0) {
		local_item_report(item, volume->object, "Warning", "ProvisioningFailed",
				  failure.text);
		return;
	}
	order.name = place.name;
	order.bytes = bytes > 0 ? (uint64_t) bytes : 0;
	start(item, &order);
}

void local_item_fill(struct item *item, const struct persistent_volume *volume,
		     const struct directory_source *source)
{
	order_directory(item, volume, DIRECTORY_MAKE, source);
}

void local_item_grow(struct item *item, const struct persistent_volume *volume, int64_t bytes)
{
	item->aim = bytes;
	order_directory(item, volume, DIRECTORY_GROW, NULL);
}

static void order_made(struct item *item, const struct persistent_volume *volume,
		       const struct object *claim)
{
	const struct local_provisioner_options *options = &provisioner_of(item)->options;
	cleanup(local_filling_done) struct local_filling source = { .volume = NULL };

	if (!find_source(item, claim, &source))
		return;
	item->source_in_use =
		source.volume && options->common.is_in_use(options->common.userdata, source.volume);
	order_directory(item, volume, DIRECTORY_MAKE, &source.from);
}

static bool is_apart(struct item *item, const struct persistent_volume *volume,
		     const struct object *claim)
{
	struct failure why = { .error = 0 };

	if (local_item_check_apart(item, volume, &why) == 0)
		return true;
	local_item_report(item, claim, "Warning", "ProvisioningFailed", why.text);
	return false;
}

static void sync_unfinished(struct item *item, const struct persistent_volume *volume)
{
	const struct object *claim = claim_of(item, volume);
	const struct storage_class *class = claim ? class_of(provisioner_of(item), claim) : NULL;
	bool wanted = claim && !volume->object->meta.deletes && !item->must_go &&
		      is_wanted_here(provisioner_of(item), claim, class);

	if (volume->object->meta.deletes && item->is_unmade) {
		volume_finalizer_forget(&item->work, volume->object);
		return; /* it only waits for finalizers */
	}
	if (wanted && work_item_backs_off(&item->work))
		return;
	if (volume->origin.moved_from[0] && claim &&
	    strcmp(claim->claim->volume_name, item->work.name) == 0) {
		item->is_finishing = true; /* a kill came between the last two writes of a move */
		write_finished(item, volume->object);
		return;
	}
	if (wanted && plan(item, claim, class) == 0 && is_apart(item, volume, claim))
		order_made(item, volume, claim);
	else
		order_directory(item, volume, DIRECTORY_UNMAKE, NULL);
}

/* An object that was deleted by hand goes, and what is behind it stays. */
static void refuse_removal(struct item *item, const struct persistent_volume *volume,
			   const struct failure *why)
{
	local_item_report(item, volume->object, "Warning", "VolumeFailedDelete", why->text);
	if (volume->object->meta.deletes && !work_item_backs_off(&item->work))
		volume_finalizer_forget(&item->work, volume->object);
}

static void sync_volume(struct item *item, const struct persistent_volume *volume)
{
	const struct local_provisioner_options *options = &provisioner_of(item)->options;
	const struct object *node = node_named(provisioner_of(item), options->common.node_name);
	struct reclaim_facts facts = {
		.volume = volume,
		.claim_exists = claim_of(item, volume) != NULL,
		.sources_complete = options->common.is_complete(options->common.userdata),
		.node = node ? &node->meta.labels : NULL,
	};
	struct failure why = { .error = 0 };
	enum reclaim_verdict verdict;
	bool backs_off = work_item_backs_off(&item->work);

	if (options->in_cluster && !backs_off && volume_finalizer_keep(&item->work, volume))
		return;
	facts.outlives_data = volume_finalizer_is_there(volume->object);
	/* The dear questions only where the answer may matter. */
	if (volume->phase == VOLUME_RELEASED && volume->reclaim_policy == RECLAIM_DELETE) {
		facts.is_in_use = options->common.is_in_use(options->common.userdata, volume);
		if (local_path_of(volume) && !facts.is_in_use && facts.sources_complete)
			facts.neighbour = local_neighbour_of(provisioner_of(item), volume);
	}
	verdict = local_reclaim_decide(&facts, &why);
	item->waits = verdict == RECLAIM_WAIT;
	provisioner_of(item)->has_waiting |= item->waits;
	if (verdict == RECLAIM_WAIT)
		local_item_report(item, volume->object, "Normal", "VolumeDelete", why.text);
	else if (verdict == RECLAIM_REFUSED)
		refuse_removal(item, volume, &why);
	else if (verdict == RECLAIM_REMOVE && !backs_off && item->is_removed)
		volume_finalizer_forget(&item->work, volume->object);
	else if (verdict == RECLAIM_REMOVE && !backs_off)
		order_directory(item, volume, DIRECTORY_REMOVE, NULL);
}

/* Its claim has another volume, of which the claim's size is meant. */
static bool is_moved_away(const struct persistent_volume *volume, const struct object *claim)
{
	return claim && volume->origin.moved_to[0] &&
	       strcmp(claim->claim->volume_name, volume->object->meta.name) != 0;
}

/* Is it the volume that a claim gets first, and none of a move? */
static bool is_named_for(const struct item *item, const struct object *claim)
{
	char name[LOCAL_VOLUME_NAME_BYTES];

	return strcmp(local_volume_name(claim, name), item->work.name) == 0;
}

bool local_item_sync(struct work_item *work)
{
	struct item *item = (struct item *) work;
	const struct persistent_volume *volume = volume_of(item);
	const struct object *claim = claim_of(item, volume);

	item->is_unmade &= volume != NULL;
	if (local_move_is(item, volume, claim))
		local_move_sync(item, volume, claim);
	else if (volume && volume->origin.is_unfinished &&
		 local_is_provisioner(volume->origin.provisioned_by))
		sync_unfinished(item, volume);
	else if (volume &&
		 !local_expand_sync(item, volume, is_moved_away(volume, claim) ? NULL : claim))
		sync_volume(item, volume);
	else if (claim && !volume && is_named_for(item, claim))
		sync_claim(item, claim);
	return volume || claim || item->is_removed;
}
