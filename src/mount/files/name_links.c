/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_links - links to volumes by names that stay; see name_links.h
 *
 * A new link is made in one call; one that is there changes by a rename over it, so that a reader
 * finds the old target or the new one. Its directories are opened with O_NOFOLLOW, one level after
 * the other: a link in the place of one is an error, and what lies behind it is not touched.
 */
#include "mount/files/name_links.h"

#include "base/cleanup.h"
#include "base/directory.h"
#include "base/text.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#define DIRECTORY  "by-name"
#define BEING_MADE ".new" /* no name of a volume begins with a dot */

enum { LEVEL_MODE = 0755, NAME_MAX_BYTES = 253, LEVELS = 3 };

/* So that a directory that became empty is not removed under who makes a link in it, nor a link
 * that was replaced after a look at it. */
static pthread_mutex_t change = PTHREAD_MUTEX_INITIALIZER;

int name_links_open(const char *run_dir, struct failure *reterr)
{
	cleanup_free char *path = NULL;
	cleanup_close int fd = -EBADF;
	int readable;

	path = new_text("%s/" DIRECTORY, run_dir);
	if (!path)
		return failed(reterr, -ENOMEM, "cannot open '" DIRECTORY "'");
	fd = make_host_directories(path, LEVEL_MODE, reterr);
	if (fd < 0)
		return fd;
	readable = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return readable < 0 ? failed(reterr, -errno, "cannot open '%s'", path) : readable;
}

/* As Kubernetes names pods and their volumes. */
static bool is_plain(const char *name)
{
	size_t length = strlen(name);

	return length > 0 && length <= NAME_MAX_BYTES && *name != '.' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == length;
}

static int open_level(int fd, const char *name, struct failure *reterr)
{
	int level;

	if (!is_plain(name))
		return failed(reterr, -EINVAL, "link by name: '%s' is not a plain name", name);
	level = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return level < 0 ? failed(reterr, -errno, "link by name: cannot open '%s'", name) : level;
}

static int make_level(int fd, const char *name, struct failure *reterr)
{
	if (is_plain(name) && mkdirat(fd, name, LEVEL_MODE) < 0 && errno != EEXIST)
		return failed(reterr, -errno, "link by name: cannot create '%s'", name);
	return open_level(fd, name, reterr);
}

/* Return: 1 a link, with its text; 0 nothing there; -EINVAL something else; else as readlinkat(2).
 */
static int read_link(int fd, const char *name, char ret[PATH_MAX])
{
	ssize_t length = readlinkat(fd, name, ret, PATH_MAX - 1);

	if (length < 0)
		return errno == ENOENT ? 0 : -errno;
	ret[length] = '\0';
	return 1;
}

/* Something has the name. */
static int replace(int fd, const char *name, const char *target, struct failure *reterr)
{
	char text[PATH_MAX];
	int r = read_link(fd, name, text);

	if (r == -EINVAL)
		return failed_plain(reterr, -EEXIST, "link by name: '%s' exists and is not a link",
				    name);
	if (r < 0)
		return failed(reterr, r, "link by name: cannot read '%s'", name);
	if (r > 0 && strcmp(text, target) == 0)
		return 0;
	if (unlinkat(fd, BEING_MADE, 0) < 0 && errno != ENOENT)
		return failed(reterr, -errno, "link by name: cannot remove '" BEING_MADE "'");
	if (symlinkat(target, fd, BEING_MADE) == 0 && renameat(fd, BEING_MADE, fd, name) == 0)
		return 0;
	r = failed(reterr, -errno, "link by name: cannot create '%s'", name);
	(void) unlinkat(fd, BEING_MADE, 0);
	return r;
}

static int make(int fd, const struct link_name *name, const char *target, struct failure *reterr)
{
	cleanup_close int name_space = open_level(fd, name->name_space, reterr);
	cleanup_close int pod = -EBADF;

	/* A namespace mostly is there, a pod mostly is not. */
	if (name_space == -ENOENT)
		name_space = make_level(fd, name->name_space, reterr);
	if (name_space < 0)
		return name_space;
	pod = make_level(name_space, name->pod, reterr);
	if (pod < 0)
		return pod;
	if (!is_plain(name->volume))
		return failed(reterr, -EINVAL, "link by name: '%s' is not a plain name",
			      name->volume);
	if (symlinkat(target, pod, name->volume) == 0)
		return 0;
	return errno == EEXIST
		       ? replace(pod, name->volume, target, reterr)
		       : failed(reterr, -errno, "link by name: cannot create '%s'", name->volume);
}

int name_link_make(int fd, const struct link_name *name, const char *target, struct failure *reterr)
{
	int r;

	(void) pthread_mutex_lock(&change);
	r = make(fd, name, target, reterr);
	(void) pthread_mutex_unlock(&change);
	return r;
}

/* ---- removal ---- */

struct pruning {
	name_link_keep_fn *keep;
	void *userdata;
	const char *names[LEVELS]; /* where it is; the last: the only link to look at, or NULL */
	struct failure *reterr;
	int result; /* the first failure */
};

static void note(struct pruning *pruning, int error, const char *name)
{
	if (pruning->result >= 0)
		pruning->result =
			failed(pruning->reterr, error, "link by name: cannot remove '%s'", name);
}

static void prune_link(struct pruning *pruning, int fd, const char *name)
{
	const struct link_name full = { pruning->names[0], pruning->names[1], name };
	char text[PATH_MAX];
	int r = read_link(fd, name, text);

	if (r < 0 && r != -EINVAL)
		note(pruning, r, name);
	if (r > 0 &&
	    (strcmp(name, BEING_MADE) == 0 || !pruning->keep(pruning->userdata, &full, text)) &&
	    unlinkat(fd, name, 0) < 0 && errno != ENOENT)
		note(pruning, -errno, name);
}

static void prune_level(struct pruning *pruning, int fd, unsigned int level);

/* What is no directory there is not podvold's, and stays. */
static void prune_directory(struct pruning *pruning, int fd, const char *name, unsigned int level)
{
	int below = open_level(fd, name, NULL);

	if (below < 0) {
		if (below != -ENOTDIR && below != -ELOOP && below != -EINVAL && below != -ENOENT)
			note(pruning, below, name);
		return;
	}
	pruning->names[level] = name;
	if (pruning->names[LEVELS - 1]) {
		prune_link(pruning, below, pruning->names[LEVELS - 1]);
		(void) close(below);
	} else {
		prune_level(pruning, below, level + 1);
	}
	if (unlinkat(fd, name, AT_REMOVEDIR) < 0 && errno != ENOTEMPTY && errno != ENOENT)
		note(pruning, -errno, name);
}

/* Takes @fd. */
static void prune_level(struct pruning *pruning, int fd, unsigned int level)
{
	cleanup_closedir DIR *directory = fdopendir(fd);
	const struct dirent *entry;
	int r = 1;

	if (!directory) {
		note(pruning, -errno, DIRECTORY);
		(void) close(fd);
		return;
	}
	while ((r = directory_next(directory, &entry)) > 0) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (level == LEVELS - 1)
			prune_link(pruning, fd, entry->d_name);
		else
			prune_directory(pruning, fd, entry->d_name, level);
	}
	if (r < 0)
		note(pruning, r, DIRECTORY);
}

int name_links_prune(int fd, name_link_keep_fn *keep, void *userdata, struct failure *reterr)
{
	struct pruning pruning = { .keep = keep, .userdata = userdata, .reterr = reterr };
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (again < 0)
		return failed(reterr, -errno, "cannot list '" DIRECTORY "'");
	(void) pthread_mutex_lock(&change);
	prune_level(&pruning, again, 0);
	(void) pthread_mutex_unlock(&change);
	return pruning.result;
}

static bool leads_elsewhere(void *userdata, const struct link_name *name, const char *target)
{
	return strcmp(userdata, target) != 0;
}

static int remove_links(int fd, const struct link_name *name, const char *target,
			struct failure *reterr)
{
	cleanup_free char *copy = strdup(target);
	struct pruning pruning = { .keep = leads_elsewhere,
				   .userdata = copy,
				   .names = { name->name_space, name->pod, name->volume },
				   .reterr = reterr };
	cleanup_close int name_space = -EBADF;

	if (!copy)
		return failed(reterr, -ENOMEM, "cannot remove a link by name");
	name_space = open_level(fd, name->name_space, reterr);
	if (name_space < 0)
		return name_space == -ENOENT ? 0 : name_space;
	prune_directory(&pruning, name_space, name->pod, 1);
	if (unlinkat(fd, name->name_space, AT_REMOVEDIR) < 0 && errno != ENOTEMPTY &&
	    errno != ENOENT)
		note(&pruning, -errno, name->name_space);
	return pruning.result;
}

int name_links_remove(int fd, const struct link_name *name, const char *target,
		      struct failure *reterr)
{
	int r;

	(void) pthread_mutex_lock(&change);
	r = remove_links(fd, name, target, reterr);
	(void) pthread_mutex_unlock(&change);
	return r;
}
