/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_directories - see own_directories.h
 *
 * A directory lies inside another when the way up from it, by "..", meets the other's device and
 * inode; see way_up.h.
 */
#include "mount/remove/own_directories.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/path.h"
#include "mount/mount.h"
#include "mount/path/safe_path.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Where a descriptor leads now, without links. */
static int real_path(int fd, char path[PATH_MAX])
{
	int r = fd_real_path(fd, path);

	return r < 0 || path[0] == '/' ? r : -ENOENT;
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

static int refused(const char *path, const char *relation, const struct own_directory *own,
		   struct failure *reterr)
{
	return failed_plain(reterr, -EPERM,
			    "'%s' cannot be the source of a volume: it %s podvold's %s directory "
			    "'%s'",
			    path, relation, own->kind, own->path);
}

/* Volumes that podvold makes where a class names no base path. */
static int is_made_volume(const char *own, const struct way_up *above)
{
	cleanup_close int own_fd = open_host_path(own, O_PATH | O_DIRECTORY, NULL);
	cleanup_close int fd = -EBADF;
	struct mount_facts facts;
	int r;

	if (own_fd < 0)
		return own_fd;
	fd = openat(own_fd, "volumes", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	r = fd_facts(fd, &facts, NULL);
	return r < 0 ? r : way_up_has(above, facts.device, facts.inode);
}

struct candidate {
	const char *path;
	struct way_up *above;     /* the directory that it lies in, and those above */
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

static int check_one(const struct own_directories *own, const struct candidate *candidate,
		     const struct own_directory *one, struct failure *reterr)
{
	cleanup(way_up_unrefp) struct way_up *way = NULL;
	bool is_root = strcmp(one->kind, "root") == 0, is_state = strcmp(one->kind, "state") == 0;
	const struct mount_facts *thing = &candidate->facts;
	const struct way_level *itself;
	bool is_same;
	int r = way_up_find_path(&own->asked, one->path, &way, reterr);

	if (r < 0 || !way)
		return r;
	itself = &way->levels[0];
	is_same = itself->device == thing->device && itself->inode == thing->inode;
	if (!candidate->listed && !candidate->is_missing &&
	    way_up_has(way, thing->device, thing->inode))
		return refused(candidate->path, is_same ? "is" : "contains", one, reterr);
	if ((candidate->is_missing || !is_same) && !(is_root && candidate->for_root))
		r = way_up_has(candidate->above, itself->device, itself->inode);
	if (r > 0 && is_state && is_to_be_made_volume(candidate, is_same))
		r = 0;
	if (r > 0 && is_state) {
		int made = is_made_volume(one->path, candidate->above);

		r = made < 0 ? made : !made;
	}
	if (r > 0)
		return refused(candidate->path, "lies in", one, reterr);
	return r < 0 ? failed(reterr, r, "cannot compare '%s' with '%s'", candidate->path,
			      one->path)
		     : 0;
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
		r = way_up_find(&own->asked, directory_fd, &candidate->above);
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
			r = check_one(own, candidate, &one, reterr);
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

/* What podvold makes in the state directory where a class names no base path. */
static bool is_below_volumes(const char *path, const char *state)
{
	char volumes[PATH_MAX + 8];

	(void) snprintf(volumes, sizeof(volumes), "%s/volumes", state);
	return path_is_at_or_below(path, volumes);
}

static int check_one_text(const char *path, const struct own_directory *own, bool listed,
			  bool for_root, struct failure *reterr)
{
	char clean[PATH_MAX];

	clean_path(own->path, clean);
	if (!listed && strcmp(path, clean) == 0)
		return refused(path, "is", own, reterr);
	if (!listed && path_is_below(clean, path))
		return refused(path, "contains", own, reterr);
	if (!path_is_below(path, clean) || (for_root && strcmp(own->kind, "root") == 0) ||
	    (strcmp(own->kind, "state") == 0 && is_below_volumes(path, clean)))
		return 0;
	return refused(path, "lies in", own, reterr);
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
			r = check_one_text(clean, &directory, allowance(own->allowed, clean) == 2,
					   for_root, reterr);
	}
	return r;
}

/* ---- by what is there ---- */

struct own_directories own_directories_ask(const struct own_directories *own)
{
	struct own_directories asked = *own;

	asked.asked.usec = monotonic_usec();
	return asked;
}

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
	(void) way_up_unref(candidate.above);
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
	(void) way_up_unref(candidate.above);
	return r;
}
