/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found_staged - what is staged for all pods of a node: device mounts, global maps, CSI's staging
 *
 * A staging directory of kubelet's in which nothing is mounted is nothing, and so is a map without
 * bind files; of CSI every staging directory counts, because its driver may know of it.
 */
#include "state/found_walk.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <assert.h>
#include <string.h>

#define LOCAL_PLUGIN "kubernetes.io/local-volume"
#define EXEC_PLUGIN  "podvol.io/exec"

static int append_mounted(int fd, const char *name, const struct found_level *level)
{
	struct found_volume volume = { .plugin_name = level->plugin_name, .volume_name = name };

	(void) found_look(fd, name, &volume);
	return volume.is_mount_point ? found_append(level->list, &volume) : 0;
}

/* The first bind file says enough. */
static int append_map(int fd, const char *name, const struct found_level *level)
{
	int r = found_append(level->list, &(struct found_volume){
						  .plugin_name = level->plugin_name,
						  .volume_name = level->volume_name,
						  .block = true,
						  .is_mount_point = found_is_mounted(fd, name) });

	return r == 0 ? 2 : r;
}

static int visit_map(int fd, const char *name, const struct found_level *level)
{
	struct found_level next = *level;
	int r;

	next.volume_name = name;
	r = found_each(fd, name, &next, append_map);
	return r == 2 ? 0 : r;
}

/* ---- CSI ---- */

static int append_csi(int directory_fd, const char *name, enum vol_data_place place,
		      const struct found_level *level)
{
	cleanup(vol_data_done) struct vol_data data = { .driver_name = NULL };
	struct failure failure = { .error = 0 };
	struct found_volume volume = { .plugin_name = level->plugin_name,
				       .volume_name = name,
				       .block = place == VOL_DATA_BLOCK };
	int r = found_read_data(directory_fd, place, &data, &failure);

	if (r == -ENOMEM)
		return r;
	if (place == VOL_DATA_STAGING)
		volume.is_mount_point = found_is_mounted(directory_fd, "globalmount");
	volume.driver_name = data.driver_name;
	volume.volume_handle = data.volume_handle;
	volume.problem = failure.text;
	return found_append(level->list, &volume);
}

/* plugins/kubernetes.io/csi/<driver>/<hash>, which is called "<driver>/<hash>": two drivers may
 * have the same handle. */
static int visit_csi_staging(int fd, const char *name, const struct found_level *level)
{
	cleanup_close int directory_fd = found_open(fd, name);
	cleanup_free char *both = NULL;

	if (directory_fd < 0)
		return 0;
	both = new_text("%s/%s", level->volume_name, name);
	if (!both)
		return -ENOMEM;
	return append_csi(directory_fd, both, VOL_DATA_STAGING, level);
}

/* plugins/kubernetes.io/csi/volumeDevices/<name>/data */
static int visit_csi_block(int fd, const char *name, const struct found_level *level)
{
	cleanup_close int volume_fd = found_open(fd, name);
	cleanup_close int data_fd = volume_fd < 0 ? -EBADF : found_open(volume_fd, "data");

	if (data_fd < 0)
		return 0;
	return append_csi(data_fd, name, VOL_DATA_BLOCK, level);
}

static int visit_csi_driver(int fd, const char *name, const struct found_level *level)
{
	struct found_level next = *level;

	if (strcmp(name, "volumeDevices") == 0)
		return found_each(fd, name, level, visit_csi_block);
	next.volume_name = name;
	return found_each(fd, name, &next, visit_csi_staging);
}

/* ---- all ---- */

/* From `plugins` down to the folder whose names are visited. */
static const struct {
	const char *folders[3], *last;
	const char *plugin_name;
	found_visit_fn *visit;
} bases[] = {
	{ { "kubernetes.io", "local-volume" }, "mounts", LOCAL_PLUGIN, append_mounted },
	{ { "kubernetes.io~local-volume" }, "volumeDevices", LOCAL_PLUGIN, visit_map },
	{ { "podvol.io~exec" }, "mounts", EXEC_PLUGIN, append_mounted },
	{ { "kubernetes.io" }, "csi", FOUND_CSI_PLUGIN, visit_csi_driver },
};

/* Each folder is opened by itself. */
static int read_below(int fd, size_t base, size_t depth, const struct found_level *level)
{
	const char *folder = bases[base].folders[depth];
	cleanup_close int directory_fd = -EBADF;

	if (!folder)
		return found_each(fd, bases[base].last, level, bases[base].visit);
	directory_fd = found_open(fd, folder);
	if (directory_fd < 0)
		return 0;
	return read_below(directory_fd, base, depth + 1, level);
}

int found_read_staged(int root_fd, struct found_list *list)
{
	cleanup_close int plugins_fd = -EBADF;
	int r = 0;

	assert(root_fd >= 0 && list);
	plugins_fd = found_open(root_fd, "plugins");
	if (plugins_fd < 0)
		return 0;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(bases); i++) {
		struct found_level level = { .list = list, .plugin_name = bases[i].plugin_name };

		r = read_below(plugins_fd, i, 0, &level);
	}
	return r;
}
