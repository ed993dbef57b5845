/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fullness - see fullness.h
 */
#include "status/fullness.h"

#include "base/cleanup.h"
#include "mount/capacity/capacity.h"
#include "mount/mount.h"
#include "object/json/json.h"
#include "status/view_time.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>

/* ---- queries, on a thread ---- */

/* A quota of btrfs does not show in statfs. False: it has none. */
static bool query_quota(const char *path, struct fullness *ret)
{
	struct capacity_usage usage;
	uint64_t left;

	if (capacity_quota_usage(path, &usage) < 0)
		return false;
	left = usage.limit_bytes > usage.used_bytes ? usage.limit_bytes - usage.used_bytes : 0;
	ret->capacity = usage.limit_bytes;
	ret->used = usage.used_bytes;
	ret->available = left < ret->available ? left : ret->available;
	return true;
}

void fullness_query_file_system(const char *path, struct fullness *ret)
{
	struct statfs answer;
	uint64_t block;

	if (statfs(path, &answer) < 0) {
		ret->error = -errno;
		return;
	}
	block = (uint64_t) answer.f_frsize > 0 ? (uint64_t) answer.f_frsize
					       : (uint64_t) answer.f_bsize;
	ret->error = 0;
	ret->capacity = answer.f_blocks * block;
	ret->used = (answer.f_blocks - answer.f_bfree) * block;
	ret->available = answer.f_bavail * block;
	ret->inodes = answer.f_files;
	ret->inodes_free = answer.f_ffree;
	ret->inodes_used = answer.f_files - answer.f_ffree;
	/* A pseudo file system has no blocks, and nothing in it takes any. */
	ret->is_shared = answer.f_blocks > 0 &&
			 !(answer.f_type == BTRFS_SUPER_MAGIC && query_quota(path, ret));
}

/* Is all of its file system shown there? Then the numbers of that are its own. */
static bool shows_all(struct mount_table *table, int fd)
{
	cleanup_free char *path = NULL;
	struct mount_origin origin;
	struct failure failure;

	if (mount_table_origin(table, fd, &origin, &failure) < 0)
		return false;
	path = origin.path;
	return strcmp(path, "/") == 0;
}

/* Capacity and what is left are the file system's. */
void fullness_query_directory(struct mount_table *table, const char *path, struct fullness *ret)
{
	struct failure failure;
	cleanup_close int fd = -EBADF;
	struct tree_usage usage;

	fullness_query_file_system(path, ret);
	if (ret->error < 0 || !ret->is_shared)
		return;
	fd = open_host_path(path, O_PATH | O_DIRECTORY, &failure);
	ret->is_shared = fd >= 0 && !shows_all(table, fd);
	if (!ret->is_shared || tree_usage_query(fd, &usage) < 0)
		return;
	ret->is_shared = false;
	ret->used = usage.bytes;
	ret->inodes_used = usage.inodes;
}

/* Of a device only its size is known. */
void fullness_query_device(const char *path, struct fullness *ret)
{
	cleanup_close int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	ret->error = 0;
	if (fd < 0 || ioctl(fd, BLKGETSIZE64, &ret->capacity) < 0)
		ret->error = -errno;
}

void fullness_take_metrics(struct fullness *fullness, const struct volume_metrics *metrics,
			   const struct failure *failure)
{
	fullness_done(fullness);
	*fullness = (struct fullness){ .error = failure ? failure->error : 0,
				       .capacity = metrics->capacity,
				       .used = metrics->used,
				       .available = metrics->available,
				       .inodes = metrics->inodes,
				       .inodes_free = metrics->inodes_free,
				       .inodes_used = metrics->inodes - metrics->inodes_free,
				       .has_condition = metrics->has_condition,
				       .abnormal = metrics->abnormal,
				       .failure = failure ? failure_keep(failure) : NULL };
	(void) snprintf(fullness->condition, sizeof(fullness->condition), "%s", metrics->condition);
}

void fullness_done(struct fullness *fullness)
{
	fullness->failure = failure_drop(fullness->failure);
}

/* ---- as an item of the statistics ---- */

static const char *count_error_text(int error)
{
	if (error == -ETIMEDOUT)
		return "no answer";
	if (error == -EFBIG)
		return "there are too many";
	return error == -EOPNOTSUPP ? "that needs the call open_tree" : strerror(-error);
}

/* After an error, what was counted before it, which has its age. */
static void describe_use(struct cJSON *item, const struct fullness *fullness)
{
	char text[FAILURE_TEXT_BYTES];

	if (fullness->count_error < 0) {
		(void) snprintf(text, sizeof(text), "files cannot be counted: %s",
				count_error_text(fullness->count_error));
		(void) json_set_string(item, "error", text);
		if (fullness->counted_usec == 0)
			return;
	}
	(void) json_set_int(item, "usedBytes", (int64_t) fullness->used);
	(void) json_set_int(item, "inodesUsed", (int64_t) fullness->inodes_used);
	if (fullness->is_more)
		(void) json_set_bool(item, "usedIsMore", true);
	view_set_time(item, "countedAt", fullness->counted_usec);
}

void fullness_describe(struct cJSON *item, const struct fullness *fullness, bool block)
{
	if (fullness->has_condition) {
		(void) json_set_bool(item, "abnormal", fullness->abnormal);
		(void) json_set_string(item, "condition", fullness->condition);
	}
	if (fullness->error < 0) {
		(void) json_set_string(item, "error",
				       fullness->failure && *fullness->failure->text
					       ? fullness->failure->text
					       : strerror(-fullness->error));
		return;
	}
	(void) json_set_int(item, "capacityBytes", (int64_t) fullness->capacity);
	if (block)
		return;
	(void) json_set_int(item, "availableBytes", (int64_t) fullness->available);
	(void) json_set_int(item, "inodes", (int64_t) fullness->inodes);
	(void) json_set_int(item, "inodesFree", (int64_t) fullness->inodes_free);
	describe_use(item, fullness);
}
