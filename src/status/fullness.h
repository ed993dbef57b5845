/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fullness - how full one volume is, by its file system, and as an item of the statistics
 *
 * Blocks as long as the file system does: on a thread only. A directory that shares its file system
 * with others and has no quota needs a count of its files, which directory_usage.h does; this box
 * only detects that. Counts nothing and changes nothing.
 */
#pragma once

#include "base/failure.h"
#include "plugins/plugin.h"

#include <stdbool.h>
#include <stdint.h>

struct cJSON;
struct mount_table;

/* The result of statfs(). Belongs to the thread while it runs. */
struct fullness {
	int error; /* 0 or negative errno; -ECANCELED: never called */
	uint64_t capacity, used, available;
	uint64_t inodes, inodes_free; /* both 0: it has none */
	uint64_t inodes_used;
	const struct failure *failure; /* kept; of an error that has a better sentence than errno's
					*/
	bool is_shared;        /* a directory on a file system that others use: its files are to be
				  counted */
	bool is_more;          /* than was counted until now */
	uint64_t counted_usec; /* monotonic: when it was counted; 0 it was not */
	int count_error;       /* 0 or negative errno */
	bool has_condition, abnormal;
	char condition[VOLUME_CONDITION_BYTES];
};

/* Of the file system that the path lies on; a quota group of btrfs in its place. [worker] */
void fullness_query_file_system(const char *path, struct fullness *ret);
/* The same of a volume that may be a directory of one: a project quota counts, and is_shared tells
 * whether its files must be counted. [worker] */
void fullness_query_directory(struct mount_table *table, const char *path, struct fullness *ret);
/* Of a device only its size is known. [worker] */
void fullness_query_device(const char *path, struct fullness *ret);
/* The result of a plugin. @failure: NULL: success. */
void fullness_take_metrics(struct fullness *fullness, const struct volume_metrics *metrics,
			   const struct failure *failure);

/* Frees what it keeps. */
void fullness_done(struct fullness *fullness);

/* As docs/api.md has it. @block: of a device. */
void fullness_describe(struct cJSON *item, const struct fullness *fullness, bool block);
