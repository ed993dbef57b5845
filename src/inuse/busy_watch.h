/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy_watch - who uses a volume whose teardown failed because it is busy, and until when
 *
 * A failed teardown begins a search (mount/holders/busy_holders.h) on a worker, one for all that
 * failed meanwhile; volumes that no process uses cost nothing. A teardown that fails again is not
 * searched for again before its back-off is over. Each process that was found is watched by its
 * pidfd, and when one ends the teardown is tried at once. The loop thread only; the search alone
 * runs on a worker.
 */
#pragma once

#include "base/worker.h"
#include "mount/holders/busy_holders.h"

#include <systemd/sd-event.h>

struct busy_watch;

/* What is known of one volume that is busy. Borrowed until the loop turns. */
struct busy_view {
	const char *unique_name, *pod_uid; /* pod_uid "" for the device */
	uint64_t since_usec;               /* monotonic: the first teardown that failed */
	bool searching;
	const struct busy_holders *holders; /* NULL before the first search ended */
	const struct failure *failure;      /* of the search; NULL: it was done */
};

struct busy_watch_options {
	sd_event *event; /* borrowed */
	int64_t priority;
	struct worker_pool *workers; /* borrowed */
	/* A search found others than the one before. On the loop. */
	void (*found)(void *userdata, const struct busy_view *view);
	/* Ask for a turn, with busy_watch_search() in it. On the loop. */
	void (*turn)(void *userdata);
	/* One of them ended: the teardown is worth another try now. On the loop. */
	void (*retry)(void *userdata, const char *unique_name, const char *pod_uid);
	void *userdata;
};

/* @options is copied. Return: 0 or negative errno. */
int busy_watch_new(const struct busy_watch_options *options, struct busy_watch **ret);
/* The workers must be gone already. Accepts NULL. Return: NULL. */
struct busy_watch *busy_watch_free(struct busy_watch *watch);

/* A teardown that failed with EBUSY; everything is copied. */
struct busy_teardown {
	const char *unique_name, *pod_uid; /* pod_uid "" for the device */
	const char *mount_point, *folder;  /* as for the search; folder may be NULL */
	uint64_t begun_usec;               /* monotonic: the attempt that failed */
	uint64_t retry_usec;               /* no search before then but this one */
};
void busy_watch_failed(struct busy_watch *watch, const struct busy_teardown *teardown);
/* Once a turn: begins the search for all that failed. Cheap when nothing did. */
void busy_watch_search(struct busy_watch *watch);

/* It is gone, or wanted again: forgotten, and a search for it alone ends early. Cheap when there
 * was none. */
void busy_watch_over(struct busy_watch *watch, const char *unique_name, const char *pod_uid);

/* False: nothing is known of it. */
bool busy_watch_check(const struct busy_watch *watch, const char *unique_name, const char *pod_uid,
		      struct busy_view *ret);

/* What processes and files are called is for people and for JSON: what is no text becomes "?". */
void busy_make_text(char *text);
