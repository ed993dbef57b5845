/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook - what the two files of podvol-oci-hook share: the container, and how a start fails
 *
 * The program lives for one stage of one container. Whatever goes wrong ends it with one sentence.
 */
#pragma once

#include "client/podvol.h"

#include <stddef.h>

/* Bytes of the container's state on standard input and of its config.json. */
enum { HOOK_INPUT_BYTES_MAX = 4 << 20 };

struct hook {
	struct podvol *podvol;
	struct podvol_object *state; /* of the container, as the runtime gives it */
	const char *pod;             /* namespace/name; of @state */
	int pid;                     /* of the container's first process; 0: it has ended */
	int pid_fd;                  /* of the same; createRuntime alone */
};

/* Prints the sentence, writes it to the system log and exits with 1: the runtime ends the start. */
void hook_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* A JSON object from a file, at most HOOK_INPUT_BYTES_MAX. @what names it in the sentence. May
 * block. Return: given to podvol_object_free(). */
struct podvol_object *hook_read_object(int fd, const char *what);

/* A column that must be there: without it a check would pass that looked at nothing. */
size_t hook_find_column(const struct podvol_table *table, const char *name);

/* ---- bound_mounts.c ---- */

/**
 * bound_mounts_check - does the container have the volumes, and not the directories below them?
 * @hook:    the container, between the mounts of its bundle and its start
 * @volumes: the mounted volumes of the pod
 *
 * A runtime makes the container's mounts before it calls the hook: what it bound before the volume
 * was mounted is an empty directory, in which the container's data would be hidden later. Fails on
 * that, and where it does not know.
 */
void bound_mounts_check(const struct hook *hook, const struct podvol_table *volumes);
