/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_users - is a directory mounted somewhere; see directory_users.h
 *
 * A bind mount shows device and path within the file system, the same in every namespace. So what
 * is found out first is what a bind of our directory would show.
 */
#include "mount/directory_users.h"

#include "base/cleanup.h"
#include "mount/mountinfo.h"
#include "mount/safe_path.h"

#include <assert.h>
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

enum { NAMESPACES_MAX = 4096 };

/* What a bind mount of the directory would show. */
struct origin {
	dev_t device;
	char root[PATH_MAX];
	size_t length;
};

struct namespaces {
	ino_t seen[NAMESPACES_MAX];
	size_t count;
};

typedef bool line_fn(const struct mountinfo_line *line, void *userdata);

/* Return: 1 @visit said so of a line; 0; a negative errno. */
static int read_mounts(const char *path, line_fn *visit, void *userdata)
{
	cleanup_fclose FILE *file = fopen(path, "re");
	cleanup_free char *text = NULL;
	struct mountinfo_line line;
	size_t room = 0;

	if (!file)
		return -errno;
	while (getline(&text, &room, file) > 0) {
		text[strcspn(text, "\n")] = '\0';
		if (mountinfo_parse(text, &line) == 0 && visit(&line, userdata))
			return 1;
	}
	return 0;
}

/* ---- where it is ---- */

struct own_search {
	uint64_t mount_id;
	const char *path; /* as this namespace names it */
	struct origin *ret;
};

static bool take_own(const struct mountinfo_line *line, void *userdata)
{
	const struct own_search *search = userdata;
	size_t prefix = strcmp(line->mount_point, "/") == 0 ? 0 : strlen(line->mount_point);
	const char *root = strcmp(line->root, "/") == 0 ? "" : line->root;
	int length;

	if (line->mount_id != search->mount_id)
		return false;
	length = snprintf(search->ret->root, sizeof(search->ret->root), "%s%s", root,
			  search->path + prefix);
	search->ret->length = (size_t) length;
	search->ret->device = line->device;
	return length > 0 && length < PATH_MAX;
}

static int find_origin(int fd, struct origin *ret)
{
	char path[PATH_MAX];
	const struct fd_path link = fd_path(fd);
	ssize_t length = readlink(link.text, path, sizeof(path) - 1);
	struct own_search search = { .path = path, .ret = ret };
	struct statx status;

	if (length < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) < 0)
		return -errno;
	path[length] = '\0';
	search.mount_id = status.stx_mnt_id;
	return read_mounts("/proc/self/mountinfo", take_own, &search) == 1 ? 0 : -ESTALE;
}

/* ---- who has it ---- */

struct user_search {
	const struct origin *origin;
	char where[FAILURE_TEXT_BYTES / 2];
};

static bool take_user(const struct mountinfo_line *line, void *userdata)
{
	struct user_search *search = userdata;
	const struct origin *origin = search->origin;

	if (line->device != origin->device ||
	    strncmp(line->root, origin->root, origin->length) != 0 ||
	    (line->root[origin->length] != '\0' && line->root[origin->length] != '/'))
		return false;
	(void) snprintf(search->where, sizeof(search->where), "%s", line->mount_point);
	return true;
}

/* False: seen before, or gone. */
static bool is_new_namespace(struct namespaces *namespaces, const char *pid)
{
	char path[64];
	struct stat status;

	(void) snprintf(path, sizeof(path), "/proc/%s/ns/mnt", pid);
	if (stat(path, &status) < 0)
		return false;
	for (size_t i = 0; i < namespaces->count; i++)
		if (namespaces->seen[i] == status.st_ino)
			return false;
	if (namespaces->count < NAMESPACES_MAX)
		namespaces->seen[namespaces->count++] = status.st_ino;
	return true;
}

static int search_processes(struct user_search *search, char pid[32])
{
	cleanup_free struct namespaces *namespaces = calloc(1, sizeof(*namespaces));
	cleanup_closedir DIR *proc = opendir("/proc");
	const struct dirent *entry;
	char path[64];

	if (!proc || !namespaces)
		return proc ? -ENOMEM : -errno;
	(void) is_new_namespace(namespaces, "self");
	while ((entry = readdir(proc))) {
		if (!isdigit((unsigned char) entry->d_name[0]) ||
		    !is_new_namespace(namespaces, entry->d_name))
			continue;
		(void) snprintf(pid, 32, "%.16s", entry->d_name);
		(void) snprintf(path, sizeof(path), "/proc/%s/mountinfo", pid);
		if (read_mounts(path, take_user, search) == 1)
			return 1;
	}
	return 0;
}

int directory_users_check(int fd, struct failure *reterr)
{
	cleanup_free struct origin *origin = calloc(1, sizeof(*origin));
	struct user_search search = { .origin = origin };
	char pid[32] = "";
	int r;

	assert(fd >= 0);
	r = origin ? find_origin(fd, origin) : -ENOMEM;
	if (r == 0)
		r = read_mounts("/proc/self/mountinfo", take_user, &search);
	if (r == 0)
		r = search_processes(&search, pid);
	if (r < 0)
		return failed(reterr, r, "cannot find out whether it is mounted somewhere");
	if (r == 0)
		return 0;
	return failed_plain(reterr, -EBUSY, "it is mounted at '%s'%s%s", search.where,
			    pid[0] ? ", in the mount namespace of process " : "", pid);
}
