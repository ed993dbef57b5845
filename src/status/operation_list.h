/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_list - operations as the API shows them
 *
 * As volume_view.h.
 */
#pragma once

#include "status/volume_view.h"

/* An item for each operation that runs or backs off. */
void operation_list_fill(const struct volume_view *with, struct cJSON *items);

/* Which volume of which pod, under the names that people know. */
void operation_list_add_names(struct cJSON *item, const struct actual *actual,
			      const struct desired *desired, const char *unique_name,
			      const char *pod_uid);
/* How it is with an operation, and what it waits for when it takes long. */
void operation_list_add_pace(struct cJSON *item, const struct operation_view *view);

/* A hook of an observer of steps: which operation of another pod a volume waits for, since one at a
 * time changes it; @tables is a struct volume_tables. False: for none, and @ret is not written. */
bool operation_list_explain(void *tables, const char *unique_name, const char *pod_uid,
			    const char *name, struct failure *ret);

struct operations;

/* Why an operation is stuck, one of them; @ret is not written when none is. */
void operation_list_explain_stuck(struct operations *operations, struct failure *ret);
