/* SPDX-License-Identifier: Apache-2.0 */
/*
 * actual - the actual state of the world: what is mounted as far as we know (spec: volume manager,
 * 2)
 *
 * Three words per volume and per pod: absent, uncertain, mounted. Uncertain counts as not mounted
 * for a set-up and as mounted for a teardown. States change in actual_apply() and
 * nowhere else, by the table of section 2.1. The loop thread only.
 */
#pragma once

#include "base/hash_table.h"
#include "object/quantity.h"
#include "plugins/plugin.h"
#include "state/dirty.h"

#include <stdint.h>

enum mount_state {
	MOUNT_ABSENT,    /* nothing there; the entry may be forgotten */
	MOUNT_UNCERTAIN, /* an operation broke off, or the entry is from before a restart: there may
			    be a mount */
	MOUNT_DONE,      /* made by an operation that ended well */
	MOUNT_STATE_COUNT
};
/* "absent", "uncertain" or "mounted": static text, as views and the ledger show it. */
const char *mount_state_name(enum mount_state state);

struct actual_pod {
	char *pod_uid;
	char *pod_key;    /* "namespace/name" for people; "" when only known from disk */
	char *outer_name; /* the first, for people; provisionally the inner name after a rebuild */
	char *path;       /* host path, as plugin->get_path() gave it */
	enum mount_state state;
	bool read_only;
	bool from_rebuild;           /* a failed mount must not turn it absent */
	bool may_be_left;            /* nor here: one that was ended early may have
					succeeded, or its teardown failed */
	enum unfinished left;        /* by the daemon before; until a step of it ends well */
	bool taken_over;             /* at this start, from another agent */
	bool was_mounted;            /* by a step that ended well, also one of the daemon before */
	bool single_writer;          /* the PV's only access mode is ReadWriteOncePod */
	uint64_t mount_id;           /* 0 unknown */
	uint64_t mount_mark;         /* of that mount; 0 unknown */
	uint64_t remount_generation; /* of the want that the last mount served */
	uint64_t begun_generation;   /* of the want that the newest publish is to serve */
	uint64_t served, begun_served; /* the same across restarts: want_mark(); 0 unknown */
	uint64_t took_usec;            /* from request to mounted */
	UT_hash_handle hh;             /* by pod_uid */
};

struct actual_volume {
	char *unique_name;
	char *plugin_name;
	const struct volume_plugin *plugin; /* NULL: the ledger names one we do not have */
	char *spec_name;                    /* inner name */
	bool device_mountable, block;
	enum mount_state device_state;
	bool device_from_rebuild;    /* a failed stage must not turn it absent */
	bool device_may_be_left;     /* as for pods */
	enum unfinished device_left; /* as for pods */
	bool needs_stage;            /* a set-up found a device that has to be staged before it */
	bool staged_nothing; /* no stage that ended well found a device; none is left from before */
	char *device_path;   /* overwritten only with non-empty values */
	char *device_mount_path;
	uint64_t device_mount_id;                                       /* 0 unknown */
	uint64_t device_mount_mark, device_served, device_begun_served; /* as for pods */
	struct actual_pod *pods;
	UT_hash_handle hh; /* by unique_name */
};

struct actual;

/* An empty table; @dirty is borrowed and must outlive it. Return: 0 or -ENOMEM. */
int actual_new(struct dirty_set *dirty, struct actual **ret);
/* Frees every entry whatever its state: the mounts stay, the ledger knows them. Return: NULL. */
struct actual *actual_free(struct actual *actual);

/* Look-ups: borrowed until the table changes; NULL: not there. */
struct actual_volume *actual_find(const struct actual *actual, const char *unique_name);
/* By which name people know a volume whose entry may go; freed with free(). NULL: it is not there,
 * or no memory. */
char *actual_copy_spec_name(const struct actual *actual, const char *unique_name);
/* The entry of one pod of a volume; NULL: none. */
struct actual_pod *actual_find_pod(const struct actual_volume *volume, const char *pod_uid);
/* Any entry, to walk with ->hh.next in the order in which they came; NULL: the table is empty. */
struct actual_volume *actual_first(const struct actual *actual);
/* Is there an entry of a volume that has this name? Cost: all volumes. */
bool actual_has_named(const struct actual *actual, const char *spec_name);
/* How many volumes; constant cost. */
size_t actual_count(const struct actual *actual);

/* Is any entry of the pod uncertain or mounted? Cost: the pod's own entries, by an index. */
bool actual_pod_may_be_mounted(const struct actual *actual, const char *pod_uid);

/* The unique name of the @position-th volume that has an entry of this pod, in no order; NULL past
 * the last. Valid until the table changes. */
const char *actual_volume_of_pod(const struct actual *actual, const char *pod_uid, size_t position);

enum step_kind {
	STEP_UNPUBLISH, /* TearDown, UnmapPodDevice */
	STEP_STAGE,     /* MountDevice, SetUpDevice */
	STEP_PUBLISH,   /* SetUp, MapPodDevice */
	STEP_UNSTAGE,   /* UnmountDevice, TearDownDevice */
	STEP_FORGET,    /* nothing may be mounted any more: drop the entry; no operation */
	STEP_KIND_COUNT
};

static inline bool step_takes_down(enum step_kind kind)
{
	return kind == STEP_UNPUBLISH || kind == STEP_UNSTAGE;
}

/* How a step ended, or that it begins; everything the tables need to follow it. Strings are copied.
 */
struct step_result {
	enum step_kind kind;
	const char *unique_name, *pod_uid; /* pod_uid NULL for stage and unstage */
	int error;                         /* 0 or negative errno */
	enum error_class error_class;      /* of a failed stage or publish */
	bool touched;            /* the failed step had reached the kernel or the driver; a failed
				    unpublish or unstage that had not changes no state */
	bool needs_stage;        /* of a publish that failed and did nothing: a stage comes first */
	const char *device_path; /* NULL or "" keeps what is known */
	const char *device_mount_path;
	uint64_t mount_id, mount_mark;
	uint64_t took_usec;
};

/* What an entry is about, for the first step of a volume or pod. */
struct actual_entry {
	const char *unique_name, *plugin_name, *spec_name;
	const struct volume_plugin *plugin;
	bool device_mountable, block;
	const char *pod_uid; /* NULL: the volume only */
	const char *pod_key, *outer_name, *path;
	bool read_only, single_writer;
	uint64_t remount_generation;
	uint64_t served; /* what a step that begins is to serve, what the one before did */
	/* For actual_add_rebuilt() alone. */
	enum unfinished left;
	bool taken_over, was_mounted;
	uint64_t mount_id, mount_mark; /* of the pod's mount, or the device's; 0 unknown or none */
};

/* Before a stage or publish starts: the entry exists from now on, absent when new. Existing states
 * are kept; texts that are NULL or "" keep what is known. Marks nothing dirty. 0 or -ENOMEM. */
int actual_begin(struct actual *actual, const struct actual_entry *entry);

/* The one gate: section 2.1 for stage and publish; a pod that is unpublished or a step that is
 * forgotten leaves the table, a volume with all its pods. Nothing that may be mounted can be
 * forgotten (an assertion). Unknown entries are passed over. */
void actual_apply(struct actual *actual, const struct step_result *result);

/* An entry of actual_add_rebuilt() that says what it had served is mounted as it was, for a want of
 * this generation: as after a step that ended well. @pod_uid NULL: the device. */
void actual_confirm(struct actual *actual, const char *unique_name, const char *pod_uid,
		    uint64_t remount_generation);

/* The mount watch saw that what podvold mounted is gone, or, @may_be_left, hidden by another mount:
 * what was mounted is uncertain now, and the volume dirty; what may be left is taken down, however
 * its next mount fails. @pod_uid NULL: the device. Unknown entries are passed over. */
void actual_doubt(struct actual *actual, const char *unique_name, const char *pod_uid,
		  bool may_be_left);

/* From the ledger or the disk: uncertain, from_rebuild. 0 or -ENOMEM. */
int actual_add_rebuilt(struct actual *actual, const struct actual_entry *entry,
		       enum mount_state device_state, const char *device_path,
		       const char *device_mount_path);
