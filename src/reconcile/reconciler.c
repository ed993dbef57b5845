/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconciler - the steps from the actual to the desired state; see reconcile.h
 *
 * Pure: reads two tables, appends to a plan. No system call, no clock, no log. The order within a
 * plan is kubelet's: unpublish from pods that no longer want the volume, stage and publish, then
 * unstage.
 */
#include "reconcile/reconcile.h"

#include "base/array.h"

#include <assert.h>

enum { PLAN_FIRST_CAPACITY = 16 };

/* What the functions below share; lives for one call. */
struct volume_sync {
	const struct desired_volume *want; /* NULL: not wanted */
	const struct actual_volume *have;  /* NULL: nothing is known of it */
	bool may_unmount;
	const struct holds *holds; /* NULL: none */
	const struct desired *desired;
	struct plan *plan;
};

void plan_done(struct plan *plan)
{
	assert(plan);

	free(plan->steps);
	*plan = (struct plan){ 0 };
}

static int append(struct plan *plan, const struct step *step)
{
	if (ARRAY_ROOM(plan->steps, plan->count, plan->capacity, PLAN_FIRST_CAPACITY) < 0)
		return -ENOMEM;

	plan->steps[plan->count++] = *step;
	return 0;
}

static bool is_wanted_by(const struct volume_sync *sync, const char *pod_uid)
{
	return sync->want && desired_find_pod(sync->want, pod_uid);
}

/* ---- first: unpublish ---- */

/* A container of the pod is running: its volume stays. */
static bool is_held(const struct volume_sync *sync, const struct actual_pod *pod)
{
	return pod->state != MOUNT_ABSENT && sync->holds &&
	       holds_has_pod(sync->holds, pod->pod_uid);
}

/* A look-up for the pod failed: until it succeeds, the pod may still want this volume. After a
 * restart there is no earlier desired state to compare with. */
static bool may_be_wanted(const struct volume_sync *sync, const struct actual_pod *pod)
{
	return desired_errors(sync->desired, pod->pod_uid);
}

/* An entry that was never mounted needs no unpublish. */
static int leave_pod(const struct volume_sync *sync, const struct actual_pod *pod)
{
	return append(sync->plan,
		      &(struct step){
			      .kind = pod->state == MOUNT_ABSENT ? STEP_FORGET : STEP_UNPUBLISH,
			      .unique_name = sync->have->unique_name,
			      .pod_uid = pod->pod_uid,
			      .have = sync->have,
		      });
}

static int leave_unwanted_pods(const struct volume_sync *sync)
{
	const struct actual_pod *pod;

	for (pod = sync->have->pods; pod; pod = pod->hh.next)
		if (!is_wanted_by(sync, pod->pod_uid) && !is_held(sync, pod) &&
		    !may_be_wanted(sync, pod) && leave_pod(sync, pod) < 0)
			return -ENOMEM;
	return 0;
}

/* ---- then: stage and publish ---- */

/* Until a set-up has found a device, or a row of the ledger speaks of one, there may be none. */
static bool may_lack_device(const struct volume_sync *sync)
{
	return (sync->want->plugin->traits & VOLUME_STAGES_DEVICE) && !sync->want->block &&
	       (!sync->have ||
		(sync->have->device_state == MOUNT_ABSENT && !sync->have->needs_stage));
}

static bool device_is_ready(const struct volume_sync *sync)
{
	return !sync->want->device_mountable ||
	       (sync->have && sync->have->device_state == MOUNT_DONE) || may_lack_device(sync);
}

/* It is mounted once for all: one pod that writes needs it formatted and writable. */
static const struct desired_pod *pod_to_stage_for(const struct desired_volume *want)
{
	const struct desired_pod *pod;

	for (pod = want->pods; pod; pod = pod->hh.next)
		if (!pod->spec.read_only)
			return pod;
	return want->pods;
}

static int stage(const struct volume_sync *sync)
{
	return append(sync->plan, &(struct step){
					  .kind = STEP_STAGE,
					  .unique_name = sync->want->unique_name,
					  .want = sync->want,
					  .want_pod = pod_to_stage_for(sync->want),
					  .have = sync->have,
				  });
}

/* Only a volume whose single mode is ReadWriteOncePod is limited to one pod. */
static bool serves_one_pod(const struct desired_pod *pod)
{
	const struct persistent_volume *pv = spec_pv(&pod->spec);

	return pv && pv->access_modes == ACCESS_READ_WRITE_ONCE_POD;
}

/* Is it still, or perhaps, published to a pod that no longer wants it? For a pod that does want it,
 * publish fails with an error instead of waiting. */
static bool is_being_left(const struct volume_sync *sync)
{
	const struct actual_pod *pod;

	for (pod = sync->have ? sync->have->pods : NULL; pod; pod = pod->hh.next)
		if (pod->state != MOUNT_ABSENT && !is_wanted_by(sync, pod->pod_uid))
			return true;
	return false;
}

static bool is_served(const struct actual_pod *pod, const struct desired_pod *want_pod)
{
	return pod && pod->state == MOUNT_DONE &&
	       pod->remount_generation == want_pod->remount_generation;
}

static int publish(const struct volume_sync *sync, const struct desired_pod *want_pod,
		   const struct actual_pod *pod)
{
	return append(sync->plan, &(struct step){
					  .kind = STEP_PUBLISH,
					  .unique_name = sync->want->unique_name,
					  .pod_uid = want_pod->pod_uid,
					  .want = sync->want,
					  .want_pod = want_pod,
					  .have = sync->have,
					  .remount = pod && pod->state == MOUNT_DONE,
				  });
}

static int serve_pod(const struct volume_sync *sync, const struct desired_pod *want_pod)
{
	const struct actual_pod *pod =
		sync->have ? actual_find_pod(sync->have, want_pod->pod_uid) : NULL;

	if (is_served(pod, want_pod))
		return 0;
	if (serves_one_pod(want_pod) && is_being_left(sync))
		return 0;
	return publish(sync, want_pod, pod);
}

static int serve_wanted_pods(const struct volume_sync *sync)
{
	const struct desired_pod *want_pod;

	if (!device_is_ready(sync))
		return stage(sync);

	for (want_pod = sync->want->pods; want_pod; want_pod = want_pod->hh.next)
		if (serve_pod(sync, want_pod) < 0)
			return -ENOMEM;
	return 0;
}

/* ---- last: unstage ---- */

static bool some_pod_may_have_it(const struct actual_volume *have)
{
	const struct actual_pod *pod;

	for (pod = have->pods; pod; pod = pod->hh.next)
		if (pod->state != MOUNT_ABSENT)
			return true;
	return false;
}

static int take_down(const struct volume_sync *sync)
{
	if (some_pod_may_have_it(sync->have))
		return 0;

	return append(sync->plan,
		      &(struct step){
			      .kind = sync->have->device_state == MOUNT_ABSENT ? STEP_FORGET
									       : STEP_UNSTAGE,
			      .unique_name = sync->have->unique_name,
			      .have = sync->have,
		      });
}

static int plan_volume(const struct volume_sync *sync)
{
	bool may_leave = sync->have && sync->may_unmount;

	if (may_leave && leave_unwanted_pods(sync) < 0)
		return -ENOMEM;
	if (sync->want)
		return serve_wanted_pods(sync);
	return may_leave ? take_down(sync) : 0;
}

int reconcile_volume(const struct desired *desired, const struct actual *actual,
		     const char *unique_name, const struct reconcile_conditions *conditions,
		     struct plan *plan)
{
	struct volume_sync sync;
	size_t count;
	int error;

	assert(desired && actual && unique_name && conditions && plan);

	sync = (struct volume_sync){
		.want = desired_find(desired, unique_name),
		.have = actual_find(actual, unique_name),
		.may_unmount = conditions->may_unmount,
		.holds = conditions->holds,
		.desired = desired,
		.plan = plan,
	};

	/* A plugin that is not in this podvold left it there: it is not touched. */
	if (sync.have && !sync.have->plugin)
		return 0;

	count = plan->count;
	error = plan_volume(&sync);
	if (error < 0)
		plan->count = count;
	return error;
}
