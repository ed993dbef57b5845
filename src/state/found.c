/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found - volume directories that are there below the root directory; see found.h
 *
 * The pods' part of the walk; how each level is looked at is found_walk.c's business, what is
 * staged for the whole node found_staged.c's.
 */
#include "state/found.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "state/found_walk.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

static int append_pod(struct found_list *list, const char *uid)
{
	char *copy;

	if (list->pod_count == FOUND_VOLUMES_MAX)
		return 1;
	if (ARRAY_ROOM(list->pod_uids, list->pod_count, list->pod_capacity, 64) < 0)
		return -ENOMEM;
	copy = strdup(uid);
	if (!copy)
		return -ENOMEM;
	list->pod_uids[list->pod_count++] = copy;
	return 0;
}

/* What the file says must be about this directory. */
static int check_name(const struct vol_data *data, const char *name, struct failure *reterr)
{
	if (strcmp(data->spec_name, name) == 0)
		return 0;
	return failed_plain(reterr, -ENOENT, "%s names volume '%s'", VOL_DATA_FILE,
			    data->spec_name);
}

/* Its directory holds what kubelet knows of it, and the driver's mount. */
static int visit_csi(int plugin_fd, const char *name, const struct found_level *level)
{
	cleanup(vol_data_done) struct vol_data data = { .driver_name = NULL };
	cleanup_close int directory_fd = found_open(plugin_fd, name);
	struct failure failure = { .error = 0 };
	struct found_volume volume = { .pod_uid = level->pod_uid,
				       .plugin_name = FOUND_CSI_PLUGIN,
				       .volume_name = name };
	int r = directory_fd;

	if (r == -ENOENT)
		return 0;
	if (r < 0) {
		(void) failed(&failure, r, "cannot open it");
		volume.is_mount_point = true;
	} else {
		volume.is_mount_point = found_is_mounted(directory_fd, "mount");
		r = found_read_data(directory_fd, VOL_DATA_POD, &data, &failure);
		if (r == 0)
			r = check_name(&data, name, &failure);
	}
	if (r == -ENOMEM)
		return r;
	if (r == 0) {
		volume.driver_name = data.driver_name;
		volume.volume_handle = data.volume_handle;
	}
	volume.problem = failure.text;
	return found_append(level->list, &volume);
}

/* A volume that cannot be examined is a mount whose server is gone. */
static int visit_volume(int plugin_fd, const char *name, const struct found_level *level)
{
	struct found_volume volume = { .pod_uid = level->pod_uid,
				       .plugin_name = level->plugin_name,
				       .volume_name = name,
				       .block = level->block,
				       .sub_paths = level->sub_paths };

	return found_look(plugin_fd, name, &volume) ? found_append(level->list, &volume) : 0;
}

static int visit_plugin(int fd, const char *name, const struct found_level *level)
{
	struct found_level next = *level;
	char plugin_name[NAME_MAX + 1];

	(void) snprintf(plugin_name, sizeof(plugin_name), "%s", name);
	for (char *tilde = plugin_name; (tilde = strchr(tilde, '~'));)
		*tilde = '/';
	next.plugin_name = plugin_name;
	if (strcmp(name, FOUND_CSI_DIRECTORY) == 0 && !level->block)
		return found_each(fd, name, &next, visit_csi);
	return found_each(fd, name, &next, visit_volume);
}

static int visit_pod(int pods_fd, const char *name, const struct found_level *level)
{
	static const char *const kinds[] = { "volumes", "volumeDevices" };
	cleanup_close int pod_fd = found_open(pods_fd, name);
	struct found_level next = *level;
	int result;

	next.pod_uid = name;
	if (pod_fd < 0 && pod_fd != -ENOENT)
		log_about(LOG_WARNING, &(struct log_subject){ .pod_uid = name },
			  "skipping the directory of pod uid '%s': %s", name, strerror(-pod_fd));
	if (pod_fd < 0)
		return 0;

	result = append_pod(level->list, name);
	for (size_t i = 0; result == 0 && i < ARRAY_SIZE(kinds); i++) {
		next.block = i == 1;
		result = found_each(pod_fd, kinds[i], &next, visit_plugin);
	}
	if (result != 0)
		return result;
	next.block = false;
	next.sub_paths = true;
	next.plugin_name = "";
	return found_each(pod_fd, "volume-subpaths", &next, visit_volume);
}

int found_read(int root_fd, struct found_list *ret, struct failure *reterr)
{
	cleanup_close int pods_fd = -EBADF;
	struct found_level level = { .list = ret };
	int result = 0;

	assert(root_fd >= 0 && ret);

	*ret = (struct found_list){ .count = 0 };
	pods_fd = found_open(root_fd, "pods");
	if (pods_fd < 0 && pods_fd != -ENOENT)
		return failed(reterr, pods_fd, "cannot read the directory 'pods'");

	if (pods_fd >= 0)
		result = found_visit_all(pods_fd, &level, visit_pod);
	if (result == 0)
		result = found_read_staged(root_fd, ret);
	if (result < 0)
		return failed(reterr, result, "cannot list the volumes of pods");
	if (result > 0)
		(void) failed_plain(reterr, -EOVERFLOW,
				    "more than %d volume directories below 'pods'",
				    FOUND_VOLUMES_MAX);
	return result;
}
