/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshotter - snapshots of claims' volumes: what external-snapshotter's two programs do
 *
 * A VolumeSnapshot gets a content, the content a snapshot from what serves its driver (a backend:
 * csi_snapshotter.c, local_snapshotter.h), and what that says stands in both. One snapshotter has
 * one backend and leaves the drivers of others alone. Decided from the stored objects alone, so
 * that a start goes on where a kill left it: a content is stored before anything is made for it,
 * and what is made has a name that follows from it.
 *
 * A second one does the same for VolumeGroupSnapshots, in the words of struct snapshot_words; what
 * is different is in group_members.c: the claims are those that a selector chooses, and each
 * snapshot of the group becomes a VolumeSnapshot with a content, which the first snapshotter binds.
 * They go with the group: the driver deletes all at once.
 *
 * A snapshot is deleted only when its VolumeSnapshot was deleted, under policy Delete, when no
 * claim is being made from it and every source of objects was read. A VolumeSnapshot that is merely
 * missing, or a content that is deleted by itself, deletes nothing.
 */
#pragma once

#include "controller/controller.h"
#include "object/kinds/volume_snapshot.h"

#include <systemd/sd-event.h>

enum snapshot_deed {
	SNAPSHOT_TAKE,   /* of content->volume_handle; the same again when it was taken already */
	SNAPSHOT_QUERY,  /* content->given_handle */
	SNAPSHOT_REMOVE, /* content->snapshot_handle; fine when it is gone */
};

struct snapshot_order {
	enum snapshot_deed deed;
	const struct volume_snapshot_content *content; /* borrowed during the call only */
	const struct volume_snapshot_class *class;     /* NULL: it is gone, or none */
};

struct snapshot_result {
	const char *handle;    /* borrowed during the call */
	int64_t creation_nsec; /* real time; 0: not known */
	int64_t bytes;         /* that a volume made from it needs; 0: not known */
	bool is_ready;
	const struct snapshot_member *members; /* of a group; borrowed during the call */
	size_t member_count;
};

struct snapshot_end {
	int error;
	bool is_final; /* of a failure: nothing was made, nor is being made */
	const struct snapshot_result *result; /* of TAKE and QUERY; NULL after a failure */
	const struct failure *why;
};

/* On the loop, once, never before the order was taken. */
typedef void snapshot_done_fn(void *userdata, const struct snapshot_end *end);

struct snapshot_backend {
	/* Does it make and delete this driver's snapshots? "" is a snapshot that names no driver
	 * and no volume: one backend is to tell what is wrong with it. */
	bool (*serves)(void *backend, const char *driver);
	/* Return: 0; -EAGAIN not now (the driver is not there), which is reported by
	 * snapshotter_all_due(); -ENOMEM. */
	int (*start)(void *backend, const struct snapshot_order *order, snapshot_done_fn *done,
		     void *done_userdata, struct failure *reterr);
};

struct snapshotter_options {
	struct controller_options common;
	const struct snapshot_backend *backend;
	void *backend_userdata;
	bool are_groups; /* it is one of VolumeGroupSnapshots */
	/* The node of a cluster that makes the snapshots: stands on contents as a label. Claims are
	 * not written then, which no node may. NULL: this is the only node. */
	const char *managed_by;
};

struct snapshotter;

/* @options: copied. Return: 0 or -ENOMEM, or as sd_event. */
int snapshotter_new(const struct snapshotter_options *options, struct snapshotter **ret);
/* Something that the backend tells has changed. Accepts NULL. */
void snapshotter_all_due(struct snapshotter *snapshotter);
/* is_complete() may say something else now. Accepts NULL. */
void snapshotter_resync(struct snapshotter *snapshotter);
/* No order goes out any more. Accepts NULL. */
void snapshotter_stop(struct snapshotter *snapshotter);
/* Orders under way end without it. Accepts NULL. Return: NULL. */
struct snapshotter *snapshotter_free(struct snapshotter *snapshotter);
