/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_call - run an executable plugin for one call, and take over what it mounted at its target
 *
 * It runs in a mount namespace of its own, so what it mounts elsewhere ends with the call, and in a
 * PID namespace of its own, so every process that it started ends with it or with podvold. It gets
 * the request as its input, a fixed environment, none of podvold's descriptors and only the
 * capabilities that are named; it gains no other. Whose program it is the caller has checked.
 */
#pragma once

#include "base/failure.h"
#include "mount/mount.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PLUGIN_ANSWER_BYTES_MAX = 64 * 1024, /* of its standard output */
	PLUGIN_ERRORS_BYTES = 1024,          /* of its standard error: the beginning */
};

struct plugin_call {
	const char *program;   /* absolute */
	const char *request;   /* its standard input */
	uint64_t capabilities; /* a bit for each, as capset(2) has them */
	uint64_t limit_usec;   /* then all of its processes are killed */
	int lock_fd;           /* of plugin_call_lock(): inherited by every process of the call */
	const char *target;    /* a directory below which nothing is mounted yet; NULL: none */
	atomic_int *pid;       /* of the program while it runs, else 0; NULL: not wanted */
};

struct plugin_answer {
	char *text; /* its standard output; NULL before it ran */
	size_t length;
	bool has_run;
	char errors[PLUGIN_ERRORS_BYTES]; /* as one line */
	int status;                       /* its exit status; 128 + the signal that ended it */
	int mount_fd; /* what it mounted at the target, attached nowhere; -EBADF nothing */
};

#define PLUGIN_ANSWER_EMPTY ((struct plugin_answer){ .mount_fd = -EBADF })
void plugin_answer_done(struct plugin_answer *answer);

/**
 * plugin_call_lock - one call at a time for each key, also after a kill of podvold [worker]
 * @file: one for all keys, made when missing
 * @key:  a sum of the volume's name
 * @is_shared: with others that are, but with no call that is not
 *
 * Held until the call has run to its end, or this descriptor and all copies of it are closed.
 * Return: a descriptor; -EBUSY a process of an earlier call has not ended; else as the calls.
 */
int plugin_call_lock(const struct place *file, uint64_t key, bool is_shared,
		     struct failure *reterr);

/**
 * plugin_call_run - run the program to its end [worker; as long as the limit says]
 * @ret: to be given to plugin_answer_done(), also after a failure
 *
 * Return: 0 it ended by itself; -ETIMEDOUT it was killed at the limit; -EFBIG it was killed because
 * it wrote more than it may; else it never ran: -EPERM podvold itself lacks a capability; -ENOSYS
 * the kernel lacks a call, or a filter takes it away; as the calls.
 */
int plugin_call_run(const struct plugin_call *call, struct plugin_answer *ret,
		    struct failure *reterr);

/* The process gets a mount namespace of its own, where plugins are tried: nothing that is mounted
 * from now on is seen outside. 0; as unshare(2). */
int plugin_mounts_leave(struct failure *reterr);

/* Attach what a plugin mounted. 0, or as bind_at(). [worker] */
int plugin_mount_attach(int mount_fd, int target_fd, const struct mount_attributes *attributes,
			struct failure *reterr);
