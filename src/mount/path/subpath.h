/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subpath - a directory or file inside a volume as its own mount, for one container's volumeMount
 *
 * What a pod writes into a volume decides where a path in it leads, so the path is walked once,
 * beneath the volume that is pinned, and what was found is bound by descriptor. The binds lie at
 * <root>/pods/<uid>/volume-subpaths/<volume>/<container>/<index>, as kubelet's do, and a volume's
 * binds are taken away before the volume is.
 *
 * History, and what stops it here:
 *  - CVE-2017-1002101 (a link in the volume leads to the host): the kernel walks with
 * RESOLVE_BENEATH and without magic links, so a link that leaves the volume is an error.
 *  - CVE-2021-25741 (a directory exchanged for a link between check and mount): nothing is looked
 * up after the one walk; open_tree and move_mount work on descriptors.
 *  - CVE-2017-1002102 (removing through links): only empty directories and files that podvol made
 * are removed, each by one name under a pinned parent below the root, where no pod can write.
 *
 * Refuses absolute paths and "..". Never reads, changes or removes what is in a volume, but for the
 * directories that were missing.
 */
#pragma once

#include "mount/mount.h"

/* "pods/<uid>/volume-subpaths" is made of these. */
#define SUBPATH_FOLDER "volume-subpaths"

struct subpath_request {
	int root_fd;             /* the root directory, pinned */
	const char *root_path;   /* the same for people */
	const char *pod_uid;     /* one component, as are the next two */
	const char *volume_name; /* inner name */
	const char *container;
	size_t mount_index; /* in the container's volumeMounts */
	const char
		*volume_path; /* absolute: where the volume is mounted, or a hostPath's own path */
	uint64_t mount_id;    /* that must be found there; 0 unknown */
	const char *sub_path; /* expanded; not "" */
};

/* One bind under way. */
struct subpath {
	struct place target;
	int source_fd, target_fd;
	bool is_directory;
	bool is_bound; /* nothing is left to do */
};
#define SUBPATH_EMPTY                                                                              \
	((struct subpath){ .target = PLACE_EMPTY, .source_fd = -EBADF, .target_fd = -EBADF })
/* Closes, frees, leaves SUBPATH_EMPTY; what is mounted stays. */
void subpath_done(struct subpath *subpath);

/**
 * subpath_check - may this text be a subPath at all; pure
 *
 * Return: 0; -EINVAL absolute, or with a "..": kubelet's texts.
 */
int subpath_check(const char *sub_path, struct failure *reterr);

/* "<root>/pods/<uid>/volume-subpaths/<volume>/<container>/<index>", to be freed; NULL: no memory.
 */
char *subpath_target_path(const struct subpath_request *request);

/**
 * subpath_make_directories - make what is missing of a path in a volume [worker]
 * @volume_fd: the volume's root
 * @mode:      exactly, for each level that is made; kubelet gives the mode of the volume's root,
 *             whose setgid bit hands the group of an fsGroup on
 *
 * Symbolic links that stay beneath the volume are followed, one that leads nowhere is -EEXIST. What
 * exists is left as it is, whatever it leads to. Cases 179 to 192.
 *
 * Return: O_PATH descriptor of what the path names; -ENOTDIR a file or FIFO is in the middle;
 * -EROFS something is missing and the volume is read-only; -EXDEV it leads out; -ELOOP, -ENOSPC,
 * ....
 */
int subpath_make_directories(int volume_fd, const char *path, mode_t mode, struct failure *reterr);

/**
 * subpath_open - find the source, make it when missing, and make a target of the same kind [worker]
 * @ret: to be given to subpath_done(); written on success only
 *
 * A target that shows the source already is done (is_bound); one that shows something else is
 * unmounted first.
 *
 * Return: 0; -ESTALE another mount than @request->mount_id is at the volume's path, or none; -EBUSY
 * the old bind is in use; else as subpath_make_directories().
 */
int subpath_open(const struct subpath_request *request, struct subpath *ret,
		 struct failure *reterr);

/* Bind what was opened, without a path look-up; a second call does nothing. [worker] */
int subpath_bind(struct subpath *subpath, struct failure *reterr);

/* After a failed bind: the target and its empty parents go again. Best effort. [worker] */
void subpath_undo(const struct subpath_request *request, struct subpath *subpath);

/**
 * subpath_clean - take all binds of a volume of a pod away, and their directories [worker]
 *
 * Goes on after an error, so that one busy bind keeps only itself; directories that are not empty
 * and files with something in them stay and are an error. The source may have been deleted, the
 * volume may be read-only or its server gone: nothing in it is looked at. Cases 213 to 220.
 *
 * Return: 0, also when there is nothing; else the first error.
 */
int subpath_clean(int root_fd, const char *root_path, const char *pod_uid, const char *volume_name,
		  struct failure *reterr);
