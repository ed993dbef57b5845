/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool - run fsck or mkfs, for a bounded time, and keep the end of what it says
 *
 * Arguments only, no shell; the program is looked for in fixed directories and gets a fixed
 * environment, /dev/null as its input, a process group of its own and none of our descriptors.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TOOL_OUTPUT_BYTES = 3072, /* what is kept of its output: the end, where errors are */
	/* Of one that says more the journal has all, up to this. */
	TOOL_LOG_BYTES_MAX = 256 * 1024,
};

/* For how long a program may run. */
struct tool_terms {
	uint64_t limit_usec; /* then its group is ended: SIGTERM, later SIGKILL; 0: never */
	const atomic_bool *cancelled; /* SIGTERM once this is true; NULL: it runs to its end */
	atomic_int *pid;              /* of the program while it runs, else 0; NULL: not wanted */
};

/**
 * tool_run - run a program and wait for it [worker; may take hours]
 * @argv:       argv[0] is a bare name, looked for in /usr/sbin, /sbin, /usr/bin and /bin
 * @ret_output: its output and errors as one line
 *
 * Waits until it is really gone, for one that the kernel does not let go also beyond its time: two
 * programs at work on one device would be worse than a thread that waits.
 *
 * Return: the exit status, 128 + the signal that ended it; -ETIMEDOUT, -ECANCELED it was ended by
 * us; -ENOENT no such program; else as posix_spawn.
 */
int tool_run(const char *const *argv, const struct tool_terms *terms,
	     char ret_output[TOOL_OUTPUT_BYTES]);
