/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_directories - see own_directories.h
 *
 * A directory lies inside another when the way up from it, by "..", meets the other's device and
 * inode. A bind mount of a directory keeps both numbers, and so does a link.
 */
#include "mount/remove/own_directories.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "mount/mount.h"
#include "mount/path/safe_path.h"
#include "mount/table/mount_table.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static bool same_place(const struct mount_facts *a, const struct mount_facts *b)
{
	return a->device == b->device && a->inode == b->inode;
}

/* One call a level, "..", "../..", and no descriptor: this is asked for each volume. What confused
 * it, one of podvold's directories moved meanwhile, could as well move it to a forbidden place
 * afterwards.
 */
struct climb {
	int from_fd;
	size_t used;
	struct mount_facts here;
	char up[PATH_MAX];
};

static int climb_begin(struct climb *climb, int from_fd)
{
	climb->from_fd = from_fd;
	climb->used = 0;
	return fd_facts(from_fd, &climb->here, NULL);
}

/* Return: 1 one level up; 0 it was "/" already; a negative errno. */
static int climb_on(struct climb *climb)
{
	const struct place place = { .parent_fd = climb->from_fd,
				     .name = climb->up,
				     .path = climb->up };
	const char *step = climb->used ? "/.." : "..";
	struct mount_facts above;
	int r;

	if (climb->used + strlen(step) + 1 > sizeof(climb->up))
		return -ENAMETOOLONG;
	memcpy(climb->up + climb->used, step, strlen(step) + 1);
	climb->used += strlen(step);
	r = place_facts(&place, &above, NULL);
	if (r < 0 || same_place(&climb->here, &above))
		return r;
	climb->here = above;
	return 1;
}

/* ---- what lies above the directory of a source ---- */

/* From it up to "/". */
struct ancestors {
	struct ancestor {
		uint64_t mount_id;
		dev_t device;
		ino_t inode;
	} * levels;
	size_t count;
};

static int ancestors_add(struct ancestors *ancestors, const struct mount_facts *facts)
{
	enum { ROOM_STEP = 16 };
	struct ancestor *levels = ancestors->levels;

	if (ancestors->count % ROOM_STEP == 0) {
		levels = reallocarray(levels, ancestors->count + ROOM_STEP, sizeof(*levels));
		if (!levels)
			return -ENOMEM;
		ancestors->levels = levels;
	}
	levels[ancestors->count++] =
		(struct ancestor){ facts->mount_id, facts->device, facts->inode };
	return 0;
}

static int find_ancestors(int directory_fd, struct ancestors *ancestors)
{
	struct climb climb;
	int r = climb_begin(&climb, directory_fd);

	for (r = r < 0 ? r : 1; r > 0; r = climb_on(&climb))
		if (ancestors_add(ancestors, &climb.here) < 0)
			return -ENOMEM;
	return r;
}

/* Is that place one of them, from a level on? */
static bool is_among(const struct ancestors *ancestors, size_t from,
		     const struct mount_facts *facts)
{
	for (size_t i = from; i < ancestors->count; i++)
		if (ancestors->levels[i].device == facts->device &&
		    ancestors->levels[i].inode == facts->inode)
			return true;
	return false;
}

/* The level where another way up meets this one and goes on as this one does; @count: nowhere. A
 * bind mount is the same place with another way up, so it has to be the same mount, too. */
static size_t level_of(const struct ancestors *ancestors, const struct mount_facts *facts)
{
	size_t i = facts->mount_id == 0 ? ancestors->count : 0;

	while (i < ancestors->count && (ancestors->levels[i].mount_id != facts->mount_id ||
					ancestors->levels[i].device != facts->device ||
					ancestors->levels[i].inode != facts->inode))
		i++;
	return i;
}

/* Is @wanted the directory @from_fd, which is @from, or above it? Return: 1, 0, a negative errno.
 */
static int leads_to(int from_fd, const struct mount_facts *from, const struct mount_facts *wanted,
		    const struct ancestors *ancestors)
{
	struct climb climb = { .from_fd = from_fd, .here = *from };
	int r = 1;

	for (; r > 0; r = climb_on(&climb)) {
		size_t level = level_of(ancestors, &climb.here);

		if (same_place(&climb.here, wanted))
			return 1;
		if (level < ancestors->count)
			return is_among(ancestors, level, wanted);
	}
	return r;
}

/* Where a descriptor leads now, without links. */
static int real_path(int fd, char path[PATH_MAX])
{
	const struct fd_path link = fd_path(fd);
	ssize_t length = readlink(link.text, path, PATH_MAX - 1);

	if (length < 0)
		return -errno;
	path[length] = '\0';
	return path[0] == '/' ? 0 : -ENOENT;
}

/* The directory that something lies in. The thing itself is not entered: a dead server may be
 * behind it. */
static int directory_above(const char *real)
{
	cleanup_free char *parent = strndup(real, (size_t) (strrchr(real, '/') - real) + 1);

	return parent ? open_host_path(parent, O_PATH | O_DIRECTORY, NULL) : -ENOMEM;
}

/* ---- the list of allowed places ---- */

static size_t trimmed(const char *path, size_t length)
{
	while (length > 0 && path[length - 1] == '/')
		length--;
	return length;
}

/* Return: 2 listed itself; 1 below a listed one, or nothing is listed; 0 neither. */
static int allowance(const char *list, const char *real)
{
	int best = list && *list ? 0 : 1;

	for (const char *at = list ?: ""; *at;) {
		size_t entry = strcspn(at, ","), length = trimmed(at, entry);

		if (strncmp(real, at, length) == 0) {
			if (trimmed(real, strlen(real)) == length)
				return 2;
			if (real[length] == '/')
				best = 1;
		}
		at += entry + (at[entry] == ',');
	}
	return best;
}

/* ---- podvold's own ---- */

enum { OWN_COUNT = 4 };

struct own_directory {
	const char *path, *kind;
};

static struct own_directory own_directory(const struct own_directories *own, size_t index)
{
	const struct own_directory rows[OWN_COUNT] = { { own->state, "state" },
						       { own->run, "run" },
						       { own->manifests, "manifest" },
						       { own->root, "root" } };

	return rows[index];
}

static int refused(const char *path, const char *relation, const char *kind, const char *own,
		   struct failure *reterr)
{
	return failed_plain(reterr, -EPERM,
			    "'%s' cannot be the source of a volume: it %s podvold's %s directory "
			    "'%s'",
			    path, relation, kind, own);
}

/* Volumes that podvold makes where a class names no base path. */
static int is_made_volume(int own_fd, const struct ancestors *above)
{
	cleanup_close int fd =
		openat(own_fd, "volumes", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct mount_facts facts;
	int r;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	r = fd_facts(fd, &facts, NULL);
	return r < 0 ? r : is_among(above, 0, &facts);
}

struct candidate {
	const char *path;
	struct ancestors above;   /* the directory that it lies in, and those above */
	struct mount_facts facts; /* of the thing itself */
	bool listed;              /* an administrator named just this one */
	bool is_missing;          /* the thing is to be made in this directory */
	const char *missing;      /* by that path below it */
	bool for_root;
};

/* The same of one that is to be made, and "volumes" with it. */
static bool is_to_be_made_volume(const struct candidate *candidate, bool is_in_own)
{
	static const char name[] = "volumes";
	const char *first = candidate->missing;

	if (!candidate->is_missing || !is_in_own)
		return false;
	first += strspn(first, "/");
	return strcspn(first, "/") == strlen(name) && strncmp(first, name, strlen(name)) == 0;
}

static int check_one(const struct candidate *candidate, const char *own, const char *kind,
		     struct failure *reterr)
{
	cleanup_close int own_fd = open_host_path(own, O_PATH | O_DIRECTORY, reterr);
	bool is_root = strcmp(kind, "root") == 0;
	struct mount_facts facts;
	bool is_same;
	int r;

	if (own_fd == -ENOENT)
		return 0;
	r = own_fd < 0 ? own_fd : fd_facts(own_fd, &facts, reterr);
	if (r < 0)
		return r;
	is_same = same_place(&facts, &candidate->facts);
	r = candidate->listed || candidate->is_missing
		    ? 0
		    : leads_to(own_fd, &facts, &candidate->facts, &candidate->above);
	if (r > 0)
		return refused(candidate->path, is_same ? "is" : "contains", kind, own, reterr);
	if (r == 0 && (candidate->is_missing || !is_same) && !(is_root && candidate->for_root))
		r = is_among(&candidate->above, 0, &facts);
	if (r > 0 && strcmp(kind, "state") == 0 && is_to_be_made_volume(candidate, is_same))
		r = 0;
	if (r > 0 && strcmp(kind, "state") == 0) {
		int made = is_made_volume(own_fd, &candidate->above);

		r = made < 0 ? made : !made;
	}
	if (r > 0)
		return refused(candidate->path, "lies in", kind, own, reterr);
	return r < 0 ? failed(reterr, r, "cannot compare '%s' with '%s'", candidate->path, own) : 0;
}

static int check(const struct own_directories *own, int fd, struct candidate *candidate,
		 struct failure *reterr)
{
	cleanup_close int directory_fd = -EBADF;
	char real[PATH_MAX];
	int r;

	r = real_path(fd, real);
	if (r == 0)
		r = fd_facts(fd, &candidate->facts, NULL);
	if (r == 0)
		r = directory_fd = candidate->is_missing
					   ? open_host_path(real, O_PATH | O_DIRECTORY, NULL)
					   : directory_above(real);
	if (r >= 0)
		r = find_ancestors(directory_fd, &candidate->above);
	if (r < 0)
		return failed(reterr, r, "cannot determine where '%s' lies", candidate->path);
	r = allowance(own->allowed, real);
	if (r == 0)
		return failed_plain(reterr, -EPERM,
				    "'%s' cannot be the source of a volume: option volume-paths "
				    "allows '%s' only",
				    candidate->path, own->allowed);
	candidate->listed = r == 2;
	r = 0;
	for (size_t i = 0; i < OWN_COUNT && r == 0; i++) {
		const struct own_directory one = own_directory(own, i);

		if (one.path)
			r = check_one(candidate, one.path, one.kind, reterr);
	}
	return r;
}

/* ---- by its words ---- */

/* "//a/./b/" as "/a/b"; "/" stays. A path with ".." is refused elsewhere. */
static void clean_path(const char *path, char clean[PATH_MAX])
{
	size_t used = 0;

	while (*path) {
		size_t length = strcspn(path, "/");
		bool counts = length > 0 && !(length == 1 && *path == '.');

		if (counts && used + length + 2 <= PATH_MAX) {
			clean[used++] = '/';
			memcpy(clean + used, path, length);
			used += length;
		}
		path += length + (path[length] == '/');
	}
	if (used == 0)
		clean[used++] = '/';
	clean[used] = '\0';
}

static int check_one_text(const char *path, const char *own, const char *kind, bool listed,
			  bool for_root, struct failure *reterr)
{
	char clean[PATH_MAX], volumes[PATH_MAX + 8];

	clean_path(own, clean);
	(void) snprintf(volumes, sizeof(volumes), "%s/volumes", clean);
	if (!listed && strcmp(path, clean) == 0)
		return refused(path, "is", kind, own, reterr);
	if (!listed && path_is_below(clean, path))
		return refused(path, "contains", kind, own, reterr);
	if (!path_is_below(path, clean) || (for_root && strcmp(kind, "root") == 0) ||
	    (strcmp(kind, "state") == 0 && path_is_at_or_below(path, volumes)))
		return 0;
	return refused(path, "lies in", kind, own, reterr);
}

int own_directories_check_text(const struct own_directories *own, const char *path, bool for_root,
			       struct failure *reterr)
{
	char clean[PATH_MAX];
	int r = 0;

	assert(own && path[0] == '/');
	clean_path(path, clean);
	for (size_t i = 0; i < OWN_COUNT && r == 0; i++) {
		const struct own_directory directory = own_directory(own, i);

		if (directory.path)
			r = check_one_text(clean, directory.path, directory.kind,
					   allowance(own->allowed, clean) == 2, for_root, reterr);
	}
	return r;
}

/* ---- by what is there ---- */

static bool refuses_nothing(const struct own_directories *own)
{
	return !own->state && !own->run && !own->manifests && !own->root;
}

int own_directories_check(const struct own_directories *own, int fd, const char *path,
			  bool for_root, struct failure *reterr)
{
	struct candidate candidate = { .path = path, .for_root = for_root };
	int r;

	assert(own && fd >= 0 && path);
	r = refuses_nothing(own) ? 0 : check(own, fd, &candidate, reterr);
	free(candidate.above.levels);
	return r;
}

int own_directories_check_path(const struct own_directories *own, const char *path, bool for_root,
			       struct failure *reterr)
{
	struct candidate candidate = { .path = path, .for_root = for_root };
	cleanup_free char *existing = strdup(path);
	cleanup_close int fd = -EBADF;
	int r;

	assert(own && path[0] == '/');
	if (!existing)
		return failed(reterr, -ENOMEM, "cannot check '%s'", path);
	if (refuses_nothing(own))
		return 0;
	for (;;) {
		char *slash;

		fd = open_host_path(existing, O_PATH, reterr);
		if (fd != -ENOENT)
			break;
		existing[trimmed(existing, strlen(existing))] = '\0';
		slash = strrchr(existing, '/');
		if (!slash)
			break;
		slash[1] = '\0';
		candidate.is_missing = true;
		candidate.missing = path + strlen(existing);
	}
	r = fd < 0 ? fd : check(own, fd, &candidate, reterr);
	free(candidate.above.levels);
	return r;
}
