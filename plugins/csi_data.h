/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_data - vol_data.json beside a mount: written before the driver is called, read before it is
 * called again to take the volume away
 *
 * And what goes with it: the directory that holds both, by single removals, once nothing is mounted
 * there any more. All [worker].
 */
#pragma once

#include "object/kinds/vol_data.h"
#include "plugins/plugin.h"

/* A volume's directory on disk: "<directory>/vol_data.json" beside "<directory>/<what is mounted>".
 */
struct csi_place {
	const struct plugin_host *host;
	const char *mount_path; /* relative to the root directory */
	const char *data_path;
	enum vol_data_place kind;
	unsigned int kept_levels; /* leading components that stay when all below them is empty */
};

/* Makes the directories with 0750 and writes the file. 0, or as place_make(), small_file_write().
 */
int csi_data_write(const struct csi_place *place, const struct vol_data *data,
		   struct failure *reterr);

/**
 * csi_data_read - what the file says
 * @ret: to be given to vol_data_done(); written on success only
 *
 * Return: 0; -ENOENT there is no such file, but something is where it is about; -ENODATA nothing of
 * the volume is there; -EINVAL, ... it cannot be understood.
 */
int csi_data_read(const struct csi_place *place, struct vol_data *ret, struct failure *reterr);

/**
 * csi_data_remove - the target, the file and the directories around them, each while it is empty
 *
 * Return: 0; -EBUSY something is mounted at the target still: nothing was removed; -ENOTEMPTY there
 * is something in it: nothing was removed; else as the calls.
 */
int csi_data_remove(const struct csi_place *place, struct failure *reterr);

/* The target alone. */
int csi_target_remove(const struct csi_place *place, struct failure *reterr);

/* What is at the target, without following it. 0, -ENOENT, or as place_facts(). */
int csi_place_facts(const struct csi_place *place, struct mount_facts *ret, struct failure *reterr);
