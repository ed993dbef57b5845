/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_map - a block device handed to a pod raw; see block_map.h
 *
 * The device node is opened once without opening the device; its number is what the bind file must
 * show afterwards. Nothing is replaced but an older link of podvold, nothing is removed but the
 * bind file, that link and empty directories.
 */
#include "plugins/block_map.h"

#include "base/cleanup.h"
#include "base/directory.h"
#include "plugins/layout.h"
#include "plugins/plugin.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>

/* The place of @name below a relative directory; parents made or not. */
static int child_place(const struct plugin_host *host, const char *base, const char *name,
		       bool make, struct place *ret, struct failure *reterr)
{
	cleanup_free char *path = NULL;
	int r = layout_child(base, name, &path, reterr);

	if (r < 0)
		return r;
	if (make)
		return place_make(host->root_fd, host->root_dir, path, 0750, ret, reterr);
	return place_open(host->root_fd, host->root_dir, path, ret, reterr);
}

/* ---- mapping ---- */

static int open_device(const char *device_path, dev_t *ret_number, struct failure *reterr)
{
	cleanup_close int fd = open_host_path(device_path, O_PATH, reterr);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return failed(reterr, -errno, "cannot inspect '%s'", device_path);
	if (!S_ISBLK(st.st_mode))
		return failed_plain(reterr, -ENOTBLK, "'%s' is not a block device", device_path);
	*ret_number = st.st_rdev;
	return TAKE_FD(fd);
}

/* The device node bound over the regular file of this pod. */
static int bind_device(const struct place *bind_file, int device_fd, dev_t number,
		       struct failure *reterr)
{
	cleanup_close int file_fd = make_file(bind_file, 0750, NULL, reterr);
	struct mount_facts facts;
	int r;

	if (file_fd < 0)
		return file_fd;
	r = fd_facts(file_fd, &facts, reterr);
	if (r < 0)
		return r;
	if (S_ISREG(facts.mode) && !facts.is_mount_root)
		return bind_at(device_fd, file_fd, &(struct mount_attributes){ 0 }, reterr);
	if (S_ISBLK(facts.mode) && facts.special == number)
		return 0;
	return failed_plain(reterr, -EBUSY, "'%s' is mapped to another device", bind_file->path);
}

/* The kernel does not give a device's number away while a loop device holds it. */
static int lock_device(const struct place *bind_file, struct failure *reterr)
{
	cleanup_free char *loop = NULL;
	cleanup_close int fd = open_beneath(bind_file->parent_fd, bind_file->name, O_RDONLY,
					    PATH_NO_SYMLINKS_ANY_MOUNT, reterr);

	if (fd < 0)
		return fd;
	return loop_device_attach(fd, bind_file->path, &loop, reterr);
}

int block_map_device(const struct block_map *map, const char *device_path, struct failure *reterr)
{
	cleanup(place_done) struct place bind_file = PLACE_EMPTY, link = PLACE_EMPTY;
	cleanup_close int device_fd = -EBADF;
	dev_t number;
	int r;

	assert(map && map->host && device_path);

	device_fd = open_device(device_path, &number, reterr);
	if (device_fd < 0)
		return device_fd;
	r = child_place(map->host, map->global_map_path, map->pod_uid, true, &bind_file, reterr);
	if (r < 0)
		return r;
	r = bind_device(&bind_file, device_fd, number, reterr);
	if (r < 0)
		return r;
	r = child_place(map->host, map->pod_map_path, map->volume_name, true, &link, reterr);
	if (r < 0)
		return r;
	r = make_link(&link, device_path, reterr);
	if (r < 0)
		return r;
	return lock_device(&bind_file, reterr);
}

/* ---- unmapping ---- */

/* Which pods' bind files are in the global map directory: the first one, "" when there is none. */
static int first_entry(const struct plugin_host *host, const char *path, char *ret, size_t size,
		       struct failure *reterr)
{
	cleanup_closedir DIR *dir = NULL;
	const struct dirent *entry;
	int fd =
		open_beneath(host->root_fd, path, O_RDONLY | O_DIRECTORY, PATH_NO_SYMLINKS, reterr);
	int r = 0;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		(void) close_keep_errno(fd);
		return failed(reterr, -errno, "cannot read '%s'", path);
	}
	ret[0] = '\0';
	while (ret[0] == '\0' && (r = directory_next(dir, &entry)) > 0)
		if (layout_is_component(entry->d_name))
			(void) snprintf(ret, size, "%s", entry->d_name);
	return r < 0 ? failed(reterr, r, "cannot read '%s'", path) : 0;
}

/* Also when the bind file has gone: its loop device may have been left without its user. */
static int unlock_device(const struct block_map *map, const struct place *bind_file,
			 struct failure *reterr)
{
	cleanup_free char *relative = NULL, *path = NULL;
	cleanup_close int fd = -EBADF;
	int r = layout_child(map->global_map_path, map->pod_uid, &relative, reterr);

	if (r < 0)
		return r;
	path = layout_absolute(map->host->root_dir, relative);
	if (!path)
		return failed(reterr, -ENOMEM, "cannot release '%s'", relative);
	if (bind_file->parent_fd >= 0)
		fd = open_beneath(bind_file->parent_fd, bind_file->name, O_PATH,
				  PATH_NO_SYMLINKS_ANY_MOUNT, reterr);
	if (fd < 0 && fd != -ENOENT && bind_file->parent_fd >= 0)
		return fd;
	return loop_device_detach(fd < 0 ? -EBADF : fd, path, reterr);
}

static int remove_bind_file(const struct place *bind_file, struct failure *reterr)
{
	struct mount_facts facts;
	int r = place_facts(bind_file, &facts, reterr);

	if (r == 0 && facts.is_mount_root) {
		r = unmount_place(bind_file, 0, reterr);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	return remove_file(bind_file, reterr);
}

static int remove_link(const struct block_map *map, struct failure *reterr)
{
	cleanup(place_done) struct place link = PLACE_EMPTY;
	cleanup_free char *path = NULL;
	struct mount_facts facts;
	int r;

	r = child_place(map->host, map->pod_map_path, map->volume_name, false, &link, reterr);
	if (r == 0)
		r = place_facts(&link, &facts, reterr);
	if (r == 0 && !S_ISLNK(facts.mode))
		return 0;
	if (r == 0)
		r = remove_file(&link, reterr);
	/* Gone already, before a kill or a failure; not yet what is above it. */
	if (r < 0 && r != -ENOENT)
		return r;
	r = layout_child(map->pod_map_path, map->volume_name, &path, reterr);
	if (r == 0)
		r = remove_empty_parents(map->host->root_fd, path, 1, reterr);
	return r;
}

/* A loop device is one device's lock, whichever bind file it was attached through, and keeps that
 * file's mount busy: so it goes with the pod that has it, and the next pod gets a new one. */
static int lock_for_others(const struct block_map *map, struct failure *reterr)
{
	cleanup(place_done) struct place other = PLACE_EMPTY;
	char name[NAME_MAX + 1];
	int r;

	r = first_entry(map->host, map->global_map_path, name, sizeof(name), reterr);
	if (r < 0 || name[0] == '\0')
		return r;
	r = child_place(map->host, map->global_map_path, name, false, &other, reterr);
	return r < 0 ? r : lock_device(&other, reterr);
}

int block_unmap_device(const struct block_map *map, struct failure *reterr)
{
	cleanup(place_done) struct place bind_file = PLACE_EMPTY;
	bool have_file;
	int r;

	assert(map && map->host);

	r = child_place(map->host, map->global_map_path, map->pod_uid, false, &bind_file, reterr);
	if (r < 0 && r != -ENOENT)
		return r;
	have_file = r == 0;
	r = unlock_device(map, &bind_file, reterr);
	if (r < 0)
		return r;
	r = remove_link(map, reterr);
	if (r == 0 && have_file)
		r = remove_bind_file(&bind_file, reterr);
	if (r == 0 || r == -ENOENT)
		r = lock_for_others(map, reterr);
	return r == -ENOENT ? 0 : r;
}

/* ---- the whole device ---- */

static int remove_map_directory(const struct plugin_host *host, const char *path,
				struct failure *reterr)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	char entry[NAME_MAX + 1];
	int r = first_entry(host, path, entry, sizeof(entry), reterr);

	if (r < 0 && r != -ENOENT)
		return r;
	if (r == 0 && entry[0] != '\0')
		return failed_plain(reterr, -EBUSY, "'%s/%s/%s' is still there", host->root_dir,
				    path, entry);

	if (r == 0)
		r = place_open(host->root_fd, host->root_dir, path, &place, reterr);
	if (r == 0)
		r = remove_directory(&place, reterr);
	if (r < 0 && r != -ENOENT)
		return r;
	return remove_empty_parents(host->root_fd, path, 1, reterr);
}

int block_tear_down_device(const struct plugin_host *host, const char *global_map_path,
			   const char *device_path, struct failure *reterr)
{
	int r;

	assert(host && global_map_path && device_path);

	r = remove_map_directory(host, global_map_path, reterr);
	if (r < 0 && r != -ENOENT)
		return r;
	return block_device_check_free(device_path, reterr);
}

int block_device_check_free(const char *device_path, struct failure *reterr)
{
	cleanup_close int path_fd = -EBADF, fd = -EBADF;
	char name[64];
	dev_t number;

	assert(device_path);
	if (device_path[0] == '\0')
		return 0;
	path_fd = open_device(device_path, &number, NULL);
	if (path_fd < 0)
		return 0; /* gone, or no device: nothing that could be open */

	(void) snprintf(name, sizeof(name), "/proc/self/fd/%d", path_fd);
	fd = open(name, O_RDONLY | O_EXCL | O_CLOEXEC);
	if (fd < 0 && errno == EBUSY)
		return failed_plain(reterr, -EBUSY, "device '%s' is still open", device_path);
	return 0;
}
