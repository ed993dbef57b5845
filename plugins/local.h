/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local - what the files of the local plugin share: local.c (the pod's mount, and the plugin's
 * table), local_source.c (what local.path leads to), local_device.c (a block device staged as a
 * file system), local_image.c (an image of podvol's own, as such a device), local_block.c (a block
 * device handed over raw)
 */
#pragma once

#include "plugins/plugin.h"

#include <limits.h>

#define LOCAL_PLUGIN_NAME "kubernetes.io/local-volume"

/* Below the root directory; the second with '~', as kubelet has it. */
#define LOCAL_STAGING_BASE "plugins/kubernetes.io/local-volume/mounts"
#define LOCAL_MAP_BASE     "plugins/kubernetes.io~local-volume/volumeDevices"

/* What a spec says, copied for stages that outlive it. */
struct local_source {
	char *path; /* spec.local.path */
	char *fs_type;
	char *options;              /* mount options and "ro", a sorted set */
	char *staging;              /* relative: LOCAL_STAGING_BASE/<pv> */
	struct own_directories own; /* of the node: no sources */
	bool read_only;
	char *mark;    /* of a volume whose size is enforced: what its directory must bear; NULL */
	bool is_image; /* local.path is an image in that directory */
};

/* Return: 0; -EINVAL no local.path, or a name that is no path component; -ENOMEM. Pure. */
int local_source_init(const struct volume_request *request, struct local_source *ret,
		      struct failure *reterr);
void local_source_done(struct local_source *source);

enum local_kind { LOCAL_DIRECTORY, LOCAL_DEVICE, LOCAL_IMAGE_FILE };

/* What local.path leads to. */
struct local_found {
	int fd; /* O_PATH, but of an image O_RDWR; the caller owns it */
	enum local_kind kind;
	struct stat stat;
	dev_t device; /* that is, or has to be, mounted; of an image 0 while none has it */
};

/**
 * local_look_up - open local.path once, and say which kind of source it is [worker]
 * @device_only: a directory is not bound from what is found, and not compared with podvold's own
 *
 * Return: 0; -ENOENT the path does not exist; -EINVAL '..' in it; -ENOTSUP neither a directory nor
 * a block device, nor the image of a volume that says so; -EPERM that image is not this volume's,
 * or the path leads to podvold's own directories;
 * else as openat2(2).
 */
int local_look_up(const struct local_source *source, bool device_only, struct local_found *ret,
		  struct failure *reterr);

/* Which device or image is to be staged, links resolved, as the report's device_path: the teardown
 * unmounts nothing else. Return: 0; -ENAMETOOLONG. */
int local_name_device(const struct local_source *source, const struct local_found *found,
		      struct stage_report *report);

/**
 * local_staged_device_matches - is the device the one that is mounted at its staging directory?
 * @facts: of the staging directory, a mount root
 *
 * Compares device numbers; file systems that hide theirs (btrfs) are asked for by the mount table.
 * [worker]
 */
bool local_staged_device_matches(const struct plugin_host *host, const struct mount_facts *facts,
				 dev_t device);

/* ---- local_image.c ---- */

enum { LOCAL_DEVICE_BYTES = sizeof(((struct stage_report *) NULL)->device_path) };

/* A device over the image, from here on kept by @ret_fd, then by its mount. [worker] */
int local_image_attach(const struct local_source *source, int image_fd, int *ret_fd,
		       char ret_device[LOCAL_DEVICE_BYTES], struct failure *reterr);

/* After it was mounted for writing: its blocks are taken, and its file system is as large as it.
 * Return: 0; else why it could not grow. [worker] */
int local_image_settle(const struct local_source *source, int image_fd, int mount_fd,
		       struct failure *reterr);

stage_list_fn local_new_device_mounter;
stage_list_fn local_new_device_unmounter;
stage_list_fn local_new_block_mapper;
stage_list_fn local_new_block_unmapper;
stage_list_fn local_new_device_unmapper;

/* ---- fs_group_map.c ---- */

/* A pod that asks for its fsGroup as a map of the mount, and whether it gets it.
 *
 * Optional and off by default: the pod asks by an annotation, the node has to allow it.
 * Whatever is in the way is reported as an event, and the files are walked instead, as Kubernetes
 * does it. */

/**
 * fs_group_map_open - the map with which files of one group appear as another's [worker]
 * @idmapped_later: the pod has hostUsers: false, and the kernel idmaps a mount only once
 * @report:         gets the event when there is none
 *
 * Return: a descriptor the caller owns, for bind_at(); -EBADF the files have to be walked.
 */
int fs_group_map_open(const struct plugin_host *host, const char *volume_name, gid_t from, gid_t to,
		      bool idmapped_later, struct stage_report *report);

/* The mount was refused with the map. Any thread. */
void fs_group_map_refused(const char *volume_name, const struct failure *why,
			  struct stage_report *report);
