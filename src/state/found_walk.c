/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found_walk - the list of what was found, and one level of the walk; see found_walk.h
 *
 * Nothing here knows where a level lies.
 */
#include "state/found_walk.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "plugins/plugin.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>

enum {
	FOUND_FIRST_CAPACITY = 64,
	TEXTS = 6,
	NAMES_BYTES = 8192, /* of a directory at a time, on the stack of each level */
};

/* ---- the list ---- */

void found_list_done(struct found_list *list)
{
	assert(list);

	/* The texts of a volume are one block that begins with the first. */
	for (size_t i = 0; i < list->count; i++) {
		free((void *) list->volumes[i].pod_uid);
		free(list->volumes[i].source);
	}
	free(list->volumes);
	for (size_t i = 0; i < list->pod_count; i++)
		free(list->pod_uids[i]);
	free(list->pod_uids);
	*list = (struct found_list){ .count = 0 };
}

static char *copy_texts(const char *const texts[TEXTS], const char *ret[TEXTS])
{
	size_t lengths[TEXTS], total = 0;
	char *block, *at;

	for (size_t i = 0; i < TEXTS; i++)
		total += lengths[i] = (texts[i] ? strlen(texts[i]) : 0) + 1;
	block = at = malloc(total);
	for (size_t i = 0; block && i < TEXTS; i++) {
		memcpy(at, texts[i] ? texts[i] : "", lengths[i]);
		ret[i] = at;
		at += lengths[i];
	}
	return block;
}

int found_append(struct found_list *list, const struct found_volume *volume)
{
	const char *const texts[TEXTS] = { volume->pod_uid,       volume->plugin_name,
					   volume->volume_name,   volume->driver_name,
					   volume->volume_handle, volume->problem };
	const char *copies[TEXTS];
	struct found_volume *added;

	if (list->count == FOUND_VOLUMES_MAX)
		return 1;
	if (ARRAY_ROOM(list->volumes, list->count, list->capacity, FOUND_FIRST_CAPACITY) < 0)
		return -ENOMEM;
	if (!copy_texts(texts, copies))
		return -ENOMEM;

	added = &list->volumes[list->count++];
	*added = *volume;
	added->pod_uid = copies[0];
	added->plugin_name = copies[1];
	added->volume_name = copies[2];
	added->driver_name = copies[3];
	added->volume_handle = copies[4];
	added->problem = copies[5];
	return 0;
}

/* ---- one level ---- */

/* Type and attributes of a name, no more. Return: 0 or a negative errno. */
static int found_stat(int fd, const char *name, struct statx *ret)
{
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;

	return statx(fd, name, flags, STATX_TYPE | STATX_SIZE, ret) < 0 ? -errno : 0;
}

static bool is_mount_root(const struct statx *facts)
{
	return facts->stx_attributes & facts->stx_attributes_mask & STATX_ATTR_MOUNT_ROOT;
}

bool found_is_mounted(int fd, const char *name)
{
	struct statx facts;
	int error = found_stat(fd, name, &facts);

	return error < 0 ? error != -ENOENT : is_mount_root(&facts);
}

bool found_look(int fd, const char *name, struct found_volume *ret)
{
	struct mount_facts facts;
	int error = name_facts(fd, name, &facts);

	ret->is_mount_point = error < 0 ? error != -ENOENT : facts.is_mount_root;
	if (error == 0 && facts.is_mount_root) {
		ret->mount_id = facts.mount_id;
		ret->mount_mark = mount_mark(facts.mount_id, facts.device, facts.inode);
	}
	return error != -ENOENT;
}

int found_open(int fd, const char *name)
{
	struct statx facts;
	int error = found_stat(fd, name, &facts);
	int directory_fd;

	if (error < 0)
		return error;
	if (is_mount_root(&facts))
		return -EXDEV;
	if (!S_ISDIR(facts.stx_mode))
		return -ENOENT;

	directory_fd = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return directory_fd < 0 ? -errno : directory_fd;
}

static int visit_names(int fd, const char *names, size_t length, const struct found_level *level,
		       found_visit_fn *visit)
{
	const struct dirent64 *entry;
	int result = 0;

	for (size_t at = 0; result == 0 && at < length; at += entry->d_reclen) {
		entry = (const struct dirent64 *) (names + at);
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			result = visit(fd, entry->d_name, level);
	}
	return result;
}

int found_visit_all(int fd, const struct found_level *level, found_visit_fn *visit)
{
	_Alignas(struct dirent64) char names[NAMES_BYTES];
	ssize_t length;
	int result = 0;

	while (result == 0 && (length = getdents64(fd, names, sizeof(names))) > 0)
		result = visit_names(fd, names, (size_t) length, level, visit);
	if (result != 0 || length == 0 || errno == ENOENT) /* of a directory that was removed */
		return result;
	return -errno;
}

int found_each(int fd, const char *name, const struct found_level *level, found_visit_fn *visit)
{
	cleanup_close int directory_fd = found_open(fd, name);

	if (directory_fd >= 0)
		return found_visit_all(directory_fd, level, visit);
	if (directory_fd == -ENOENT)
		return 0;
	if (level->pod_uid)
		log_about(LOG_WARNING, &(struct log_subject){ .pod_uid = level->pod_uid },
			  "skipping '%s' of pod uid '%s': %s", name, level->pod_uid,
			  strerror(-directory_fd));
	else
		log_message(LOG_WARNING, "skipping '%s': %s", name, strerror(-directory_fd));
	return 0;
}

/* ---- vol_data.json ---- */

/* Never through a link, never from another mount, never more than is believed. */
static ssize_t read_file(int directory_fd, char *buffer, size_t size, struct failure *reterr)
{
	cleanup_close int fd = -EBADF;
	struct statx facts;
	ssize_t length;
	int error = found_stat(directory_fd, VOL_DATA_FILE, &facts);

	if (error == 0 && (!S_ISREG(facts.stx_mode) || is_mount_root(&facts)))
		return failed_plain(reterr, -EINVAL, "%s is not a plain file", VOL_DATA_FILE);
	if (error == 0) {
		fd = openat(directory_fd, VOL_DATA_FILE,
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		error = fd < 0 ? -errno : 0;
	}
	if (error == -ENOENT)
		return failed_plain(reterr, error, "there is no %s", VOL_DATA_FILE);
	if (error < 0)
		return failed(reterr, error, "cannot open %s", VOL_DATA_FILE);
	length = read(fd, buffer, size);
	return length < 0 ? failed(reterr, -errno, "cannot read %s", VOL_DATA_FILE) : length;
}

int found_read_data(int directory_fd, enum vol_data_place place, struct vol_data *ret,
		    struct failure *reterr)
{
	size_t size = VOL_DATA_BYTES_MAX + 1; /* one more is too much */
	cleanup_free char *buffer = malloc(size);
	ssize_t length;
	int r;

	*ret = (struct vol_data){ .driver_name = NULL };
	if (!buffer)
		return failed(reterr, -ENOMEM, "cannot read %s", VOL_DATA_FILE);
	length = read_file(directory_fd, buffer, size, reterr);
	if (length < 0)
		return -ENOENT;
	r = vol_data_parse(buffer, (size_t) length, place, ret, reterr);
	return r < 0 && r != -ENOMEM ? -ENOENT : r;
}
