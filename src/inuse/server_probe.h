/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_probe - whether the server behind a mount responds
 *
 * A probe is one statfs on a worker, because it may hang; a local file system always responds. Few
 * run at a time, so that many volumes of one dead server take few threads. The loop thread only.
 */
#pragma once

#include "base/worker.h"

struct server_probes;

enum server_state {
	SERVER_UNKNOWN, /* probe running, or not begun */
	SERVER_ANSWERS,
	SERVER_SILENT, /* no response for SERVER_SILENT_USEC, or an error that means it is gone */
};

enum { SERVER_PROBES_MAX = 4, SERVER_SILENT_USEC = 5000000 };

/* @workers: borrowed. Return: 0 or -ENOMEM. */
int server_probes_new(struct worker_pool *workers, struct server_probes **ret);
/* The workers must have ended. Accepts NULL. Return: NULL. */
struct server_probes *server_probes_free(struct server_probes *probes);

/**
 * server_probes_check - the state of the server behind a mount
 * @mount_point: absolute; copied
 *
 * Starts a probe when nothing is known; a result is returned once.
 */
enum server_state server_probes_check(struct server_probes *probes, const char *mount_point,
				      uint64_t now_usec);
