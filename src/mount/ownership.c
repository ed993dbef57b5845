/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ownership - give the files of a volume to the pod's group (fsGroup)
 *
 * Privileged: CAP_CHOWN, CAP_FOWNER, in a tree that a pod may be changing meanwhile. The argument:
 * an entry that needs a change is opened (O_PATH, no link followed), looked at again through that
 * descriptor, and changed through it, so that the bits of one file are never given to another; no
 * mount is entered. Owners never change, bits are only added, and what matches is not touched.
 * Files with several names are changed like any other, as kubelet does.
 */
#include "mount/ownership.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "mount/safe_path.h"
#include "mount/tree_walk.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

enum {
	REFUSALS_LOGGED_MAX = 10, /* lines per walk; the rest is counted */
	SLOW_USEC = 30 * USEC_PER_SEC,
};

struct ownership_walk {
	struct tree_walk *tree; /* NULL: the root is no directory, or all is done */
	struct ownership ownership;
	int root_fd; /* borrowed */
	bool root_is_file;
};

/* The bits an entry of this type gets; symbolic links have none of their own. */
static mode_t added_bits(mode_t mode, bool read_only)
{
	if (S_ISLNK(mode))
		return 0;
	if (S_ISDIR(mode))
		return S_ISGID | (read_only ? 0550 : 0770);
	return read_only ? 0440 : 0660;
}

static bool matches(mode_t mode, gid_t gid, const struct ownership *ownership)
{
	mode_t bits = added_bits(mode, ownership->read_only_volume);

	return gid == ownership->gid && (mode & bits) == bits;
}

static void count_refusal(const char *name, const char *what, int error,
			  struct ownership_counts *counts)
{
	counts->ignored++;
	if (counts->ignored <= REFUSALS_LOGGED_MAX)
		log_message(LOG_WARNING, "cannot change the %s of '%s' in a volume, ignoring: %s",
			    what, name ? name : ".", strerror(-error));
}

/* Change exactly what this descriptor shows. Errors of chown and chmod are counted, not returned.
 */
static int change(int fd, const char *name, const struct ownership *ownership,
		  struct ownership_counts *counts)
{
	bool changed = false, refused = false;
	struct stat status;
	mode_t mode;
	int result;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (status.st_gid != ownership->gid) {
		/* The owner of a symbolic link is its own: AT_EMPTY_PATH does not follow. */
		if (fchownat(fd, "", (uid_t) -1, ownership->gid, AT_EMPTY_PATH) < 0) {
			count_refusal(name, "group", -errno, counts);
			refused = true;
		} else {
			changed = true;
		}
	}
	if (S_ISLNK(status.st_mode))
		goto out;

	/* The kernel took setuid and setgid away with the group: they are put back. */
	mode = (status.st_mode & 07777) | added_bits(status.st_mode, ownership->read_only_volume);
	if (mode != (status.st_mode & 07777) || (changed && (mode & (S_ISUID | S_ISGID)))) {
		result = change_mode(fd, mode, NULL);
		if (result < 0 && !refused)
			count_refusal(name, "mode", result, counts);
		changed |= result == 0;
	}
out:
	counts->changed += changed;
	return 0;
}

static int change_entry(const struct tree_entry *entry, const struct ownership *ownership,
			struct ownership_counts *counts)
{
	cleanup_close int fd = -EBADF;

	if (entry->other_mount)
		return 0;
	counts->entries++;
	if (matches(entry->status.stx_mode, entry->status.stx_gid, ownership))
		return 0;
	if (entry->directory_fd >= 0)
		return change(entry->directory_fd, entry->name, ownership, counts);

	fd = path_open(entry->parent_fd, entry->name, O_PATH | O_NOFOLLOW, PATH_NO_SYMLINKS);
	if (fd == -ENOENT || fd == -EXDEV)
		return 0; /* removed, or mounted on, a moment ago */
	return fd < 0 ? fd : change(fd, entry->name, ownership, counts);
}

int ownership_walk_new(int root_fd, const struct ownership *ownership, struct ownership_walk **ret)
{
	struct ownership_walk *walk = NULL;
	int result;

	assert(root_fd >= 0 && ownership && ret);
	walk = calloc(1, sizeof(*walk));
	if (!walk)
		return -ENOMEM;
	walk->ownership = *ownership;
	walk->root_fd = root_fd;
	result = tree_walk_new(root_fd, &walk->tree);
	walk->root_is_file = result == -ENOTDIR;
	if (result < 0 && result != -ENOTDIR) {
		free(walk);
		return result;
	}
	*ret = walk;
	return 0;
}

struct ownership_walk *ownership_walk_free(struct ownership_walk *walk)
{
	if (walk)
		(void) tree_walk_free(walk->tree);
	free(walk);
	return NULL;
}

int ownership_step(struct ownership_walk *walk, struct ownership_counts *counts)
{
	struct tree_entry entry;
	int result;

	assert(walk && counts);
	if (walk->root_is_file) {
		counts->entries++;
		return change(walk->root_fd, NULL, &walk->ownership, counts);
	}
	result = tree_walk_next(walk->tree, &entry);
	if (result <= 0)
		return result;
	result = change_entry(&entry, &walk->ownership, counts);
	return result < 0 ? result : 1;
}

bool ownership_root_matches(int root_fd, const struct ownership *ownership)
{
	struct stat status;

	return fstat(root_fd, &status) == 0 && S_ISDIR(status.st_mode) &&
	       matches(status.st_mode, status.st_gid, ownership);
}

static int walk_all(struct ownership_walk *walk, const atomic_bool *cancel,
		    struct ownership_counts *counts)
{
	uint64_t begun_usec = monotonic_usec();
	bool said_slow = false;
	int result;

	while ((result = ownership_step(walk, counts)) > 0) {
		if (cancel && atomic_load(cancel))
			return -ECANCELED;
		if (!said_slow && monotonic_usec() - begun_usec > SLOW_USEC) {
			said_slow = true;
			log_message(LOG_WARNING,
				    "changing the group of a volume to %u takes long: %" PRIu64
				    " entries so far; fsGroupChangePolicy OnRootMismatch would "
				    "skip this the next time",
				    walk->ownership.gid, counts->entries);
		}
	}
	return result;
}

int ownership_apply(int root_fd, const struct ownership *ownership, const atomic_bool *cancel,
		    struct ownership_counts *ret, struct failure *reterr)
{
	struct ownership_counts counts = { 0 };
	struct ownership_walk *walk = NULL;
	int result;

	assert(root_fd >= 0 && ownership);
	if (ret)
		*ret = counts;
	if (ownership->on_root_mismatch && ownership_root_matches(root_fd, ownership))
		return 0;

	result = ownership_walk_new(root_fd, ownership, &walk);
	if (result < 0)
		return failed(reterr, result, "cannot read the volume to change its group");
	result = walk_all(walk, cancel, &counts);
	(void) ownership_walk_free(walk);
	if (counts.ignored > REFUSALS_LOGGED_MAX)
		log_message(LOG_WARNING, "%" PRIu64 " entries of a volume kept owner or mode",
			    counts.ignored);
	if (ret)
		*ret = counts;
	if (result == -ECANCELED)
		return failed_plain(reterr, result,
				    "changing the group was given up after %" PRIu64 " entries",
				    counts.entries);
	return result < 0 ? failed(reterr, result, "cannot change the group of the whole volume")
			  : 1;
}
