/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scratch - the directory or memory behind emptyDirs and volumes of files
 *
 * What kubelet calls the wrapped emptyDir: made below the pod's directory, on disk, in memory or in
 * huge pages, and known to be whole by a "ready" file outside the volume. Teardown goes by what is
 * there and not by what a manifest says; a foreign mount on the directory is refused. The
 * functions are stages of plugins, or parts of them. [worker]
 */
#pragma once

#include "plugins/plugin.h"

#define EMPTY_DIR_PLUGIN_NAME "kubernetes.io/empty-dir"

enum empty_dir_medium { MEDIUM_DEFAULT, MEDIUM_MEMORY, MEDIUM_HUGE_PAGES };

struct scratch {
	const struct plugin_host *host; /* borrowed */
	char *path;                     /* relative: the volume */
	char *ready_path;               /* relative: the ready file */
	enum empty_dir_medium medium;
	char options[64]; /* of the mount, for tmpfs and hugetlbfs */
	int64_t page_bytes;
	struct place place;
	int fd; /* the directory; what is mounted on it when it was there before */
	bool mounted;
};

#define SCRATCH_EMPTY ((struct scratch){ .place = PLACE_EMPTY, .fd = -EBADF })

/**
 * empty_dir_memory_size - how large the tmpfs of an emptyDir may grow, in bytes; pure
 * @pod:               its containers' memory limits bound it; NULL none
 * @allocatable_bytes: of the node; 0 unknown
 *
 * The smallest of node, pod limit (when every container has one) and sizeLimit. Return: 0 when
 * nothing bounds it.
 */
int64_t empty_dir_memory_size(const struct pod *pod, const struct pod_volume *source,
			      int64_t allocatable_bytes);

struct scratch_name {
	const char *pod_uid, *plugin_name, *volume_name;
	const char *ready_prefix; /* of the ready file's directory: "", "wrapped_" */
};

/* Of the volume of a request, by its plugin's name. @scratch is SCRATCH_EMPTY before, and given to
 * scratch_done() whatever comes out. Any thread; touches no file. Return: 0; -EINVAL a name that is
 * no directory name; -ENOMEM. */
int scratch_init_for(struct scratch *scratch, const struct volume_request *request,
		     const char *ready_prefix, struct failure *reterr);
void scratch_done(struct scratch *scratch);

/* In memory, never swapped out where the kernel can promise that. @bytes 0: no limit of its own. */
void scratch_use_memory(struct scratch *scratch, int64_t bytes);

/* A ready volume is done with: STAGE_LIST_DONE. One that lost its mount begins again: STAGE_NEXT.
 */
int scratch_check(struct scratch *scratch, struct stage_report *report);
/* After scratch_check(). Mode 0777, whatever the umask. */
int scratch_make(struct scratch *scratch, struct stage_report *report);
/* Is what is there certainly such a volume? Its teardown removes what is in it, so a name is not
 * enough: its maker has said so outside of it. Return: 0; -EINVAL there is no ready file. */
int scratch_check_ready(const struct plugin_host *host, const struct scratch_name *name,
			struct failure *reterr);
/* Does what is written at @fd stay in memory, if that is the medium? Secrets ask before they write:
 * it may have been unmounted meanwhile. Return: 0; -ESTALE it does not. */
int scratch_check_memory(const struct scratch *scratch, int fd, struct failure *reterr);
/* Last of all. Return: STAGE_NEXT; -ESTALE the mount that was just made is gone; else as the calls.
 */
int scratch_mark_ready(struct scratch *scratch, struct stage_report *report);

/**
 * scratch_new_unmounter - TearDownAt: take the volume away with its content
 * @before: with the volume's own memory still mounted; NULL, and on disk: nothing is to be done
 *
 * What is missing is fine; -EBUSY a foreign mount, -EXDEV a mount within. Any thread.
 *
 * Return: as of the slot.
 */
int scratch_new_unmounter(const struct volume_request *request, const char *ready_prefix,
			  void (*before)(const struct place *place), struct stage_list *ret,
			  struct failure *reterr);
