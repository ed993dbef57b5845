/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_file - podvold.conf: one YAML mapping from key to scalar
 */
#ifndef PODVOL_CONFIG_FILE_H
#define PODVOL_CONFIG_FILE_H

#include "base/failure.h"

/**
 * config_file_read - every key and value of a configuration file, in its order
 * @path: named in every failure
 * @set:  called with key and value as text; what it refuses ends the reading
 *
 * An empty file is fine. Blocks: at start, and on a thread of its own after.
 *
 * Return: 0; -ENOENT no such file; -EINVAL no mapping, a value that is no scalar, or what @set
 * said.
 */
int config_file_read(const char *path,
		     int (*set)(const char *key, const char *value, void *userdata,
				struct failure *reterr),
		     void *userdata, struct failure *reterr);

#endif
