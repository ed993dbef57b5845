/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_watch - what others do to the mounts of this namespace, reported on the loop
 *
 * From fanotify where the kernel reports mounts (6.15): which mount came or went and who did it, in
 * 40 bytes and without reading any table. Elsewhere mountinfo says only that something changed, and
 * the listener looks itself (mount_compare.h). Remounts are reported by mountinfo alone, on every
 * kernel. What this process mounts and unmounts is passed over where its number is in the event.
 *
 * Nothing here looks a path up. No change, no wake-up; a storm of changes costs a bounded number of
 * wake-ups a second: events are read every 10 ms, and a change of the table is reported once, until
 * the listener is about to look.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

struct mount_watch;

struct mount_change {
	uint64_t mount_id;       /* as in struct mount_facts */
	bool attached, detached; /* both: it was moved */
	pid_t pid;               /* who did it; 0: a process that is not seen from here */
};

/* All called on the loop; none may free the watch. */
struct mount_watch_options {
	sd_event *event;
	int64_t priority; /* as sd_event_source_set_priority() */
	/* What others did, in its order. */
	void (*changed)(void *userdata, const struct mount_change *changes, size_t count);
	/* Look at everything: events were lost, or this kernel does not say which mounts. */
	void (*lost)(void *userdata);
	/* Attributes or propagation of some mount may have changed; @sure: and nothing else did.
	 * Not again before mount_watch_rearm_table(); nor is lost() because of the table. */
	void (*altered)(void *userdata, bool sure);
	void *userdata;
};

/* From now on; @options is copied. Return: 0; negative errno when not even mountinfo can be
 * watched. */
int mount_watch_new(const struct mount_watch_options *options, struct mount_watch **ret,
		    struct failure *reterr);
/* Accepts NULL. Return: NULL. */
struct mount_watch *mount_watch_free(struct mount_watch *watch);

/* Before a look at all mounts begins, which sees what has changed until now: what changes from now
 * on is reported. */
void mount_watch_rearm_table(struct mount_watch *watch);

/* Does it say which mounts change and who changes them? */
bool mount_watch_reports_ids(const struct mount_watch *watch);

struct mount_watch_counts {
	uint64_t events;    /* mounts that came or went */
	uint64_t own;       /* of these, by this process */
	uint64_t overflows; /* times that events were lost */
};
void mount_watch_count(const struct mount_watch *watch, struct mount_watch_counts *ret);
