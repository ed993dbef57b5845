/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_conditions - how it is with the volumes of a pod, as a condition and a phase of the pod that
 * the API shows
 *
 * Made when a pod is read, from the tables, and never stored: it costs no write, and what another
 * agent wrote to the pod's status stays. When it changes the pod is touched (store/touch.h), which
 * watches of the API see. All but pod_conditions_new() accept NULL: an agent without them. The loop
 * thread only.
 */
#pragma once

#include "base/failure.h"
#include "object/object.h"
#include "status/status.h"

#define POD_CONDITION "podvol.io/VolumesMounted"

struct pod_conditions;

struct pod_conditions_options {
	const struct reporter *reporter;     /* borrowed */
	struct volume_faults *const *faults; /* made later */
	/* Does a container hold the pod? */
	bool (*is_held)(void *userdata, const char *pod_uid);
	/* May a phase be shown that the object does not have? Not where another agent writes it. */
	bool with_phase;
	void *userdata;
};

/* @options is copied. Return: 0 or -ENOMEM. */
int pod_conditions_new(const struct pod_conditions_options *options, struct pod_conditions **ret);
/* Return: NULL. */
struct pod_conditions *pod_conditions_free(struct pod_conditions *conditions);

/* The pod was looked up: it is known from now on while it has volumes here. Return: as below. */
bool pod_conditions_resolved(struct pod_conditions *conditions, const struct object *pod);
/* Something of the pod, or of a volume of several, may have changed: pod_conditions_settle() looks.
 * Return: is there anything to look at? */
bool pod_conditions_changed(struct pod_conditions *conditions, const char *pod_uid);
bool pod_conditions_volume_changed(struct pod_conditions *conditions, const char *unique_name);
/* An event about it is recorded: what was to heal within a moment stands. Return: as above. */
bool pod_conditions_reported(struct pod_conditions *conditions, const struct object *about);
/* Looks at each of these once, and touches those of which it shows. Cost: their volumes. */
void pod_conditions_settle(struct pod_conditions *conditions);

/* In one word: volume_rows_word(), or "VolumesHeld": mounted, and a container holds the pod. */
const char *pod_conditions_word(const struct pod_conditions *conditions, const char *pod_uid);

/* The phase that pod_conditions_print() shows; NULL: that which is stored. */
const char *pod_conditions_phase(const struct pod_conditions *conditions, const struct object *pod);
/* May any be shown that is not stored? */
bool pod_conditions_show_phases(const struct pod_conditions *conditions);

/**
 * pod_conditions_print - a pod's JSON with the condition
 * @ret: the text, freed with free(); NULL: there is nothing to add, the pod is shown as it is
 * stored
 *
 * Cost: that pod's volumes and its text. Return: 0 or -ENOMEM.
 */
int pod_conditions_print(const struct pod_conditions *conditions, const struct object *pod,
			 char **ret);
