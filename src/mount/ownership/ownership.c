/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ownership - give the entries of a volume to the pod's group (fsGroup), one after the other
 *
 * Privileged: CAP_CHOWN, CAP_FOWNER, in a tree that a pod may be changing meanwhile. The argument:
 * an entry that needs a change is opened (O_PATH, no link followed), looked at again through that
 * descriptor, and changed through it, so that the bits of one file are never given to another; no
 * mount is entered. Only where root alone could put another entry in its place, and where no
 * setuid, setgid or sticky bit is involved, it is changed by its name, which costs half. Root in a
 * container is such a root, so that no call by name follows a link: the worst is that it exchanges
 * two files of its own volume. Owners never change, bits are only added, and what matches is not
 * touched. Files with several names are changed like any other, as kubelet does.
 */
#include "mount/ownership/ownership.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/syscalls.h"
#include "mount/ownership/tree_walk.h"
#include "mount/path/safe_path.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

struct ownership_walk {
	struct tree_walk *tree; /* NULL: the root is no directory, or all is done */
	struct ownership ownership;
	int root_fd; /* borrowed */
	bool root_is_file;
	int proc_fd; /* /proc/self/fd, once fchmodat2 turned out to be missing; else -EBADF */
	int (*wait)(void *userdata); /* before the root; NULL: no other thread walks */
	void *wait_userdata;
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
	if (counts->ignored <= OWNERSHIP_REFUSALS_LOGGED)
		log_message(LOG_WARNING, "cannot change the %s of '%s' in a volume, ignoring: %s",
			    what, name ? name : ".", strerror(-error));
}

/* Of a descriptor. fchmod(2) refuses those of O_PATH; without fchmodat2 (Linux 6.6) it is the magic
 * link that leads to the very same inode. Each walk finds out once. */
static int change_bits(struct ownership_walk *walk, int fd, mode_t mode)
{
	char name[16];

	if (walk->proc_fd < 0) {
		if (fchmodat2(fd, "", mode, AT_EMPTY_PATH) == 0)
			return 0;
		if (errno != ENOSYS && errno != EPERM) /* filters of system calls answer EPERM */
			return -errno;
		walk->proc_fd = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (walk->proc_fd < 0)
			return -errno;
	}
	(void) snprintf(name, sizeof(name), "%d", fd);
	return fchmodat(walk->proc_fd, name, mode, 0) < 0 ? -errno : 0;
}

struct owned {
	mode_t mode;
	gid_t gid;
};

/* Change exactly what this descriptor shows, and what @was tells of. Errors of chown and chmod are
 * counted, not returned. */
static void change(struct ownership_walk *walk, int fd, const char *name, const struct owned *was,
		   struct ownership_counts *counts)
{
	const struct ownership *ownership = &walk->ownership;
	bool changed = false, refused = false;
	mode_t mode;
	int result;

	if (was->gid != ownership->gid) {
		/* The owner of a symbolic link is its own: AT_EMPTY_PATH does not follow. */
		if (fchownat(fd, "", (uid_t) -1, ownership->gid, AT_EMPTY_PATH) < 0) {
			count_refusal(name, "group", -errno, counts);
			refused = true;
		} else {
			changed = true;
		}
	}
	/* The kernel took setuid and setgid away with the group: they are put back. */
	mode = (was->mode & 07777) | added_bits(was->mode, ownership->read_only_volume);
	if (!S_ISLNK(was->mode) &&
	    (mode != (was->mode & 07777) || (changed && (mode & (S_ISUID | S_ISGID))))) {
		result = change_bits(walk, fd, mode);
		if (result < 0 && !refused)
			count_refusal(name, "mode", result, counts);
		changed |= result == 0;
	}
	counts->changed += changed;
}

static int check_and_change(struct ownership_walk *walk, int fd, const char *name,
			    struct ownership_counts *counts)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	change(walk, fd, name, &(struct owned){ status.st_mode, status.st_gid }, counts);
	return 0;
}

/* Where there is no fchmodat2: plain fchmodat(2) follows a link. */
static int add_bits_opened(struct ownership_walk *walk, const struct tree_entry *entry)
{
	cleanup_close int fd =
		path_open(entry->parent_fd, entry->name, O_PATH | O_NOFOLLOW, PATH_NO_SYMLINKS);
	struct stat status;

	if (fd < 0)
		return fd == -EXDEV ? -ENOENT : fd; /* mounted on a moment ago */
	if (fstat(fd, &status) < 0)
		return -errno;
	if (S_ISLNK(status.st_mode))
		return -ELOOP;
	return change_bits(walk, fd,
			   (status.st_mode & 07777) |
				   added_bits(status.st_mode, walk->ownership.read_only_volume));
}

static int add_bits_by_name(struct ownership_walk *walk, const struct tree_entry *entry,
			    mode_t mode)
{
	if (walk->proc_fd >= 0)
		return add_bits_opened(walk, entry);
	if (fchmodat2(entry->parent_fd, entry->name, mode, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	return errno == ENOSYS || errno == EPERM ? add_bits_opened(walk, entry) : -errno;
}

/* The same by name, where root alone can have put another entry there. First the group: bits
 * are for the new one. */
static void change_guarded(struct ownership_walk *walk, const struct tree_entry *entry,
			   struct ownership_counts *counts)
{
	const struct ownership *ownership = &walk->ownership;
	mode_t mode = entry->status.stx_mode & 07777;
	mode_t wanted = mode | added_bits(entry->status.stx_mode, ownership->read_only_volume);
	bool changed = false, refused = false;
	int result;

	if (entry->status.stx_gid != ownership->gid) {
		if (fchownat(entry->parent_fd, entry->name, (uid_t) -1, ownership->gid,
			     AT_SYMLINK_NOFOLLOW) == 0) {
			changed = true;
		} else if (errno != ENOENT) {
			count_refusal(entry->name, "group", -errno, counts);
			refused = true;
		}
	}
	if (mode != wanted) {
		result = add_bits_by_name(walk, entry, wanted);
		if (result == 0)
			changed = true;
		else if (result != -ENOENT && !refused)
			count_refusal(entry->name, "mode", result, counts);
	}
	counts->changed += changed;
}

static int change_entry(struct ownership_walk *walk, const struct tree_entry *entry,
			struct ownership_counts *counts)
{
	const struct owned was = { entry->status.stx_mode, entry->status.stx_gid };
	int shown_fd = entry->directory_fd >= 0 ? entry->directory_fd : entry->fd;
	cleanup_close int fd = -EBADF;

	if (shown_fd >= 0) {
		change(walk, shown_fd, entry->name, &was, counts);
		return 0;
	}
	if (entry->guarded && (was.mode & (S_ISUID | S_ISGID | S_ISVTX)) == 0) {
		change_guarded(walk, entry, counts);
		return 0;
	}

	fd = path_open(entry->parent_fd, entry->name, O_PATH | O_NOFOLLOW, PATH_NO_SYMLINKS);
	if (fd == -ENOENT || fd == -EXDEV)
		return 0; /* removed, or mounted on, a moment ago */
	return fd < 0 ? fd : check_and_change(walk, fd, entry->name, counts);
}

/* Entries that need a change stand beside others that do: while they come, each is opened first,
 * unless it can be changed by its name. */
static int own_entry(struct ownership_walk *walk, const struct tree_entry *entry,
		     struct ownership_counts *counts)
{
	bool matched;

	if (entry->other_mount)
		return 0;
	counts->entries++;
	matched = matches(entry->status.stx_mode, entry->status.stx_gid, &walk->ownership);
	tree_walk_open_first(walk->tree, !matched && (!entry->guarded || walk->proc_fd >= 0));
	return matched ? 0 : change_entry(walk, entry, counts);
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
	walk->proc_fd = -EBADF;
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
	if (!walk)
		return NULL;
	(void) tree_walk_free(walk->tree);
	(void) close_keep_errno(walk->proc_fd);
	free(walk);
	return NULL;
}

void ownership_walk_offer(struct ownership_walk *walk, tree_offer_fn *offer, void *userdata)
{
	assert(walk);
	if (walk->tree)
		tree_walk_offer(walk->tree, offer, userdata);
}

void ownership_walk_root_last(struct ownership_walk *walk, int (*wait)(void *userdata),
			      void *userdata)
{
	assert(walk && wait);
	walk->wait = wait;
	walk->wait_userdata = userdata;
}

int ownership_step(struct ownership_walk *walk, struct ownership_counts *counts)
{
	struct tree_entry entry;
	int result;

	assert(walk && counts);
	if (walk->root_is_file) {
		counts->entries++;
		return check_and_change(walk, walk->root_fd, NULL, counts);
	}
	result = tree_walk_next(walk->tree, &entry);
	if (result <= 0)
		return result;
	if (!entry.name && walk->wait) {
		result = walk->wait(walk->wait_userdata);
		if (result < 0)
			return result;
	}
	result = own_entry(walk, &entry, counts);
	return result < 0 ? result : 1;
}

bool ownership_root_matches(int root_fd, const struct ownership *ownership)
{
	struct stat status;

	return fstat(root_fd, &status) == 0 && S_ISDIR(status.st_mode) &&
	       matches(status.st_mode, status.st_gid, ownership);
}
