/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_direct - a directory as a tar stream and back; see archive_direct.h
 */
#include "cli/direct/archive_direct.h"

#include "base/cleanup.h"
#include "mount/archive/tree_state.h"
#include "mount/archive/volume_archive.h"
#include "mount/holders/mount_holders.h"
#include "mount/mount.h"
#include "mount/remove/restore_lock.h"
#include "mount/remove/volume_directory.h"
#include "mount/remove/volume_lock.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

static atomic_bool is_cancelled;

static void on_signal(int number)
{
	atomic_store(&is_cancelled, true);
}

/* Once: the second one ends the process as ever. A reader that stops must not kill it. */
static void catch_signals(void)
{
	const struct sigaction once = { .sa_handler = on_signal, .sa_flags = (int) SA_RESETHAND };

	(void) sigaction(SIGINT, &once, NULL);
	(void) sigaction(SIGTERM, &once, NULL);
	(void) signal(SIGPIPE, SIG_IGN);
}

static struct archive_summary summary_of(const struct archive_counts *counts)
{
	return (struct archive_summary){
		.entries = counts->entries,
		.bytes = counts->bytes,
		.left_out = counts->left_out,
		.changed = counts->changed,
		.devices = counts->devices,
		.links_out = counts->links_out,
		.privileges = counts->privileges,
		.lost = counts->lost,
		.unchanged = counts->unchanged,
		.removed = counts->removed,
	};
}

static void on_progress(void *userdata, const struct archive_counts *counts)
{
	const struct archive_direct *direct = userdata;
	const struct archive_summary summary = summary_of(counts);

	direct->progress(direct->userdata, &summary);
}

static void on_note(void *userdata, const char *path, const char *text)
{
	const struct archive_direct *direct = userdata;

	direct->note(direct->userdata, path, text);
}

static int open_volume(const char *path, struct failure *reterr)
{
	cleanup_close int fd = open_host_path(path, O_RDONLY | O_DIRECTORY, reterr);

	if (fd == -ENOTDIR)
		return failed_plain(reterr, fd,
				    "'%s' is not a directory: only volumes that are can "
				    "be backed up and restored",
				    path);
	return TAKE_FD(fd);
}

static struct archive_request request_of(const struct archive_direct *direct, int root_fd)
{
	return (struct archive_request){
		.root_fd = root_fd,
		.stream_fd = direct->stream_fd,
		.allow_devices = direct->allow_devices,
		.allow_links_out = direct->allow_links_out,
		.allow_privileges = direct->allow_privileges,
		.allow_content = direct->allow_content,
		.cancel = &is_cancelled,
		.progress = on_progress,
		.note = on_note,
		.userdata = (void *) direct,
	};
}

/* ---- parts ---- */

struct open_parts {
	struct archive_part *list;
	size_t count;
};

static void open_parts_done(struct open_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		(void) close(parts->list[i].fd);
	free(parts->list);
}

static int open_part(const char *path, struct failure *reterr)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return failed(reterr, -errno, "cannot open '%.100s'", path);
	if (!S_ISREG(status.st_mode))
		return failed_plain(reterr, -ESPIPE, "'%.100s' is not a file: parts are read twice",
				    path);
	return TAKE_FD(fd);
}

static int open_parts(const struct archive_direct *direct, struct open_parts *ret,
		      struct failure *reterr)
{
	ret->list = calloc(direct->part_count + 1, sizeof(*ret->list));
	if (!ret->list)
		return failed(reterr, -ENOMEM, "cannot open the parts");
	for (; ret->count < direct->part_count; ret->count++) {
		int fd = open_part(direct->parts[ret->count], reterr);

		if (fd < 0)
			return fd;
		ret->list[ret->count] = (struct archive_part){ fd, direct->parts[ret->count] };
	}
	return 0;
}

/* ---- backup ---- */

struct locked {
	int fd, lock_fd;
};

static void locked_done(struct locked *locked)
{
	(void) volume_lock_release(locked->lock_fd);
	(void) close_keep_errno(locked->fd);
}

/* A snapshot's lock is that of its own directory, by which podvold removes it. */
static int open_locked(const char *path, bool is_snapshot, struct locked *ret,
		       struct failure *reterr)
{
	cleanup_close int fd = open_volume(path, reterr);
	int r;

	if (fd < 0)
		return fd;
	r = volume_lock_take(fd, VOLUME_LOCK_SHARED, path, &ret->lock_fd, reterr);
	if (r < 0)
		return r;
	if (!is_snapshot) {
		ret->fd = TAKE_FD(fd);
		return 0;
	}
	if (volume_directory_is_partial(fd))
		return failed_plain(reterr, -EUCLEAN, "the snapshot at '%s' is not finished", path);
	ret->fd = openat(fd, "data", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return ret->fd < 0 ? failed(reterr, -errno, "there is no snapshot at '%s'", path) : 0;
}

static int read_base(const struct archive_direct *direct, struct archive_request *request,
		     struct tree_state **ret, struct failure *reterr)
{
	cleanup(locked_done) struct locked base = { -EBADF, -EBADF };
	int r;

	if (direct->part_count > 0)
		return archive_parts_read(request, ret, reterr);
	if (!direct->base)
		return 0;
	r = open_locked(direct->base, true, &base, reterr);
	if (r == 0)
		r = tree_state_read(base.fd, &is_cancelled, ret, reterr);
	return r < 0 ? failure_prefix(reterr, "'%.100s'", direct->base) : 0;
}

int archive_direct_backup(const struct archive_direct *direct, struct archive_summary *ret,
			  struct failure *reterr)
{
	cleanup(locked_done) struct locked volume = { -EBADF, -EBADF };
	cleanup(open_parts_done) struct open_parts parts = { .count = 0 };
	cleanup(tree_state_freep) struct tree_state *base = NULL;
	struct archive_counts counts = { 0 };
	struct archive_request request;
	int r;

	assert(ret && reterr);
	r = volume_locks_open(direct->run_dir, reterr);
	if (r == 0)
		r = open_locked(direct->directory, direct->is_snapshot, &volume, reterr);
	if (r == 0)
		r = open_parts(direct, &parts, reterr);
	if (r < 0)
		return r;
	catch_signals();
	request = request_of(direct, volume.fd);
	request.parts = parts.list;
	request.part_count = parts.count;
	r = read_base(direct, &request, &base, reterr);
	request.base = base;
	if (r == 0)
		r = volume_archive_write(&request, &counts, reterr);
	*ret = summary_of(&counts);
	return r;
}

/* ---- restore ---- */

/* By a pod that has it, or will, and by whatever has it mounted. */
static int check_unused(const struct archive_direct *direct, int fd, struct failure *reterr)
{
	int r = 0;

	if (direct->allow_used)
		return 0;
	if (direct->check_unwanted)
		r = direct->check_unwanted(direct->userdata, reterr);
	if (r == 0)
		r = directory_users_check(fd, reterr);
	return r < 0 ? failure_prefix(reterr, "'%s' is in use", direct->directory) : 0;
}

int archive_direct_restore(const struct archive_direct *direct, struct archive_summary *ret,
			   bool *ret_begun, struct failure *reterr)
{
	cleanup_close int fd = open_volume(direct->directory, reterr);
	cleanup(volume_lock_releasep) int lock_fd = -EBADF;
	cleanup(open_parts_done) struct open_parts parts = { .count = 0 };
	struct archive_counts counts = { 0 };
	struct archive_request request;
	int r;

	assert(ret && ret_begun && reterr);
	*ret_begun = false;
	if (fd < 0)
		return fd;
	r = open_parts(direct, &parts, reterr);
	if (r < 0)
		return r;
	catch_signals();
	r = volume_locks_open(direct->run_dir, reterr);
	if (r == 0)
		r = restore_lock_take(fd, direct->directory, &lock_fd, reterr);
	if (r < 0)
		return r;
	r = check_unused(direct, fd, reterr);
	if (r == 0) {
		request = request_of(direct, fd);
		request.parts = parts.list;
		request.part_count = parts.count;
		r = volume_archive_read(&request, &counts, reterr);
		*ret_begun = volume_directory_is_partial(fd) || counts.entries > 0;
	}
	restore_lock_end(fd);
	*ret = summary_of(&counts);
	return r;
}
