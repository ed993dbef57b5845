/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_paths - names and places of CSI volumes, to the letter as kubelet has them
 *
 * Drivers get these paths and may keep them in records of their own, so that a node can be taken
 * over and handed back only where every one is the same. Pure text; relative to the root directory;
 * freed with free(). Names that would lead elsewhere are refused.
 */
#pragma once

#include "base/failure.h"
#include "csi/csi_drivers.h"

#include <stdbool.h>

#define CSI_BASE       "plugins/kubernetes.io/csi"
#define CSI_BLOCK_BASE CSI_BASE "/volumeDevices"

enum { CSI_BASE_LEVELS = 3 /* leading components that no driver owns */ };

/* "csi-" and the SHA-256 of both: the handle of a volume that is written out in its pod. */
char *csi_inline_handle(const char *pod_uid, const char *volume_name);

/* All: 0; -EINVAL a name that is no directory name, or an empty driver or handle; -ENOMEM. */

/* CSI_BASE/<driver>/<SHA-256 of the handle>/globalmount */
int csi_staging_path(const char *driver, const char *handle, char **ret, struct failure *reterr);
/* Has it the form of one? */
bool csi_is_staging_path(const char *path);
/* pods/<uid>/volumes/kubernetes.io~csi/<name>/mount */
int csi_target_path(const char *pod_uid, const char *volume_name, char **ret,
		    struct failure *reterr);

enum csi_block_place {
	CSI_BLOCK_MAP,     /* CSI_BLOCK_BASE/<name>/dev: kubelet's global map path */
	CSI_BLOCK_DATA,    /* CSI_BLOCK_BASE/<name>/data/vol_data.json */
	CSI_BLOCK_STAGING, /* CSI_BLOCK_BASE/staging/<name> */
	CSI_BLOCK_PUBLISH, /* CSI_BLOCK_BASE/publish/<name>, one file for each pod in it */
};
int csi_block_path(enum csi_block_place place, const char *volume_name, char **ret,
		   struct failure *reterr);

/* The last component's neighbour: ".../<hash>/globalmount" and VOL_DATA_FILE give
 * ".../<hash>/vol_data.json". NULL: no memory. */
char *csi_path_beside(const char *path, const char *name);

/* "kubernetes.io/csi/<driver>^<handle>" taken apart. Return: 0; -EINVAL it is none; -ENOMEM. */
int csi_split_unique_name(const char *unique_name, char **ret_driver, char **ret_handle);
