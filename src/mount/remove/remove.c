/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remove - the only file that removes
 *
 * One rmdir or unlink of a name under a pinned parent; a directory with something in it stays.
 * There are two recursive removals: an emptyDir's own content, and a volume whose claim was deleted
 * under policy Delete, which must bear that volume's mark. By descriptor, without following a
 * symbolic link, never across a mount point. Nothing is ever removed by a path string.
 */
#include "mount/mount.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "mount/capacity/capacity.h"
#include "mount/holders/mount_holders.h"
#include "mount/holders/users_below.h"
#include "mount/ownership/tree_walk.h"
#include "mount/path/safe_path.h"
#include "mount/remove/volume_directory.h"
#include "mount/remove/volume_lock.h"
#include "mount/table/mountinfo.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

enum {
	/* A file system may skip entries while its directory shrinks, so a few rounds are made. */
	REMOVE_ROUNDS_MAX = 8,
	/* Levels that one round goes down: its memory is bounded by them. */
	REMOVE_DEPTH_MAX = 4096,
	/* Directories below those levels that are brought to the top: 268 million levels in all. */
	REMOVE_MOVES_MAX = 65536,
};

/* What is being emptied. */
struct removal {
	int fd;
	const char *path;
	unsigned int moved; /* directories brought to its top */
};

static int remove_name(const struct place *place, int flags, struct failure *reterr)
{
	assert(place && place->parent_fd >= 0 && place->name);

	if (unlinkat(place->parent_fd, place->name, flags) == 0 || errno == ENOENT)
		return 0;
	if (errno == ENOTEMPTY || errno == EEXIST)
		return failed_plain(reterr, -ENOTEMPTY,
				    "'%s' is not empty: it stays, with what is in it", place->path);
	return failed(reterr, -errno, "cannot remove '%s'", place->path);
}

int remove_directory(const struct place *place, struct failure *reterr)
{
	return remove_name(place, AT_REMOVEDIR, reterr);
}

int remove_file(const struct place *place, struct failure *reterr)
{
	return remove_name(place, 0, reterr);
}

/* How many bytes of @path its first @count components take; 0 when it has fewer. */
static size_t leading_components(const char *path, unsigned int count)
{
	const char *end = path;

	while (count-- > 0) {
		end += strspn(end, "/");
		if (*end == '\0')
			return 0;
		end += strcspn(end, "/");
	}
	return (size_t) (end - path);
}

static unsigned int count_components(const char *path)
{
	unsigned int count = 0;

	while (leading_components(path, count + 1) > 0)
		count++;
	return count;
}

/* Who keeps a directory: what is in it, a mount on it, or something else put there. Then
 * everything above stays, too. */
static bool is_kept(const struct place *place, int error)
{
	struct mount_facts facts;

	switch (-error) {
	case ENOTEMPTY:
	case EEXIST:
	case ENOTDIR:
		return true;
	case EBUSY:
		return place_facts(place, &facts, NULL) == 0 && facts.is_mount_root;
	default:
		return false;
	}
}

/* Return: 1 it is gone, now or before; 0 it is kept; a negative errno. */
static int remove_parent(int root_fd, const char *path, struct failure *reterr)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	int r = place_open(root_fd, "", path, &place, reterr);

	if (r == -ENOENT) /* removed already, before a kill; not yet what is above it */
		return 1;
	if (r == -ELOOP || r == -ENOTDIR) /* foreign */
		return 0;
	if (r < 0)
		return r;
	if (unlinkat(place.parent_fd, place.name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 1;
	r = -errno;
	return is_kept(&place, r) ? 0 : failed(reterr, r, "cannot remove '%s'", path);
}

int remove_empty_parents(int root_fd, const char *path, unsigned int stop, struct failure *reterr)
{
	unsigned int count;
	int r = 1;

	assert(root_fd >= 0 && path);
	count = count_components(path);

	for (unsigned int level = count; r > 0 && level > stop + 1; level--) {
		cleanup_free char *parent = strndup(path, leading_components(path, level - 1));

		if (!parent)
			return failed(reterr, -ENOMEM, "cannot remove what is above '%s'", path);
		r = remove_parent(root_fd, parent, reterr);
	}
	return r < 0 ? r : 0;
}

/* Too deep for this round: the next one finds it at the top, with all that is below it. By
 * descriptors, and a rename leaves neither the file system nor the mount; what is in the way keeps
 * its name. */
static int bring_to_top(struct removal *removal, const struct tree_entry *entry)
{
	char name[48];

	if (removal->moved >= REMOVE_MOVES_MAX)
		return -ENAMETOOLONG;
	(void) snprintf(name, sizeof(name), ".podvol-removing-%u", removal->moved++);
	if (renameat(entry->parent_fd, entry->name, removal->fd, name) == 0 || errno == ENOENT ||
	    errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR)
		return 0;
	return errno == EBUSY ? -EXDEV : -errno;
}

static int remove_entry(struct removal *removal, const struct tree_entry *entry)
{
	int flags = entry->directory_fd >= 0 ? AT_REMOVEDIR : 0;

	if (entry->other_mount)
		return -EXDEV;
	if (entry->too_deep)
		return bring_to_top(removal, entry);
	if (!entry->name || unlinkat(entry->parent_fd, entry->name, flags) == 0)
		return 0;
	if (errno == ENOENT || errno == ENOTEMPTY)
		return 0; /* gone already, or one more round is needed */
	return errno == EBUSY ? -EXDEV : -errno;
}

/* One round over what is in the directory; the directory itself stays. */
static int remove_contents(struct removal *removal, struct failure *reterr)
{
	cleanup(tree_walk_freep) struct tree_walk *walk = NULL;
	struct tree_entry entry;
	int result = tree_walk_new(removal->fd, &walk);

	if (result < 0)
		return failed(reterr, result, "cannot read '%s'", removal->path);
	tree_walk_limit(walk, REMOVE_DEPTH_MAX);
	while ((result = tree_walk_next(walk, &entry)) > 0) {
		result = remove_entry(removal, &entry);
		if (result == -EXDEV)
			return failed_plain(
				reterr, result,
				"'%s' in '%s' is a mount point: nothing there is removed",
				entry.name, removal->path);
		if (result < 0)
			return failed(reterr, result, "cannot remove '%s' in '%s'", entry.name,
				      removal->path);
	}
	return result < 0 ? failed(reterr, result, "cannot read what is in '%s'", removal->path)
			  : 0;
}

/* Is the line of a mount below the directory? A line that cannot be read may be one. */
static bool is_mount_below(char *text, const char *directory, struct mountinfo_line *ret)
{
	text[strcspn(text, "\n")] = '\0';
	if (mountinfo_parse(text, ret) < 0) {
		ret->mount_point = "?";
		return true;
	}
	return path_is_below(ret->mount_point, directory);
}

/* Anything mounted below, before the first entry is removed: as the mount table says, which costs
 * the same however deep the directory is. */
static int check_no_mounts(int fd, const char *path, struct failure *reterr)
{
	cleanup_fclose FILE *table = fopen("/proc/self/mountinfo", "re");
	cleanup_free char *text = NULL;
	struct mountinfo_line line;
	char directory[PATH_MAX];
	size_t room = 0;
	int r = table ? fd_real_path(fd, directory) : -errno;

	if (r < 0)
		return failed(reterr, r, "cannot determine what is mounted in '%s'", path);
	errno = 0;
	while (getline(&text, &room, table) > 0)
		if (is_mount_below(text, directory, &line))
			return failed_plain(reterr, -EXDEV,
					    "'%s' in '%s' is a mount point: nothing is removed",
					    line.mount_point, path);
	return ferror(table) || !feof(table)
		       ? failed(reterr, errno > 0 ? -errno : -EIO, "cannot read the mount table")
		       : 0;
}

/* Is the name still that of the directory that was emptied? */
static int check_same(int fd, const struct place *place, struct failure *reterr)
{
	struct stat opened, named;

	if (fstat(fd, &opened) < 0)
		return failed(reterr, -errno, "cannot inspect '%s'", place->path);
	if (fstatat(place->parent_fd, place->name, &named, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0
				       : failed(reterr, -errno, "cannot inspect '%s'", place->path);
	if (opened.st_dev != named.st_dev || opened.st_ino != named.st_ino)
		return failed_plain(reterr, -ESTALE,
				    "something else was put in the place of '%s': it stays",
				    place->path);
	return 0;
}

/* Neither it nor anything in it is mounted. */
static int check_removable(int fd, const struct capacity_method *method, struct users_below *users,
			   const char *path, struct failure *reterr)
{
	bool is_proven = users && users_below_proves_none(users, fd);
	int result = is_proven ? 0 : directory_users_check(fd, reterr);

	if (result < 0)
		(void) failure_prefix(reterr, "nothing of '%s' is removed", path);
	else if (method && method->check_unused)
		result = method->check_unused(fd, path, reterr);
	return result < 0 || is_proven ? result : check_no_mounts(fd, path, reterr);
}

static int remove_by_entries(int fd, const struct place *place, struct failure *reterr)
{
	struct removal removal = { .fd = fd, .path = place->path };
	int result = -ENOTEMPTY;

	for (int round = 0; round < REMOVE_ROUNDS_MAX && result == -ENOTEMPTY; round++) {
		unsigned int moved = removal.moved;

		result = remove_contents(&removal, reterr);
		if (result == 0)
			result = check_same(fd, place, reterr);
		if (result == 0)
			result = remove_directory(place, reterr);
		if (removal.moved > moved) /* there was more than one round could reach */
			round = -1;
	}
	return result;
}

/* What is known of it outside goes last: a kill before leaves a number that nothing has. */
static int remove_limited(int fd, const struct capacity_method *method, const struct place *place,
			  struct failure *reterr)
{
	cleanup_close int parent_fd =
		openat(place->parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t number = method->number ? method->number(fd) : 0;
	int result;

	if (parent_fd < 0)
		return failed(reterr, -errno, "cannot open what is above '%s'", place->path);
	result = method->destroy ? method->destroy(parent_fd, fd) : -EOPNOTSUPP;
	if (result < 0)
		result = remove_by_entries(fd, place, reterr);
	if (result == 0 && method->forget)
		method->forget(parent_fd, number);
	return result;
}

int remove_volume_contents(const struct place *place, const char *mark, struct users_below *users,
			   struct failure *reterr)
{
	const struct capacity_method *method;
	cleanup_close int fd = -EBADF;
	cleanup(volume_lock_releasep) int lock_fd = -EBADF;
	int result;

	assert(place && place->parent_fd >= 0 && place->name && mark && mark[0]);
	fd = path_open(place->parent_fd, place->name, O_RDONLY | O_DIRECTORY, PATH_NO_SYMLINKS);
	if (fd == -ENOENT)
		return 0;
	if (fd == -EXDEV)
		return failed_plain(reterr, fd, "'%s' is a mount point: nothing is removed",
				    place->path);
	if (fd < 0)
		return failed(reterr, fd, "cannot open '%s'", place->path);
	if (volume_mark_of(fd, mark) != VOLUME_MARK_OURS)
		return failed_plain(reterr, -EPERM,
				    "'%s' does not bear the mark of this volume: it stays",
				    place->path);
	/* Held by copies and backups, and here against those. */
	result = volume_lock_take(fd, VOLUME_LOCK_EXCLUSIVE, place->path, &lock_fd, reterr);
	if (result < 0) {
		(void) failure_prefix(reterr, "nothing is removed");
		return result;
	}
	method = capacity_of(fd);
	result = check_removable(fd, method, users, place->path, reterr);
	if (result < 0)
		return result;
	return method ? remove_limited(fd, method, place, reterr)
		      : remove_by_entries(fd, place, reterr);
}

int remove_empty_dir_contents(const struct place *place, struct failure *reterr)
{
	cleanup_close int fd = -EBADF;

	assert(place && place->parent_fd >= 0 && place->name);
	fd = path_open(place->parent_fd, place->name, O_RDONLY | O_DIRECTORY, PATH_NO_SYMLINKS);
	if (fd == -ENOENT)
		return 0;
	if (fd == -EXDEV)
		return failed_plain(reterr, fd, "'%s' is a mount point: its content is kept",
				    place->path);
	if (fd < 0)
		return failed(reterr, fd, "cannot open '%s'", place->path);
	/* No other method: without a mark nothing is removed but entries. */
	return capacity_project.is_in_force(fd)
		       ? remove_limited(fd, &capacity_project, place, reterr)
		       : remove_by_entries(fd, place, reterr);
}
