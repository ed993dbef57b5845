/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_users - is a directory mounted somewhere; see mount_holders.h
 *
 * A bind mount shows device and path within the file system, the same in every namespace. So what
 * is found out first is what a bind of our directory would show; who has that is mount_holders'.
 */
#include "mount/holders/mount_holders.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "mount/path/safe_path.h"
#include "mount/table/mountinfo.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* @path: as this namespace names it. Return: 0; -ENOMEM. */
static int take_root(struct directory_query *question, const char *path)
{
	bool is_top = strcmp(question->mount_point, "/") == 0;
	const char *root = strcmp(question->mount_root, "/") == 0 ? "" : question->mount_root;
	const char *rest = path + (is_top ? 0 : strlen(question->mount_point));

	question->root = new_text("%s%s", root, rest);
	if (question->root && question->root[0] == '\0') {
		free(question->root);
		question->root = strdup("/");
	}
	return question->root ? 0 : -ENOMEM;
}

static int take_mount(struct directory_query *question, dev_t device, const char *root,
		      const char *mount_point)
{
	question->device = device;
	question->mount_root = strdup(root);
	question->mount_point = strdup(mount_point);
	return question->mount_root && question->mount_point ? 0 : -ENOMEM;
}

static int take_wide(struct directory_query *question, uint64_t mount_id, const char *point)
{
	free(question->wide_point);
	question->wide_id = mount_id;
	question->wide_point = strdup(point);
	return question->wide_point ? 0 : -ENOMEM;
}

/* Return: 0; -ESTALE its mount is not in the table. */
static int find_in(struct directory_query *question, const char *table)
{
	for (const char *line = table; *line; line = table_next_line(line)) {
		cleanup_free char *copy = NULL;
		struct mountinfo_line mount;

		if (strtoull(line, NULL, 10) != question->mount_id)
			continue;
		copy = table_copy_line(line);
		if (!copy)
			return -ENOMEM;
		if (mountinfo_parse(copy, &mount) == 0)
			return take_mount(question, mount.device, mount.root, mount.mount_point);
	}
	return -ESTALE;
}

/* A mount that shows less says of a file beside it only that it cannot be found. */
static int find_wide(struct directory_query *question, const char *table)
{
	size_t shortest = SIZE_MAX;
	int r = 0;

	for (const char *line = table; *line && r >= 0; line = table_next_line(line)) {
		cleanup_free char *copy = table_copy_line(line);
		struct mountinfo_line mount;

		if (!copy)
			return -ENOMEM;
		if (mountinfo_parse(copy, &mount) < 0 || mount.device != question->device ||
		    strlen(mount.root) >= shortest ||
		    !path_is_at_or_below(question->mount_root, mount.root))
			continue;
		shortest = strlen(mount.root);
		r = take_wide(question, strtoull(line, NULL, 10), mount.mount_point);
	}
	return r;
}

static int find_mount(struct directory_query *question)
{
	cleanup_close int proc_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *table = NULL;
	int r = proc_fd < 0 ? -errno : process_mounts(proc_fd, MOUNT_TABLE_BYTES_MAX, &table);

	if (r >= 0)
		r = find_in(question, table);
	return r < 0 ? r : find_wide(question, table);
}

static int copy_mount(struct directory_query *question, const struct directory_query *like)
{
	int r = take_mount(question, like->device, like->mount_root, like->mount_point);

	return r < 0 ? r : take_wide(question, like->wide_id, like->wide_point);
}

static int find_origin(struct directory_query *question, const struct directory_query *like)
{
	char path[PATH_MAX];
	struct statx status;
	int r = fd_real_path(question->directory.fd, path);

	if (r < 0)
		return r;
	if (statx(question->directory.fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) < 0)
		return -errno;
	question->mount_id = status.stx_mnt_id;
	r = like && like->mount_id == question->mount_id ? copy_mount(question, like)
							 : find_mount(question);
	return r < 0 ? r : take_root(question, path);
}

/* Return: a descriptor; -ESTALE another mount is on top of it. */
static int open_mount(const char *mount_point, uint64_t mount_id)
{
	cleanup_close int fd = open(mount_point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statx status;

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) < 0)
		return -errno;
	return status.stx_mnt_id == mount_id ? TAKE_FD(fd) : -ESTALE;
}

/* The same directory as another mount shows it. Return: a descriptor; -EOPNOTSUPP a file system
 * without file handles. */
static int open_within(int mount_fd, int directory_fd)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} room = { .handle.handle_bytes = MAX_HANDLE_SZ };
	int mount_id, fd;

	if (name_to_handle_at(directory_fd, "", &room.handle, &mount_id, AT_EMPTY_PATH) < 0)
		return -errno;
	fd = open_by_handle_at(mount_fd, &room.handle, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* By the mount that shows most; else by its own, or by itself where another one is on top. */
static int open_mounts(struct directory_query *question)
{
	struct mount_directory *directory = &question->directory;
	cleanup_close int mount_fd = open_mount(question->wide_point, question->wide_id);
	int shown_fd = mount_fd < 0 ? mount_fd : open_within(mount_fd, directory->fd);

	if (shown_fd >= 0) {
		(void) close(directory->fd);
		directory->fd = shown_fd;
	} else {
		(void) close_keep_errno(mount_fd);
		mount_fd = open_mount(question->mount_point, question->mount_id);
	}
	if (mount_fd < 0)
		mount_fd = openat(directory->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	directory->mount_fd = mount_fd < 0 ? -errno : TAKE_FD(mount_fd);
	return directory->mount_fd < 0 ? directory->mount_fd : 0;
}

int directory_query_open(int fd, const struct directory_query *like, struct directory_query *ret,
			 struct failure *reterr)
{
	int r;

	assert(ret);
	*ret = (struct directory_query){ .directory = { .fd = fd, .mount_fd = -EBADF } };
	r = fd < 0 ? fd : find_origin(ret, like);
	if (r >= 0)
		r = open_mounts(ret);
	return r < 0 ? failed(reterr, r, "cannot determine whether it is mounted") : 0;
}

void directory_query_run(const struct directory_query *question, struct mount_holder *holder)
{
	assert(question->root && holder);
	holder->device = question->device;
	holder->root = question->root;
	holder->directory = &question->directory;
}

void directory_query_done(struct directory_query *question)
{
	if (question->directory.fd > 0)
		(void) close_keep_errno(question->directory.fd);
	if (question->directory.mount_fd > 0)
		(void) close_keep_errno(question->directory.mount_fd);
	free(question->mount_root);
	free(question->mount_point);
	free(question->wide_point);
	free(question->root);
	*question = (struct directory_query){ 0 };
}

int directory_users_check(int fd, struct failure *reterr)
{
	cleanup(directory_query_done) struct directory_query question = { 0 };
	struct mount_holder holder = { .pid_fd = -EBADF };
	char text[MOUNT_HOLDER_TEXT_BYTES];
	int own_fd, r;

	assert(fd >= 0);
	own_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	r = directory_query_open(own_fd < 0 ? -errno : own_fd, NULL, &question, reterr);
	if (r < 0)
		return r;
	directory_query_run(&question, &holder);
	r = mount_holders_search(&holder, 1, reterr);
	if (r < 0 || !holder.found)
		return r;
	(void) close_keep_errno(holder.pid_fd);
	mount_holder_print(&holder, text);
	return failed_plain(reterr, -EBUSY, "%s", text);
}
