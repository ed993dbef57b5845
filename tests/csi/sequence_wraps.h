/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence_wraps - what sequence_world does without: threads, and boxes that are not looked at
 */
#pragma once

#include "base/worker.h"
#include "csi/csi_registration.h"

/* Stands for every pool; its jobs run at once, on this thread. */
extern struct worker_pool *const sequence_pool;

/* Tell of the jobs that ended. */
void sequence_wraps_run(void);
/* They are reported no more. */
void sequence_wraps_kill(void);

/* What the agent's drivers asked registration for. */
extern struct csi_registration_options sequence_registration;
