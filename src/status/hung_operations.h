/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hung_operations - operations that take long, and threads that hang: reported once for each stage
 *
 * Reads and reports; ends nothing. The loop thread only.
 */
#pragma once

#include "status/reporter.h"

struct cJSON;
struct worker_counts;
struct worker_pool;

/* An operation takes long: the journal, and an event of its pod or PersistentVolume. */
void hung_operations_report(const struct reporter *reporter, const struct operation_view *view);

/* All worker threads hang, or no longer; of worker_pool_on_hang(). @userdata is not used. */
void hung_threads_report(void *userdata, const struct worker_counts *counts);
/* Append a pool's row to @items; none for a @pool of NULL. */
void threads_view_add(struct cJSON *items, const char *name, struct worker_pool *pool);
