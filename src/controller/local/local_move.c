/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_move - a bound claim's data go to a volume of another class, or at a path; see local_item.h
 *
 * A path is that of a volume of the claim's own class, retained, that lies apart from all others.
 *
 * Decided from the stored objects alone. Nothing of the old volume is removed or written to, and a
 * claim that a pod has or wants is not moved.
 */
#include "controller/local/local_item.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/path.h"
#include "controller/local/local_reclaim.h"
#include "controller/snapshot/local_snapshotter.h"
#include "controller/snapshot/snapshot_plan.h"
#include "object/json/json.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* What is moved where; borrowed from stored objects. */
struct move {
	const struct object *claim;
	const struct persistent_volume *from, *to; /* @to NULL: not stored yet */
	const struct storage_class *class;         /* of the new volume */
};

static struct local_provisioner *provisioner_of(const struct item *item)
{
	return work_queue_userdata(item->work.queue);
}

static const char *class_word(const struct object *claim)
{
	return claim_move_path(claim->claim) ? "" : "StorageClass ";
}

/* One that is unfinished was made before the claim was asked to move to what it names now? */
static bool is_elsewhere(const struct persistent_volume *volume, const struct object *claim)
{
	const char *path = claim_move_path(claim->claim);
	struct local_place place = { 0 };
	char made[PATH_MAX];

	if (!volume->origin.is_unfinished)
		return false;
	if (!path)
		return strcmp(volume->storage_class, claim->claim->move_to) != 0;
	if (local_place_of(volume, &place, NULL) < 0)
		return true;
	(void) snprintf(made, sizeof(made), "%s/%s", place.base_path, place.name);
	return strcmp(made, path) != 0;
}

bool local_move_is(const struct item *item, const struct persistent_volume *volume,
		   const struct object *claim)
{
	char name[CLAIM_MOVE_NAME_BYTES];

	return claim && claim->claim->move_to[0] && !claim->meta.deletes &&
	       !(volume && (volume->object->meta.deletes || volume->origin.is_called_off ||
			    is_elsewhere(volume, claim))) &&
	       !provisioner_of(item)->options.in_cluster &&
	       strcmp(claim_move_name(claim, name), item->work.name) == 0;
}

/* ---- refusing ---- */

static int edit_refused(struct cJSON *tree, void *userdata)
{
	(void) metadata_remove_annotation(tree, (void *) ANNOTATION_MOVE_TO);
	return metadata_set_annotation(tree, ANNOTATION_LAST_MOVE, userdata);
}

void local_move_refuse(struct item *item, const struct object *claim, const char *why)
{
	char text[FAILURE_TEXT_BYTES + 128];

	(void) snprintf(text, sizeof(text), "not moved to %s'%.200s': %s", class_word(claim),
			claim->claim->move_to, why);
	log_message(LOG_NOTICE, "claim '%s/%s' is %s", claim->meta.name_space, claim->meta.name,
		    text);
	local_item_report(item, claim, "Warning", "VolumeMoveFailed", text);
	work_item_edit(&item->work, claim, edit_refused, text);
}

static int edit_called_off(struct cJSON *tree, void *userdata)
{
	return metadata_set_annotation(tree, ANNOTATION_UNFINISHED, UNFINISHED_CALLED_OFF);
}

static int call_off(void *userdata, const struct object *present, const struct object **ret,
		    struct failure *why)
{
	if (!present->persistent_volume->origin.is_unfinished)
		return failed_plain(why, -ESTALE, "the volume is finished");
	return object_edit(present, edit_called_off, NULL, ret, why);
}

void local_move_call_off(struct local_provisioner *provisioner, const struct object *volume)
{
	cleanup_object const struct object *made = NULL;
	struct store_precondition seen = { .uid = "" };
	struct failure why = { .error = 0 };
	int r;

	assert(!volume || volume->kind == KIND_PERSISTENT_VOLUME);
	if (!volume || !volume->persistent_volume->origin.moved_from[0] ||
	    !volume->persistent_volume->origin.is_unfinished ||
	    volume->persistent_volume->origin.is_called_off)
		return;
	seen.uid = volume->meta.uid;
	seen.resource_version = volume->meta.resource_version;
	r = call_off(NULL, volume, &made, &why);
	if (r == 0)
		r = store_edit(provisioner->options.common.store, made, &seen, call_off, NULL,
			       NULL);
	if (r < 0)
		log_message(LOG_ERR, "the move to volume '%s' cannot be called off: %s",
			    volume->meta.name, why.error ? why.text : strerror(-r));
}

/* ---- what says no ---- */

static int find(const struct item *item, const struct object *claim, struct move *ret,
		struct failure *reterr)
{
	struct store *store = provisioner_of(item)->options.common.store;
	const char *class_name =
		claim_move_path(claim->claim) ? claim->claim->storage_class : claim->claim->move_to;
	const char *name = claim->claim->volume_name;
	const struct object *class = store_get(store, KIND_STORAGE_CLASS, "", class_name);
	const struct object *from = NULL;

	if (claim->claim->phase == CLAIM_BOUND)
		from = store_get(store, KIND_PERSISTENT_VOLUME, "", name);
	if (!from || strcmp(from->persistent_volume->claim_uid, claim->meta.uid) != 0)
		return failed_plain(reterr, -ENOENT, "the claim is not bound to a volume");
	if (!class)
		return failed_plain(reterr, -ENOENT, "there is no StorageClass '%s'", class_name);
	ret->from = from->persistent_volume;
	ret->class = class->storage_class;
	return 0;
}

bool local_move_can_end(const struct item *item, const struct persistent_volume *volume,
			const struct object *claim)
{
	struct move move = { .claim = claim, .to = volume };

	return local_move_is(item, volume, claim) && find(item, claim, &move, NULL) == 0;
}

static int check_kinds(const struct move *move, struct failure *reterr)
{
	const char *provisioner = move->class->provisioner;

	if (strcmp(snapshot_driver_of(move->from), LOCAL_SNAPSHOT_DRIVER) != 0 ||
	    move->from->mode != VOLUME_MODE_FILESYSTEM)
		return failed_plain(reterr, -EINVAL,
				    "volume '%s' is not a directory that '%s' made",
				    move->from->object->meta.name, LOCAL_SNAPSHOT_DRIVER);
	if (strcmp(provisioner, LOCAL_SNAPSHOT_DRIVER) != 0 &&
	    strcmp(provisioner, LOCAL_DRIVER_NAME) != 0)
		return failed_plain(reterr, -EINVAL,
				    "the class's provisioner is '%s', and not '%s'", provisioner,
				    LOCAL_SNAPSHOT_DRIVER);
	if (quantity_compare(&move->claim->claim->request, &move->from->capacity) < 0)
		return failed_plain(reterr, -EINVAL,
				    "the claim asks for less than its volume '%s' has",
				    move->from->object->meta.name);
	return 0;
}

static int check_use(const struct item *item, const struct move *move, struct failure *reterr)
{
	const struct local_provisioner_options *options = &provisioner_of(item)->options;

	if (!options->common.is_in_use(options->common.userdata, move->from) &&
	    !options->is_wanted(options->common.userdata, move->from))
		return 0;
	return failed_plain(reterr, -EBUSY,
			    "volume '%s' is in use: delete the pods that mount it, and wait until "
			    "it is unmounted",
			    move->from->object->meta.name);
}

static bool is_base_path(const struct item *item, const char *path)
{
	for (size_t i = 0; i < item->plan.base_count; i++)
		if (strcmp(item->plan.base_paths[i], path) == 0)
			return true;
	return false;
}

/* Where this move makes it, too. Who may write volumes knows its name before. */
static bool is_made_here(const struct item *item, const struct move *move)
{
	struct local_place place = { 0 };

	if (!move->to->origin.is_unfinished ||
	    strcmp(move->to->origin.moved_from, move->from->object->meta.name) != 0 ||
	    local_place_of(move->to, &place, NULL) < 0)
		return false;
	return is_base_path(item, place.base_path) && strcmp(place.name, item->plan.name) == 0;
}

/* Another volume of that name: one from a backup, maybe. */
static int check_target(const struct item *item, const struct move *move, struct failure *reterr)
{
	if (!move->to || is_made_here(item, move))
		return 0;
	return failed_plain(reterr, -EEXIST, "there is a volume '%s', which no move made",
			    move->to->object->meta.name);
}

/* Also one that no move made, and that is only retained. */
static int check_apart(const struct item *item, const struct move *move, struct failure *reterr)
{
	const char *path = claim_move_path(move->claim->claim);
	const struct object *other = local_neighbour_at(provisioner_of(item), path, move->to);

	if (!other)
		return 0;
	return failed_plain(reterr, -EEXIST, "it lies in the directory of volume '%s', or holds it",
			    other->meta.name);
}

/* A base path there would be made in the user's data. */
static int check_places(const struct item *item, const struct move *move, struct failure *reterr)
{
	struct local_place place = { 0 };
	char source[PATH_MAX];
	int r = local_place_of(move->from, &place, reterr);

	if (r < 0)
		return r;
	/* One that was moved to a path may come back. */
	if (is_base_path(item, place.base_path) &&
	    strcmp(move->from->storage_class, move->class->object->meta.name) == 0)
		return failed_plain(reterr, -EINVAL, "volume '%s' is of this class",
				    move->from->object->meta.name);
	(void) snprintf(source, sizeof(source), "%s/%s", place.base_path, place.name);
	for (size_t i = 0; i < item->plan.base_count; i++) {
		const char *base = item->plan.base_paths[i];

		if (path_is_at_or_below(base, source))
			return failed_plain(reterr, -EINVAL,
					    "the class's base path '%s' lies in volume '%s'", base,
					    move->from->object->meta.name);
	}
	return 0;
}

static int plan(struct item *item, const struct move *move, struct failure *reterr)
{
	int r = local_item_plan(item, move->claim, move->class, item->work.name, reterr);

	if (r < 0)
		return r;
	return (item->plan.is_named ? check_apart : check_places)(item, move, reterr);
}

/* ---- sync ---- */

static int begin(struct item *item, const struct move *move, struct failure *reterr)
{
	cleanup(local_filling_done) struct local_filling source = { .volume = NULL };
	char text[FAILURE_TEXT_BYTES];
	int r;

	if (!move->to) {
		(void) snprintf(text, sizeof(text), "moving from volume %s to %s%s",
				move->from->object->meta.name, class_word(move->claim),
				move->claim->claim->move_to);
		local_item_report(item, move->claim, "Normal", "VolumeMoving", text);
		local_item_choose(item);
		return 0;
	}
	r = local_item_check_apart(item, move->to, reterr);
	if (r == 0)
		r = local_filling_of_volume(move->from, &source, reterr);
	source.from.is_unused = true;
	if (r == 0)
		local_item_fill(item, move->to, &source.from);
	return r;
}

void local_move_sync(struct item *item, const struct persistent_volume *volume,
		     const struct object *claim)
{
	const struct local_provisioner_options *options = &provisioner_of(item)->options;
	struct move move = { .claim = claim, .to = volume };
	struct failure why = { .error = 0 };
	int r;

	/* Who uses it is not known before. */
	item->waits = !options->common.is_complete(options->common.userdata);
	provisioner_of(item)->has_waiting |= item->waits;
	if (item->waits || work_item_backs_off(&item->work))
		return;
	r = find(item, claim, &move, &why);
	if (r == 0)
		r = check_kinds(&move, &why);
	if (r == 0)
		r = check_use(item, &move, &why);
	if (r == 0)
		r = plan(item, &move, &why);
	if (r == 0)
		r = check_target(item, &move, &why);
	if (r == 0)
		r = begin(item, &move, &why);
	if (r == -ENOMEM)
		work_item_failed(&item->work);
	else if (r < 0)
		local_move_refuse(item, claim, why.text);
}

/* ---- the switch ---- */

static int edit_from(struct cJSON *tree, void *userdata)
{
	const struct move *move = userdata;

	(void) json_set_string(json_ensure_object(tree, "spec"), "persistentVolumeReclaimPolicy",
			       "Retain");
	return metadata_set_annotation(tree, ANNOTATION_MOVED_TO, move->to->object->meta.name);
}

static int edit_claim(struct cJSON *tree, void *userdata)
{
	const struct move *move = userdata;
	const char *name = move->to->object->meta.name, *class = move->to->storage_class;
	struct cJSON *spec = json_ensure_object(tree, "spec");
	cleanup_json struct cJSON *volume = object_tree(move->to->object);
	char text[FAILURE_TEXT_BYTES];

	if (!volume)
		return -ENOMEM;
	(void) json_set_string(spec, "volumeName", name);
	(void) json_set_string(spec, "storageClassName", class);
	(void) metadata_remove_annotation(tree, (void *) "volume.beta.kubernetes.io/storage-class");
	(void) metadata_remove_annotation(tree, (void *) ANNOTATION_MOVE_TO);
	(void) metadata_set_annotation(tree, ANNOTATION_PROVISIONER,
				       move->to->origin.provisioned_by);
	(void) metadata_set_annotation(tree, ANNOTATION_PROVISIONER_BETA,
				       move->to->origin.provisioned_by);
	(void) snprintf(text, sizeof(text),
			"moved to %s'%s', from volume '%s' to '%s'; the old data stay in '%s'",
			class_word(move->claim), move->claim->claim->move_to,
			move->from->object->meta.name, name, local_path_of(move->from));
	(void) metadata_set_annotation(tree, ANNOTATION_LAST_MOVE, text);
	return json_set(json_ensure_object(tree, "status"), "capacity",
			json_copy(json_get_path(volume, "spec.capacity")));
}

int local_move_edit_finished(struct cJSON *tree, void *userdata)
{
	const struct cJSON *annotations = json_get_path(tree, "metadata.annotations");

	if (json_get(annotations, ANNOTATION_MOVED_FROM) &&
	    metadata_remove_finalizer(tree, (void *) FINALIZER_PROVISIONER) < 0)
		return -ENOMEM;
	return metadata_remove_annotation(tree, (void *) ANNOTATION_UNFINISHED);
}

/* In their order. */
enum { WRITE_FROM, WRITE_CLAIM, WRITE_TO, WRITE_COUNT };

struct move_write {
	const struct object *object, *made;
	int (*edit)(struct cJSON *tree, void *userdata);
};

static int queue(struct item *item, const struct move_write *writes, size_t at)
{
	const struct object *object = writes[at].object;
	const struct store_precondition seen = {
		.uid = object->meta.uid,
		.resource_version = object->meta.resource_version,
		.follows = at != WRITE_FROM,
		.ends_move = at == WRITE_CLAIM,
	};
	bool is_last = at == WRITE_TO;

	return store_update(provisioner_of(item)->options.common.store, writes[at].made, &seen,
			    is_last ? work_item_written : NULL, is_last ? item : NULL);
}

void local_move_switch(struct item *item, const struct persistent_volume *volume,
		       const struct object *claim)
{
	struct move move = { .claim = claim, .to = volume };
	struct move_write writes[WRITE_COUNT] = {
		[WRITE_CLAIM] = { claim, NULL, edit_claim },
		[WRITE_TO] = { volume->object, NULL, local_move_edit_finished },
	};
	struct failure why = { .error = 0 };
	int r = 0;

	assert(volume->origin.is_unfinished && volume->origin.moved_from[0]);
	if (find(item, claim, &move, &why) < 0)
		return; /* the next sync refuses it */
	writes[WRITE_FROM] = (struct move_write){ move.from->object, NULL, edit_from };
	/* None is queued unless each can be made: the old volume would be marked as moved. */
	for (size_t i = 0; r == 0 && i < WRITE_COUNT; i++)
		r = object_edit(writes[i].object, writes[i].edit, &move, &writes[i].made, &why);
	if (r < 0)
		log_message(LOG_WARNING, "claim '%s/%s' cannot be moved yet: %s",
			    claim->meta.name_space, claim->meta.name,
			    why.error ? why.text : "out of memory");
	for (size_t i = 0; r == 0 && i < WRITE_COUNT; i++)
		r = queue(item, writes, i);
	for (size_t i = 0; i < WRITE_COUNT; i++)
		(void) object_unref(writes[i].made);
	work_item_queued(&item->work, r);
}
