/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold_watch - is what a hold names alive, and tell when it is no more
 *
 * A process by its pidfd; a cgroup (version 2) by its file cgroup.events, which the kernel makes
 * ready when "populated" changes. One descriptor for each hold, none that needs looking at again
 * and again: while containers run nothing wakes up. Paths of cgroups are opened beneath
 * /sys/fs/cgroup, following no link. Changes no table. The loop thread only.
 */
#pragma once

#include "base/failure.h"
#include "state/holds.h"

#include <systemd/sd-event.h>

/* Who a hold names, beyond the number or name that another process may get later. */
struct hold_identity {
	uint64_t start_time; /* HOLD_PROCESS, by the clock of the first time namespace */
	uint64_t cgroup_id;  /* HOLD_CGROUP */
};

/**
 * hold_target_open - the process or cgroup that a hold names, if it lives
 * @hold:   pid or cgroup, by its kind; not HOLD_EXPLICIT
 * @ret:    who it is; whether it is the one of @hold is the caller's question
 * @ret_fd: for hold_watch_add()
 *
 * Return: 0; -ESRCH it is gone, or no process is in it; -EINVAL no process's id but a thread's, or
 * no cgroup of version 2 beneath /sys/fs/cgroup; -EOPNOTSUPP the kernel, or a filter of system
 * calls, has no pidfd_open: nothing else would tell of the end without looking again and again;
 * else as the calls (-EMFILE).
 */
int hold_target_open(const struct hold *hold, struct hold_identity *ret, int *ret_fd,
		     struct failure *reterr);

/* Is it the one that the hold was posted for? Start times may be a clock tick apart, as they are
 * rounded in each time namespace: no number of a process comes again so soon. */
bool hold_identity_is_of(const struct hold_identity *identity, const struct hold *hold);

struct hold_watch;

/* @ended: on the loop, once for each id that was added; it is watched no more then.
 * Return: 0 or -ENOMEM. */
int hold_watch_new(sd_event *event, int64_t priority, void (*ended)(void *userdata, const char *id),
		   void *userdata, struct hold_watch **ret);
/* Tells nothing more. Accepts NULL. Return: NULL. */
struct hold_watch *hold_watch_free(struct hold_watch *watch);

/* Watch what hold_target_open() opened for this hold. @fd is taken, also on failure. Return: 0;
 * -ESRCH it ended meanwhile; else as the calls. */
int hold_watch_add(struct hold_watch *watch, const struct hold *hold, int fd);
/* Watch it no more; unknown ids are passed over. */
void hold_watch_remove(struct hold_watch *watch, const char *id);
/* Is it? Where not, its end is not noticed. */
bool hold_watch_has(const struct hold_watch *watch, const char *id);

/* What a process is called, as of now: its "comm"; "?" when it is gone. At most 15 bytes. */
enum { PROCESS_NAME_BYTES = 16 };
void process_name(pid_t pid, char ret[PROCESS_NAME_BYTES]);
