/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_view - volumes as the API shows them: an item per volume of a pod, from all tables
 *
 * Trees are made for each request and belong to its caller; nothing here changes a table. What
 * other boxes know of a volume they add by themselves, when they are asked to describe it. The loop
 * thread only.
 */
#pragma once

#include "status/volume_row.h"

struct cJSON;
struct look_up_errors;
struct size_limits;
struct store;
struct volume_events;
struct volume_faults;

/* What is described: a volume of a pod, an operation on it, or what is worth a closer look. */
enum view_of { VIEW_ROW, VIEW_OPERATION, VIEW_CLOSE, VIEW_COUNT };

/* All is borrowed. What is a pointer to a pointer may be made later. */
struct volume_view {
	const struct volume_tables *tables;
	struct store *const *store; /* NULL in a drain */
	struct volume_faults *const *faults;
	struct size_limits *const *size_limits;
	struct look_up_errors *const *look_up_errors;
	struct volume_events *const *events;
	/* Add members to @item; @pod_uid "" for the device. */
	void (*describe)(void *userdata, enum view_of what, struct cJSON *item,
			 const char *unique_name, const char *pod_uid);
	/* As those of mount_waiters.h. */
	bool (*explain_idle)(void *userdata, const struct object *pod, struct failure *ret);
	bool (*explain_wait)(void *userdata, const struct object *pod, struct failure *ret);
	void *userdata;
};

/* {"items": [...]} of one pod, or of all with @pod NULL. NULL: no memory. */
struct cJSON *volume_view_list(const struct volume_view *with, const struct object *pod);
/* The same of one volume: by unique name, name of the PersistentVolume, or path. */
struct cJSON *volume_view_named(const struct volume_view *with, const char *word);

/* ---- operation_list.c: operations as the API shows them ---- */

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
