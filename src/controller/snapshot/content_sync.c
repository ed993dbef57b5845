/* SPDX-License-Identifier: Apache-2.0 */
/*
 * content_sync - what is next for a VolumeSnapshotContent; see snapshotter.h
 *
 * While a snapshot may be in the making the content says so (the annotation of
 * external-snapshotter): it is asked for again until the answer is certain, and only then can it
 * go.
 */
#include "controller/snapshot/snapshotter_internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "object/json/json.h"
#include "object/kind.h"
#include "object/timestamp.h"

static const struct volume_snapshot_content *find_content(const struct snapshot_item *item)
{
	const struct snapshotter *snapshotter = snapshotter_of(item);
	const struct object *object = store_get(snapshotter->options.common.store,
						snapshotter->words->content, "", item->work.name);

	return object ? object->volume_snapshot_content : NULL;
}

/* ---- what came of an order ---- */

struct content_edit {
	const struct snapshot_words *words;
	const struct snapshot_result *result; /* NULL: leave the status */
	bool set_mark, remove_mark;
};

static void write_members(struct cJSON *status, const struct snapshot_result *result)
{
	struct cJSON *list;

	json_remove(status, "volumeSnapshotInfoList");
	list = json_add_array(status, "volumeSnapshotInfoList");
	for (size_t i = 0; i < result->member_count; i++) {
		const struct snapshot_member *member = &result->members[i];
		struct cJSON *item = json_add_object(list, NULL);

		if (member->creation_nsec > 0)
			(void) json_set_int(item, "creationTime", member->creation_nsec);
		(void) json_set_bool(item, "readyToUse", member->is_ready);
		if (member->bytes > 0)
			(void) json_set_int(item, "restoreSize", member->bytes);
		(void) json_set_string(item, "snapshotHandle", member->handle);
		(void) json_set_string(item, "volumeHandle", member->volume_handle);
	}
}

/* A content has nanoseconds, that of a group RFC 3339. */
static void write_time(struct cJSON *status, const struct snapshot_result *result)
{
	char text[TIMESTAMP_BYTES];

	if (result->creation_nsec <= 0)
		return;
	if (!result->members) {
		(void) json_set_int(status, "creationTime", result->creation_nsec);
		return;
	}
	timestamp_print((uint64_t) result->creation_nsec / 1000, text);
	(void) json_set_string(status, "creationTime", text);
}

static int edit_content(struct cJSON *tree, void *userdata)
{
	const struct content_edit *edit = userdata;
	const struct snapshot_result *result = edit->result;
	struct cJSON *metadata = json_ensure_object(tree, "metadata");
	struct cJSON *annotations = json_ensure_object(metadata, "annotations");
	struct cJSON *status = result ? json_ensure_object(tree, "status") : NULL;

	if (edit->set_mark)
		(void) json_set_string(annotations, edit->words->being_created, "yes");
	if (edit->remove_mark)
		json_remove(annotations, edit->words->being_created);
	if (!result)
		return 0;
	(void) json_set_string(status, edit->words->handle_field, result->handle);
	(void) json_set_bool(status, "readyToUse", result->is_ready);
	write_time(status, result);
	if (result->members)
		write_members(status, result);
	if (result->bytes > 0)
		(void) json_set_int(status, "restoreSize", result->bytes);
	json_remove(status, "error");
	return 0;
}

static void write_edit(struct snapshot_item *item, const struct volume_snapshot_content *content,
		       struct content_edit *edit)
{
	const struct object *made = NULL;
	int r;

	edit->words = snapshotter_of(item)->words;
	r = object_edit(content->object, edit_content, edit, &made, NULL);

	work_item_update(&item->work, r, content->object, made);
}

static void on_failure(struct snapshot_item *item, const struct volume_snapshot_content *content,
		       const struct snapshot_end *end)
{
	bool is_removal = item->deed == SNAPSHOT_REMOVE;
	cleanup_object const struct object *unmarked = NULL;
	const struct object *base = content->object, *made = NULL;
	struct content_edit edit = { .words = snapshotter_of(item)->words, .remove_mark = true };
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

static void on_removed(struct snapshot_item *item, const struct volume_snapshot_content *content)
{
	const struct snapshot_words *words = snapshotter_of(item)->words;
	const char *by = content->deleted_by;
	const struct object *made = NULL;
	int r;

	log_message(LOG_NOTICE,
		    "snapshot '%s' of driver '%s' is deleted: %s '%s/%s' was deleted%s%s, "
		    "under policy Delete",
		    content->snapshot_handle, content->driver, kind_row(words->snapshot)->name,
		    content->snapshot_namespace, content->snapshot_name, by[0] ? " by " : "", by);
	work_item_succeeded(&item->work);
	r = snapshot_without_finalizer(content->object, words->content_finalizer, &made);
	work_item_update(&item->work, r, content->object, made);
}

/* Of a group that is to be deleted whatever the driver made is. */
static void on_taken(struct snapshot_item *item, const struct volume_snapshot_content *content,
		     const struct snapshot_result *result)
{
	struct content_edit edit = { .result = result, .remove_mark = true };
	struct failure why = { .error = 0 };

	if (result->members && !content->object->meta.deletes &&
	    snapshot_check_members(content, result->members, result->member_count, &why) < 0) {
		on_failure(item, content,
			   &(struct snapshot_end){ .error = why.error, .why = &why });
		return;
	}
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
		on_failure(item, content, end);
	else if (item->deed == SNAPSHOT_REMOVE)
		on_removed(item, content);
	else
		on_taken(item, content, end->result);
	work_queue_run(item->work.queue);
}

static void start(struct snapshot_item *item, const struct volume_snapshot_content *content,
		  enum snapshot_deed deed)
{
	const struct snapshotter_options *options = &snapshotter_of(item)->options;
	const struct object *class = store_get(
		options->common.store, snapshotter_of(item)->words->class, "", content->class_name);
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
		on_failure(item, content, &(struct snapshot_end){ .error = r, .why = &why });
}

/* ---- sync ---- */

/* Its VolumeSnapshot was deleted, or it never had one. */
static bool may_go(const struct volume_snapshot_content *content)
{
	return content->is_being_deleted || (*content->given_handle && !*content->snapshot_uid);
}

static void sync_deleted(struct snapshot_item *item, const struct volume_snapshot_content *content)
{
	const struct snapshotter_options *options = &snapshotter_of(item)->options;
	const char *handle = content->snapshot_handle;
	/* The driver deletes one of a group with the group. */
	bool deletes = content->deletion_policy == SNAPSHOT_DELETE && !*content->group_handle;
	const struct object *made = NULL;
	int r;

	if (!may_go(content) || !content->has_finalizer)
		return;
	if (deletes && content->is_being_created && !*handle) {
		start(item, content, SNAPSHOT_TAKE); /* only then is it known what to delete */
		return;
	}
	if (deletes && *handle) {
		if (options->common.is_complete(options->common.userdata))
			start(item, content, SNAPSHOT_REMOVE);
		return;
	}
	r = snapshot_without_finalizer(content->object,
				       snapshotter_of(item)->words->content_finalizer, &made);
	work_item_update(&item->work, r, content->object, made);
}

static void sync_wanted(struct snapshot_item *item, const struct volume_snapshot_content *content)
{
	struct content_edit mark = { .set_mark = true };
	const struct object *made = NULL;
	int r;

	if (!content->has_finalizer) {
		r = snapshot_with_finalizer(content->object,
					    snapshotter_of(item)->words->content_finalizer, &made);
		work_item_update(&item->work, r, content->object, made);
	} else if (content->state.is_ready) {
		return;
	} else if (*content->given_handle) {
		start(item, content, SNAPSHOT_QUERY);
	} else if (!content->is_being_created && !*content->snapshot_handle) {
		write_edit(item, content, &mark);
	} else {
		start(item, content, SNAPSHOT_TAKE);
	}
}

bool content_sync(struct work_item *work)
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
		sync_deleted(item, content);
	else
		sync_wanted(item, content);
	return true;
}
