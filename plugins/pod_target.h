/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_target - what volumes have in common that are one mount in a directory of the pod: where that
 * is, what it tells after a restart, and TearDownAt
 *
 * The target is unmounted and removed, then the plugin's directory of the pod if it is empty.
 * Nothing that is in the volume is touched, and the volume's name is all that is needed for it.
 */
#pragma once

#include "mount/mount.h"
#include "plugins/plugin.h"
#include "object/kinds/pod.h"

/* Slots get_path and construct_volume_spec: the name is all that such a directory says, and all
 * that a teardown needs. */
char *pod_target_get_path(const struct volume_request *request);
int pod_target_construct_volume_spec(const struct plugin_host *host, const char *pod_uid,
				     const char *volume_name, bool block, struct volume_spec *ret,
				     struct failure *reterr);

/* Which mount is at the target now. Not knowing it only means that it is not watched; but one that
 * was unmounted before it could be looked at would be missed for good. 0; -ESTALE. [worker] */
int pod_target_note_mount(const struct place *target, struct stage_report *report);

/* How large the volume is to become, as PV and claim say; 0: it is, or it is only read. */
int64_t pod_target_growth(const struct volume_request *request);

/* ---- its fsGroup ---- */

struct pod_target_group {
	struct ownership ownership;
	struct ownership_job *job; /* of a large volume, until it is finished */
};

/* What the pod asks for; nothing where it has no fsGroup. */
void pod_target_take_group(struct pod_target_group *group, const struct pod *pod);
void pod_target_group_done(struct pod_target_group *group);

/**
 * pod_target_give_group - the files of a volume that is mounted are given to the group [worker]
 * @fd:      of the mount itself: its attributes hold for the walk, too
 * @io_slot: of the device, for a large volume
 * @path:    in messages
 *
 * Return: STAGE_LIST_DONE; STAGE_NEXT: it is large, pod_target_finish_group() is the next stage; a
 * negative errno with @report's failure. The caller has set its class: the mount stays.
 */
int pod_target_give_group(struct pod_target_group *group, int fd, uint64_t io_slot,
			  const char *path, struct stage_report *report);
/* The same, its class ERROR_UNCERTAIN; STAGE_NEXT. [in an I/O slot] */
int pod_target_finish_group(struct pod_target_group *group, const char *path,
			    struct stage_report *report);

/* A slot new_unmounter; the plugin's name says in which directory. */
int pod_target_new_unmounter(const struct volume_request *request, struct stage_list *ret,
			     struct failure *reterr);

/* ---- nested_mounts.c: where containers mount something else inside a volume ---- */

/*
 * A read-only volume cannot get such directories from the container runtime, so they are made with
 * it (kubelet: MakeNestedMountpoints; cases 151 to 154).
 */

/**
 * nested_mounts - the directories that a volume needs for other mounts
 * @visit: gets each relative path once for each container, never one below another; a value other
 *         than 0 ends the walk
 *
 * Return: 0, what @visit returned; -EINVAL a container mounts the volume above its root; -ENOMEM.
 */
int nested_mounts(const struct pod *pod, const char *volume_name,
		  int (*visit)(const char *path, void *userdata), void *userdata,
		  struct failure *reterr);
