/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_log - the last steps that ended, each with its stages and how long they took
 *
 * For who asks where the time went. The last STEP_LOG_KEPT are kept, in memory: a restart forgets
 * them. The loop thread only.
 */
#pragma once

struct actual;
struct cJSON;
struct operation_ended;
struct step_log;

enum { STEP_LOG_KEPT = 1024 };

/* @actual is borrowed. Return: 0 or -ENOMEM. */
int step_log_new(const struct actual *actual, struct step_log **ret);
/* Accepts NULL. Return: NULL. */
struct step_log *step_log_free(struct step_log *log);

/* A hook of an observer of steps, before the tables follow: @log is a struct step_log. */
void step_log_note(void *log, const struct operation_ended *ended);

/* {"items": [...]}, oldest first, as docs/api.md has them. The caller's; NULL: no memory. */
struct cJSON *step_log_view(const struct step_log *log);
