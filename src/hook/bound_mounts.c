/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound_mounts - what the runtime bound into a container, compared with the pod's volumes
 *
 * For each bind mount of config.json whose source lies in a volume, source and destination have to
 * be the same inode; the destination is looked up in the container's own mount namespace, beneath
 * its root file system, without leaving it. Mounts of other sources are passed over. It changes
 * nothing.
 */
#include "hook/hook.h"

#include "base/cleanup.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

enum { FIELD_BYTES = 64 };

struct bundle {
	const struct hook *hook;
	struct podvol_object *config;
	int root_fd; /* the container's root file system, in its mount namespace */
};

/* The bundle becomes the working directory: paths of config.json may be relative to it. */
static struct podvol_object *read_config(const struct hook *hook)
{
	const char *path = podvol_object_text(hook->state, "bundle");
	cleanup_close int fd = -EBADF;

	if (*path == '\0' || chdir(path) < 0)
		hook_fail("cannot enter the container's bundle '%s': %s", path, strerror(errno));
	fd = open("config.json", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		hook_fail("cannot open config.json of bundle '%s': %s", path, strerror(errno));
	return hook_read_object(fd, "config.json of the container's bundle");
}

/* As the container sees @path: its root directory is this process's for the look-up. There is no
 * openat2(RESOLVE_IN_ROOT) beneath an old seccomp filter. The container's programs do not run yet.
 */
static int open_in_root(int root_fd, const char *path, int flags)
{
	cleanup_close int host_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int directory_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = -EBADF, error;

	if (host_fd < 0 || directory_fd < 0)
		return -1;
	if (fchdir(root_fd) == 0 && chroot(".") == 0)
		fd = open(path, O_PATH | O_CLOEXEC | flags);
	error = errno;
	if (fchdir(host_fd) < 0 || chroot(".") < 0 || fchdir(directory_fd) < 0)
		hook_fail("cannot leave the container's root directory: %s", strerror(errno));
	errno = error;
	return fd;
}

/* Before the runtime pivots, the process has the host's root directory in a namespace that has the
 * container's mounts already; after it, the container's. */
static int open_root(const struct hook *hook, struct podvol_object *config)
{
	const char *root = podvol_object_text(config, "root.path");
	cleanup_close int process_fd = -EBADF;
	char path[PATH_MAX];
	struct stat host, seen;
	int fd;

	(void) snprintf(path, sizeof(path), "/proc/%d/root", hook->pid);
	process_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (process_fd < 0 || fstat(process_fd, &seen) < 0 || stat("/", &host) < 0)
		hook_fail("cannot look up '%s': %s", path, strerror(errno));
	if (host.st_dev != seen.st_dev || host.st_ino != seen.st_ino)
		return TAKE_FD(process_fd);
	(void) snprintf(path, sizeof(path), "%s/%s",
			*root == '/' ? "" : podvol_object_text(hook->state, "bundle"), root);
	fd = open_in_root(process_fd, path, O_DIRECTORY);
	if (fd < 0)
		hook_fail("cannot look up '%s' in the container's mounts: %s", path,
			  strerror(errno));
	return fd;
}

static bool is_bind(const struct bundle *bundle, size_t index)
{
	char field[FIELD_BYTES];

	(void) snprintf(field, sizeof(field), "mounts[%zu].type", index);
	if (strcmp(podvol_object_text(bundle->config, field), "bind") == 0)
		return true;
	(void) snprintf(field, sizeof(field), "mounts[%zu].options", index);
	return strstr(podvol_object_json(bundle->config, field), "bind\"") != NULL;
}

/* "/var/lib/kubelet/pods/UID" of a volume's path below it: sub-paths of volumes lie there, too. */
static bool is_in_pod_directory(const char *source, const char *path, const char *uid)
{
	const char *at = *uid ? strstr(path, uid) : NULL;
	cleanup_free char *directory = NULL;

	if (!at)
		return false;
	directory = strndup(path, (size_t) (at - path) + strlen(uid));
	return directory && path_is_at_or_below(source, directory);
}

static bool is_of_pod(const struct podvol_table *volumes, const char *source)
{
	size_t path = hook_find_column(volumes, "Path");
	size_t uid = hook_find_column(volumes, "Pod UID");

	for (size_t i = 0; i < podvol_table_rows(volumes); i++) {
		const char *of_volume = podvol_table_cell(volumes, i, path);

		if (*of_volume == '/' &&
		    (path_is_at_or_below(source, of_volume) ||
		     is_in_pod_directory(source, of_volume, podvol_table_cell(volumes, i, uid))))
			return true;
	}
	return false;
}

static void compare(const struct bundle *bundle, const struct stat *source, const char *path,
		    const char *destination)
{
	cleanup_close int fd = open_in_root(bundle->root_fd, destination, 0);
	struct stat seen;

	if (fd < 0 || fstat(fd, &seen) < 0)
		hook_fail("cannot look up '%s' in the container: %s", destination, strerror(errno));
	if (seen.st_dev != source->st_dev || seen.st_ino != source->st_ino)
		hook_fail("pod '%s': the runtime bound '%s' to '%s' before the volume was mounted "
			  "there; start the container again",
			  bundle->hook->pod, path, destination);
}

/* The path that a descriptor has, links resolved. */
static void read_path(int fd, char ret[PATH_MAX])
{
	char link[FIELD_BYTES];
	ssize_t length;

	(void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, ret, PATH_MAX - 1);
	if (length < 0)
		hook_fail("cannot look up '%s': %s", link, strerror(errno));
	ret[length] = '\0';
}

static void check_mount(const struct bundle *bundle, const struct podvol_table *volumes,
			size_t index)
{
	cleanup_close int fd = -EBADF;
	char field[FIELD_BYTES], path[PATH_MAX];
	const char *source;
	struct stat status;

	(void) snprintf(field, sizeof(field), "mounts[%zu].source", index);
	source = podvol_object_text(bundle->config, field);
	fd = open(source, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) < 0) {
		if (is_of_pod(volumes, source))
			hook_fail("cannot look up '%s': %s", source, strerror(errno));
		return;
	}
	read_path(fd, path);
	(void) snprintf(field, sizeof(field), "mounts[%zu].destination", index);
	if (is_of_pod(volumes, path))
		compare(bundle, &status, path, podvol_object_text(bundle->config, field));
}

void bound_mounts_check(const struct hook *hook, const struct podvol_table *volumes)
{
	struct podvol_object *config = read_config(hook);
	struct bundle bundle = { .hook = hook,
				 .config = config,
				 .root_fd = open_root(hook, config) };

	for (size_t i = 0; i < podvol_object_count(config, "mounts"); i++)
		if (is_bind(&bundle, i))
			check_mount(&bundle, volumes, i);
	(void) close(bundle.root_fd);
	podvol_object_free(config);
}
