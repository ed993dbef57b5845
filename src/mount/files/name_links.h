/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_links - links to volumes by names that stay: by-name/NAMESPACE/POD/VOLUME in the run
 * directory
 *
 * For units and containers, which cannot know a pod's uid. Made and removed by descriptors of the
 * directories, never followed. A name that is not one plain component is refused, and what is in
 * the way and not a link is left alone. The run directory is a tmpfs of the node: nothing here
 * waits for a server, so the loop thread may call all of it. Any thread; one change at a time.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>

struct link_name {
	const char *name_space, *pod, *volume;
};

/* The directory by-name, made where it is missing. Return: a descriptor; negative errno. */
int name_links_open(const char *run_dir, struct failure *reterr);

/**
 * name_link_make - let a name lead to a volume, and no longer to what it led to
 * @fd:     of name_links_open()
 * @target: the volume's path; not looked up
 *
 * Return: 0, also when it was so before; -EINVAL not a plain name; -EEXIST something else than a
 * link is there; else as the calls.
 */
int name_link_make(int fd, const struct link_name *name, const char *target,
		   struct failure *reterr);

/* Removes a link that leads to @target; without name->volume every one of the pod that does.
 * Directories that become empty go, too. Return: 0, also when there is none; else as the calls. */
int name_links_remove(int fd, const struct link_name *name, const char *target,
		      struct failure *reterr);

/* Borrowed during the call. */
typedef bool name_link_keep_fn(void *userdata, const struct link_name *name, const char *target);

/* Removes each link that @keep does not want, and what a kill left beside one. Return: 0; the first
 * failure, after the rest was looked at. */
int name_links_prune(int fd, name_link_keep_fn *keep, void *userdata, struct failure *reterr);
