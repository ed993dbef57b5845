/* SPDX-License-Identifier: Apache-2.0 */
/*
 * size_limits - emptyDirs on disk that take more than their sizeLimit: reported, no pod is evicted
 *
 * Their files are counted on a thread: when statistics are asked for, and every ten seconds while
 * there is such a volume (kubelet's interval), or less often where counting takes long: at most a
 * fiftieth of a thread's time. One that is over its limit is an event about its pod, a condition of
 * it and a metric, once, until it is below again. In memory the kernel enforces it.
 *
 * All but size_limits_new() accept NULL. The loop thread only.
 */
#pragma once

#include "base/worker.h"
#include "status/status.h"

#include <stdio.h>

struct operation_ended;
struct size_limits;

/* Both are borrowed; *@pool may be made later. Return: 0; -ENOMEM. */
int size_limits_new(const struct reporter *reporter, struct worker_pool *const *pool,
		    struct size_limits **ret);
/* After the pools and their way back. Return: NULL. */
struct size_limits *size_limits_free(struct size_limits *limits);

/* A hook of an observer of steps: @limits is a struct size_limits. A step ended; after the actual
 * table followed it. */
void size_limits_step_ended(void *limits, const struct operation_ended *ended);
/* What is mounted since before the start counts, too. */
void size_limits_check_all(struct size_limits *limits);
/* A view asks: counts now, unless it is counting. */
void size_limits_check(struct size_limits *limits);
/* What is said of a volume that is over its limit; NULL: it is not known to be. */
const char *size_limits_find(const struct size_limits *limits, const char *unique_name);
/* In Prometheus' form. */
void size_limits_print_metrics(const struct size_limits *limits, FILE *file);
