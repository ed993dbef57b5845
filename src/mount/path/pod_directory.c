/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_directory - empty what agents made in a pod's directory; see safe_path.h
 *
 * Privileged: removes. The argument: a table says how deep each part of the layout is, and below
 * that nothing is opened, so that no walk ever enters a volume. A first walk looks for mounts
 * without changing anything; the second removes empty directories and empty files alone, which
 * hold no data. Neither follows a link or enters a mount.
 */
#include "mount/path/safe_path.h"

#include "base/cleanup.h"
#include "base/directory.h"
#include "base/text.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* Parts of a pod's directory, and how many levels of directories are agents' own below each. Those
 * of volumes come first: an error there ends the cleaning. */
static const struct part {
	const char *name;
	unsigned int depth;
	bool of_volumes;
} parts[] = {
	{ "volumes", 2, true },         /* <plugin>/<volume> */
	{ "volume-subpaths", 3, true }, /* <volume>/<container>/<index> */
	{ "volumeDevices", 1, true },   /* <plugin>; the links in it are block volumes */
	{ "plugins", 3, false },        /* <plugin>/<volume>/ready */
	{ "containers", 2, false },     /* <container>/<log> */
};

/* A CSI volume's directory is kubelet's; the volume is `mount` in it. */
#define CSI_DIRECTORY "kubernetes.io~csi"

#define HOSTS_FILE "etc-hosts"
static const char hosts_head[] = "# Kubernetes-managed hosts file";

struct cleaning {
	bool removes; /* the second walk */
	int first_error;
	struct failure *reterr;
};

static void note_error(struct cleaning *cleaning, int error, const struct failure *failure)
{
	if (error >= 0 || cleaning->first_error < 0)
		return;
	cleaning->first_error = error;
	if (cleaning->reterr)
		*cleaning->reterr = *failure;
}

/* Empty, or it stays: a link, a device and a file with content are foreign. */
static int remove_leaf(const struct place *place, const struct mount_facts *facts,
		       struct failure *reterr)
{
	struct stat status;

	if (S_ISDIR(facts->mode))
		return remove_directory(place, reterr);
	if (S_ISREG(facts->mode) &&
	    fstatat(place->parent_fd, place->name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    status.st_size == 0)
		return remove_file(place, reterr);
	return failed_plain(reterr, -ENOTEMPTY, "'%s' has something in it: it stays", place->path);
}

static void clean_directory(struct cleaning *cleaning, const struct place *place,
			    unsigned int depth);

static void clean_entry(struct cleaning *cleaning, const struct place *place, unsigned int depth)
{
	struct failure failure = { .error = 0 };
	struct mount_facts facts;
	int r = place_facts(place, &facts, &failure);

	if (r == -ENOENT)
		return;
	if (r == 0 && facts.is_mount_root)
		r = failed_plain(&failure, -EBUSY, "'%s' is a mount point", place->path);
	if (r == 0 && depth > 0 && S_ISDIR(facts.mode))
		clean_directory(cleaning, place, depth);
	if (r == 0 && cleaning->removes)
		r = remove_leaf(place, &facts, &failure);
	note_error(cleaning, r, &failure);
}

static void clean_directory(struct cleaning *cleaning, const struct place *place,
			    unsigned int depth)
{
	cleanup_closedir DIR *directory = NULL;
	struct failure failure = { .error = 0 };
	const struct dirent *entry;
	int r;
	int fd = path_open(place->parent_fd, place->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
			   PATH_NO_SYMLINKS);

	directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		int error = failed(&failure, fd < 0 ? fd : -errno, "cannot read '%s'", place->path);

		(void) close_keep_errno(fd);
		note_error(cleaning, error, &failure);
		return;
	}
	while ((r = directory_next(directory, &entry)) > 0) {
		cleanup_free char *path = NULL;
		struct place child = { .parent_fd = fd, .name = (char *) entry->d_name };
		bool is_csi = strcmp(entry->d_name, CSI_DIRECTORY) == 0 && depth == 2;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		path = new_text("%s/%s", place->path, entry->d_name);
		if (!path) {
			note_error(cleaning,
				   failed(&failure, -ENOMEM, "cannot clean '%s'", place->path),
				   &failure);
			return;
		}
		child.path = path;
		clean_entry(cleaning, &child, depth - 1 + is_csi);
	}
	if (r < 0)
		note_error(cleaning, failed(&failure, r, "cannot read '%s'", place->path),
			   &failure);
}

/* A name in the pod's directory that is looked at or removed; missing ones are fine. */
static void clean_part(struct cleaning *cleaning, int pod_fd, const char *pod_path,
		       const struct part *part)
{
	cleanup_free char *path = NULL;
	struct failure failure = { .error = 0 };
	struct place place = { .parent_fd = pod_fd, .name = (char *) part->name };

	path = new_text("%s/%s", pod_path, part->name);
	if (!path) {
		note_error(cleaning, failed(&failure, -ENOMEM, "cannot clean '%s'", pod_path),
			   &failure);
		return;
	}
	place.path = path;
	clean_entry(cleaning, &place, part->depth);
}

/* kubelet says in the first line that it wrote the file. */
static void remove_hosts_file(struct cleaning *cleaning, int pod_fd, const char *pod_path)
{
	cleanup_close int fd =
		path_open(pod_fd, HOSTS_FILE, O_RDONLY | O_NONBLOCK, PATH_NO_SYMLINKS);
	char head[sizeof(hosts_head)] = "", path[] = HOSTS_FILE;
	struct failure failure = { .error = 0 };
	struct place place = { .parent_fd = pod_fd, .name = path, .path = path };
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return; /* whatever it is keeps the directory */
	if (status.st_size > 0 &&
	    (read(fd, head, sizeof(head) - 1) < 0 || strcmp(head, hosts_head) != 0)) {
		note_error(cleaning,
			   failed_plain(&failure, -ENOTEMPTY, "'%s/%s' is not kubelet's: it stays",
					pod_path, path),
			   &failure);
		return;
	}
	note_error(cleaning, remove_file(&place, &failure), &failure);
}

static int clean_pod(const struct place *pod, struct failure *reterr)
{
	cleanup_close int fd = open_beneath(pod->parent_fd, pod->name, O_RDONLY | O_DIRECTORY,
					    PATH_NO_SYMLINKS, reterr);
	struct cleaning look = { .reterr = reterr };
	struct cleaning work = { .removes = true, .reterr = reterr };

	if (fd < 0)
		return fd;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		clean_part(&look, fd, pod->path, &parts[i]);
	if (look.first_error < 0)
		return look.first_error;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].of_volumes || work.first_error == 0)
			clean_part(&work, fd, pod->path, &parts[i]);
	if (work.first_error == 0)
		remove_hosts_file(&work, fd, pod->path);
	return work.first_error;
}

int pod_directory_clean(int root_fd, const char *root_path, const char *pod_uid,
			struct failure *reterr)
{
	cleanup(place_done) struct place pod = PLACE_EMPTY;
	cleanup_free char *relative = NULL;
	int r;

	assert(root_fd >= 0 && root_path && pod_uid && !strchr(pod_uid, '/'));
	relative = new_text("pods/%s", pod_uid);
	if (!relative)
		return failed(reterr, -ENOMEM, "cannot clean the directory of '%s'", pod_uid);
	r = place_open(root_fd, root_path, relative, &pod, reterr);
	if (r == 0)
		r = clean_pod(&pod, reterr);
	if (r == 0)
		r = remove_directory(&pod, reterr);
	return r == -ENOENT ? 0 : r;
}
