/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_print - was anything in a tree changed, by what the kernel notes of its entries; see
 * volume_copy.h
 *
 * Reads no content and changes nothing. What is mounted below is left out, as by a copy.
 */
#include "mount/archive/volume_copy.h"

#include "base/cleanup.h"
#include "base/fnv1a.h"
#include "mount/ownership/tree_walk.h"

#include <assert.h>
#include <fcntl.h>
#include <time.h>

/* Of the clock that the kernel stamps files with, which stands still for some milliseconds. */
struct timespec tree_print_since(void)
{
	struct timespec now = { 0 };

	(void) clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return now;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* A time to come, of before the clock was set back, says nothing. */
static bool is_late(const struct stat *status, const struct timespec *since)
{
	struct timespec now = { 0 };

	(void) clock_gettime(CLOCK_REALTIME, &now);
	return !is_before(&status->st_ctim, since) && !is_before(&now, &status->st_ctim);
}

static uint64_t print_entry(const struct stat *status, const char *name)
{
	const uint64_t numbers[] = {
		status->st_ino,
		status->st_mode,
		status->st_nlink,
		status->st_uid,
		status->st_gid,
		status->st_rdev,
		(uint64_t) status->st_size,
		(uint64_t) status->st_mtim.tv_sec,
		(uint64_t) status->st_mtim.tv_nsec,
		(uint64_t) status->st_ctim.tv_sec,
		(uint64_t) status->st_ctim.tv_nsec,
	};

	return fnv1a_add_bytes(fnv1a_add_text(FNV1A_FIRST, name), numbers, sizeof(numbers));
}

static int add_entry(int root_fd, const struct tree_walk *walk, const struct tree_entry *entry,
		     const struct timespec *since, struct tree_print *print)
{
	struct stat status;
	int r = entry->name ? fstatat(entry->parent_fd, entry->name, &status, AT_SYMLINK_NOFOLLOW)
			    : fstat(root_fd, &status);

	if (r < 0)
		return errno == ENOENT ? 0 : -errno; /* its directory tells of that */
	/* A sum: the order of names may change when a file system is mounted again. */
	print->number += print_entry(&status, entry->name ?: "");
	if (print->late || !is_late(&status, since))
		return 0;
	print->late = tree_walk_path(walk, entry);
	return print->late ? 0 : -ENOMEM;
}

void tree_print_done(struct tree_print *print)
{
	free(print->late);
	*print = (struct tree_print){ .late = NULL };
}

int tree_print(int root_fd, const struct timespec *since, const atomic_bool *cancel,
	       struct tree_print *ret, struct failure *reterr)
{
	cleanup(tree_print_done) struct tree_print print = { .late = NULL };
	cleanup(tree_walk_freep) struct tree_walk *walk = NULL;
	struct tree_entry entry;
	int r = tree_walk_new(root_fd, &walk);

	assert(root_fd >= 0 && since && ret);
	while (r >= 0 && (r = tree_walk_next(walk, &entry)) > 0) {
		if (cancel && atomic_load(cancel))
			return failed_plain(reterr, -ECANCELED, "the copy was interrupted");
		r = entry.other_mount ? 0 : add_entry(root_fd, walk, &entry, since, &print);
	}
	if (r < 0)
		return failed(reterr, r, "cannot look for changes in what is copied");
	*ret = print;
	print.late = NULL;
	return 0;
}
