/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drift - what others do to the mounts that podvold made: noticed, reported, and remounted by
 * policy
 *
 * Knows each managed mount by its id, hears from mount/table/mount_watch.h what happens to mounts,
 * and turns what concerns us into incidents: unmounted, moved, mounted over, remounted. An incident
 * is an event about the pod, a line in the journal and a counter, once; the volume becomes
 * uncertain and dirty, so that the reconciler heals it by its normal steps. What must not be healed
 * (policy "report", a memory volume whose data are lost under a running container, a foreign
 * mount on top) is held back by drift_passes(). Never unmounts but duplicates of our own mounts.
 *
 * All but drift_new() accept NULL: an agent without a watch. The loop thread only.
 */
#pragma once

#include "base/worker.h"
#include "mount/mount.h"
#include "operation/operation.h"

#include <stdio.h>
#include <systemd/sd-event.h>

struct drift;

/* All pointers are borrowed. */
struct drift_options {
	sd_event *event;
	int64_t priority; /* after results of operations, which say which mounts are podvold's */
	struct mount_root *root;
	const bool *heals; /* policy "heal", else "report"; a reload may change it */
	struct actual *actual;
	struct desired *desired;
	struct dirty_set *dirty;
	const struct holds *holds;
	struct operations *operations;
	struct worker_pool *const *workers; /* points to NULL once the threads have ended */
	/* A v1.Event about @pod. On the loop, as all of these. */
	void (*record)(void *userdata, const struct object *pod, const char *type,
		       const char *reason, const char *text);
	/* A volume of the pod is not mounted as it was. */
	void (*changed)(void *userdata, const char *pod_uid);
	/* A mount of the volume is gone; after the actual table followed it. */
	void (*lost)(void *userdata, const char *unique_name);
	/* The first look is over: steps that waited for it may begin. */
	void (*checked)(void *userdata);
	void *userdata;
};

/* @options is copied. Begins to watch, and has what is mounted already looked at. Return: 0;
 * negative errno. */
int drift_new(const struct drift_options *options, struct drift **ret, struct failure *reterr);
/* After the pools and their way back. Return: NULL. */
struct drift *drift_free(struct drift *drift);

/* The next ones are hooks of an observer of steps: @drift is a struct drift. */

/* May the step begin, as far as others' mounts are concerned? When that changes the volume becomes
 * dirty. */
bool drift_passes(void *drift, const struct step *step);

/* Not a hook. Is exactly what the ledger says mounted for it, and was since the first look? */
bool drift_confirms(const struct drift *drift, const char *unique_name, const char *pod_uid);

/* A step ended well or badly; after the actual table followed it. */
void drift_step_ended(void *drift, const struct operation_ended *ended);
/* The entry left the table; both names may be its own. */
void drift_forget(void *drift, const char *unique_name, const char *pod_uid);
/* Why no step of the volume begins: of the pod's mount, or of the device below it. */
bool drift_explain(void *drift, const char *unique_name, const char *pod_uid, const char *name,
		   struct failure *ret);

/* Is the first look still under way? Then steps wait for it. */
bool drift_is_checking(const struct drift *drift);

enum { DRIFT_TEXT_BYTES = 500 };

struct drift_view {
	char text[DRIFT_TEXT_BYTES]; /* "was unmounted by process 4711 'umount'" */
	uint64_t since_usec;         /* monotonic */
	bool holds_back;             /* what would heal it, or take it down, does not begin */
};
/* Of a pod's own mount, else of the device below it. False: nothing is wrong with them. */
bool drift_view_of(const struct drift *drift, const char *unique_name, const char *pod_uid,
		   struct drift_view *ret);

/* Counters in Prometheus' form. */
void drift_print_metrics(const struct drift *drift, FILE *file);
