/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_usage - what the files of volumes take that are directories on a shared file system
 *
 * The file system says how full all of it is, not how much of that is the volume's: where no quota
 * says so, files are counted, as du(1) does. Only of volumes that were asked about, one at a time,
 * in portions on a thread, with a budget of files a second for the whole node; what was
 * counted ten seconds ago, and ten times as long ago as that took, is counted again at the next
 * question. No timer runs without one. After a second's budget the next volume has its turn, with
 * four begun at most, and a count ends after ten million files. One that hangs is set aside, up to
 * three; a volume that is taken down is forgotten, and its count ends.
 *
 * All but directory_usage_new() accept NULL. The loop thread only.
 */
#pragma once

#include "base/worker.h"
#include "mount/capacity/capacity.h"

#include <stdio.h>

struct actual;
struct cJSON;
struct desired_pod;
struct directory_usage;
struct step;

/* All pointers are borrowed. */
struct directory_usage_options {
	sd_event *event;
	const struct actual *actual;
	struct worker_pool *const *pool; /* may be made later; NULL: nothing is counted any more */
	uint64_t files_per_second;       /* at least 1 */
	/* A count ended, well or not, of a volume that is there. */
	void (*counted)(void *userdata, const char *path);
	void *userdata;
};

/* What is known of one volume. */
struct usage_view {
	struct tree_usage usage; /* of the last count that ended; else of the first, so far */
	uint64_t counted_usec;   /* monotonic, when it ended; 0: none did */
	int error; /* 0 or negative errno of the last one; -ETIMEDOUT: it hangs; -EFBIG: too many */
};

/* Is the volume a directory, as far as its specification tells? NULL: no. */
bool directory_usage_takes(const struct desired_pod *want);

/* @options is copied. Return: 0; -ENOMEM. */
int directory_usage_new(const struct directory_usage_options *options,
			struct directory_usage **ret);
/* After the pools and their way back. Return: NULL. */
struct directory_usage *directory_usage_free(struct directory_usage *usage);

/**
 * directory_usage_want - a mounted volume is asked about: its turn comes unless it was counted just
 * now
 * @path: of the pod's volume
 *
 * Return: 0, and what is known in @ret; 1: nothing yet, for it is the first question; -ENOENT there
 * is no such volume, or no memory for it.
 */
int directory_usage_want(struct directory_usage *usage, const char *unique_name, const char *path,
			 struct usage_view *ret);

/* A hook of an observer of steps: @usage is a struct directory_usage. Its count ends when it is
 * taken down. */
void directory_usage_step_started(void *usage, const struct step *step);
/* So, too: it left the table without a step. */
void directory_usage_forget(void *usage, const char *unique_name, const char *pod_uid);
/* Add what is known to a row of volumes. */
void directory_usage_describe(const void *usage, struct cJSON *item, const char *unique_name,
			      const char *pod_uid);

/* In Prometheus' form. */
void directory_usage_print_metrics(const struct directory_usage *usage, FILE *file);
