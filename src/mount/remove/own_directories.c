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

/* Is @wanted the directory @from_fd, or above it? One call a level, "..", "../..", and no
 * descriptor: this is asked for each volume. What confused it, one of podvold's directories moved
 * meanwhile, could as well move it to a forbidden place afterwards. Return: 1, 0, a negative errno.
 */
static int leads_to(int from_fd, const struct mount_facts *wanted)
{
	char up[PATH_MAX] = "..";
	const struct place place = { .parent_fd = from_fd, .name = up, .path = up };
	struct mount_facts here, above;
	size_t used = strlen(up);
	int r = fd_facts(from_fd, &here, NULL);

	while (r == 0 && !same_place(&here, wanted)) {
		r = place_facts(&place, &above, NULL);
		if (r == 0 && same_place(&here, &above))
			return 0; /* "/" */
		here = above;
		if (used + sizeof("/..") > sizeof(up))
			return -ENAMETOOLONG;
		memcpy(up + used, "/..", sizeof("/.."));
		used += strlen("/..");
	}
	return r < 0 ? r : 1;
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
static int is_made_volume(int own_fd, int directory_fd)
{
	cleanup_close int fd =
		openat(own_fd, "volumes", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct mount_facts facts;
	int r;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	r = fd_facts(fd, &facts, NULL);
	return r < 0 ? r : leads_to(directory_fd, &facts);
}

struct candidate {
	const char *path;
	int directory_fd;
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
	r = candidate->listed || candidate->is_missing ? 0 : leads_to(own_fd, &candidate->facts);
	if (r > 0)
		return refused(candidate->path, is_same ? "is" : "contains", kind, own, reterr);
	if (r == 0 && (candidate->is_missing || !is_same) && !(is_root && candidate->for_root))
		r = leads_to(candidate->directory_fd, &facts);
	if (r > 0 && strcmp(kind, "state") == 0 && is_to_be_made_volume(candidate, is_same))
		r = 0;
	if (r > 0 && strcmp(kind, "state") == 0) {
		int made = is_made_volume(own_fd, candidate->directory_fd);

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
	if (r < 0)
		return failed(reterr, r, "cannot find out where '%s' lies", candidate->path);
	r = allowance(own->allowed, real);
	if (r == 0)
		return failed_plain(reterr, -EPERM,
				    "'%s' cannot be the source of a volume: option volume-paths "
				    "allows '%s' only",
				    candidate->path, own->allowed);
	candidate->listed = r == 2;
	candidate->directory_fd = directory_fd;
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

	assert(own && fd >= 0 && path);
	return refuses_nothing(own) ? 0 : check(own, fd, &candidate, reterr);
}

int own_directories_check_path(const struct own_directories *own, const char *path, bool for_root,
			       struct failure *reterr)
{
	struct candidate candidate = { .path = path, .for_root = for_root };
	cleanup_free char *existing = strdup(path);
	cleanup_close int fd = -EBADF;

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
	return fd < 0 ? fd : check(own, fd, &candidate, reterr);
}
