/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drift - what a change of our mounts by others means, and which steps wait because of it
 *
 * A mount that is gone, elsewhere or hidden makes its entry uncertain: then it is neither handed to
 * a container nor taken for granted, and the reconciler publishes it again. Asks no file and no
 * kernel here; that is drift_work.c's.
 */
#include "drift/drift_internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

enum {
	QUIET_USEC = 60 * USEC_PER_SEC, /* then it is no fight any more */
	HEALS_AT_ONCE = 3,
	MEND_FIRST_USEC = 500000, /* kubelet's constants of its back-off */
	MEND_MAX_USEC = 122 * USEC_PER_SEC,
	ROOT_LEVELS_MAX = 4, /* "pods/<uid>/volumes/<plugin>": above every target */
};

static const struct drift_culprit nobody_known = { 0 };

/* ---- what is known of it elsewhere ---- */

static const char *uid_or_null(const struct drift_mount *mount)
{
	return *mount->pod_uid ? mount->pod_uid : NULL;
}

static enum mount_state state_of(const struct drift *drift, const struct drift_mount *mount)
{
	const struct actual_volume *volume = actual_find(drift->options.actual, mount->unique_name);
	const struct actual_pod *pod;

	if (!volume)
		return MOUNT_ABSENT;
	if (!*mount->pod_uid)
		return volume->device_state;
	pod = actual_find_pod(volume, mount->pod_uid);
	return pod ? pod->state : MOUNT_ABSENT;
}

bool drift_is_held(const struct drift *drift, const struct drift_mount *mount)
{
	const struct holds *holds = drift->options.holds;

	return *mount->pod_uid && holds && holds_has_pod(holds, mount->pod_uid);
}

/* The plugin says so, of what is wanted: a reconstructed volume has no source. */
bool drift_lives_in_mount(const struct drift *drift, const char *unique_name, const char *pod_uid)
{
	const struct desired_volume *want = desired_find(drift->options.desired, unique_name);
	const struct desired_pod *pod = want && pod_uid ? desired_find_pod(want, pod_uid) : NULL;

	return pod && want->plugin->lives_in_mount && want->plugin->lives_in_mount(&pod->spec);
}

static bool runs(const struct drift *drift, const struct drift_mount *mount, const char *pod_uid,
		 enum step_kind one, enum step_kind other)
{
	struct operation_view view;

	return operation_find(drift->options.operations, mount->unique_name, pod_uid, &view) &&
	       view.running && (view.kind == one || view.kind == other);
}

/* By us, just now: what is seen of it is neither before nor after. Volumes with a device have one
 * operation at a time, which may be any pod's. */
static bool is_worked_on(const struct drift *drift, const struct drift_mount *mount)
{
	if (!*mount->pod_uid)
		return runs(drift, mount, "", STEP_STAGE, STEP_UNSTAGE);
	return runs(drift, mount, mount->pod_uid, STEP_PUBLISH, STEP_UNPUBLISH) ||
	       runs(drift, mount, "", STEP_PUBLISH, STEP_UNPUBLISH);
}

/* ---- incidents ---- */

/* Who unmounts as fast as we mount is not to keep us busy. */
static void delay_healing(struct drift_mount *mount, uint64_t now_usec)
{
	uint64_t delay_usec = 0;

	if (mount->healed_usec == 0 || now_usec - mount->healed_usec > QUIET_USEC)
		mount->heal_count = 0;
	if (mount->heal_count >= HEALS_AT_ONCE) {
		unsigned int doublings = mount->heal_count - HEALS_AT_ONCE;

		delay_usec = MEND_MAX_USEC;
		if (doublings < 8 && (uint64_t) MEND_FIRST_USEC << doublings < MEND_MAX_USEC)
			delay_usec = (uint64_t) MEND_FIRST_USEC << doublings;
	}
	mount->heal_count++;
	mount->begin_usec = now_usec + delay_usec;
}

/* How long mounting takes is counted from here, and not from the day that the pod came. */
static void restart_request_time(const struct drift *drift, const struct drift_mount *mount,
				 uint64_t now_usec)
{
	struct desired_volume *want = desired_find(drift->options.desired, mount->unique_name);
	struct desired_pod *pod =
		want && *mount->pod_uid ? desired_find_pod(want, mount->pod_uid) : NULL;

	if (pod)
		pod->requested_usec = now_usec;
}

void drift_set_what(struct drift_mount *mount, const char *format, ...)
{
	va_list arguments;

	free(mount->what);
	va_start(arguments, format);
	if (vasprintf(&mount->what, format, arguments) < 0)
		mount->what = NULL;
	va_end(arguments);
}

void drift_begin(struct drift *drift, struct drift_mount *mount, enum drift_kind kind,
		 const struct drift_culprit *culprit)
{
	uint64_t now = monotonic_usec();

	assert(kind > DRIFT_NONE && kind < DRIFT_KINDS);
	mount->kind = kind;
	mount->culprit = *culprit;
	mount->since_usec = now;
	mount->data_lost = (kind == DRIFT_UNMOUNTED || kind == DRIFT_MOVED) &&
			   drift_lives_in_mount(drift, mount->unique_name, uid_or_null(mount));
	delay_healing(mount, now);
	restart_request_time(drift, mount, now);
	drift->seen[kind]++;
	drift_report_begin(drift, mount);
	drift->options.changed(drift->options.userdata, mount->pod_uid);
}

void drift_over(struct drift *drift, struct drift_mount *mount, bool healed)
{
	drift_report_over(drift, mount, healed);
	drift->healed[mount->kind]++;
	mount->kind = DRIFT_NONE;
	mount->data_lost = false;
	mount->healed_usec = monotonic_usec();
	retry_remove(drift->retries, &mount->retry);
}

/* A mount that we are about to take away, or are not sure of, may go. */
void drift_lost(struct drift *drift, struct drift_mount *mount, enum drift_kind kind,
		const struct drift_culprit *culprit)
{
	bool was_hidden = mount->kind == DRIFT_COVERED;

	if (is_worked_on(drift, mount)) {
		drift->check_again = true; /* the step may end as if nothing had happened */
		return;
	}
	drift_index_set_id(drift, mount, 0);
	if (state_of(drift, mount) != MOUNT_DONE && !was_hidden)
		return;
	drift_begin(drift, mount, kind, culprit);
	actual_doubt(drift->options.actual, mount->unique_name, uid_or_null(mount), false);
	drift->options.lost(drift->options.userdata, mount->unique_name);
}

void drift_cover(struct drift *drift, struct drift_mount *mount, const struct mount_entry *other,
		 const struct drift_culprit *culprit)
{
	if (mount->cover_id != 0)
		return; /* what hides it first is what is reported */
	drift_index_set_cover(drift, mount, other->mount_id);
	if (strcmp(other->mount_point, mount->path) != 0)
		drift_set_what(mount, "a %.32s on '%.70s'", other->type, other->mount_point);
	else
		drift_set_what(mount, "a %.32s (%.60s) on it", other->type, other->source);
	drift_begin(drift, mount, DRIFT_COVERED, culprit);
	actual_doubt(drift->options.actual, mount->unique_name, uid_or_null(mount), true);
}

/* ---- mounts of others ---- */

/* The whole root directory: nothing of it is lost, but it cannot be found any more. */
static void cover_root(struct drift *drift, const struct mount_entry *other,
		       const struct drift_culprit *culprit)
{
	if (drift->root_cover_id != 0 || drift->root_lost)
		return;
	drift->root_cover_id = other->mount_id;
	drift->seen[DRIFT_COVERED]++;
	log_message(LOG_ERR,
		    "the root directory '%s' is hidden: process %d '%s' mounted a %s on '%s'; "
		    "volumes stay mounted below it, and no container finds them there",
		    drift->options.root->path, (int) culprit->pid, culprit->command, other->type,
		    other->mount_point);
}

/* Every target lies deeper than this: only few mounts of others need the walk over all of podvol's.
 */
static bool may_hide_many(const struct drift *drift, const char *mount_point)
{
	unsigned int levels = 0;

	if (!path_is_below(mount_point, drift->options.root->path))
		return false;
	for (const char *at = mount_point + strlen(drift->options.root->path); *at; at++)
		levels += *at == '/';
	return levels <= ROOT_LEVELS_MAX;
}

/* Done, and a mount by its kind, but its id could not be learned: then it is not watched, and what
 * is seen on its place is not foreign for all that is known. */
static bool is_unknown(const struct drift *drift, const struct drift_mount *mount)
{
	const struct actual_volume *volume = actual_find(drift->options.actual, mount->unique_name);

	return mount->has_mount || (volume && volume->device_mountable && !volume->block) ||
	       drift_lives_in_mount(drift, mount->unique_name, uid_or_null(mount));
}

void drift_note_other(struct drift *drift, const struct mount_entry *other, pid_t pid)
{
	const char *root_path = drift->options.root->path;
	struct drift_mount *mount = drift_index_by_path(drift, other->mount_point), *next;
	struct drift_culprit culprit;

	if (other->mount_id == drift->root_id || drift_index_by_id(drift, other->mount_id))
		return;
	if (mount && is_worked_on(drift, mount)) {
		drift->check_again = true; /* it may be the mount that is being made */
		return;
	}
	/* From before the start, and no step has confirmed it yet: this may be the volume itself.
	 */
	if (mount && mount->mount_id == 0 &&
	    (state_of(drift, mount) == MOUNT_UNCERTAIN || is_unknown(drift, mount)))
		return;
	culprit = drift_who(pid);
	if (mount)
		drift_cover(drift, mount, other, &culprit);
	else if (strcmp(other->mount_point, root_path) == 0 ||
		 path_is_below(root_path, other->mount_point))
		cover_root(drift, other, &culprit);
	else if (may_hide_many(drift, other->mount_point))
		HASH_ITER (hh, drift->mounts, mount, next)
			if (path_is_below(mount->path, other->mount_point))
				drift_cover(drift, mount, other, &culprit);
}

/* The mount below is looked at by publishing it again, which finds it mounted. */
void drift_uncovered(struct drift *drift, uint64_t cover_id)
{
	struct drift_mount *mount, *next;

	if (cover_id == drift->root_cover_id && cover_id != 0) {
		drift->root_cover_id = 0;
		drift->healed[DRIFT_COVERED]++;
		log_message(LOG_NOTICE, "the root directory '%s' can be seen again",
			    drift->options.root->path);
	}
	if (drift->covered == 0)
		return;
	HASH_ITER (hh, drift->mounts, mount, next) {
		if (mount->cover_id != cover_id)
			continue;
		drift_index_set_cover(drift, mount, 0);
		actual_doubt(drift->options.actual, mount->unique_name, uid_or_null(mount), true);
	}
}

/* ---- attributes ---- */

/* What a mount has when it is first seen is what it is to have; a volume that is to be read-only
 * must be, whatever was seen. */
void drift_note_attributes(struct drift *drift, struct drift_mount *mount, uint64_t attributes)
{
	if (!mount->attributes_known) {
		mount->attributes = attributes;
		if (mount->read_only)
			mount->attributes |= MOUNT_ATTR_RDONLY;
		mount->attributes_known = true;
	}
	drift_index_expect(drift, mount, attributes == mount->attributes);
	if (attributes == mount->attributes) {
		if (mount->kind == DRIFT_REMOUNTED)
			drift_over(drift, mount, false);
		return;
	}
	if (mount->kind != DRIFT_NONE &&
	    (mount->kind != DRIFT_REMOUNTED || mount->attributes_now == attributes))
		return;
	if (state_of(drift, mount) != MOUNT_DONE)
		return;
	mount->attributes_now = attributes;
	drift_begin(drift, mount, DRIFT_REMOUNTED, &nobody_known);
	if (*drift->options.heals)
		drift_request_set_back(drift, mount);
}

/* ---- the root directory ---- */

void drift_root_is_lost(struct drift *drift, const struct drift_culprit *culprit)
{
	if (drift->root_lost)
		return;
	drift->root_lost = true;
	drift->seen[DRIFT_UNMOUNTED]++;
	log_message(LOG_ERR,
		    "the root directory '%s' was unmounted by process %d '%s', with everything "
		    "below it",
		    drift->options.root->path, (int) culprit->pid, culprit->command);
	drift_request_root(drift);
}

void drift_root_is_back(struct drift *drift, uint64_t root_id)
{
	struct drift_mount *mount;

	drift->root_id = root_id;
	drift->root_lost = false;
	drift->healed[DRIFT_UNMOUNTED]++;
	log_message(LOG_NOTICE, "the root directory '%s' is a mount again",
		    drift->options.root->path);
	for (mount = drift->mounts; mount; mount = mount->hh.next)
		(void) dirty_add(drift->options.dirty, mount->unique_name);
}

/* ---- events of the kernel ---- */

static void note_change(struct drift *drift, const struct mount_change *change)
{
	struct drift_mount *mount =
		change->detached ? drift_index_by_id(drift, change->mount_id) : NULL;
	struct drift_culprit culprit;

	drift->saw_detached |= change->detached;
	if (change->detached)
		drift_drop_identity(drift, change->mount_id);
	if (change->mount_id == drift->root_id && change->detached) {
		culprit = drift_who(change->pid);
		drift_root_is_lost(drift, &culprit);
	} else if (mount) {
		culprit = drift_who(change->pid);
		drift_lost(drift, mount, change->attached ? DRIFT_MOVED : DRIFT_UNMOUNTED,
			   &culprit);
	} else if (change->attached) {
		drift_request_identity(drift, change->mount_id, change->pid);
	}
	/* Also when it is one of podvol's: what others mount on a volume of a shared file system
	 * lies on the volume's source as well, and then a set-up finds it to be what it wanted. */
	if (change->detached)
		drift_uncovered(drift, change->mount_id);
}

static void on_changed(void *userdata, const struct mount_change *changes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		note_change(userdata, &changes[i]);
	drift_begin_identity(userdata);
}

/* Events that were lost are an emergency; a table that only says "changed" says so all day. */
static void on_lost(void *userdata)
{
	struct drift *drift = userdata;

	drift_request_check(drift, CHECK_ALL,
			    drift->watch && mount_watch_reports_ids(drift->watch));
}

static void on_altered(void *userdata, bool sure)
{
	drift_request_check(userdata, CHECK_ATTRIBUTES, sure);
}

/* ---- steps ---- */

/* What was there before the start is compared first: nothing is taken away before a foreign
 * mount on top of it was seen, no memory is made again under a container, and what may be confirmed
 * is not set up. */
static bool waits_for_first_check(const struct drift *drift, const struct step *step)
{
	const struct actual_pod *pod =
		step->have && step->pod_uid ? actual_find_pod(step->have, step->pod_uid) : NULL;

	if (drift->checked)
		return false;
	if (step->kind == STEP_STAGE)
		return step->have && step->have->device_from_rebuild &&
		       step->have->device_served != 0;
	return step_takes_down(step->kind) ||
	       (pod && pod->from_rebuild &&
		(pod->served != 0 ||
		 drift_lives_in_mount(drift, step->unique_name, step->pod_uid)));
}

static bool may_heal(struct drift *drift, struct drift_mount *mount)
{
	bool lacks_mount = mount->has_mount && mount->mount_id == 0;

	if (mount->cover_id != 0 || (lacks_mount && !*drift->options.heals) ||
	    (mount->data_lost && drift_is_held(drift, mount)))
		return false;
	if (monotonic_usec() >= mount->begin_usec)
		return true;
	retry_add(drift->retries, &mount->retry, mount->begin_usec);
	return false;
}

bool drift_passes(void *userdata, const struct step *step)
{
	struct drift *drift = userdata;
	struct drift_mount *mount;

	assert(step);
	if (!drift || step->kind == STEP_FORGET)
		return true;
	drift_own_work(drift);
	if (drift->root_lost || waits_for_first_check(drift, step))
		return false;
	mount = drift_index_find(drift, step->unique_name, step->pod_uid);
	if (!mount || mount->kind == DRIFT_NONE || mount->kind == DRIFT_REMOUNTED)
		return true;
	if (mount->kind == DRIFT_STACKED)
		return false;
	return step_takes_down(step->kind) ? mount->cover_id == 0 : may_heal(drift, mount);
}

bool drift_confirms(const struct drift *drift, const char *unique_name, const char *pod_uid)
{
	const struct drift_mount *mount =
		drift ? drift_index_find(drift, unique_name, pod_uid) : NULL;

	return mount && mount->is_confirmed && mount->kind == DRIFT_NONE;
}

/* Before Linux 6.8 the number of a mount that went is given to the next one, which may be reported
 * first: its last owner has it no more. */
static void take_id(struct drift *drift, struct drift_mount *mount, uint64_t mount_id)
{
	struct drift_mount *before = drift_index_by_id(drift, mount_id);

	if (before && before != mount) {
		drift_lost(drift, before, DRIFT_UNMOUNTED, &nobody_known);
		drift_index_set_id(drift, before, 0);
	}
	drift_index_set_id(drift, mount, mount_id);
}

static void made(struct drift *drift, const struct step_result *result)
{
	struct drift_mount *mount;

	/* Most devices and all directories are staged without a mount: nothing can happen to it. */
	if (!result->pod_uid && result->mount_id == 0 &&
	    !drift_index_find(drift, result->unique_name, NULL))
		return;
	mount = drift_index_ensure(drift, result->unique_name, result->pod_uid);
	if (!mount)
		return;
	if (result->mount_id != 0)
		take_id(drift, mount, result->mount_id);
	/* No event says how it is mounted, if it still is that. */
	if (mount->is_from_before && !mount->attributes_known)
		drift_request_check(drift, CHECK_ATTRIBUTES, false);
	mount->is_from_before = false;
	if (mount->kind == DRIFT_REMOUNTED && !mount->attributes_known)
		mount->kind = DRIFT_NONE; /* it was another mount */
	else if (mount->kind != DRIFT_NONE && mount->kind != DRIFT_REMOUNTED)
		drift_over(drift, mount, mount->kind != DRIFT_COVERED);
}

void drift_step_ended(void *userdata, const struct operation_ended *ended)
{
	const struct step_result *result = &ended->result;
	struct drift *drift = userdata;

	assert(result->unique_name);
	if (!drift)
		return;
	drift_own_work(drift);
	if (drift->check_again)
		drift_request_check(drift, CHECK_ALL, false);
	drift->check_again = false;
	if (result->error < 0)
		return;
	if (result->kind == STEP_PUBLISH || result->kind == STEP_STAGE)
		made(drift, result);
	else
		drift_forget(drift, result->unique_name, result->pod_uid);
}

void drift_forget(void *userdata, const char *unique_name, const char *pod_uid)
{
	struct drift *drift = userdata;
	struct drift_mount *mount = drift ? drift_index_find(drift, unique_name, pod_uid) : NULL;

	if (mount)
		drift_index_remove(drift, mount);
}

bool drift_is_checking(const struct drift *drift)
{
	return drift && !drift->checked;
}

static void on_due(void *userdata, struct retry_entry *entry)
{
	struct drift *drift = userdata;
	struct drift_mount *mount =
		(struct drift_mount *) ((char *) entry - offsetof(struct drift_mount, retry));

	(void) dirty_add(drift->options.dirty, mount->unique_name);
}

/* ---- the whole ---- */

/* Without a watch podvold does what it did before there was one. */
static void open_watch(struct drift *drift)
{
	const struct mount_watch_options options = {
		.event = drift->options.event,
		.priority = drift->options.priority,
		.changed = on_changed,
		.lost = on_lost,
		.altered = on_altered,
		.userdata = drift,
	};
	struct failure failure;

	if (mount_watch_new(&options, &drift->watch, &failure) < 0)
		log_message(LOG_WARNING,
			    "changes of mounts by other processes are not detected: %s",
			    failure.text);
}

int drift_new(const struct drift_options *options, struct drift **ret, struct failure *reterr)
{
	struct drift *drift = calloc(1, sizeof(*drift));
	struct mount_facts root;
	int r;

	assert(options && options->event && options->root->fd >= 0 && ret);
	if (!drift)
		return failed(reterr, -ENOMEM, "cannot watch mounts");
	drift->options = *options;
	r = retry_queue_new(options->event, on_due, drift, &drift->retries);
	if (r >= 0)
		r = drift_jobs_new(drift, &drift->jobs);
	if (r < 0) {
		drift_free(drift);
		return failed(reterr, r, "cannot watch mounts");
	}
	if (fd_facts(options->root->fd, &root, NULL) == 0)
		drift->root_id = root.mount_id;
	open_watch(drift);
	drift_request_check(drift, CHECK_ALL, true);
	*ret = drift;
	return 0;
}

struct drift *drift_free(struct drift *drift)
{
	struct drift_mount *mount, *next;

	if (!drift)
		return NULL;
	mount_watch_free(drift->watch);
	drift_jobs_free(drift->jobs);
	HASH_ITER (hh, drift->mounts, mount, next)
		drift_index_remove(drift, mount);
	retry_queue_free(drift->retries);
	free(drift->known);
	free(drift);
	return NULL;
}
