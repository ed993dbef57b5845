/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor - what the files behind the verb doctor know of each other
 */
#pragma once

#include "cli/cli.h"

#include <sys/types.h>

enum health { HEALTH_OK, HEALTH_WARNING, HEALTH_FAILED, HEALTH_COUNT };

struct doctor {
	struct cli *cli;
	pid_t daemon;       /* 0: it does not answer, or its process is not seen from here */
	char root_dir[256]; /* the daemon's; else the default */
	size_t counts[HEALTH_COUNT]; /* findings */
};

/* Prints one finding. @remedy: what to do; NULL where it is fine. */
void doctor_found(struct doctor *doctor, enum health health, const char *check, const char *remedy,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The process behind the socket; 0: none that is seen from here. */
pid_t doctor_daemon(const char *socket_path);

/* ---- doctor_host.c: what the node has, looked at from this process ---- */

void doctor_check_host(struct doctor *doctor);
