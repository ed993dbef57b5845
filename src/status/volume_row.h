/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_row - one volume of one pod, from all tables: for views and for those who wait
 *
 * Reads; changes nothing. The loop thread only.
 */
#pragma once

#include "operation/operation.h"
#include "state/state.h"

/* One volume of one pod under one of its names there, wanted, mounted or both. */
struct volume_row {
	const struct desired_volume *want;
	const struct desired_pod *want_pod;
	const struct actual_volume *have;
	const struct actual_pod *have_pod;
	const char *unique_name, *pod_uid, *outer_name;
};

/* What rows are made of. All pointers are borrowed. */
struct volume_tables {
	struct desired *desired;
	struct actual *actual;
	struct operations *const *operations; /* they are made after this */
	/* Why no step of the volume begins. False: no such reason, and @ret is not written. */
	bool (*is_held)(void *userdata, const struct volume_row *row, struct failure *ret);
	/* Appends who uses a volume that could not be unmounted, where that is known. NULL: it is
	 * not. */
	void (*add_users)(void *userdata, const struct volume_row *row, struct failure *text);
	void *userdata;
};

/* Rows of one pod; cost: that pod's volumes. A result of @visit other than 0 ends the walk. */
int volume_rows_of_pod(const struct volume_tables *tables, const char *pod_uid,
		       int (*visit)(const struct volume_row *row, void *userdata), void *userdata);
/* Rows of the whole node; cost: all volumes. */
int volume_rows_of_all(const struct volume_tables *tables,
		       int (*visit)(const struct volume_row *row, void *userdata), void *userdata);

/* The operation that concerns a row: its own, else the whole volume's. False: nothing runs or backs
 * off. */
bool volume_row_operation(const struct volume_tables *tables, const struct volume_row *row,
			  struct operation_view *ret);

/* Is it wanted, was it mounted, and does something keep it from being mounted again? */
bool volume_row_is_lost(const struct volume_tables *tables, const struct volume_row *row);

/* "volume 'data': mount_device failed at 'probe the device': ...; attempt 3, next in 2.0 s". */
void volume_row_explain(const struct volume_tables *tables, const struct volume_row *row,
			struct failure *ret);

/* Of the first whose first attempt has not ended, with its pod, and how many more. False: there is
 * none, and @ret is as it was. */
bool volume_rows_explain_untried(const struct volume_tables *tables, struct failure *ret);

struct volume_faults;

/* volume_rows_word() of a pod whose volumes are all mounted, and well. */
extern const char volumes_mounted[];

/**
 * volume_rows_word - how it is with the volumes of a pod
 * @faults: as volume_faults_find(); NULL: none are known
 * @why:    written of a pod that has volumes which are not mounted or not well: of the first of the
 *          worst; NULL: not asked
 *
 * Return: volumes_mounted; "VolumesFailing": one could not be looked up or mounted, or is faulty;
 * "VolumesStuck": a step hangs; "VolumesPending"; NULL: it has none here. Cost: that pod's volumes.
 */
const char *volume_rows_word(const struct volume_tables *tables, const struct volume_faults *faults,
			     const char *pod_uid, struct failure *why);
