/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found - volume directories that are there below the root directory; see found.h
 *
 * Goes down by descriptor, one component at a time. Each is first looked at by statx, which neither
 * triggers an automount nor asks a server; only a plain directory of our own mount is opened.
 */
#include "state/found.h"

#include "base/cleanup.h"
#include "base/log.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { FOUND_FIRST_CAPACITY = 64 };

/* Where the walk is; grows with each level. */
struct level {
	struct found_list *list;
	const char *pod_uid, *plugin_directory;
	bool block, sub_paths;
};

void found_list_done(struct found_list *list)
{
	assert(list);

	/* The three names of a volume are one block that begins with the first. */
	for (size_t i = 0; i < list->count; i++)
		free((void *) list->volumes[i].pod_uid);
	free(list->volumes);
	*list = (struct found_list){ .count = 0 };
}

static int grow(struct found_list *list)
{
	size_t capacity = list->capacity ? 2 * list->capacity : FOUND_FIRST_CAPACITY;
	struct found_volume *volumes = reallocarray(list->volumes, capacity, sizeof(*volumes));

	if (!volumes)
		return -ENOMEM;

	list->volumes = volumes;
	list->capacity = capacity;
	return 0;
}

/* Return: 0; 1 the list is full; -ENOMEM. */
static int append(const struct level *level, const char *name, bool is_mount_point)
{
	size_t uid_bytes = strlen(level->pod_uid) + 1;
	size_t plugin_bytes = strlen(level->plugin_directory) + 1, name_bytes = strlen(name) + 1;
	struct found_list *list = level->list;
	char *block, *plugin;

	if (list->count == FOUND_VOLUMES_MAX)
		return 1;
	if (list->count == list->capacity && grow(list) < 0)
		return -ENOMEM;
	block = malloc(uid_bytes + plugin_bytes + name_bytes);
	if (!block)
		return -ENOMEM;

	plugin = block + uid_bytes;
	memcpy(block, level->pod_uid, uid_bytes);
	memcpy(plugin, level->plugin_directory, plugin_bytes);
	memcpy(plugin + plugin_bytes, name, name_bytes);
	for (char *tilde = plugin; (tilde = strchr(tilde, '~'));)
		*tilde = '/';

	list->volumes[list->count++] = (struct found_volume){
		.pod_uid = block,
		.plugin_name = plugin,
		.volume_name = plugin + plugin_bytes,
		.block = level->block,
		.sub_paths = level->sub_paths,
		.is_mount_point = is_mount_point,
	};
	return 0;
}

static int look(int fd, const char *name, struct statx *ret)
{
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;

	return statx(fd, name, flags, STATX_TYPE, ret) < 0 ? -errno : 0;
}

static bool is_mount_root(const struct statx *facts)
{
	return facts->stx_attributes & facts->stx_attributes_mask & STATX_ATTR_MOUNT_ROOT;
}

/* Return: 0 with *ret NULL when there is no such directory of our mount; negative errno. */
static int open_plain(int fd, const char *name, DIR **ret)
{
	cleanup_close int directory_fd = -EBADF;
	struct statx facts;
	int error = look(fd, name, &facts);

	*ret = NULL;
	if (error == -ENOENT)
		return 0;
	if (error < 0)
		return error;
	if (is_mount_root(&facts))
		return -EXDEV;
	if (!S_ISDIR(facts.stx_mode))
		return 0;

	directory_fd = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (directory_fd < 0)
		return errno == ENOENT ? 0 : -errno; /* it has just gone */

	*ret = fdopendir(directory_fd);
	if (!*ret)
		return -errno;
	(void) TAKE_FD(directory_fd);
	return 0;
}

/* Calls @visit for each name; a result other than 0 ends the walk. What cannot be read is passed
 * over, so that one bad directory does not hide the others. */
static int for_each_name(int fd, const char *name, const struct level *level,
			 int (*visit)(int fd, const char *name, const struct level *level))
{
	cleanup_closedir DIR *directory = NULL;
	const struct dirent *entry;
	int result = open_plain(fd, name, &directory);

	if (result < 0)
		log_about(LOG_WARNING, &(struct log_subject){ .pod_uid = level->pod_uid },
			  "passing over '%s' of pod uid '%s': %s", name, level->pod_uid,
			  strerror(-result));
	if (!directory)
		return 0;

	result = 0;
	while (result == 0 && (entry = readdir(directory)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			result = visit(dirfd(directory), entry->d_name, level);
	return result;
}

/* A volume that cannot be examined is a mount whose server is gone. */
static int visit_volume(int plugin_fd, const char *name, const struct level *level)
{
	struct statx facts;
	int error = look(plugin_fd, name, &facts);

	if (error == -ENOENT)
		return 0;
	return append(level, name, error < 0 || is_mount_root(&facts));
}

static int visit_plugin(int fd, const char *name, const struct level *level)
{
	struct level next = *level;

	next.plugin_directory = name;
	return for_each_name(fd, name, &next, visit_volume);
}

static int visit_pod(int pods_fd, const char *name, const struct level *level)
{
	static const char *const kinds[] = { "volumes", "volumeDevices" };
	cleanup_closedir DIR *pod = NULL;
	struct level next = *level;
	int result = open_plain(pods_fd, name, &pod);

	next.pod_uid = name;
	if (result < 0)
		log_about(LOG_WARNING, &(struct log_subject){ .pod_uid = name },
			  "passing over the directory of pod uid '%s': %s", name,
			  strerror(-result));
	if (!pod)
		return 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		next.block = i == 1;
		result = for_each_name(dirfd(pod), kinds[i], &next, visit_plugin);
		if (result != 0)
			return result;
	}
	next.block = false;
	next.sub_paths = true;
	next.plugin_directory = "";
	return for_each_name(dirfd(pod), "volume-subpaths", &next, visit_volume);
}

int found_read(int root_fd, struct found_list *ret, struct failure *reterr)
{
	cleanup_closedir DIR *pods = NULL;
	struct level level = { .list = ret };
	const struct dirent *entry;
	int result;

	assert(root_fd >= 0 && ret);

	*ret = (struct found_list){ .count = 0 };
	result = open_plain(root_fd, "pods", &pods);
	if (result < 0)
		return failed(reterr, result, "cannot read the directory 'pods'");

	while (result == 0 && pods && (entry = readdir(pods)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			result = visit_pod(dirfd(pods), entry->d_name, &level);
	if (result < 0)
		return failed(reterr, result, "cannot list the volumes of pods");
	if (result > 0)
		(void) failed_plain(reterr, -EOVERFLOW,
				    "more than %d volume directories below 'pods'",
				    FOUND_VOLUMES_MAX);
	return result;
}
