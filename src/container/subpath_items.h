/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subpath_items - what one call has to bind: the volumeMounts of a pod's containers that have a
 * subPath or subPathExpr, with volume and path as they are now
 *
 * Reads the tables, the operations and the store; changes nothing. The loop thread only.
 */
#pragma once

#include "container/pod_mounts.h"
#include "mount/path/subpath.h"
#include "status/volume_row.h"

struct subpath_item {
	struct subpath_request request; /* its strings are the item's, the pod's or the owner's */
	struct subpath subpath;
	const char *volume_mount;                   /* the outer name */
	char *volume_name, *volume_path, *sub_path; /* owned */
	/* The path was made from variables and a Secret was read for them: failures, which anybody
	 * may read as events, must not show it. */
	bool is_secret;
};

/* Forgets the path in @why, which is of this item. */
void subpath_item_hide_path(const struct subpath_item *item, struct failure *why);

struct subpath_items {
	const struct object *pod; /* a reference */
	struct subpath_item *items;
	struct bound_subpath *results; /* beside the items; is_directory is filled by a worker */
	size_t count;
	size_t budget; /* bytes of JSON that may be read still for variables */
};
/* Closes and frees everything, leaves an empty list. */
void subpath_items_done(struct subpath_items *items);

/* Is there such a pod, and such a container in it (NULL: any)? 0 or -ENOENT. */
int subpath_items_check(const struct pod_mounts *owner, const char *pod_uid, const char *container);

/**
 * subpath_items_collect - look everything up and expand every subPathExpr
 * @container: NULL: all of the pod
 * @ret:       empty; to be given to subpath_items_done(), also when this fails
 *
 * Return: 0; -ENOENT the pod went; -EAGAIN a volume is not mounted or leaves; -EINVAL a path is
 * refused, or a variable has no value; -ENOMEM.
 */
int subpath_items_collect(const struct pod_mounts *owner, const char *pod_uid,
			  const char *container, struct subpath_items *ret, struct failure *reterr);
