/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_watch - errors that file systems meet, reported on the loop
 *
 * By fanotify's FAN_FS_ERROR: ext4 since Linux 5.16, others as their kernels learn it. Nothing is
 * polled. What a file system does not report is found where it is looked at, see
 * file_system_fault.h. Reports that there was an error, not which: the listener looks.
 */
#pragma once

#include "base/failure.h"

#include <stdint.h>
#include <systemd/sd-event.h>

struct fault_watch;
struct fault_marks;

struct fault_watch_options {
	sd_event *event;
	int64_t priority; /* as sd_event_source_set_priority() */
	/* A file system that is watched met errors; @id as in struct file_system_fault, 0: any of
	 * them may have. On the loop; must not free the watch. */
	void (*faulted)(void *userdata, uint64_t id);
	void *userdata;
};

/* @options is copied. Return: 0; negative errno: this kernel does not report errors, or not to us.
 */
int fault_watch_new(const struct fault_watch_options *options, struct fault_watch **ret,
		    struct failure *reterr);
/* Accepts NULL. Return: NULL. */
struct fault_watch *fault_watch_free(struct fault_watch *watch);

/* What looks that may hang mark file systems with: theirs, too, and not a descriptor for each, as
 * thousands may be due at once. Outlives the watch. [loop] */
struct fault_marks *fault_watch_marks(const struct fault_watch *watch);
/* Accepts NULL. Return: NULL. [loop] */
struct fault_marks *fault_marks_unref(struct fault_marks *marks);

/**
 * fault_marks_add - errors of the file system of a directory are reported from now on [worker]
 * @marks:        of fault_watch_marks()
 * @directory_fd: O_PATH is enough
 *
 * Safe to repeat; ends with the file system's last mount. Return: 0; -EINVAL this kind of file
 * system or kernel reports none; else as fanotify_mark(2).
 */
int fault_marks_add(const struct fault_marks *marks, int directory_fd);
