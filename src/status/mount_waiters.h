/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_waiters - waiters for the volumes of a pod, and their answers
 *
 * The loop thread only.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct look_up_errors;
struct object;
struct volume_tables;
struct waits;

/* All pointers are borrowed. */
struct mount_waiters_options {
	sd_event *event;
	const int64_t *waits_max; /* a reload may change it */
	const struct volume_tables *tables;
	/* The stored pod; NULL: there is none. */
	const struct object *(*find_pod)(void *userdata, const char *name_space, const char *name);
	/* Its claims and volumes may have arrived: they are looked up. */
	void (*look_up)(void *userdata, const char *name_space, const char *name,
			uint64_t now_usec);
	/* Why nothing of it is mounted here whatever happens, or why it is not looked up yet.
	 * False: no such reason. */
	bool (*explain_idle)(void *userdata, const struct object *pod, struct failure *ret);
	bool (*explain_wait)(void *userdata, const struct object *pod, struct failure *ret);
	struct look_up_errors *const *look_up_errors; /* made later */
	void *userdata;
};

/* @options is copied. Return: 0 or -ENOMEM. */
int mount_waiters_new(const struct mount_waiters_options *options, struct waits **ret);
/* Every wait that is left ends with -ECANCELED. Accepts NULL. Return: NULL. */
struct waits *mount_waiters_free(struct waits *waits);
/* Something about this pod changed: look at its waits. Cheap when there are none. */
void mount_waiters_pod_changed(struct waits *waits, const char *pod_uid);

enum mount_wait_for { WAIT_MOUNTED, WAIT_UNMOUNTED };

struct mount_wait;

/* Who waits for what. Strings are copied. */
struct mount_wait_request {
	enum mount_wait_for what;
	const char *name_space, *name;
	const char *uid;       /* the pod may be gone from the store already for WAIT_UNMOUNTED */
	uint64_t timeout_usec; /* relative; at its end done gets -ETIMEDOUT */
	/* Once, on the loop, never inside mount_waiters_add(): 0 done; -ETIMEDOUT; -ENOENT the pod
	 * went; -ECANCELED podvold stops; -EIO no wait helps: an unsupported source, another
	 * node's pod, a finished one. @why: each volume that is missing, and its error. */
	void (*done)(void *userdata, int error, const struct failure *why);
	void *userdata;
};

/**
 * mount_waiters_add - tell when every volume of a pod is mounted, or none any more
 * @ret: for mount_wait_cancel(), until done was called
 *
 * Return: 0; -ENOMEM; -ENOBUFS too many waits.
 */
int mount_waiters_add(struct waits *waits, const struct mount_wait_request *request,
		      struct mount_wait **ret);
/* The waiter left: done() is not called any more. Not after it was called. */
void mount_wait_cancel(struct mount_wait *wait);
