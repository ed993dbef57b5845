/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found_walk - how found.c (pods) and found_staged.c (plugins) go down below the root directory
 *
 * Only those two use it. By descriptor, one component at a time; each is first looked at by statx,
 * which neither triggers an automount nor asks a server, and only a plain directory of our own
 * mount is opened.
 */
#pragma once

#include "object/kinds/vol_data.h"
#include "state/found.h"

#include <sys/stat.h>

/* As directories have it; '~' stands for '/'. */
#define FOUND_CSI_DIRECTORY "kubernetes.io~csi"
#define FOUND_CSI_PLUGIN    "kubernetes.io/csi"

/* Where the walk is; grows with each level. */
struct found_level {
	struct found_list *list;
	const char *pod_uid, *plugin_name, *plugin_directory, *volume_name;
	bool block, sub_paths;
};

typedef int found_visit_fn(int fd, const char *name, const struct found_level *level);

/* What is mounted there, if anything: is_mount_point, mount_id and mount_mark of @ret. False when
 * there is nothing of that name. */
bool found_look(int fd, const char *name, struct found_volume *ret);
/* Is it a mount point, or a mount whose server is gone? False when there is nothing. */
bool found_is_mounted(int fd, const char *name);

/* Return: a descriptor that the caller owns; -ENOENT there is no such directory; -EXDEV a mount;
 * negative errno. */
int found_open(int fd, const char *name);

/* Calls @visit for each name in an open directory; a result other than 0 ends the walk and is
 * returned. By getdents64(2), as readdir(3) makes three more calls for each directory. */
int found_visit_all(int fd, const struct found_level *level, found_visit_fn *visit);
/* The same of a directory by its name. What cannot be opened is logged and passed over, so that one
 * bad directory does not hide others. */
int found_each(int fd, const char *name, const struct found_level *level, found_visit_fn *visit);

/* Copies all names; NULL becomes "". Return: 0; 1 the list is full; -ENOMEM. */
int found_append(struct found_list *list, const struct found_volume *volume);

/**
 * found_read_data - what vol_data.json in a directory says; "" in all of @ret when there is none
 *
 * A plain file of our own mount is read, and nothing else. Return: 0; -ENOENT and why not in
 * @reterr, also for a file that is not understood; -ENOMEM.
 */
int found_read_data(int directory_fd, enum vol_data_place place, struct vol_data *ret,
		    struct failure *reterr);

/* found_staged.c: what lies below `plugins`. Return: as found_append(). */
int found_read_staged(int root_fd, struct found_list *list);
