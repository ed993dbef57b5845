/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_users - is a directory mounted somewhere; see mount_holders.h
 *
 * A bind mount shows device and path within the file system, the same in every namespace. So what
 * is found out first is what a bind of our directory would show; who has that is mount_holders'.
 */
#include "mount/holders/mount_holders.h"

#include "base/cleanup.h"
#include "mount/path/safe_path.h"
#include "mount/table/mountinfo.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* @path: as this namespace names it. Return: 0; -ENOMEM. */
static int take_root(struct directory_question *question, const char *path)
{
	bool is_top = strcmp(question->mount_point, "/") == 0;
	const char *root = strcmp(question->mount_root, "/") == 0 ? "" : question->mount_root;
	const char *rest = path + (is_top ? 0 : strlen(question->mount_point));

	if (asprintf(&question->root, "%s%s", root, rest) < 0)
		question->root = NULL;
	if (question->root && question->root[0] == '\0') {
		free(question->root);
		question->root = strdup("/");
	}
	return question->root ? 0 : -ENOMEM;
}

static int take_mount(struct directory_question *question, dev_t device, const char *root,
		      const char *mount_point)
{
	question->device = device;
	question->mount_root = strdup(root);
	question->mount_point = strdup(mount_point);
	return question->mount_root && question->mount_point ? 0 : -ENOMEM;
}

/* Return: 0; -ESTALE its mount is in no table. */
static int find_mount(struct directory_question *question)
{
	cleanup_close int proc_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *table = NULL;
	int r = proc_fd < 0 ? -errno : process_mounts(proc_fd, MOUNT_TABLE_BYTES_MAX, &table);

	for (const char *line = table; r >= 0 && *line; line = table_next_line(line)) {
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
	return r < 0 ? r : -ESTALE;
}

static int find_origin(struct directory_question *question, const struct directory_question *like)
{
	char path[PATH_MAX];
	const struct fd_path link = fd_path(question->directory.fd);
	ssize_t length = readlink(link.text, path, sizeof(path) - 1);
	struct statx status;
	int r;

	if (length < 0 ||
	    statx(question->directory.fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) < 0)
		return -errno;
	if ((size_t) length == sizeof(path) - 1)
		return -ENAMETOOLONG;
	path[length] = '\0';
	question->mount_id = status.stx_mnt_id;
	r = like && like->mount_id == question->mount_id
		    ? take_mount(question, like->device, like->mount_root, like->mount_point)
		    : find_mount(question);
	return r < 0 ? r : take_root(question, path);
}

/* Where another mount is on top of it, the directory itself. Return: a descriptor. */
static int open_mount(const struct directory_question *question)
{
	cleanup_close int fd = open(question->mount_point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statx status;

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) < 0 ||
	    status.stx_mnt_id != question->mount_id) {
		(void) close_keep_errno(fd);
		fd = openat(question->directory.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	return fd < 0 ? -errno : TAKE_FD(fd);
}

int directory_question_open(int fd, const struct directory_question *like,
			    struct directory_question *ret, struct failure *reterr)
{
	int r;

	assert(ret);
	*ret = (struct directory_question){ .directory = { .fd = fd, .mount_fd = -EBADF } };
	r = fd < 0 ? fd : find_origin(ret, like);
	if (r >= 0)
		r = ret->directory.mount_fd = open_mount(ret);
	return r < 0 ? failed(reterr, r, "cannot tell whether it is mounted") : 0;
}

void directory_question_ask(const struct directory_question *question, struct mount_holder *holder)
{
	assert(question->root && holder);
	holder->device = question->device;
	holder->root = question->root;
	holder->directory = &question->directory;
}

void directory_question_done(struct directory_question *question)
{
	if (question->directory.fd > 0)
		(void) close_keep_errno(question->directory.fd);
	if (question->directory.mount_fd > 0)
		(void) close_keep_errno(question->directory.mount_fd);
	free(question->mount_root);
	free(question->mount_point);
	free(question->root);
	*question = (struct directory_question){ 0 };
}

int directory_users_check(int fd, struct failure *reterr)
{
	cleanup(directory_question_done) struct directory_question question = { 0 };
	struct mount_holder holder = { .pid_fd = -EBADF };
	char text[MOUNT_HOLDER_TEXT_BYTES];
	int own_fd, r;

	assert(fd >= 0);
	own_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	r = directory_question_open(own_fd < 0 ? -errno : own_fd, NULL, &question, reterr);
	if (r < 0)
		return r;
	directory_question_ask(&question, &holder);
	r = mount_holders_search(&holder, 1, reterr);
	if (r < 0 || !holder.found)
		return r;
	(void) close_keep_errno(holder.pid_fd);
	mount_holder_print(&holder, text);
	return failed_plain(reterr, -EBUSY, "%s", text);
}
