/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views - what the API shows of this node beside the objects: volumes, operations, manifests,
 * events, version
 *
 * Trees are made for each request and belong to its caller; nothing here changes a table.
 */
#include "agent/parts.h"

#include "agent/observers.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "build-config.h"
#include "controller/csi/claim_resize.h"
#include "object/json/json.h"
#include "status/advice.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- volumes ---- */

static const char *source_of(const struct volume_row *row)
{
	const struct volume_spec *spec = &row->want_pod->spec;
	const char *text = row->want->plugin->get_source ? row->want->plugin->get_source(spec) : "";

	if (!*text && spec_pv(spec))
		return spec_pv(spec)->source_key;
	return *text || !spec->source ? text : spec->source->source_key;
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
	char key[POD_KEY_BYTES], created[VIEW_TIME_BYTES];

	view_print_time(pod->meta.creation_usec, created);
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

/* How it is with an operation, and what it waits for when it takes long. */
static void add_pace(struct cJSON *item, const struct operation_view *view)
{
	char text[SLOW_TEXT_BYTES];

	(void) json_set_string(item, "operation", operation_state_name(view));
	slow_text(view, text);
	if (*text)
		(void) json_set_string(item, "waitsFor", text);
	if (view->tool_pid > 0)
		(void) json_set_int(item, "process", view->tool_pid);
	if (view->running && view->thread_id > 0)
		(void) json_set_int(item, "thread", view->thread_id);
}

static void add_advice(struct cJSON *item, int error)
{
	const char *text = advice_for(error);

	if (*text)
		(void) json_set_string(item, "advice", text);
}

static void add_operation(struct agent *agent, struct cJSON *item, const struct volume_row *row)
{
	char progress[PROGRESS_TEXT_BYTES];
	struct operation_view view;
	struct failure why;

	if (!volume_row_operation(&agent->views.tables, row, &view)) {
		if (!observers_explain(agent, row, &why))
			return;
		(void) json_set_string(item, "step", "wait");
		(void) json_set_string(item, "error", why.text);
		return;
	}
	progress_text(&view, monotonic_usec(), progress);
	if (*progress)
		(void) json_set_string(item, "progress", progress);
	add_pace(item, &view);
	(void) json_set_string(item, "step", view.name);
	(void) json_set_string(item, "stage", view.stage ?: "");
	(void) json_set_int(item, "attempts", view.attempts);
	view_set_time(item, "since", view.since_usec);
	view_set_time(item, "nextRetry", view.retry_usec);
	if (view.failure) {
		(void) json_set_string(item, "error", view.failure->text);
		add_advice(item, view.failure->error);
	}
	if (view.failure && view.failed_at)
		(void) json_set_string(item, "failedAt", view.failed_at);
	volume_users_view(&agent->holds, item, row->unique_name, view.pod_uid);
}

static void add_drift(const struct agent *agent, struct cJSON *item, const struct volume_row *row)
{
	struct drift_view drift;

	if (!drift_look(agent->mounts.drift, row->unique_name, row->pod_uid, &drift))
		return;
	(void) json_set_string(item, "drift", drift.text);
	view_set_time(item, "driftSince", drift.since_usec);
}

/* What the daemon before this one began; nothing once a step of it has ended well. */
static void add_left_over(struct cJSON *item, const struct volume_row *row)
{
	const char *text = "";

	if (row->have_pod)
		text = reconstruct_unfinished_text(row->have_pod->left);
	if (row->have && !*text)
		text = reconstruct_unfinished_text(row->have->device_left);
	if (!*text && !row->want && !row->have_pod)
		text = "the device is set up, and no pod has it";
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
static void add_resize_error(struct agent *agent, struct cJSON *item, const struct volume_row *row)
{
	const struct object *used = row->want_pod ? row->want_pod->claim : NULL, *claim;
	cleanup_free char *text = NULL;

	if (!used || !agent->store)
		return;
	claim = store_get(agent->store, KIND_PERSISTENT_VOLUME_CLAIM, used->meta.name_space,
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

static void fill_row(struct agent *agent, struct cJSON *item, const struct volume_row *row)
{
	const char *fault = volume_faults_find(agent->mounts.faults, row->unique_name);
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
	(void) json_set_string(item, "source", row->want_pod ? source_of(row) : "");
	(void) json_set_string(item, "path", row->have_pod ? row->have_pod->path : "");
	(void) json_set_bool(item, "readOnly", read_only);
	(void) json_set_bool(item, "wanted", row->want_pod != NULL);
	is_stuck =
		volume_row_operation(&agent->views.tables, row, &view) && view.pace == PACE_STUCK;
	(void) json_set_string(item, "state", state_of(row, is_stuck, fault != NULL));
	if (fault)
		(void) json_set_string(item, "fault", fault);
	(void) json_set_string(item, "device", row->have ? row->have->device_path ?: "" : "");
	(void) json_set_string(item, "deviceMountPath",
			       row->have ? row->have->device_mount_path ?: "" : "");
	if (row->have_pod && row->have_pod->took_usec > 0)
		(void) json_set_int(item, "tookMicroseconds", (int64_t) row->have_pod->took_usec);
	add_claim(item, row);
	add_resize_error(agent, item, row);
	add_limit(item, row);
	add_left_over(item, row);
	add_operation(agent, item, row);
	add_drift(agent, item, row);
}

struct collection {
	struct agent *agent;
	struct cJSON *items;
	const char *word; /* NULL: every row */
	bool with_calls;  /* of drivers: costs a walk over all of them for each row */
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
	fill_row(collection->agent, item, row);
	if (collection->with_calls)
		drivers_add_calls(collection->agent->drivers, row->unique_name, item);
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

static bool has_row(const struct collection *collection, const char *volume)
{
	const struct cJSON *item;

	for (item = json_first(collection->items); item; item = json_next(item))
		if (strcmp(json_string(json_get(item, "volume"), ""), volume) == 0)
			return true;
	return false;
}

/* Nothing is wrong with it, but who asks for the pod wonders where it is. */
static void collect_idle(struct collection *collection, const struct object *pod)
{
	struct failure why;

	for (size_t i = 0; i < pod->pod->volume_count; i++) {
		const char *volume = pod->pod->volumes[i].name;

		if (!has_row(collection, volume) &&
		    (pod_idle_explain(collection->agent->desired,
				      collection->agent->config->node_name, pod, &why) ||
		     pod_idle_explain_volume(pod, volume, &why)))
			(void) add_missing(collection, pod, volume, "none", why.text);
	}
}

/* What kept a volume out of the table altogether: errors of looking it up, or a pod before this
 * one. */
static void collect_errors(struct collection *collection, const struct object *pod)
{
	const struct desired_errors *errors =
		desired_errors(collection->agent->desired, pod->meta.uid);
	struct failure why;

	for (size_t i = 0; errors && i < errors->count; i++)
		add_advice(add_missing(collection, pod, errors->volumes[i], "look_up",
				       errors->texts[i]),
			   errors->codes[i]);
	if (pod_holds_explain_wait(&collection->agent->holds, pod, &why))
		for (size_t i = 0; i < pod->pod->volume_count; i++)
			(void) add_missing(collection, pod, pod->pod->volumes[i].name, "wait",
					   why.text);
	if (collection->with_calls)
		collect_idle(collection, pod);
}

static int collect_errors_of_pod(const struct object *pod, void *userdata)
{
	collect_errors(userdata, pod);
	return 0;
}

struct cJSON *agent_view_volumes(struct agent *agent, const struct object *pod)
{
	struct cJSON *list = json_new_object();
	struct collection collection = { .agent = agent };
	char version[24];

	assert(agent && (!pod || pod->kind == KIND_POD));
	if (!list)
		return NULL;
	collection.items = json_add_array(list, "items");
	if (pod) {
		collection.with_calls = true;
		(void) volume_rows_of_pod(&agent->views.tables, pod->meta.uid, collect,
					  &collection);
		collect_errors(&collection, pod);
		return list;
	}
	/* What a watch of this list goes on after. */
	(void) snprintf(version, sizeof(version), "%" PRIu64,
			volume_events_sequence(agent->views.events));
	(void) json_set_string(json_add_object(list, "metadata"), "resourceVersion", version);
	(void) volume_rows_of_all(&agent->views.tables, collect, &collection);
	(void) store_list(agent->store, KIND_POD, NULL, collect_errors_of_pod, &collection);
	return list;
}

/* Devices that no pod has or wants any more: rows are of pods, so these are none. */
static void collect_devices(struct collection *collection)
{
	const struct agent *agent = collection->agent;
	const struct actual_volume *have;

	for (have = actual_first(agent->actual); have; have = have->hh.next) {
		struct volume_row row = { .have = have,
					  .unique_name = have->unique_name,
					  .pod_uid = "",
					  .outer_name = have->spec_name };

		if (!have->pods && have->device_state != MOUNT_ABSENT &&
		    !desired_find(agent->desired, have->unique_name))
			(void) collect(&row, collection);
	}
}

struct cJSON *agent_view_volume(struct agent *agent, const char *word)
{
	struct cJSON *list = json_new_object();
	struct collection collection = { .agent = agent, .word = word, .with_calls = true };

	assert(word);
	if (!list)
		return NULL;
	collection.items = json_add_array(list, "items");
	(void) volume_rows_of_all(&agent->views.tables, collect, &collection);
	collect_devices(&collection);
	return list;
}

/* ---- operations ---- */

/* Which volume of which pod, under the names that people know. */
static void add_names(const struct agent *agent, struct cJSON *item, const char *unique_name,
		      const char *pod_uid)
{
	const struct actual_volume *have = actual_find(agent->actual, unique_name);
	const struct desired_volume *want = desired_find(agent->desired, unique_name);
	const struct actual_pod *have_pod = have ? actual_find_pod(have, pod_uid) : NULL;
	const struct desired_pod *want_pod = want ? desired_find_pod(want, pod_uid) : NULL;
	const char *volume = have ? have->spec_name : "", *pod = "";
	char key[POD_KEY_BYTES];

	if (have_pod) {
		volume = have_pod->outer_name;
		pod = have_pod->pod_key;
	} else if (want_pod) {
		volume = want_pod->outer_name_count > 0 ? want_pod->outer_names[0] : volume;
		pod = pod_key(want_pod->pod->pod, key);
	}
	(void) json_set_string(item, "uniqueName", unique_name);
	(void) json_set_string(item, "pod", pod);
	(void) json_set_string(item, "podUID", pod_uid);
	(void) json_set_string(item, "volume", volume);
}

static int add_view(const struct operation_view *view, void *userdata)
{
	struct collection *collection = userdata;
	struct cJSON *item = json_add_object(collection->items, NULL);
	char progress[PROGRESS_TEXT_BYTES];

	progress_text(view, monotonic_usec(), progress);
	add_names(collection->agent, item, view->unique_name, view->pod_uid);
	(void) json_set_string(item, "step", view->name);
	(void) json_set_string(item, "stage", view->stage ?: "");
	(void) json_set_bool(item, "running", view->running);
	add_pace(item, view);
	(void) json_set_int(item, "attempts", view->attempts);
	view_set_time(item, "since", view->since_usec);
	view_set_time(item, "nextRetry", view->retry_usec);
	(void) json_set_string(item, "progress", progress);
	(void) json_set_string(item, "error", view->failure ? view->failure->text : "");
	volume_users_view(&collection->agent->holds, item, view->unique_name, view->pod_uid);
	return 0;
}

/* The name of the step that is held back. */
static const char *held_step(const struct unstage_view *view)
{
	if (strcmp(view->keeps, "files") == 0)
		return "unmount";
	return *view->pod_uid ? "unmap_device" : "unmount_device";
}

/* An unmount that is held back: others would lose the device, or the files, by it. */
static int add_held_back(const struct unstage_view *view, void *userdata)
{
	struct collection *collection = userdata;
	struct cJSON *item = json_add_object(collection->items, NULL);

	add_names(collection->agent, item, view->unique_name, view->pod_uid);
	(void) json_set_string(item, "step", held_step(view));
	(void) json_set_string(item, "stage", "look for other mount namespaces");
	(void) json_set_bool(item, "running", view->searching);
	(void) json_set_int(item, "attempts", 0);
	view_set_time(item, "since", view->since_usec);
	(void) json_set_string(item, "error", view->failure ? view->failure->text : "");
	return 0;
}

struct cJSON *agent_view_operations(struct agent *agent)
{
	struct cJSON *list = json_new_object();
	struct collection collection = { .agent = agent };

	assert(agent);
	if (!list)
		return NULL;
	collection.items = json_add_array(list, "items");
	(void) operation_walk(agent->operations, add_view, &collection);
	(void) unstage_gate_walk(agent->holds.gate, add_held_back, &collection);
	copies_view(&agent->views.copies, collection.items);
	return list;
}

/* ---- threads, drivers ---- */

struct cJSON *agent_view_threads(struct agent *agent)
{
	struct cJSON *list = json_new_object(), *items;

	assert(agent);
	if (!list)
		return NULL;
	items = json_add_array(list, "items");
	threads_view_add(items, "worker", agent->pools.workers);
	threads_view_add(items, "mount", agent->pools.mount_thread);
	threads_view_add(items, "walker", agent->pools.walkers);
	threads_view_add(items, "statistics", agent->pools.statistics);
	threads_view_add(items, "directories",
			 volume_directories_pool(agent->controllers.directories));
	threads_view_add(items, "copies",
			 volume_directories_copy_pool(agent->controllers.directories));
	return list;
}

struct cJSON *agent_view_drivers(struct agent *agent, const char *name)
{
	struct cJSON *list = json_new_object(), *items;

	assert(agent);
	if (!list)
		return NULL;
	items = json_add_array(list, "items");
	drivers_view(agent->drivers, name, items);
	for (const struct volume_plugin *const *at = plugin_list(); *at; at++) {
		const struct volume_plugin *plugin = *at;
		struct cJSON *item;

		if (name && strcmp(plugin->name, name) != 0)
			continue;
		item = json_add_object(items, NULL);
		(void) json_set_string(item, "name", plugin->name);
		(void) json_set_bool(item, "inTree", true);
		(void) json_set_string(item, "state", "built in");
		(void) json_set_bool(item, "deviceMountable", plugin->new_device_mounter);
		(void) json_set_bool(item, "block", plugin->new_block_mapper);
		(void) json_set_bool(item, "mountOptions", plugin->supports_mount_options);
		(void) json_set_bool(item, "remounts", plugin->requires_remount);
		(void) json_set_bool(item, "reconstructed", plugin->construct_volume_spec);
	}
	return list;
}

/* ---- manifests, events, version ---- */

static int add_problem(const struct manifest_problem *problem, void *userdata)
{
	struct cJSON *item = json_add_object(userdata, NULL);
	char since[VIEW_TIME_BYTES];

	view_print_time(problem->since_usec, since);
	(void) json_set_string(item, "file", problem->file);
	(void) json_set_int(item, "line", problem->line);
	(void) json_set_string(item, "kind", problem->kind);
	(void) json_set_string(item, "namespace", problem->name_space);
	(void) json_set_string(item, "name", problem->name);
	(void) json_set_string(item, "text", problem->text);
	(void) json_set_string(item, "since", since);
	return 0;
}

struct cJSON *agent_view_manifests(struct agent *agent)
{
	struct cJSON *list = json_new_object();
	struct cJSON *items;

	if (!list)
		return NULL;
	items = json_add_array(list, "items");
	if (agent->manifests)
		(void) manifest_source_problems(agent->manifests, add_problem, items);
	return list;
}

const char *agent_manifest_file_of(struct agent *agent, const struct object *object)
{
	return agent->manifests ? manifest_source_file_of(agent->manifests, object) : NULL;
}

/* What is known of the kube-apiserver, beside the rest. */
static void add_cluster(const struct agent *agent, struct cJSON *view)
{
	cleanup_json struct cJSON *cluster = cluster_view(agent->cluster);

	for (const struct cJSON *member = json_first(cluster); member; member = json_next(member))
		(void) json_set(view, json_key(member), json_copy(member));
}

struct cJSON *agent_view_version(struct agent *agent)
{
	struct cJSON *view = json_new_object();

	if (!view)
		return NULL;
	(void) json_set_string(view, "podvol", PACKAGE_VERSION);
	(void) json_set_string(view, "kubernetes", "v1.32.0"); /* whose behaviour it follows */
	(void) json_set_string(view, "nodeName", agent->config->node_name);
	(void) json_set_string(view, "rootDir", agent->root.path);
	(void) json_set_string(view, "store", agent->cluster ? "kube-apiserver" : "embedded");
	if (agent->cluster)
		add_cluster(agent, view);
	return view;
}
