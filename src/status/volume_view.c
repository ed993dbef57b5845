/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_view - see volume_view.h
 */
#include "status/volume_view.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "controller/csi/claim_resize.h"
#include "object/json/json.h"
#include "object/timestamp.h"
#include "plugins/plugin.h"
#include "status/status.h"
#include "status/size_limits.h"
#include "status/view_time.h"
#include "status/volume_events.h"
#include "status/volume_faults.h"
#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* "secret/tls": of a pod's own volume; "" where nothing names it. */
static const char *source_name(const struct pod_volume *source)
{
	if (source->source == SOURCE_CONFIG_MAP || source->source == SOURCE_SECRET)
		return source->object_count == 1 ? source->objects[0].name : "";
	return source->csi ? source->csi->driver : source->image ?: "";
}

/* The plugin's own words, else the source as the manifest has it, with its object or driver. */
static void add_source(struct cJSON *item, const struct volume_row *row)
{
	const struct volume_spec *spec = row->want_pod ? &row->want_pod->spec : NULL;
	const struct persistent_volume *pv = spec ? spec_pv(spec) : NULL;
	const char *text = "", *key = "", *name = "";
	cleanup_free char *made = NULL;

	if (spec && row->want->plugin->get_source)
		text = row->want->plugin->get_source(spec);
	if (pv) {
		key = pv->source_key;
		name = pv->csi ? pv->csi->driver : "";
	} else if (spec && spec->source) {
		key = spec->source->source_key;
		name = source_name(spec->source);
	}
	made = new_text("%s%s%s", key, *name ? "/" : "", name);
	(void) json_set_string(item, "source", *text || !made ? text : made);
}

/* The pod's own mount counts, not the device's, which may be there long before; but for a device
 * that no pod has. */
static const char *state_of(const struct volume_row *row, bool is_stuck, bool is_faulty)
{
	enum mount_state state = row->have_pod ? row->have_pod->state : MOUNT_ABSENT;

	if (!row->want && !row->have_pod)
		state = row->have->device_state;

	/* What hangs may still happen. */
	if (is_stuck && state == MOUNT_ABSENT)
		state = MOUNT_UNCERTAIN;
	return state == MOUNT_DONE && is_faulty ? "faulty" : mount_state_name(state);
}

static void add_stored_pod(struct cJSON *item, const struct object *pod)
{
	char key[POD_KEY_BYTES], created[TIMESTAMP_BYTES];

	timestamp_print_milli(pod->meta.creation_usec, created);
	(void) json_set_string(item, "pod", pod_key(pod->pod, key));
	(void) json_set_string(item, "podUID", pod->meta.uid);
	(void) json_set_string(item, "created", created);
}

/* A pod that left the store is known by the key that its entry kept. */
static void add_pod(struct cJSON *item, const struct volume_row *row)
{
	if (row->want_pod) {
		add_stored_pod(item, row->want_pod->pod);
		return;
	}
	(void) json_set_string(item, "pod", row->have_pod ? row->have_pod->pod_key : "");
	(void) json_set_string(item, "podUID", row->pod_uid);
}

static void add_advice(struct cJSON *item, int error)
{
	const char *text = advice_for(error);

	if (*text)
		(void) json_set_string(item, "advice", text);
}

static void add_operation(const struct volume_view *with, struct cJSON *item,
			  const struct volume_row *row)
{
	char progress[PROGRESS_TEXT_BYTES];
	struct operation_view view;
	struct failure why;

	if (!volume_row_operation(with->tables, row, &view)) {
		if (!with->tables->is_held(with->tables->userdata, row, &why))
			return;
		(void) json_set_string(item, "step", "wait");
		(void) json_set_string(item, "error", why.text);
		return;
	}
	progress_text(&view, monotonic_usec(), progress);
	if (*progress)
		(void) json_set_string(item, "progress", progress);
	operation_list_add_pace(item, &view);
	if (*slow_advice(&view))
		add_advice(item, -ETIMEDOUT);
	(void) json_set_string(item, "step", view.name);
	(void) json_set_string(item, "stage", view.stage ?: "");
	(void) json_set_int(item, "attempts", view.attempts);
	view_set_time(item, "since", view.since_usec);
	view_set_time(item, "failingSince", view.failing_usec);
	view_set_time(item, "nextRetry", view.retry_usec);
	if (view.failure) {
		(void) json_set_string(item, "error", view.failure->text);
		add_advice(item, view.failure->error);
	}
	if (view.failure && view.failed_at)
		(void) json_set_string(item, "failedAt", view.failed_at);
	with->describe(with->userdata, VIEW_OPERATION, item, row->unique_name, view.pod_uid);
}

/* What the daemon before this one began; nothing once a step of it has ended well. */
static void add_left_over(struct cJSON *item, const struct volume_row *row)
{
	const char *text = "";

	if (row->have_pod)
		text = unfinished_text(row->have_pod->left);
	if (row->have && !*text)
		text = unfinished_text(row->have->device_left);
	if (!*text && !row->want && !row->have_pod)
		text = "the device is set up, and no pod uses it";
	if (*text)
		(void) json_set_string(item, "leftOver", text);
}

/* Through which the pod has its PersistentVolume. */
static void add_claim(struct cJSON *item, const struct volume_row *row)
{
	const struct object *claim = row->want_pod ? row->want_pod->claim : NULL;
	char key[POD_KEY_BYTES];

	if (!claim)
		return;
	(void) snprintf(key, sizeof(key), "%s/%s", claim->meta.name_space, claim->meta.name);
	(void) json_set_string(item, "claim", key);
}

/* Why it is used at its old size: the claim's condition is the one record of it. */
static void add_resize_error(const struct volume_view *with, struct cJSON *item,
			     const struct volume_row *row)
{
	const struct object *used = row->want_pod ? row->want_pod->claim : NULL, *claim;
	cleanup_free char *text = NULL;

	if (!used || !*with->store)
		return;
	claim = store_get(*with->store, KIND_PERSISTENT_VOLUME_CLAIM, used->meta.name_space,
			  used->meta.name);
	text = claim ? claim_resize_error(claim) : NULL;
	if (text)
		(void) json_set_string(item, "resizeError", text);
}

/* Of a local volume whose size is enforced. */
static void add_limit(struct cJSON *item, const struct volume_row *row)
{
	const struct persistent_volume *pv = row->want_pod ? spec_pv(&row->want_pod->spec) : NULL;

	if (!pv || !pv->origin.capacity[0])
		return;
	(void) json_set_string(item, "enforcedBy", pv->origin.capacity);
	(void) json_set_int(item, "limitBytes", quantity_value(&pv->capacity));
}

static void fill_row(const struct volume_view *with, struct cJSON *item,
		     const struct volume_row *row)
{
	const char *fault = volume_faults_find(*with->faults, row->unique_name);
	const char *over = size_limits_find(*with->size_limits, row->unique_name);
	struct operation_view view;
	bool is_stuck;
	const char *plugin = row->want ? row->want->plugin->name : row->have->plugin_name;
	bool read_only = row->want_pod ? row->want_pod->spec.read_only
				       : row->have_pod && row->have_pod->read_only;

	add_pod(item, row);
	(void) json_set_string(item, "volume", row->outer_name);
	(void) json_set_string(item, "uniqueName", row->unique_name);
	(void) json_set_string(item, "specName",
			       row->want_pod ? row->want_pod->spec.name : row->have->spec_name);
	(void) json_set_string(item, "plugin", plugin);
	add_source(item, row);
	(void) json_set_string(item, "path", row->have_pod ? row->have_pod->path : "");
	(void) json_set_bool(item, "readOnly", read_only);
	(void) json_set_bool(item, "wanted", row->want_pod != NULL);
	is_stuck = volume_row_operation(with->tables, row, &view) && view.pace == PACE_STUCK;
	(void) json_set_string(item, "state", state_of(row, is_stuck, fault != NULL));
	if (fault) {
		(void) json_set_string(item, "fault", fault);
		add_advice(item, -EUCLEAN);
	}
	if (over)
		(void) json_set_string(item, "overLimit", over);
	(void) json_set_string(item, "device", row->have ? row->have->device_path ?: "" : "");
	(void) json_set_string(item, "deviceMountPath",
			       row->have ? row->have->device_mount_path ?: "" : "");
	if (row->have_pod && row->have_pod->took_usec > 0)
		(void) json_set_int(item, "tookMicroseconds", (int64_t) row->have_pod->took_usec);
	add_claim(item, row);
	add_resize_error(with, item, row);
	add_limit(item, row);
	add_left_over(item, row);
	add_operation(with, item, row);
	with->describe(with->userdata, VIEW_ROW, item, row->unique_name, row->pod_uid);
}

struct collection {
	const struct volume_view *with;
	struct cJSON *items;
	const char *word; /* NULL: every row */
	bool is_close;    /* what costs a walk for each row is there, too */
};

/* Whatever a person has at hand: unique name, name of the PV, path of the mount. */
static bool is_named(const struct volume_row *row, const char *word)
{
	const char *inner = row->want_pod ? row->want_pod->spec.name : row->have->spec_name;

	return strcmp(row->unique_name, word) == 0 || strcmp(inner, word) == 0 ||
	       (row->have_pod && strcmp(row->have_pod->path, word) == 0);
}

static int collect(const struct volume_row *row, void *userdata)
{
	struct collection *collection = userdata;
	struct cJSON *item;

	if (collection->word && !is_named(row, collection->word))
		return 0;
	item = json_add_object(collection->items, NULL);
	fill_row(collection->with, item, row);
	if (collection->is_close)
		collection->with->describe(collection->with->userdata, VIEW_CLOSE, item,
					   row->unique_name, row->pod_uid);
	return 0;
}

/* A volume that is in no table. Return: its row. */
static struct cJSON *add_missing(struct collection *collection, const struct object *pod,
				 const char *volume, const char *step, const char *error)
{
	struct cJSON *item = json_add_object(collection->items, NULL);

	add_stored_pod(item, pod);
	(void) json_set_string(item, "volume", volume);
	(void) json_set_string(item, "uniqueName", "");
	(void) json_set_string(item, "plugin", "");
	(void) json_set_string(item, "source", "");
	(void) json_set_string(item, "path", "");
	(void) json_set_bool(item, "readOnly", false);
	(void) json_set_bool(item, "wanted", strcmp(step, "none") != 0);
	(void) json_set_string(item, "state", mount_state_name(MOUNT_ABSENT));
	(void) json_set_string(item, "step", step);
	(void) json_set_string(item, "error", error);
	return item;
}

/* Nothing is wrong with it, but who asks for the pod wonders where it is. */
static void collect_idle(struct collection *collection, const struct object *pod)
{
	const struct volume_view *with = collection->with;
	struct failure why;

	for (size_t i = 0; i < pod->pod->volume_count; i++) {
		const char *volume = pod->pod->volumes[i].name;

		if (!json_find(collection->items, "volume", volume) &&
		    (with->explain_idle(with->userdata, pod, &why) ||
		     pod_idle_explain_volume(pod, volume, &why)))
			(void) add_missing(collection, pod, volume, "none", why.text);
	}
}

/* What kept a volume out of the table altogether: errors of looking it up, or a pod before this
 * one. */
static void collect_errors(struct collection *collection, const struct object *pod)
{
	const struct volume_view *with = collection->with;
	const struct desired_errors *errors = desired_errors(with->tables->desired, pod->meta.uid);
	struct failure why;

	for (size_t i = 0; errors && i < errors->count; i++) {
		struct cJSON *item = add_missing(collection, pod, errors->volumes[i], "look_up",
						 errors->texts[i]);

		view_set_time(item, "since",
			      look_up_errors_since(*with->look_up_errors, pod->meta.uid));
		(void) json_set_string(item, "waitsFor", "waits for its objects to change");
		add_advice(item, errors->codes[i]);
	}
	if (with->explain_wait(with->userdata, pod, &why))
		for (size_t i = 0; i < pod->pod->volume_count; i++)
			(void) add_missing(collection, pod, pod->pod->volumes[i].name, "wait",
					   why.text);
	if (collection->is_close)
		collect_idle(collection, pod);
}

static int collect_errors_of_pod(const struct object *pod, void *userdata)
{
	collect_errors(userdata, pod);
	return 0;
}

struct cJSON *volume_view_list(const struct volume_view *with, const struct object *pod)
{
	struct cJSON *list = json_new_object();
	struct collection collection = { .with = with };
	char version[24];

	assert(with && (!pod || pod->kind == KIND_POD));
	collection.items = json_add_array(list, "items");
	if (pod) {
		collection.is_close = true;
		(void) volume_rows_of_pod(with->tables, pod->meta.uid, collect, &collection);
		collect_errors(&collection, pod);
		return list;
	}
	/* What a watch of this list goes on after. */
	(void) snprintf(version, sizeof(version), "%" PRIu64,
			volume_events_sequence(*with->events));
	(void) json_set_string(json_add_object(list, "metadata"), "resourceVersion", version);
	(void) volume_rows_of_all(with->tables, collect, &collection);
	(void) store_list(*with->store, KIND_POD, NULL, collect_errors_of_pod, &collection);
	return list;
}

/* Devices that no pod has or wants any more: rows are of pods, so these are none. */
static void collect_devices(struct collection *collection)
{
	const struct volume_tables *tables = collection->with->tables;
	const struct actual_volume *have;

	for (have = actual_first(tables->actual); have; have = have->hh.next) {
		struct volume_row row = { .have = have,
					  .unique_name = have->unique_name,
					  .pod_uid = "",
					  .outer_name = have->spec_name };

		if (!have->pods && have->device_state != MOUNT_ABSENT &&
		    !desired_find(tables->desired, have->unique_name))
			(void) collect(&row, collection);
	}
}

struct cJSON *volume_view_named(const struct volume_view *with, const char *word)
{
	struct cJSON *list = json_new_object();
	struct collection collection = { .with = with, .word = word, .is_close = true };

	assert(word);
	collection.items = json_add_array(list, "items");
	(void) volume_rows_of_all(with->tables, collect, &collection);
	collect_devices(&collection);
	return list;
}
