/* SPDX-License-Identifier: Apache-2.0 */
/*
 * desired - the desired state of the world: which volume which pod wants (spec: volume manager,
 * 1)
 *
 * A volume is here while a pod wants it; removing its last pod removes it. Entries hold references
 * to the objects they were made from. The loop thread only.
 */
#pragma once

#include "base/hash_table.h"
#include "plugins/plugin.h"
#include "state/dirty.h"

#include <stdint.h>

struct desired_pod {
	char *pod_uid;
	const struct object *pod;   /* a reference */
	const struct object *claim; /* a reference, or NULL */
	struct volume_spec spec;    /* its objects are references */
	char **outer_names; /* pod.spec.volumes[].name of each volume that is this one, in the pod's
			       order: two may refer to the same claim */
	size_t outer_name_count;           /* at least 1 */
	uint64_t requested_usec;           /* monotonic; when the mount was first wanted */
	uint64_t remount_generation;       /* raised by desired_request_remount() */
	unsigned int node_expand_failures; /* in a row */
	uint64_t node_expand_failing_usec; /* monotonic: when the first of them was */
	UT_hash_handle hh;                 /* by pod_uid */
};

struct desired_volume {
	char *unique_name;
	const struct volume_plugin *plugin;
	bool device_mountable, block;
	struct desired_pod *pods;
	UT_hash_handle hh; /* by unique_name */
};

struct desired;

/* An empty table; @dirty is borrowed and must outlive it. Return: 0 or -ENOMEM. */
int desired_new(struct dirty_set *dirty, struct desired **ret);
/* What plugins may ask for while the table asks them; copied. Nothing is lent before. */
void desired_set_objects(struct desired *desired, const struct object_finder *objects);
/* Drops every reference that entries hold. Accepts NULL. Return: NULL. */
struct desired *desired_free(struct desired *desired);

/* What a pod wants of one volume; everything is copied or referenced. */
struct desired_want {
	const char *unique_name;
	const struct volume_plugin *plugin;
	bool device_mountable;
	const struct volume_spec *spec;
	const struct object *pod, *claim;
	const char *const *outer_names; /* one that comes again is kept once */
	size_t outer_name_count;        /* at least 1 */
	uint64_t now_usec;
};

/* Adding the same pod again refreshes its objects and names but keeps the time of the request,
 * unless the plugin requires remounts. Return: 1 new, 0 refreshed, -ENOMEM: nothing changed. */
int desired_add(struct desired *desired, const struct desired_want *want);
/* This pod wants the volume no more; the pod's errors go as well. Unknown names are passed over;
 * both may be the entry's own strings. */
void desired_remove(struct desired *desired, const char *unique_name, const char *pod_uid);

/* RemountRequired: the next look at the volume mounts it again for this pod, where its plugin
 * requires that (configMap, secret, ...); a no-op elsewhere and for unknown entries. */
void desired_request_remount(struct desired *desired, const char *unique_name, const char *pod_uid);
/* The same whatever the plugin requires: a set-up said that it is to be repeated. */
void desired_repeat_set_up(struct desired *desired, const char *unique_name, const char *pod_uid);
/* What came of a growth, as the pod's node_expand members. @failed_usec: monotonic; 0: it grew. */
void desired_note_expand(struct desired *desired, const char *unique_name, const char *pod_uid,
			 uint64_t failed_usec);

/* Look-ups: borrowed until the table changes; NULL: not there. */
struct desired_volume *desired_find(const struct desired *desired, const char *unique_name);
/* What one pod wants of a volume; NULL: nothing. */
struct desired_pod *desired_find_pod(const struct desired_volume *volume, const char *pod_uid);
/* Any entry, to walk with ->hh.next in the order in which they came; NULL: the table is empty. */
struct desired_volume *desired_first(const struct desired *desired);
/* Does a pod want the PersistentVolume of this name? Cost: all volumes of all pods. */
bool desired_has_pv(const struct desired *desired, const char *name);

/* The unique name of the @position-th volume that this pod wants, in no order; NULL past the last.
 * Valid until the table changes. */
const char *desired_volume_of_pod(const struct desired *desired, const char *pod_uid,
				  size_t position);

/* Errors of a pod while its volumes were looked up: a set, at most DESIRED_ERRORS_MAX texts. */
enum { DESIRED_ERRORS_MAX = 11 };
struct desired_errors {
	char *pod_uid;
	char *texts[DESIRED_ERRORS_MAX];
	char *volumes[DESIRED_ERRORS_MAX]; /* outer name each text is about; "" for the pod */
	int codes[DESIRED_ERRORS_MAX];     /* as volume_lookup() returned them */
	size_t count;
	UT_hash_handle hh;
};
/* Copies both texts. What is there already, or is one too many, is dropped. Return: 0 or -ENOMEM.
 */
int desired_add_error(struct desired *desired, const char *pod_uid, const char *outer_name,
		      int error, const char *text);
/* Before a pod is looked at again: what was said of it is no longer true. */
void desired_clear_errors(struct desired *desired, const char *pod_uid);
/* Borrowed until they change; NULL: none, never an empty set. */
const struct desired_errors *desired_errors(const struct desired *desired, const char *pod_uid);
/* How many pods have any; constant cost. */
size_t desired_pods_with_errors(const struct desired *desired);
