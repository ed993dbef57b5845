/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_stats - how full a volume is and whether it is well, as its driver says
 *
 * NodeGetVolumeStats with what kubelet sends: handle and target, and no staging path. A driver that
 * has no such call is asked nothing. The loop thread only.
 */
#ifndef PODVOL_PLUGINS_CSI_STATS_H
#define PODVOL_PLUGINS_CSI_STATS_H

#include "plugins/plugin.h"

enum { CSI_CONDITION_BYTES = 256 };

struct csi_fullness {
	bool has_bytes, has_inodes; /* the driver told them */
	uint64_t capacity, used, available, inodes, inodes_used, inodes_free;
	bool has_condition, abnormal;
	char condition[CSI_CONDITION_BYTES]; /* the driver's words; cut */
};

struct csi_stats_request {
	const struct plugin_host *host;
	const char *driver, *unique_name;
	const char *pod_uid, *volume_name; /* of the mount; inner name */
	const char *path;                  /* the target; the driver's file for a raw device */
};

/* @failure: NULL, or why there is no answer; -EOPNOTSUPP the driver tells no such thing. Once,
 * never from csi_stats_start(). */
typedef void csi_stats_fn(void *userdata, const struct csi_fullness *fullness,
			  const struct failure *failure);

struct csi_stats;

/* Return: 0; -ENOTCONN, ... as csi_drivers_call(); -ENOMEM. Strings are copied. */
int csi_stats_start(const struct csi_stats_request *request, csi_stats_fn *done, void *userdata,
		    struct csi_stats **ret, struct failure *reterr);
/* Also before it is done, and from inside of done(). Accepts NULL. Return: NULL. */
struct csi_stats *csi_stats_free(struct csi_stats *stats);

#endif
