/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observers - what the boxes of the agent watch of steps: one row a box
 *
 * The sync loop and what takes the results name no box: they call these, and these call the rows of
 * one table, first to last. A hook that a row lacks is not called. What a box does in a hook is its
 * own business; that the tables follow a step, and the ledger the tables, is step_results.c's. The
 * loop thread only.
 */
#pragma once

#include "operation/operation.h"
#include "status/volume_view.h"

struct agent;
struct cJSON;

/* Something of a volume changed in the tables; the strings are copies. */
struct volume_change {
	const char *unique_name;
	const char *pod_uid;   /* NULL: the device */
	const char *spec_name; /* NULL: it was in no table */
};

/* Why a step does not begin, as a sentence about the volume that people call @name. False: no such
 * reason, and @ret is not written. */
typedef bool observer_explain_fn(void *box, const char *unique_name, const char *pod_uid,
				 const char *name, struct failure *ret);

struct observer {
	void *box; /* of the hooks; NULL where an agent lacks it, which they accept */
	/* The volume was planned. */
	void (*planned)(void *box, const char *unique_name);
	/* May the step begin? Who says no makes the volume dirty when that changes. */
	bool (*may_start)(void *box, const struct step *step);
	void (*started)(void *box, const struct step *step);
	/* A step ended: the tables are as they were before it, or have followed it. */
	void (*ending)(void *box, const struct operation_ended *ended);
	void (*ended)(void *box, const struct operation_ended *ended);
	/* The entry left the table without a step. */
	void (*forgotten)(void *box, const char *unique_name, const char *pod_uid);
	/* After ended and forgotten. */
	void (*changed)(void *box, const struct volume_change *change);
	observer_explain_fn *explain_set_up, *explain_teardown;
	/* Add what the box knows to an item of a view. */
	void (*describe[VIEW_COUNT])(const void *box, struct cJSON *item, const char *unique_name,
				     const char *pod_uid);
};

void observers_planned(struct agent *agent, const char *unique_name);
/* False at the first that says no: those after it are not asked. */
bool observers_may_start(struct agent *agent, const struct step *step);
void observers_started(struct agent *agent, const struct step *step);
void observers_ending(struct agent *agent, const struct operation_ended *ended);
void observers_ended(struct agent *agent, const struct operation_ended *ended);
void observers_forgotten(struct agent *agent, const struct volume_change *change);
void observers_changed(struct agent *agent, const struct volume_change *change);
/* The first that has a reason for a volume that is wanted, or for one that is not: is_held()
 * of the tables. */
bool observers_explain(void *agent, const struct volume_row *row, struct failure *ret);
/* All rows, as volume_view.h asks them. */
void observers_describe(void *agent, enum view_of what, struct cJSON *item, const char *unique_name,
			const char *pod_uid);
