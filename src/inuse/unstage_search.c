/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unstage_search - one pass over all processes for many volumes that are to be taken down; see
 * unstage_search.h
 */
#include "inuse/unstage_search.h"

#include "base/cleanup.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the query ---- */

static int copy_text(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return text && !*ret ? -ENOMEM : 0;
}

int unstage_target_copy(const struct unstage_target *target, struct unstage_target *ret)
{
	assert(target && ret);
	*ret = (struct unstage_target){ 0 };
	if (copy_text(target->directory, &ret->directory) == 0 &&
	    copy_text(target->pod_uid, &ret->pod_uid) == 0 &&
	    copy_text(target->mount_point, &ret->mount_point) == 0 &&
	    copy_text(target->device_path, &ret->device_path) == 0)
		return 0;
	unstage_target_done(ret);
	return -ENOMEM;
}

void unstage_target_done(struct unstage_target *target)
{
	free(target->directory);
	free(target->pod_uid);
	free(target->mount_point);
	free(target->device_path);
	*target = (struct unstage_target){ 0 };
}

void unstage_query_done(struct unstage_query *question)
{
	(void) close_keep_errno(question->holder.pid_fd);
	unstage_force_free(question->force);
	directory_query_done(&question->directory);
	unstage_target_done(&question->target);
}

/* ---- questions ---- */

/* An answer other than "a mount" or "none" is for the table of mounts to clear up. */
static bool is_mount_root(const struct statx *facts)
{
	return !(facts->stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) ||
	       facts->stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

static bool is_mounted(const char *mount_point)
{
	struct statx facts;

	if (statx(AT_FDCWD, mount_point, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		  STATX_TYPE, &facts) < 0)
		return errno != ENOENT && errno != ENOTDIR;
	return is_mount_root(&facts);
}

static dev_t number_of(const char *device_path)
{
	struct stat st;

	return stat(device_path, &st) == 0 && S_ISBLK(st.st_mode) ? st.st_rdev : 0;
}

/* A file system of its own on the directory is unmounted, and what others have of it stays theirs:
 * no content is removed. Return: 1 it is asked about; 0 it is not there; negative errno. */
static int search_directory(struct unstage_query *question, const struct directory_query *like)
{
	const char *path = question->target.directory;
	cleanup_close int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct failure *failure = &question->failure;
	struct statx facts;
	int r;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
		return 0;
	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &facts) < 0)
		return failed(failure, -errno, "cannot inspect '%s'", path);
	if (facts.stx_attributes_mask & facts.stx_attributes & STATX_ATTR_MOUNT_ROOT)
		return 0;
	r = directory_query_open(TAKE_FD(fd), like, &question->directory, failure);
	if (r < 0)
		return r;
	directory_query_run(&question->directory, &question->holder);
	question->holder.sub_paths_of = question->target.pod_uid;
	return 1;
}

/* Return: is anything to be searched for? */
static bool search_one(struct unstage_query *question, const struct directory_query *like)
{
	const struct unstage_target *target = &question->target;
	struct mount_holder *holder = &question->holder;

	if (target->directory)
		return search_directory(question, like) > 0;
	if (target->mount_point && !is_mounted(target->mount_point))
		return false;
	holder->mount_point = target->mount_point;
	if (!holder->mount_point)
		holder->device = number_of(target->device_path);
	return true;
}

/* ---- the pass ---- */

/* Return: how many are to be searched for. */
static size_t search_all(struct unstage_query *questions, size_t count,
			 struct unstage_query **asked)
{
	const struct directory_query *like = NULL;
	size_t asked_count = 0;

	for (size_t i = 0; i < count; i++) {
		struct unstage_query *question = &questions[i];

		question->holder = (struct mount_holder){ .pid_fd = -EBADF };
		question->failure = (struct failure){ .error = 0 };
		if (!search_one(question, like))
			continue;
		if (question->directory.root)
			like = &question->directory;
		if (question->force)
			unstage_force_begin(question->force, &question->holder);
		asked[asked_count++] = question;
	}
	return asked_count;
}

int unstage_search_run(struct unstage_query *questions, size_t count, struct failure *reterr)
{
	cleanup_free struct unstage_query **asked =
		calloc(count + 1, sizeof(struct unstage_query *));
	cleanup_free struct mount_holder *holders = calloc(count + 1, sizeof(*holders));
	size_t asked_count;
	int r;

	assert(questions);
	if (!asked || !holders)
		return failed(reterr, -ENOMEM, "cannot search for mounts in other namespaces");
	asked_count = search_all(questions, count, asked);
	for (size_t i = 0; i < asked_count; i++)
		holders[i] = asked[i]->holder;
	r = asked_count > 0 ? mount_holders_search(holders, asked_count, reterr) : 0;
	for (size_t i = 0; i < asked_count; i++) {
		asked[i]->holder = holders[i];
		if (asked[i]->force)
			unstage_force_searched(asked[i]->force, &holders[i]);
	}
	return r;
}
