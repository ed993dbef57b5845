/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_probe - does the server behind a mount answer
 *
 * A question is one statfs on a worker, because it may hang; a local file system answers always.
 * Some are under way at a time, so that many volumes of one dead server take few threads. The loop
 * thread only.
 */
#pragma once

#include "base/worker.h"

struct server_probes;

enum server_state {
	SERVER_UNKNOWN, /* asked just now, or not yet */
	SERVER_ANSWERS,
	SERVER_SILENT, /* no answer for SERVER_SILENT_USEC, or one that says that it is gone */
};

enum { SERVER_PROBES_MAX = 4, SERVER_SILENT_USEC = 5000000 };

/* @workers: borrowed. Return: 0 or -ENOMEM. */
int server_probes_new(struct worker_pool *workers, struct server_probes **ret);
/* The workers must be gone already. Accepts NULL. Return: NULL. */
struct server_probes *server_probes_free(struct server_probes *probes);

/**
 * server_probes_check - what is known of a mount
 * @mount_point: absolute; copied
 *
 * Asks when nothing is known, and forgets an answer that was given.
 */
enum server_state server_probes_check(struct server_probes *probes, const char *mount_point,
				      uint64_t now_usec);
