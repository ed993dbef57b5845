/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_direct - a directory as a tar stream and back; see archive_direct.h
 */
#include "cli/direct/archive_direct.h"

#include "base/cleanup.h"
#include "mount/archive/volume_archive.h"
#include "mount/holders/mount_holders.h"
#include "mount/mount.h"
#include "mount/remove/restore_lock.h"
#include "mount/remove/volume_directory.h"
#include "mount/remove/volume_lock.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

static atomic_bool is_cancelled;

static void on_signal(int number)
{
	(void) number;
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

static int open_volume(const struct archive_direct *direct, struct failure *reterr)
{
	cleanup_close int fd = open_host_path(direct->directory, O_RDONLY | O_DIRECTORY, reterr);

	if (fd == -ENOTDIR)
		return failed_plain(reterr, fd,
				    "'%s' is not a directory: only volumes that are can "
				    "be backed up and restored",
				    direct->directory);
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

int archive_direct_backup(const struct archive_direct *direct, struct archive_summary *ret,
			  struct failure *reterr)
{
	cleanup_close int fd = open_volume(direct, reterr);
	cleanup(volume_lock_releasep) int lock_fd = -EBADF;
	struct archive_counts counts = { 0 };
	struct archive_request request;
	int r;

	assert(ret && reterr);
	if (fd < 0)
		return fd;
	r = volume_locks_open(direct->run_dir, reterr);
	if (r == 0)
		r = volume_lock_take(fd, VOLUME_LOCK_SHARED, direct->directory, &lock_fd, reterr);
	if (r < 0)
		return r;
	catch_signals();
	request = request_of(direct, fd);
	r = volume_archive_write(&request, &counts, reterr);
	*ret = summary_of(&counts);
	return r;
}

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
	cleanup_close int fd = open_volume(direct, reterr);
	cleanup(volume_lock_releasep) int lock_fd = -EBADF;
	struct archive_counts counts = { 0 };
	struct archive_request request;
	int r;

	assert(ret && ret_begun && reterr);
	*ret_begun = false;
	if (fd < 0)
		return fd;
	catch_signals();
	r = volume_locks_open(direct->run_dir, reterr);
	if (r == 0)
		r = restore_lock_take(fd, direct->directory, &lock_fd, reterr);
	if (r < 0)
		return r;
	r = check_unused(direct, fd, reterr);
	if (r == 0) {
		request = request_of(direct, fd);
		r = volume_archive_read(&request, &counts, reterr);
		*ret_begun = volume_directory_is_partial(fd) || counts.entries > 0;
	}
	restore_lock_leave(fd);
	*ret = summary_of(&counts);
	return r;
}
