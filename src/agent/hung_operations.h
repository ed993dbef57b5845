/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hung_operations - what is said of operations that take long, and of threads that hang
 *
 * Only this folder uses it, by parts.h. Reads and tells; ends nothing.
 */
#pragma once

#include "operation/operation.h"

/* One of the operations takes long. */
void agent_on_slow(void *userdata, const struct operation_view *view);

/* All worker threads hang, or no longer. */
void agent_on_threads_hang(void *userdata, const struct worker_counts *counts);
