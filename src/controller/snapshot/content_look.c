/* SPDX-License-Identifier: Apache-2.0 */
/*
 * content_look - what is next for a VolumeSnapshotContent; see snapshotter.h
 *
 * While a snapshot may be in the making the content says so (the annotation of
 * external-snapshotter): it is asked for again until the answer is certain, and only then can it
 * go.
 */
#include "controller/snapshot/snapshotter_internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "object/json/json.h"

static const struct volume_snapshot_content *find_content(const struct snapshot_item *item)
{
	const struct object *object = store_get(snapshotter_of(item)->options.store,
						KIND_VOLUME_SNAPSHOT_CONTENT, "", item->work.name);

	return object ? object->volume_snapshot_content : NULL;
}

/* ---- what came of an order ---- */

struct content_edit {
	const struct snapshot_result *result; /* NULL: leave the status */
	bool set_mark, remove_mark;
};

static int edit_content(struct cJSON *tree, void *userdata)
{
	const struct content_edit *edit = userdata;
	const struct snapshot_result *result = edit->result;
	struct cJSON *metadata = json_ensure_object(tree, "metadata");
	struct cJSON *annotations = json_ensure_object(metadata, "annotations");
	struct cJSON *status = result ? json_ensure_object(tree, "status") : NULL;

	if (edit->set_mark)
		(void) json_set_string(annotations, ANNOTATION_SNAPSHOT_BEING_CREATED, "yes");
	if (edit->remove_mark)
		json_remove(annotations, ANNOTATION_SNAPSHOT_BEING_CREATED);
	if (!result)
		return 0;
	(void) json_set_string(status, "snapshotHandle", result->handle);
	(void) json_set_bool(status, "readyToUse", result->is_ready);
	if (result->creation_nsec > 0)
		(void) json_set_int(status, "creationTime", result->creation_nsec);
	if (result->bytes > 0)
		(void) json_set_int(status, "restoreSize", result->bytes);
	json_remove(status, "error");
	return 0;
}

static void write_edit(struct snapshot_item *item, const struct volume_snapshot_content *content,
		       struct content_edit *edit)
{
	const struct object *made = NULL;
	int r = object_edit(content->object, edit_content, edit, &made, NULL);

	work_item_update(&item->work, r, content->object, made);
}

static void told_failure(struct snapshot_item *item, const struct volume_snapshot_content *content,
			 const struct snapshot_end *end)
{
	bool is_removal = item->deed == SNAPSHOT_REMOVE;
	cleanup_object const struct object *unmarked = NULL;
	const struct object *base = content->object, *made = NULL;
	struct content_edit edit = { .remove_mark = true };
	int r = 0;

	log_message(LOG_WARNING, "snapshot content '%s': %s", item->work.name, end->why->text);
	snapshot_report(item, content->object, "Warning",
			is_removal ? "SnapshotDeleteError" : "SnapshotCreationFailed",
			end->why->text);
	work_item_failed(&item->work);
	if (!is_removal && end->is_final && content->is_being_created) {
		r = object_edit(base, edit_content, &edit, &unmarked, NULL);
		base = unmarked;
	}
	if (r == 0)
		r = snapshot_plan_error(base, end->why->text, realtime_usec(), &made);
	if (r == 0 && !made)
		made = unmarked ? object_ref(unmarked) : NULL;
	if (r < 0 || made)
		work_item_update(&item->work, r, content->object, made);
}

static void told_removed(struct snapshot_item *item, const struct volume_snapshot_content *content)
{
	const char *by = content->deleted_by;
	const struct object *made = NULL;
	int r;

	log_message(
		LOG_NOTICE,
		"snapshot '%s' of driver '%s' is deleted: VolumeSnapshot '%s/%s' was deleted%s%s, "
		"under policy Delete",
		content->snapshot_handle, content->driver, content->snapshot_namespace,
		content->snapshot_name, by[0] ? " by " : "", by);
	work_item_succeeded(&item->work);
	r = snapshot_without_finalizer(content->object, FINALIZER_CONTENT, &made);
	work_item_update(&item->work, r, content->object, made);
}

static void told_taken(struct snapshot_item *item, const struct volume_snapshot_content *content,
		       const struct snapshot_result *result)
{
	struct content_edit edit = { .result = result, .remove_mark = true };

	if (result->is_ready)
		work_item_succeeded(&item->work);
	else
		work_item_failed(&item->work); /* asked again after a while */
	write_edit(item, content, &edit);
}

static void on_done(void *userdata, const struct snapshot_end *end)
{
	struct snapshot_item *item = userdata;
	const struct volume_snapshot_content *content;

	if (!work_item_end(&item->work))
		return;
	if (snapshotter_of(item)->is_stopped || end->error == -ECANCELED)
		return;
	content = find_content(item);
	if (!content)
		log_message(LOG_WARNING,
			    "snapshot content '%s' went while its snapshot was worked on",
			    item->work.name);
	else if (end->error < 0)
		told_failure(item, content, end);
	else if (item->deed == SNAPSHOT_REMOVE)
		told_removed(item, content);
	else
		told_taken(item, content, end->result);
	work_queue_run(item->work.queue);
}

static void start(struct snapshot_item *item, const struct volume_snapshot_content *content,
		  enum snapshot_deed deed)
{
	const struct snapshotter_options *options = &snapshotter_of(item)->options;
	const struct object *class =
		store_get(options->store, KIND_VOLUME_SNAPSHOT_CLASS, "", content->class_name);
	const struct snapshot_order order = {
		.deed = deed,
		.content = content,
		.class = class ? class->volume_snapshot_class : NULL,
	};
	struct failure why = { .error = 0 };
	int r = options->backend->start(options->backend_userdata, &order, on_done, item, &why);

	item->deed = deed;
	if (r == 0) {
		work_item_begin(&item->work);
		return;
	}
	if (r == -EAGAIN)
		snapshot_report(item, content->object, "Warning", "SnapshotPending", why.text);
	else
		told_failure(item, content, &(struct snapshot_end){ .error = r, .why = &why });
}

/* ---- looking ---- */

/* Its VolumeSnapshot was deleted, or it never had one. */
static bool may_go(const struct volume_snapshot_content *content)
{
	return content->is_being_deleted || (*content->given_handle && !*content->snapshot_uid);
}

static void look_at_deleted(struct snapshot_item *item,
			    const struct volume_snapshot_content *content)
{
	const struct snapshotter_options *options = &snapshotter_of(item)->options;
	const char *handle = content->snapshot_handle;
	const struct object *made = NULL;
	int r;

	if (!may_go(content) || !content->has_finalizer)
		return;
	if (content->deletion_policy == SNAPSHOT_DELETE && content->is_being_created && !*handle) {
		start(item, content, SNAPSHOT_TAKE); /* only then is it known what to delete */
		return;
	}
	if (content->deletion_policy == SNAPSHOT_DELETE && *handle) {
		if (options->is_complete(options->userdata))
			start(item, content, SNAPSHOT_REMOVE);
		return;
	}
	r = snapshot_without_finalizer(content->object, FINALIZER_CONTENT, &made);
	work_item_update(&item->work, r, content->object, made);
}

static void look_at_wanted(struct snapshot_item *item,
			   const struct volume_snapshot_content *content)
{
	struct content_edit mark = { .set_mark = true };
	const struct object *made = NULL;
	int r;

	if (!content->has_finalizer) {
		r = snapshot_with_finalizer(content->object, FINALIZER_CONTENT, &made);
		work_item_update(&item->work, r, content->object, made);
	} else if (content->state.is_ready) {
		return;
	} else if (*content->given_handle) {
		start(item, content, SNAPSHOT_LOOK);
	} else if (!content->is_being_created && !*content->snapshot_handle) {
		write_edit(item, content, &mark);
	} else {
		start(item, content, SNAPSHOT_TAKE);
	}
}

bool content_look(struct work_item *work)
{
	struct snapshot_item *item = (struct snapshot_item *) work;
	const struct snapshotter_options *options = &snapshotter_of(item)->options;
	const struct volume_snapshot_content *content = find_content(item);

	if (!content)
		return false;
	if (!options->backend->serves(options->backend_userdata, content->driver) ||
	    work_item_backs_off(work))
		return true;
	if (content->object->meta.deletes)
		look_at_deleted(item, content);
	else
		look_at_wanted(item, content);
	return true;
}
