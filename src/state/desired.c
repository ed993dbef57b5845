/* SPDX-License-Identifier: Apache-2.0 */
/*
 * desired - what pods want, as a table of volumes and the pods of each; see desired.h
 *
 * Two hash tables, volumes by unique name and errors by pod uid. Every change of a volume ends in
 * mark(), the one place that makes it dirty. Looks nothing up in the store and decides nothing.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "state/desired.h"

#include "base/cleanup.h"
#include "state/name_sets.h"
#include "state/pod_table.h"

#include <assert.h>
#include <string.h>

struct desired {
	struct dirty_set *dirty; /* borrowed */
	struct object_finder objects;
	struct desired_volume *volumes;
	struct desired_errors *errors;
	struct name_sets names;
};

/* Without memory the set asks for a full pass, so that the change is seen all the same. */
static void mark(struct desired *desired, const char *unique_name)
{
	(void) dirty_add(desired->dirty, unique_name);
}

int desired_new(struct dirty_set *dirty, struct desired **ret)
{
	struct desired *desired;

	assert(dirty && ret);

	desired = calloc(1, sizeof(*desired));
	if (!desired)
		return -ENOMEM;

	desired->dirty = dirty;
	*ret = desired;
	return 0;
}

void desired_set_objects(struct desired *desired, const struct object_finder *objects)
{
	assert(desired && objects && objects->find);
	desired->objects = *objects;
}

/* ---- pods of a volume ---- */

static void pod_drop_objects(struct desired_pod *pod)
{
	object_unref(pod->pod);
	object_unref(pod->claim);
	object_unref(pod->spec.pv);
	object_unref(pod->spec.pod);
}

/* The new references first: they may be to the very objects that are dropped. */
static void pod_take_objects(struct desired_pod *pod, const struct desired_want *want)
{
	struct desired_pod old = *pod;

	pod->pod = object_ref(want->pod);
	pod->claim = object_ref(want->claim);
	pod->spec = *want->spec;
	object_ref(pod->spec.pv);
	object_ref(pod->spec.pod);
	pod_drop_objects(&old);
}

static bool has_name(char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static void free_names(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

/* All of them or, without memory, those of before. */
static int pod_take_names(struct desired_pod *pod, const struct desired_want *want)
{
	char **names = calloc(want->outer_name_count, sizeof(*names));
	size_t count = 0;

	for (size_t i = 0; names && i < want->outer_name_count; i++) {
		if (has_name(names, count, want->outer_names[i]))
			continue;
		names[count] = strdup(want->outer_names[i]);
		if (!names[count]) {
			free_names(names, count);
			return -ENOMEM;
		}
		count++;
	}
	if (!names)
		return -ENOMEM;

	free_names(pod->outer_names, pod->outer_name_count);
	pod->outer_names = names;
	pod->outer_name_count = count;
	return 0;
}

static struct desired_pod *pod_free(struct desired_pod *pod)
{
	if (!pod)
		return NULL;

	pod_drop_objects(pod);
	free(pod->pod_uid);
	free_names(pod->outer_names, pod->outer_name_count);
	free(pod);
	return NULL;
}

/* The claim says what the volume has on this node. */
static bool is_to_grow(const struct desired_want *want)
{
	const struct persistent_volume *pv = want->spec->pv ? spec_pv(want->spec) : NULL;
	const struct quantity *has = want->claim ? &want->claim->claim->status_capacity : NULL;

	return want->plugin->traits & VOLUME_GROWS && pv && has && has->is_set &&
	       !want->spec->read_only && quantity_compare(&pv->capacity, has) > 0;
}

static struct desired_pod *pod_new(const struct desired_want *want)
{
	struct desired_pod *pod = calloc(1, sizeof(*pod));

	if (!pod)
		return NULL;

	pod->pod_uid = strdup(want->pod->meta.uid);
	if (!pod->pod_uid || pod_take_names(pod, want) < 0)
		return pod_free(pod);

	pod->requested_usec = want->now_usec;
	/* One that was mounted before this daemon came is set up again for it. */
	pod->remount_generation = is_to_grow(want) ? 1 : 0;
	return pod;
}

/* Objects last: until then nothing has to be given back. */
static int volume_add_pod(struct desired *desired, struct desired_volume *volume,
			  const struct desired_want *want)
{
	struct desired_pod *pod = pod_new(want);

	if (!pod)
		return -ENOMEM;

	HASH_ADD_KEYPTR(hh, volume->pods, pod->pod_uid, strlen(pod->pod_uid), pod);
	if (pod->hh.tbl && name_sets_add(&desired->names, pod->pod_uid, volume->unique_name) >= 0) {
		pod_take_objects(pod, want);
		return 0;
	}
	if (pod->hh.tbl)
		HASH_DEL(volume->pods, pod);
	pod_free(pod);
	return -ENOMEM;
}

static void volume_drop_pod(struct desired *desired, struct desired_volume *volume,
			    struct desired_pod *pod)
{
	name_sets_remove(&desired->names, pod->pod_uid, volume->unique_name);
	HASH_DEL(volume->pods, pod);
	pod_free(pod);
}

static bool volume_requires_remount(const struct desired *desired,
				    const struct desired_volume *volume,
				    const struct volume_spec *spec)
{
	return volume->plugin->requires_remount &&
	       volume->plugin->requires_remount(spec,
						desired->objects.find ? &desired->objects : NULL);
}

/* A read-only user of the volume does not make it larger. */
static bool has_grown(const struct desired_volume *volume, const struct volume_spec *before,
		      const struct volume_spec *now)
{
	return volume->plugin->traits & VOLUME_GROWS && before->pv && now->pv && !now->read_only &&
	       quantity_compare(&spec_pv(now)->capacity, &spec_pv(before)->capacity) > 0;
}

/* The time of the request counts from the first want, unless a remount begins it again. */
static int volume_refresh_pod(struct desired *desired, struct desired_volume *volume,
			      struct desired_pod *pod, const struct desired_want *want)
{
	bool grows = has_grown(volume, &pod->spec, want->spec);

	if (pod_take_names(pod, want) < 0)
		return -ENOMEM;
	pod_take_objects(pod, want);
	if (grows) {
		pod->remount_generation++;
		mark(desired, volume->unique_name);
	}
	if (volume_requires_remount(desired, volume, &pod->spec))
		pod->requested_usec = want->now_usec;
	return 0;
}

/* ---- volumes ---- */

static struct desired_volume *volume_free(struct desired_volume *volume)
{
	if (!volume)
		return NULL;

	assert(!volume->pods);

	free(volume->unique_name);
	free(volume);
	return NULL;
}

static struct desired_volume *volume_new(const struct desired_want *want)
{
	struct desired_volume *volume = calloc(1, sizeof(*volume));

	if (!volume)
		return NULL;

	volume->unique_name = strdup(want->unique_name);
	if (!volume->unique_name)
		return volume_free(volume);

	volume->plugin = want->plugin;
	volume->device_mountable = want->device_mountable;
	volume->block = want->spec->block;
	return volume;
}

static struct desired_volume *insert_volume(struct desired *desired,
					    const struct desired_want *want)
{
	struct desired_volume *volume = volume_new(want);

	if (!volume)
		return NULL;

	HASH_ADD_KEYPTR(hh, desired->volumes, volume->unique_name, strlen(volume->unique_name),
			volume);
	if (!volume->hh.tbl)
		return volume_free(volume);
	return volume;
}

/* A volume is here while a pod wants it. */
static void drop_if_unwanted(struct desired *desired, struct desired_volume *volume)
{
	if (volume->pods)
		return;

	HASH_DEL(desired->volumes, volume);
	volume_free(volume);
}

int desired_add(struct desired *desired, const struct desired_want *want)
{
	struct desired_volume *volume;
	struct desired_pod *pod;
	int error;

	assert(desired && want);
	assert(want->unique_name && want->plugin && want->spec && want->pod);
	assert(want->outer_names && want->outer_name_count > 0);

	volume = desired_find(desired, want->unique_name);
	pod = volume ? desired_find_pod(volume, want->pod->meta.uid) : NULL;
	if (pod) {
		error = volume_refresh_pod(desired, volume, pod, want);
		if (error >= 0)
			mark(desired, want->unique_name);
		return error;
	}

	if (!volume)
		volume = insert_volume(desired, want);
	if (!volume)
		return -ENOMEM;

	error = volume_add_pod(desired, volume, want);
	if (error < 0) {
		drop_if_unwanted(desired, volume);
		return error;
	}
	mark(desired, want->unique_name);
	return 1;
}

void desired_remove(struct desired *desired, const char *unique_name, const char *pod_uid)
{
	struct desired_volume *volume;
	struct desired_pod *pod;

	assert(desired && unique_name && pod_uid);

	volume = desired_find(desired, unique_name);
	pod = volume ? desired_find_pod(volume, pod_uid) : NULL;
	if (!pod)
		return;

	/* First, and last of all the caller's strings: they may be the entry's own. */
	desired_clear_errors(desired, pod_uid);
	mark(desired, unique_name);
	volume_drop_pod(desired, volume, pod);
	drop_if_unwanted(desired, volume);
}

static struct desired_pod *find_pod(const struct desired *desired, const char *unique_name,
				    const char *pod_uid, struct desired_volume **ret)
{
	assert(desired && unique_name && pod_uid);

	*ret = desired_find(desired, unique_name);
	return *ret ? desired_find_pod(*ret, pod_uid) : NULL;
}

void desired_request_remount(struct desired *desired, const char *unique_name, const char *pod_uid)
{
	struct desired_volume *volume;
	struct desired_pod *pod = find_pod(desired, unique_name, pod_uid, &volume);

	if (pod && volume_requires_remount(desired, volume, &pod->spec))
		desired_repeat_set_up(desired, unique_name, pod_uid);
}

void desired_repeat_set_up(struct desired *desired, const char *unique_name, const char *pod_uid)
{
	struct desired_volume *volume;
	struct desired_pod *pod = find_pod(desired, unique_name, pod_uid, &volume);

	if (!pod)
		return;
	pod->remount_generation++;
	mark(desired, unique_name);
}

void desired_note_expand(struct desired *desired, const char *unique_name, const char *pod_uid,
			 uint64_t failed_usec)
{
	struct desired_volume *volume;
	struct desired_pod *pod = find_pod(desired, unique_name, pod_uid, &volume);

	if (!pod)
		return;
	if (pod->node_expand_failures == 0)
		pod->node_expand_failing_usec = failed_usec;
	pod->node_expand_failures = failed_usec == 0 ? 0 : pod->node_expand_failures + 1;
}

struct desired_volume *desired_find(const struct desired *desired, const char *unique_name)
{
	struct desired_volume *volume;

	assert(desired && unique_name);

	HASH_FIND_STR(desired->volumes, unique_name, volume);
	return volume;
}

struct desired_pod *desired_find_pod(const struct desired_volume *volume, const char *pod_uid)
{
	struct desired_pod *pod;

	assert(volume && pod_uid);

	HASH_FIND_STR(volume->pods, pod_uid, pod);
	return pod;
}

struct desired_volume *desired_first(const struct desired *desired)
{
	assert(desired);

	return desired->volumes;
}

bool desired_has_pv(const struct desired *desired, const char *name)
{
	for (const struct desired_volume *i = desired->volumes; i; i = i->hh.next)
		for (const struct desired_pod *pod = i->pods; pod; pod = pod->hh.next)
			if (pod->spec.pv && strcmp(pod->spec.name, name) == 0)
				return true;
	return false;
}

const char *desired_volume_of_pod(const struct desired *desired, const char *pod_uid,
				  size_t position)
{
	return name_sets_at(&desired->names, pod_uid, position);
}

/* ---- errors of a pod ---- */

static struct desired_errors *errors_free(struct desired_errors *errors)
{
	if (!errors)
		return NULL;

	for (size_t i = 0; i < errors->count; i++) {
		free(errors->texts[i]);
		free(errors->volumes[i]);
	}
	free(errors->pod_uid);
	free(errors);
	return NULL;
}

static struct desired_errors *find_errors(const struct desired *desired, const char *pod_uid)
{
	struct desired_errors *errors;

	HASH_FIND_STR(desired->errors, pod_uid, errors);
	return errors;
}

static struct desired_errors *insert_errors(struct desired *desired, const char *pod_uid)
{
	struct desired_errors *errors = calloc(1, sizeof(*errors));

	if (!errors)
		return NULL;

	errors->pod_uid = strdup(pod_uid);
	if (!errors->pod_uid)
		return errors_free(errors);

	HASH_ADD_KEYPTR(hh, desired->errors, errors->pod_uid, strlen(errors->pod_uid), errors);
	if (!errors->hh.tbl)
		return errors_free(errors);
	return errors;
}

/* A pod is looked at often: the same error is one line, not many. */
static bool errors_have(const struct desired_errors *errors, const char *outer_name,
			const char *text)
{
	for (size_t i = 0; i < errors->count; i++)
		if (strcmp(errors->texts[i], text) == 0 &&
		    strcmp(errors->volumes[i], outer_name) == 0)
			return true;
	return false;
}

static int errors_append(struct desired_errors *errors, const char *outer_name, int error,
			 const char *text)
{
	cleanup_free char *volume_copy = strdup(outer_name);
	cleanup_free char *text_copy = strdup(text);

	if (!volume_copy || !text_copy)
		return -ENOMEM;

	errors->volumes[errors->count] = TAKE_PTR(volume_copy);
	errors->texts[errors->count] = TAKE_PTR(text_copy);
	errors->codes[errors->count] = error;
	errors->count++;
	return 0;
}

int desired_add_error(struct desired *desired, const char *pod_uid, const char *outer_name,
		      int error, const char *text)
{
	struct desired_errors *errors;

	assert(desired && pod_uid && outer_name && text);

	errors = find_errors(desired, pod_uid);
	if (!errors)
		errors = insert_errors(desired, pod_uid);
	if (!errors)
		return -ENOMEM;

	if (errors->count == DESIRED_ERRORS_MAX || errors_have(errors, outer_name, text))
		return 0;
	return errors_append(errors, outer_name, error, text);
}

void desired_clear_errors(struct desired *desired, const char *pod_uid)
{
	struct desired_errors *errors;

	assert(desired && pod_uid);

	errors = find_errors(desired, pod_uid);
	if (!errors)
		return;

	HASH_DEL(desired->errors, errors);
	errors_free(errors);
}

const struct desired_errors *desired_errors(const struct desired *desired, const char *pod_uid)
{
	const struct desired_errors *errors;

	assert(desired && pod_uid);

	errors = find_errors(desired, pod_uid);
	return errors && errors->count > 0 ? errors : NULL;
}

size_t desired_pods_with_errors(const struct desired *desired)
{
	return HASH_COUNT(desired->errors);
}

struct desired *desired_free(struct desired *desired)
{
	struct desired_volume *volume, *next_volume;
	struct desired_errors *errors, *next_errors;

	if (!desired)
		return NULL;

	HASH_ITER (hh, desired->volumes, volume, next_volume) {
		while (volume->pods)
			volume_drop_pod(desired, volume, volume->pods);
		HASH_DEL(desired->volumes, volume);
		volume_free(volume);
	}
	HASH_ITER (hh, desired->errors, errors, next_errors) {
		HASH_DEL(desired->errors, errors);
		errors_free(errors);
	}
	free(desired);
	return NULL;
}
