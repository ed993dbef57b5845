/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_sync - what is next for a VolumeSnapshot; see snapshotter.h
 *
 * One write at a time, then another look: each of them may be the last one before a kill.
 */
#include "controller/snapshot/snapshotter_internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "controller/controller.h"
#include "object/json/json.h"
#include "object/kind.h"

#include <string.h>

static const struct snapshot_words *words_of(const struct snapshot_item *item)
{
	return snapshotter_of(item)->words;
}

static bool serves(const struct snapshot_item *item, const char *driver)
{
	const struct snapshotter_options *options = &snapshotter_of(item)->options;

	return options->backend->serves(options->backend_userdata, driver);
}

/* Others write claims there; the source's directory is locked while it is copied. */
static bool is_in_cluster(const struct snapshot_item *item)
{
	return snapshotter_of(item)->options.managed_by;
}

/* ---- the stored objects ---- */

static const struct volume_snapshot *find_snapshot(const struct snapshot_item *item)
{
	const char *slash = strchr(item->work.name, '/');
	cleanup_free char *space = strndup(item->work.name, (size_t) (slash - item->work.name));
	const struct object *object =
		space ? store_get(snapshot_store(item), words_of(item)->snapshot, space, slash + 1)
		      : NULL;

	return object ? object->volume_snapshot : NULL;
}

/* The one it is bound to, names or would be given; whether they agree is asked later. */
static const struct volume_snapshot_content *find_content(const struct snapshot_item *item,
							  const struct volume_snapshot *snapshot)
{
	char buffer[SNAPSHOT_NAME_BYTES];
	const char *name = snapshot->bound_content;
	const struct object *object;

	if (!*name)
		name = snapshot->content_name;
	if (!*name)
		name = snapshot_content_name(snapshot->object, buffer);
	object = store_get(snapshot_store(item), words_of(item)->content, "", name);
	return object ? object->volume_snapshot_content : NULL;
}

static const struct object *find_claim(const struct snapshot_item *item,
				       const struct volume_snapshot *snapshot)
{
	if (!*snapshot->claim_name)
		return NULL;
	return store_get(snapshot_store(item), KIND_PERSISTENT_VOLUME_CLAIM,
			 snapshot->object->meta.name_space, snapshot->claim_name);
}

const struct persistent_volume *snapshot_find_volume(const struct snapshot_item *item,
						     const struct object *claim)
{
	const struct object *object = NULL;

	if (claim && *claim->claim->volume_name)
		object = store_get(snapshot_store(item), KIND_PERSISTENT_VOLUME, "",
				   claim->claim->volume_name);
	if (!object || strcmp(object->persistent_volume->claim_uid, claim->meta.uid) != 0)
		return NULL;
	return object->persistent_volume;
}

static const struct volume_snapshot_class *find_class(const struct snapshot_item *item,
						      const char *name)
{
	const struct object *object =
		store_get(snapshot_store(item), words_of(item)->class, "", name);

	return object ? object->volume_snapshot_class : NULL;
}

/* "" while unknown. */
static const char *driver_of(const struct snapshot_item *item,
			     const struct volume_snapshot *snapshot,
			     const struct volume_snapshot_content *content)
{
	cleanup_free const struct persistent_volume **volumes = NULL;
	const struct persistent_volume *volume;
	size_t count;
	const struct volume_snapshot_class *class;

	if (content)
		return content->driver;
	class = snapshot->has_class ? find_class(item, snapshot->class_name) : NULL;
	if (class)
		return class->driver;
	if (snapshot->selector)
		return group_find_volumes(item, snapshot, &volumes, &count, NULL) == 0
			       ? snapshot_driver_of(volumes[0])
			       : "";
	volume = snapshot_find_volume(item, find_claim(item, snapshot));
	return volume ? snapshot_driver_of(volume) : "";
}

/* ---- what is wrong ---- */

/* In the status and as an event; looked at again when a claim, volume or class changes. */
static void refuse(struct snapshot_item *item, const struct volume_snapshot *snapshot,
		   const char *reason, const struct failure *why)
{
	const struct object *made = NULL;
	int r;

	snapshot_report(item, snapshot->object, "Warning", reason, why->text);
	item->waits = true;
	r = snapshot_plan_error(snapshot->object, why->text, realtime_usec(), &made);
	if (r < 0 || made)
		work_item_update(&item->work, r, snapshot->object, made);
}

/* ---- the claim that it is taken of ---- */

struct other_search {
	const struct volume_snapshot *snapshot;
	bool found;
};

static int take_other(const struct object *object, void *userdata)
{
	const struct volume_snapshot *other = object->volume_snapshot;
	struct other_search *search = userdata;

	search->found = other != search->snapshot && !object->meta.deletes &&
			!other->state.is_ready &&
			strcmp(other->claim_name, search->snapshot->claim_name) == 0;
	return search->found;
}

/* Return: false: nothing was begun, there is nothing to release. */
static bool release_claim(struct snapshot_item *item, const struct volume_snapshot *snapshot)
{
	const struct object *claim = find_claim(item, snapshot), *made = NULL;
	struct other_search search = { .snapshot = snapshot };
	int r;

	if (is_in_cluster(item) || !claim ||
	    !object_has_finalizer(claim, FINALIZER_CLAIM_AS_SOURCE))
		return false;
	(void) store_list(snapshot_store(item), KIND_VOLUME_SNAPSHOT,
			  snapshot->object->meta.name_space, take_other, &search);
	if (search.found)
		return false;
	r = snapshot_without_finalizer(claim, FINALIZER_CLAIM_AS_SOURCE, &made);
	work_item_update(&item->work, r, claim, made);
	return true;
}

/* ---- making a content ---- */

struct class_search {
	const char *driver;
	const struct volume_snapshot_class *found;
	size_t count;
};

static int take_default(const struct object *object, void *userdata)
{
	const struct volume_snapshot_class *class = object->volume_snapshot_class;
	struct class_search *search = userdata;

	if (class->is_default && strcmp(class->driver, search->driver) == 0) {
		search->found = class;
		search->count++;
	}
	return 0;
}

static int set_class(struct cJSON *tree, void *userdata)
{
	const struct object *class = userdata;

	return json_set_string(json_ensure_object(tree, "spec"),
			       snapshot_words(class->kind)->class_field, class->meta.name);
}

static void choose_class(struct snapshot_item *item, const struct volume_snapshot *snapshot,
			 const struct persistent_volume *volume)
{
	struct class_search search = { .driver = snapshot_driver_of(volume) };
	const struct object *made = NULL;
	struct failure why = { .error = 0 };
	int r;

	(void) store_list(snapshot_store(item), words_of(item)->class, NULL, take_default, &search);
	if (search.count == 1) {
		r = object_edit(snapshot->object, set_class, (void *) search.found->object, &made,
				NULL);
		work_item_update(&item->work, r, snapshot->object, made);
		return;
	}
	if (!*search.driver)
		(void) failed_plain(&why, -EINVAL,
				    "no snapshot can be taken of volume '%s': it is neither of a "
				    "CSI driver nor of provisioner '%s'",
				    volume->object->meta.name, LOCAL_SNAPSHOT_DRIVER);
	else if (search.count == 0)
		(void) failed_plain(&why, -ENOENT, "cannot find default snapshot class");
	else
		(void) failed_plain(&why, -EINVAL, "%zu default snapshot classes were found",
				    search.count);
	refuse(item, snapshot, "SetDefaultSnapshotClassFailed", &why);
}

static int check_sources(const struct volume_snapshot *snapshot,
			 const struct volume_snapshot_class *class, const struct object *claim,
			 const struct persistent_volume *volume, struct failure *why)
{
	if (!claim)
		return failed_plain(why, -ENOENT, "claim '%s' not found", snapshot->claim_name);
	if (!volume)
		return failed_plain(why, -EAGAIN,
				    "the claim '%s' is not yet bound to a volume: no snapshot can "
				    "be taken of it",
				    snapshot->claim_name);
	if (!snapshot->has_class)
		return 0;
	if (!class)
		return failed_plain(why, -ENOENT, "VolumeSnapshotClass '%s' not found",
				    snapshot->class_name);
	if (strcmp(class->driver, snapshot_driver_of(volume)) != 0)
		return failed_plain(why, -EINVAL,
				    "the class '%s' is one of driver '%s', the volume of claim "
				    "'%s' is not",
				    snapshot->class_name, class->driver, snapshot->claim_name);
	return 0;
}

static void write_content(struct snapshot_item *item, const struct volume_snapshot *snapshot,
			  const struct snapshot_sources *sources)
{
	const struct object *made = NULL;
	struct failure why = { .error = 0 };

	if (snapshot_plan_content(sources, &made, &why) < 0) {
		refuse(item, snapshot, "SnapshotContentCreationFailed", &why);
		return;
	}
	snapshot_report(item, snapshot->object, "Normal", "CreatingSnapshot",
			"Waiting for a snapshot to be created by the driver");
	work_item_create(&item->work, 0, made);
}

/* All claims of it at once, and of one driver. */
static void make_group_content(struct snapshot_item *item, const struct volume_snapshot *group)
{
	cleanup_free const struct persistent_volume **volumes = NULL;
	struct snapshot_sources sources = { .snapshot = group };
	struct failure why = { .error = 0 };
	int r = group_find_volumes(item, group, &volumes, &sources.volume_count, &why);

	if (r == 0 && !group->has_class) {
		choose_class(item, group, volumes[0]);
		return;
	}
	sources.volumes = volumes;
	sources.class = find_class(item, group->class_name);
	if (r == 0 && !sources.class)
		r = failed_plain(&why, -ENOENT, "VolumeGroupSnapshotClass '%s' not found",
				 group->class_name);
	if (r == 0 && strcmp(sources.class->driver, snapshot_driver_of(volumes[0])) != 0)
		r = failed_plain(&why, -EINVAL,
				 "the class '%s' is one of driver '%s', the volumes are not",
				 group->class_name, sources.class->driver);
	if (r < 0)
		refuse(item, group, "SnapshotContentCreationFailed", &why);
	else
		write_content(item, group, &sources);
}

/* The claim first: it stays until the snapshot is there. */
static void make_content(struct snapshot_item *item, const struct volume_snapshot *snapshot)
{
	const struct object *claim = find_claim(item, snapshot), *made = NULL;
	struct snapshot_sources sources = {
		.snapshot = snapshot,
		.class = snapshot->has_class ? find_class(item, snapshot->class_name) : NULL,
		.volume = snapshot_find_volume(item, claim),
		.managed_by = snapshotter_of(item)->options.managed_by,
	};
	struct failure why = { .error = 0 };
	int r = check_sources(snapshot, sources.class, claim, sources.volume, &why);

	if (r < 0) {
		refuse(item, snapshot, "SnapshotContentCreationFailed", &why);
		return;
	}
	if (!sources.class) {
		choose_class(item, snapshot, sources.volume);
		return;
	}
	if (!is_in_cluster(item) && !claim->meta.deletes &&
	    !object_has_finalizer(claim, FINALIZER_CLAIM_AS_SOURCE)) {
		r = snapshot_with_finalizer(claim, FINALIZER_CLAIM_AS_SOURCE, &made);
		work_item_update(&item->work, r, claim, made);
		return;
	}
	write_content(item, snapshot, &sources);
}

/* ---- a snapshot that is wanted ---- */

static int write_uid(struct cJSON *tree, void *userdata)
{
	const struct object *snapshot = userdata;
	struct cJSON *ref = json_ensure_object(json_ensure_object(tree, "spec"),
					       snapshot_words(snapshot->kind)->ref_field);

	return json_set_string(ref, "uid", snapshot->meta.uid);
}

/* Return: false: it is bound from both sides. */
static bool bind_content(struct snapshot_item *item, const struct volume_snapshot *snapshot,
			 const struct volume_snapshot_content *content)
{
	const struct object *made = NULL;
	struct failure why = { .error = 0 };
	int r;

	if (!snapshot_is_named_by(content, snapshot->object)) {
		(void) failed_plain(&why, -EINVAL, "%s [%s] is bound to a different snapshot",
				    kind_row(words_of(item)->content)->name,
				    content->object->meta.name);
		refuse(item, snapshot, "SnapshotContentMisbound", &why);
		return true;
	}
	if (*content->snapshot_uid)
		return false;
	r = object_edit(content->object, write_uid, (void *) snapshot->object, &made, NULL);
	work_item_update(&item->work, r, content->object, made);
	return true;
}

static void report_progress(struct snapshot_item *item, const struct volume_snapshot *snapshot,
			    const struct volume_snapshot_content *content)
{
	if (content->state.has_error)
		snapshot_report(item, snapshot->object, "Warning", "SnapshotCreationFailed",
				content->state.error);
	else if (content->state.is_ready)
		snapshot_report(item, snapshot->object, "Normal", "SnapshotReady",
				"Snapshot is ready to use");
	else if (content->creation_nsec > 0)
		snapshot_report(item, snapshot->object, "Normal", "SnapshotCreated",
				"Snapshot was successfully created by the driver");
}

static bool add_finalizers(struct snapshot_item *item, const struct volume_snapshot *snapshot)
{
	const char *missing = NULL;
	const struct object *made = NULL;
	int r;

	if (words_of(item)->source_finalizer && !snapshot->has_source_finalizer)
		missing = words_of(item)->source_finalizer;
	else if (!snapshot->has_bound_finalizer)
		missing = words_of(item)->bound_finalizer;
	if (!missing)
		return false;
	r = snapshot_with_finalizer(snapshot->object, missing, &made);
	work_item_update(&item->work, r, snapshot->object, made);
	return true;
}

static void sync_wanted(struct snapshot_item *item, const struct volume_snapshot *snapshot,
			const struct volume_snapshot_content *content)
{
	const struct object *made = NULL;
	struct failure why = { .error = 0 };
	int r;

	if (add_finalizers(item, snapshot))
		return;
	if (!content && (*snapshot->bound_content || *snapshot->content_name)) {
		(void) failed_plain(&why, -ENOENT, "%s is missing",
				    kind_row(words_of(item)->content)->name);
		refuse(item, snapshot, "SnapshotContentMissing", &why);
		return;
	}
	if (!content && snapshot->selector) {
		make_group_content(item, snapshot);
		return;
	}
	if (!content) {
		make_content(item, snapshot);
		return;
	}
	if (bind_content(item, snapshot, content))
		return;
	if (content->state.is_ready && group_make_members(item, snapshot, content))
		return;
	report_progress(item, snapshot, content);
	r = snapshot_plan_status(snapshot, content, &made);
	if (r < 0 || made)
		work_item_update(&item->work, r, snapshot->object, made);
	else if (snapshot->state.is_ready)
		(void) release_claim(item, snapshot);
}

/* ---- one that is being deleted ---- */

struct restore_search {
	const char *name;
	const struct object *found;
};

static int take_restored(const struct object *object, void *userdata)
{
	const struct persistent_volume_claim *claim = object->claim;
	struct restore_search *search = userdata;

	if (claim->data_source.kind != DATA_SOURCE_SNAPSHOT || claim->phase != CLAIM_PENDING ||
	    claim->data_source.name_space[0] || object->meta.deletes ||
	    strcmp(claim->data_source.name, search->name) != 0)
		return 0;
	search->found = object;
	return 1;
}

static int mark_deleted(struct cJSON *tree, void *userdata)
{
	struct cJSON *annotations =
		json_ensure_object(json_ensure_object(tree, "metadata"), "annotations");
	const struct volume_snapshot *snapshot = userdata;
	const char *mark = snapshot_words(snapshot->object->kind)->being_deleted;

	if (*snapshot->deleted_by)
		(void) json_set_string(annotations, ANNOTATION_DELETED_BY, snapshot->deleted_by);
	return json_set_string(annotations, mark, "yes");
}

/* Return: false: the content is gone, or stays. */
static bool let_content_go(struct snapshot_item *item, const struct volume_snapshot *snapshot,
			   const struct volume_snapshot_content *content)
{
	const struct snapshotter_options *options = &snapshotter_of(item)->options;
	const struct object *made = NULL;
	int r;

	if (!content || !snapshot_is_bound(content, snapshot->object))
		return false;
	if (!content->is_being_deleted) {
		r = object_edit(content->object, mark_deleted, (void *) snapshot, &made, NULL);
		work_item_update(&item->work, r, content->object, made);
		return true;
	}
	if (content->deletion_policy == SNAPSHOT_RETAIN)
		return false;
	if (!content->object->meta.deletes && options->common.is_complete(options->common.userdata))
		work_item_delete(&item->work, content->object);
	return true;
}

static void sync_deleted(struct snapshot_item *item, const struct volume_snapshot *snapshot,
			 const struct volume_snapshot_content *content)
{
	/* No claim is made from a group, only from its snapshots. */
	struct restore_search search = { .name = snapshot->object->kind == KIND_VOLUME_SNAPSHOT
							 ? snapshot->object->meta.name
							 : "" };
	const struct object *made = NULL;
	char text[FAILURE_TEXT_BYTES];
	int r;

	item->waits = true;
	if (group_that_holds(item, snapshot)) {
		(void) snprintf(text, sizeof(text),
				"deletion of the individual volume snapshot %.80s is not allowed "
				"as it belongs to group snapshot %.80s",
				snapshot->object->meta.name, snapshot->group_name);
		snapshot_report(item, snapshot->object, "Warning", "SnapshotDeletePending", text);
		return;
	}
	(void) store_list(snapshot_store(item), KIND_PERSISTENT_VOLUME_CLAIM,
			  snapshot->object->meta.name_space, take_restored, &search);
	if (search.found) {
		(void) snprintf(text, sizeof(text),
				"Snapshot is being used to restore a PVC: '%.180s'",
				search.found->meta.name);
		snapshot_report(item, snapshot->object, "Warning", "SnapshotDeletePending", text);
		return;
	}
	if (group_delete_members(item, snapshot, content) ||
	    let_content_go(item, snapshot, content) || release_claim(item, snapshot))
		return;
	if (!snapshot->has_source_finalizer && !snapshot->has_bound_finalizer)
		return; /* others hold it back */
	r = snapshot_without_finalizer(snapshot->object,
				       snapshot->has_source_finalizer
					       ? words_of(item)->source_finalizer
					       : words_of(item)->bound_finalizer,
				       &made);
	work_item_update(&item->work, r, snapshot->object, made);
}

bool snapshot_sync(struct work_item *work)
{
	struct snapshot_item *item = (struct snapshot_item *) work;
	const struct volume_snapshot *snapshot = find_snapshot(item);
	const struct volume_snapshot_content *content;

	item->waits = false;
	if (!snapshot)
		return false;
	content = find_content(item, snapshot);
	if (!serves(item, driver_of(item, snapshot, content)))
		item->waits = true;
	else if (work_item_backs_off(work))
		return true;
	else if (snapshot->object->meta.deletes)
		sync_deleted(item, snapshot, content);
	else
		sync_wanted(item, snapshot, content);
	return true;
}
