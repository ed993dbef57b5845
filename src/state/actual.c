/* SPDX-License-Identifier: Apache-2.0 */
/*
 * actual - what is mounted, as far as we know, and the one gate through which that changes; see
 * actual.h
 *
 * Volumes by unique name, their pods by uid, and an index of the volumes of a pod. All states move
 * through set_pod_state() and set_device_state(), by the table in after_error[]; who changed
 * something marks the volume dirty once, in mark(). Nothing here asks the kernel.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "state/actual.h"

#include "base/cleanup.h"
#include "state/name_sets.h"
#include "state/pod_table.h"

#include <assert.h>
#include <string.h>

static const char *const mount_state_names[] = {
	[MOUNT_ABSENT] = "absent",
	[MOUNT_UNCERTAIN] = "uncertain",
	[MOUNT_DONE] = "mounted",
};
static_assert(ARRAY_SIZE(mount_state_names) == MOUNT_STATE_COUNT, "name every state");

/* Where a failed stage or publish leads, by the error and the state before it (spec: volume
 * manager, 2.1). What is mounted stays mounted: the failure was one of a remount. */
static const enum mount_state after_error[][MOUNT_STATE_COUNT] = {
	[ERROR_FINAL] = { [MOUNT_ABSENT] = MOUNT_ABSENT,
			  [MOUNT_UNCERTAIN] = MOUNT_ABSENT,
			  [MOUNT_DONE] = MOUNT_DONE },
	[ERROR_TRANSIENT] = { [MOUNT_ABSENT] = MOUNT_ABSENT,
			      [MOUNT_UNCERTAIN] = MOUNT_UNCERTAIN,
			      [MOUNT_DONE] = MOUNT_DONE },
	[ERROR_UNCERTAIN] = { [MOUNT_ABSENT] = MOUNT_UNCERTAIN,
			      [MOUNT_UNCERTAIN] = MOUNT_UNCERTAIN,
			      [MOUNT_DONE] = MOUNT_DONE },
};

struct actual {
	struct dirty_set *dirty; /* borrowed */
	struct actual_volume *volumes;
	struct name_sets names; /* of the volumes that a pod has an entry in */
};

const char *mount_state_name(enum mount_state state)
{
	assert((size_t) state < ARRAY_SIZE(mount_state_names));

	return mount_state_names[state];
}

/* Without memory the set asks for a full pass, so that the change is seen all the same. */
static void mark(struct actual *actual, const char *unique_name)
{
	(void) dirty_add(actual->dirty, unique_name);
}

int actual_new(struct dirty_set *dirty, struct actual **ret)
{
	struct actual *actual;

	assert(dirty && ret);

	actual = calloc(1, sizeof(*actual));
	if (!actual)
		return -ENOMEM;

	actual->dirty = dirty;
	*ret = actual;
	return 0;
}

/* ---- the gate ---- */

static void set_pod_state(struct actual_pod *pod, enum mount_state state)
{
	assert(state < MOUNT_STATE_COUNT);

	pod->state = state;
	if (state != MOUNT_UNCERTAIN)
		pod->was_mounted = state == MOUNT_DONE;
}

static void set_device_state(struct actual_volume *volume, enum mount_state state)
{
	assert(state < MOUNT_STATE_COUNT);

	volume->device_state = state;
}

/* ---- entries ---- */

static char empty[] = ""; /* of all entries that lack a text */

static void free_text(char *text)
{
	if (text != empty)
		free(text);
}

/* Empty values keep what is known. */
static int replace_text(char **text, const char *value)
{
	char *copy;

	if (!value || (*text && *value == '\0') || (*text && strcmp(*text, value) == 0))
		return 0;

	copy = *value ? strdup(value) : empty;
	if (!copy)
		return -ENOMEM;
	free_text(*text);
	*text = copy;
	return 0;
}

static struct actual_pod *pod_free(struct actual_pod *pod)
{
	free_text(pod->pod_uid);
	free_text(pod->pod_key);
	free_text(pod->outer_name);
	free_text(pod->path);
	free(pod);
	return NULL;
}

/* The entry's state must be absent: nothing that may be mounted leaves the table. */
static void drop_pod(struct actual *actual, struct actual_volume *volume, struct actual_pod *pod)
{
	assert(pod->state == MOUNT_ABSENT);

	name_sets_remove(&actual->names, pod->pod_uid, volume->unique_name);
	HASH_DEL(volume->pods, pod);
	pod_free(pod);
}

static struct actual_volume *volume_free(struct actual_volume *volume)
{
	assert(!volume->pods);

	free_text(volume->unique_name);
	free_text(volume->plugin_name);
	free_text(volume->spec_name);
	free_text(volume->device_path);
	free_text(volume->device_mount_path);
	free(volume);
	return NULL;
}

static void drop_volume(struct actual *actual, struct actual_volume *volume)
{
	struct actual_pod *pod, *next;

	assert(volume->device_state == MOUNT_ABSENT);

	HASH_ITER (hh, volume->pods, pod, next)
		drop_pod(actual, volume, pod);
	HASH_DEL(actual->volumes, volume);
	volume_free(volume);
}

/* What the caller knows now replaces what was known; states are left alone. */
static int volume_refresh(struct actual_volume *volume, const struct actual_entry *entry)
{
	const char *plugin_name = entry->plugin ? entry->plugin->name : entry->plugin_name;

	if (replace_text(&volume->plugin_name, plugin_name) < 0 ||
	    replace_text(&volume->spec_name, entry->spec_name) < 0)
		return -ENOMEM;

	if (entry->plugin)
		volume->plugin = entry->plugin;
	volume->device_mountable = entry->device_mountable;
	volume->block = entry->block;
	return 0;
}

static struct actual_volume *volume_new(const struct actual_entry *entry)
{
	struct actual_volume *volume = calloc(1, sizeof(*volume));

	if (!volume)
		return NULL;

	if (replace_text(&volume->unique_name, entry->unique_name) < 0 ||
	    replace_text(&volume->plugin_name, "") < 0 ||
	    replace_text(&volume->spec_name, "") < 0 ||
	    replace_text(&volume->device_path, "") < 0 ||
	    replace_text(&volume->device_mount_path, "") < 0 || volume_refresh(volume, entry) < 0)
		return volume_free(volume);
	return volume;
}

/* @ret is set also when refreshing a known one failed: the entry is there. */
static int ensure_volume(struct actual *actual, const struct actual_entry *entry,
			 struct actual_volume **ret)
{
	struct actual_volume *volume = actual_find(actual, entry->unique_name);

	*ret = volume;
	if (volume)
		return volume_refresh(volume, entry);

	volume = volume_new(entry);
	if (!volume)
		return -ENOMEM;

	HASH_ADD_KEYPTR(hh, actual->volumes, volume->unique_name, strlen(volume->unique_name),
			volume);
	if (!volume->hh.tbl) {
		volume_free(volume);
		return -ENOMEM;
	}
	*ret = volume;
	return 0;
}

/* Texts first, all or none of the rest: a flag must not speak of a path that was not kept. */
static int pod_refresh(struct actual_pod *pod, const struct actual_entry *entry)
{
	if (replace_text(&pod->pod_key, entry->pod_key) < 0 ||
	    replace_text(&pod->outer_name, entry->outer_name) < 0 ||
	    replace_text(&pod->path, entry->path) < 0)
		return -ENOMEM;

	pod->read_only = entry->read_only;
	pod->single_writer = entry->single_writer;
	pod->begun_generation = entry->remount_generation;
	pod->begun_served = entry->served;
	return 0;
}

static struct actual_pod *pod_new(const struct actual_entry *entry)
{
	struct actual_pod *pod = calloc(1, sizeof(*pod));

	if (!pod)
		return NULL;

	if (replace_text(&pod->pod_uid, entry->pod_uid) < 0 ||
	    replace_text(&pod->pod_key, "") < 0 || replace_text(&pod->outer_name, "") < 0 ||
	    replace_text(&pod->path, "") < 0 || pod_refresh(pod, entry) < 0)
		return pod_free(pod);
	return pod;
}

/* In both indexes or in none. */
static int insert_pod(struct actual *actual, struct actual_volume *volume,
		      const struct actual_entry *entry)
{
	struct actual_pod *pod = pod_new(entry);

	if (!pod)
		return -ENOMEM;

	HASH_ADD_KEYPTR(hh, volume->pods, pod->pod_uid, strlen(pod->pod_uid), pod);
	if (pod->hh.tbl && name_sets_add(&actual->names, pod->pod_uid, volume->unique_name) >= 0)
		return 0;
	if (pod->hh.tbl)
		HASH_DEL(volume->pods, pod);
	pod_free(pod);
	return -ENOMEM;
}

static int ensure_pod(struct actual *actual, struct actual_volume *volume,
		      const struct actual_entry *entry)
{
	struct actual_pod *pod = actual_find_pod(volume, entry->pod_uid);

	return pod ? pod_refresh(pod, entry) : insert_pod(actual, volume, entry);
}

/* Without memory the table is as it was, but for texts that were refreshed. */
static int ensure_entry(struct actual *actual, const struct actual_entry *entry)
{
	bool known = actual_find(actual, entry->unique_name);
	struct actual_volume *volume;
	int error;

	error = ensure_volume(actual, entry, &volume);
	if (error < 0 || !entry->pod_uid)
		return error;

	error = ensure_pod(actual, volume, entry);
	if (error < 0 && !known)
		drop_volume(actual, volume);
	return error;
}

/* Marks nothing: what begins a step has just looked at the volume, and an entry that is absent
 * says no more than none at all. */
int actual_begin(struct actual *actual, const struct actual_entry *entry)
{
	assert(actual && entry && entry->unique_name && entry->plugin);

	if (ensure_entry(actual, entry) < 0)
		return -ENOMEM;
	if (!entry->pod_uid)
		actual_find(actual, entry->unique_name)->device_begun_served = entry->served;
	return 0;
}

int actual_add_rebuilt(struct actual *actual, const struct actual_entry *entry,
		       enum mount_state device_state, const char *device_path,
		       const char *device_mount_path)
{
	struct actual_volume *volume;

	assert(actual && entry && entry->unique_name);

	if (ensure_entry(actual, entry) < 0)
		return -ENOMEM;

	volume = actual_find(actual, entry->unique_name);
	if (replace_text(&volume->device_path, device_path) < 0 ||
	    replace_text(&volume->device_mount_path, device_mount_path) < 0)
		return -ENOMEM;

	if (device_state != MOUNT_ABSENT) {
		set_device_state(volume, MOUNT_UNCERTAIN);
		volume->device_from_rebuild = true;
		volume->device_left = entry->left;
		volume->staged_nothing = entry->was_mounted && !*volume->device_path;
		volume->device_served = entry->served;
		volume->device_mount_id = entry->mount_id;
		volume->device_mount_mark = entry->mount_mark;
	}
	if (entry->pod_uid) {
		struct actual_pod *pod = actual_find_pod(volume, entry->pod_uid);

		set_pod_state(pod, MOUNT_UNCERTAIN);
		pod->from_rebuild = true;
		pod->left = entry->left;
		pod->taken_over = entry->taken_over;
		pod->was_mounted = entry->was_mounted;
		pod->served = entry->served;
		pod->mount_id = entry->mount_id;
		pod->mount_mark = entry->mount_mark;
	}
	mark(actual, entry->unique_name);
	return 0;
}

/* ---- results ---- */

/* What a restart left behind must still be unmounted, however its next mount fails. */
static enum mount_state state_after_error(enum mount_state state, enum error_class error_class,
					  bool is_sticky)
{
	assert((size_t) error_class < ARRAY_SIZE(after_error));

	if (is_sticky && error_class == ERROR_FINAL && state == MOUNT_UNCERTAIN)
		return MOUNT_UNCERTAIN;
	return after_error[error_class][state];
}

/* Its last stage may have been the one that counts; a later try that fails says nothing of that. */
static bool was_ended_early(const struct step_result *result)
{
	return result->error == -ECANCELED && result->error_class == ERROR_UNCERTAIN;
}

static void apply_stage(struct actual_volume *volume, const struct step_result *result)
{
	volume->staged_nothing = (volume->staged_nothing || volume->device_state == MOUNT_ABSENT) &&
				 result->error == 0 && !*(result->device_path ?: "");
	if (result->error < 0) {
		set_device_state(volume,
				 state_after_error(volume->device_state, result->error_class,
						   volume->device_from_rebuild ||
							   volume->device_may_be_left));
		volume->device_may_be_left |= was_ended_early(result);
		volume->device_served = 0;
	} else {
		set_device_state(volume, MOUNT_DONE);
		volume->device_from_rebuild = volume->device_may_be_left = false;
		volume->device_mount_id = result->mount_id;
		volume->device_mount_mark = result->mount_mark;
		volume->device_served = volume->device_begun_served;
		volume->device_left = UNFINISHED_NOTHING;
	}

	/* Also after a failure, for its teardown. */
	(void) replace_text(&volume->device_path, result->device_path);
	(void) replace_text(&volume->device_mount_path, result->device_mount_path);
}

static void apply_unstage(struct actual_volume *volume, const struct step_result *result)
{
	if (result->error < 0) {
		if (result->touched && volume->device_state != MOUNT_ABSENT) {
			set_device_state(volume, MOUNT_UNCERTAIN);
			volume->device_may_be_left = true;
		}
		return;
	}

	set_device_state(volume, MOUNT_ABSENT);
	volume->device_from_rebuild = volume->device_may_be_left = false;
	volume->device_mount_id = volume->device_mount_mark = volume->device_served = 0;
	volume->device_left = UNFINISHED_NOTHING;
	volume->device_mount_path[0] = '\0';
}

static void apply_publish(struct actual_volume *volume, struct actual_pod *pod,
			  const struct step_result *result)
{
	if (!pod)
		return;

	(void) replace_text(&volume->device_path, result->device_path);
	volume->needs_stage |= result->needs_stage;
	if (result->needs_stage && volume->staged_nothing) /* there was no device yet */
		set_device_state(volume, MOUNT_ABSENT);
	if (result->error < 0) {
		set_pod_state(pod, state_after_error(pod->state, result->error_class,
						     pod->from_rebuild || pod->may_be_left));
		pod->may_be_left |= was_ended_early(result);
		pod->served = 0;
		return;
	}

	set_pod_state(pod, MOUNT_DONE);
	pod->from_rebuild = pod->may_be_left = false;
	pod->left = UNFINISHED_NOTHING;
	pod->mount_id = result->mount_id;
	pod->mount_mark = result->mount_mark;
	pod->took_usec = result->took_usec;
	pod->remount_generation = pod->begun_generation;
	pod->served = pod->begun_served;
}

static void apply_unpublish(struct actual *actual, struct actual_volume *volume,
			    struct actual_pod *pod, const struct step_result *result)
{
	if (!pod)
		return;

	if (result->error < 0) {
		if (result->touched && pod->state != MOUNT_ABSENT) {
			set_pod_state(pod, MOUNT_UNCERTAIN);
			pod->may_be_left = true;
		}
		return;
	}

	set_pod_state(pod, MOUNT_ABSENT);
	drop_pod(actual, volume, pod);
}

static void apply_forget(struct actual *actual, struct actual_volume *volume,
			 struct actual_pod *pod, const struct step_result *result)
{
	if (!result->pod_uid)
		drop_volume(actual, volume);
	else if (pod)
		drop_pod(actual, volume, pod);
}

void actual_apply(struct actual *actual, const struct step_result *result)
{
	struct actual_volume *volume;
	struct actual_pod *pod;

	assert(actual && result && result->unique_name && result->error <= 0);

	volume = actual_find(actual, result->unique_name);
	if (!volume)
		return;

	/* Before the change, which may free what the result's strings point into. */
	mark(actual, result->unique_name);
	pod = result->pod_uid ? actual_find_pod(volume, result->pod_uid) : NULL;
	switch (result->kind) {
	case STEP_STAGE:
		apply_stage(volume, result);
		return;
	case STEP_UNSTAGE:
		apply_unstage(volume, result);
		return;
	case STEP_PUBLISH:
		apply_publish(volume, pod, result);
		return;
	case STEP_UNPUBLISH:
		apply_unpublish(actual, volume, pod, result);
		return;
	case STEP_FORGET:
		apply_forget(actual, volume, pod, result);
		return;
	case STEP_KIND_COUNT:
		break;
	}
	assert(!"a kind of step");
}

void actual_confirm(struct actual *actual, const char *unique_name, const char *pod_uid,
		    uint64_t remount_generation)
{
	struct actual_volume *volume = actual_find(actual, unique_name);
	struct actual_pod *pod = pod_uid ? actual_find_pod(volume, pod_uid) : NULL;

	if (pod) {
		assert(pod->from_rebuild && pod->served != 0);
		set_pod_state(pod, MOUNT_DONE);
		pod->from_rebuild = false;
		pod->remount_generation = pod->begun_generation = remount_generation;
	} else {
		assert(volume->device_from_rebuild && volume->device_served != 0);
		set_device_state(volume, MOUNT_DONE);
		volume->device_from_rebuild = false;
	}
	mark(actual, volume->unique_name);
}

/* The generation stays: the mount that was lost had served the want. */
void actual_doubt(struct actual *actual, const char *unique_name, const char *pod_uid,
		  bool may_be_left)
{
	struct actual_volume *volume;
	struct actual_pod *pod;

	assert(actual && unique_name);

	volume = actual_find(actual, unique_name);
	pod = volume && pod_uid ? actual_find_pod(volume, pod_uid) : NULL;
	if (pod && pod->state == MOUNT_DONE) {
		set_pod_state(pod, MOUNT_UNCERTAIN);
		pod->may_be_left |= may_be_left;
	} else if (volume && !pod_uid && volume->device_state == MOUNT_DONE) {
		set_device_state(volume, MOUNT_UNCERTAIN);
		volume->device_may_be_left |= may_be_left;
	}
	if (volume)
		mark(actual, volume->unique_name);
}

/* ---- look-ups ---- */

struct actual_volume *actual_find(const struct actual *actual, const char *unique_name)
{
	struct actual_volume *volume;

	assert(actual && unique_name);

	HASH_FIND_STR(actual->volumes, unique_name, volume);
	return volume;
}

struct actual_pod *actual_find_pod(const struct actual_volume *volume, const char *pod_uid)
{
	struct actual_pod *pod;

	assert(volume && pod_uid);

	HASH_FIND_STR(volume->pods, pod_uid, pod);
	return pod;
}

struct actual_volume *actual_first(const struct actual *actual)
{
	assert(actual);

	return actual->volumes;
}

const char *actual_volume_of_pod(const struct actual *actual, const char *pod_uid, size_t position)
{
	return name_sets_at(&actual->names, pod_uid, position);
}

size_t actual_count(const struct actual *actual)
{
	assert(actual);
	return HASH_COUNT(actual->volumes);
}

struct actual *actual_free(struct actual *actual)
{
	struct actual_volume *volume, *next_volume;
	struct actual_pod *pod, *next_pod;

	if (!actual)
		return NULL;

	HASH_ITER (hh, actual->volumes, volume, next_volume) {
		HASH_ITER (hh, volume->pods, pod, next_pod) {
			set_pod_state(pod, MOUNT_ABSENT);
			drop_pod(actual, volume, pod);
		}
		HASH_DEL(actual->volumes, volume);
		volume_free(volume);
	}
	free(actual);
	return NULL;
}
