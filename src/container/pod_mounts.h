/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_mounts - calls about the containers of a pod: bind their sub-paths, say what they are to be
 * given
 *
 * A runtime asks before it makes a container. subpaths.c binds what a volumeMount with a subPath
 * needs, container_mounts.c looks at what is mounted and makes the plan (container_plan.h), each
 * thing where it may be. A call holds nothing: who wants the volumes to stay posts a hold. No
 * volume is mounted or unmounted here. The loop thread only.
 */
#pragma once

#include "base/failure.h"
#include "object/object.h"

#include <systemd/sd-event.h>

struct dirty_set;
struct plugin_host;
struct step;
struct store;
struct subpaths;
struct volume_tables;
struct worker_pool;

/* What clients can make this keep, or do on the loop. */
enum {
	SUBPATH_CALLS_MAX = 1000,
	/* Of JSON, by one call for the variables of a subPathExpr: some 100 ms of the loop. */
	SUBPATH_READ_BYTES_MAX = 16 * 1024 * 1024,
};

/* All is borrowed. What is a pointer to a pointer may be made later. */
struct pod_mounts_options {
	sd_event *event;
	int64_t priority; /* after a turn of the sync loop: a teardown that waited goes first */
	const struct volume_tables *tables;
	const struct plugin_host *host;
	struct store **store; /* NULL in a drain */
	struct worker_pool **workers;
	struct dirty_set *dirty;
	/* A pod's sub-path cannot be bound: an event about it. */
	void (*record)(void *userdata, const struct object *about, const char *type,
		       const char *reason, const char *text);
	void (*turn)(void *userdata); /* have one soon */
	void *userdata;
};

struct pod_mounts {
	struct pod_mounts_options with; /* filled in by its owner */
	struct subpaths *subpaths;
	struct container_mounts_call *plans; /* on a worker, or waiting for one */
};

/* ---- subpaths.c ---- */

/* @owner is borrowed: its tables and store need not be there yet. Return: 0 or negative errno. */
int subpaths_new(struct pod_mounts *owner, struct subpaths **ret);
/* Every call that is left ends with -ECANCELED. Accepts NULL. Return: NULL. */
struct subpaths *subpaths_free(struct subpaths *subpaths);
/* A hook of an observer of steps. Are sub-paths of this pod being bound just now? Then they end
 * soon, and a teardown that this kept from starting becomes due again. */
bool subpaths_pass(void *subpaths, const struct step *step);

/* One volumeMount with a subPath, ready for a runtime: what to mount is at @path. */
struct bound_subpath {
	const char *container;
	size_t mount_index; /* in the container's volumeMounts */
	const char *path;   /* absolute; of a directory or of a file */
	bool is_directory;
};

struct bound_subpaths {
	const struct bound_subpath *items; /* containers in the pod's order, mounts in theirs */
	size_t count;
};

struct subpath_call;

/* Once, on the loop, never before subpaths_prepare() returned. 0: all of @ret is bound, which
 * is borrowed for the call; else @why says what is wrong with which volumeMount of which container:
 * -EINVAL the path is refused or a variable of subPathExpr has no value; -EROFS a directory is
 * missing in a read-only volume; -EAGAIN a volume is not mounted, or being unmounted; -ENOENT the
 * pod went; -ECANCELED podvold stops, or the pod is being taken down; else as system calls fail. */
typedef void subpaths_fn(void *userdata, int error, const struct bound_subpaths *ret,
			 const struct failure *why);

/**
 * subpaths_prepare - have the subPath and subPathExpr mounts of a pod's containers bound
 * @container: name; NULL: all of them
 * @ret:       for subpaths_cancel(), until @done was called
 *
 * What is bound already stays, so calling again is cheap; a container without a subPath is done at
 * once. The volumes have to be mounted before. Calls for one pod come one after the other, and no
 * volume of the pod is taken down while one runs.
 *
 * Return: 0; -ENOENT no such pod, or no such container in it; -ENOBUFS too many calls; -ENOMEM.
 */
int subpaths_prepare(struct pod_mounts *owner, const char *pod_uid, const char *container,
		     subpaths_fn *done, void *userdata, struct subpath_call **ret);
/* The caller left: @done is not called any more. Not after it was called. */
void subpaths_cancel(struct subpath_call *call);

/* ---- what containers are to be given ---- */

struct container_plan;

/* Once, on the loop, never before container_mounts_plan() returned. 0: @plan is borrowed for the
 * call; else @why says what is in the way: as subpaths_fn and container_plan_make(). */
typedef void container_mounts_fn(void *userdata, int error, const struct container_plan *plan,
				 const struct failure *why);

/* Who asks about what. Strings are copied. */
struct container_mounts_request {
	const char *name_space, *name; /* of a stored pod, whose volumes should be mounted */
	const char *container;         /* NULL: all of them */
	container_mounts_fn *done;
	void *userdata;
};

struct container_mounts_call;

/**
 * container_mounts_plan - bind the sub-paths of a pod's containers and say what they are to be
 * given
 * @ret: for container_mounts_cancel(), until done was called
 *
 * Return: 0; -ENOENT no such pod, or no such container in it; -ENOBUFS too many calls; -ENOMEM.
 */
int container_mounts_plan(struct pod_mounts *owner, const struct container_mounts_request *request,
			  struct container_mounts_call **ret);
/* The caller left: done is not called any more. Not after it was called. */
void container_mounts_cancel(struct container_mounts_call *call);
