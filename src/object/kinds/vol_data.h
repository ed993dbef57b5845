/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vol_data - vol_data.json: what kubelet writes beside a CSI volume, to know it after a restart
 *
 * One flat JSON object of strings, in three places with different members: beside a pod's mount,
 * beside a staging directory, and in the data directory of a block volume. Read strictly, because
 * a teardown acts upon it: what is not understood is refused, never guessed. Opens no file.
 */
#pragma once

#include "base/failure.h"

#include <stddef.h>

#define VOL_DATA_FILE "vol_data.json"

enum {
	VOL_DATA_BYTES_MAX = 64 * 1024,
	VOL_DATA_VALUE_BYTES_MAX = 4096, /* of one value; CSI itself allows 128 for a handle */
};

enum vol_data_place {
	VOL_DATA_POD,     /* pods/<uid>/volumes/kubernetes.io~csi/<name>/ */
	VOL_DATA_STAGING, /* plugins/kubernetes.io/csi/<driver>/<hash>/ */
	VOL_DATA_BLOCK,   /* plugins/kubernetes.io/csi/volumeDevices/<name>/data/ */
	VOL_DATA_PLACE_COUNT
};

/* "" where the file lacks a member that may be lacking. */
struct vol_data {
	char *spec_name;      /* specVolID: the PV's name, or the inline volume's */
	char *volume_handle;  /* volumeHandle */
	char *driver_name;    /* driverName; fit to be a directory name */
	char *node_name;      /* nodeName */
	char *attachment_id;  /* attachmentID: "csi-<hash>" */
	char *lifecycle_mode; /* volumeLifecycleMode: "Persistent", "Ephemeral" or "" */
	char *selinux_mount_context;
};

/**
 * vol_data_parse - read one file's bytes; pure
 * @place: decides which members must be there
 * @ret:   to be given to vol_data_done(); written on success only
 *
 * Members of other names are passed over when they are strings: newer kubelets may write them.
 *
 * Return: 0; -EINVAL no such object, a member that is missing, no string, or not what it may be;
 * -E2BIG; -ENOMEM.
 */
int vol_data_parse(const char *text, size_t length, enum vol_data_place place, struct vol_data *ret,
		   struct failure *reterr);

/* The bytes of such a file, as kubelet writes them: the members of the place, in the order of their
 * names, and a newline. NULL members count as "". NULL: no memory. Freed with free(). Pure. */
char *vol_data_print(const struct vol_data *data, enum vol_data_place place);

/* Frees the strings; an empty one is fine. */
void vol_data_done(struct vol_data *data);
