/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filesystem - a new file system instance on a pinned target
 *
 * Privileged: CAP_SYS_ADMIN. The instance is configured word by word on a context of its own, made
 * into a detached mount with its attributes, and attached to a descriptor; what the kernel has to
 * say about a bad option is read from the context's log. No mount.TYPE helper is run. Without
 * fsopen the same is one mount(2) on the descriptor's name in /proc/self/fd.
 */
#include "mount/bind/bind_staged.h"
#include "mount/bind/fallback.h"
#include "mount/bind/options.h"
#include "mount/file_system_fault.h"
#include "mount/path/safe_path.h"

#include "base/cleanup.h"
#include "base/directory.h"

#include <assert.h>
#include <fcntl.h>
#include <libmount.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

enum { LOG_LINE_BYTES = 512 };

/* The last error the kernel left in the context's log, without its "e "; "" when it left none. */
static void read_log(int context_fd, char text[LOG_LINE_BYTES])
{
	char line[LOG_LINE_BYTES];
	ssize_t length;

	text[0] = '\0';
	while ((length = read(context_fd, line, sizeof(line) - 1)) > 0) {
		line[length] = '\0';
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == 'e' && line[1] == ' ')
			(void) snprintf(text, LOG_LINE_BYTES, "%s", line + 2);
	}
}

/* What failed, with the kernel's own words where it has some. */
static int context_failed(int context_fd, int error, const char *what, struct failure *reterr)
{
	char text[LOG_LINE_BYTES];

	read_log(context_fd, text);
	if (text[0])
		return failed(reterr, error, "%s (kernel: %s)", what, text);
	return failed(reterr, error, "%s", what);
}

/* One "name", "name=value" or name="va,lue". */
static int set_word(int context_fd, char *word)
{
	char *value = strchr(word, '=');
	size_t length;

	if (!value)
		return fsconfig(context_fd, FSCONFIG_SET_FLAG, word, NULL, 0) < 0 ? -errno : 0;

	*value++ = '\0';
	length = strlen(value);
	if (length >= 2 && value[0] == '"' && value[length - 1] == '"') {
		value[length - 1] = '\0';
		value++;
	}
	return fsconfig(context_fd, FSCONFIG_SET_STRING, word, value, 0) < 0 ? -errno : 0;
}

static int set_words(int context_fd, const char *data, struct failure *reterr)
{
	cleanup_free char *copy = strdup(data);
	char *rest = copy, *name, *value;
	size_t name_length, value_length;

	if (!copy)
		return failed(reterr, -ENOMEM, "cannot set mount options");
	while (mnt_optstr_next_option(&rest, &name, &name_length, &value, &value_length) == 0) {
		size_t length = value ? (size_t) (value - name) + value_length : name_length;
		cleanup_free char *word = strndup(name, length);
		char what[128];
		int result;

		if (!word)
			return failed(reterr, -ENOMEM, "cannot set mount options");
		(void) snprintf(what, sizeof(what), "mount option '%.100s' was refused", word);
		result = set_word(context_fd, word);
		if (result < 0)
			return context_failed(context_fd, result, what, reterr);
	}
	return 0;
}

/* The kernel says "permission denied" of a read-only disk that is to be mounted for writing. */
static int mount_error(const char *source, bool read_only, int error)
{
	cleanup_close int fd = -EBADF;
	int is_read_only = 0;

	if (error != -EACCES || read_only)
		return error;
	fd = open(source, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 && ioctl(fd, BLKROGET, &is_read_only) == 0 && is_read_only ? -EROFS : error;
}

static int configure(int context_fd, const char *source, bool read_only, const char *data,
		     struct failure *reterr)
{
	int result;

	if (fsconfig(context_fd, FSCONFIG_SET_STRING, "source", source, 0) < 0)
		return context_failed(context_fd, -errno, "the source was refused", reterr);
	/* The file system, too, and not this mount alone: a read-only device takes no other. */
	if (read_only && fsconfig(context_fd, FSCONFIG_SET_FLAG, "ro", NULL, 0) < 0)
		return context_failed(context_fd, -errno, "'ro' was refused", reterr);
	result = set_words(context_fd, data, reterr);
	if (result < 0)
		return result;
	if (fsconfig(context_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return context_failed(context_fd, mount_error(source, read_only, -errno),
				      "the kernel cannot mount it", reterr);
	return 0;
}

/* mount(2) takes flags and the file system's words apart, otherwise than fsconfig does. */
static int mount_by_flags(const char *type, const char *source, const char *options,
			  const struct mount_attributes *attributes, int target_fd,
			  struct failure *reterr)
{
	cleanup_free char *vfs = NULL, *data = NULL;
	unsigned long flags = 0;

	if (mnt_split_optstr(options, NULL, &vfs, &data, 0, 0) < 0 ||
	    (vfs && mnt_optstr_get_flags(vfs, &flags, mnt_get_builtin_optmap(MNT_LINUX_MAP)) < 0))
		return failed(reterr, -ENOMEM, "cannot split options");
	/* Propagation is a call of its own; the rest by the same rules as with fsmount. */
	flags &= MS_SYNCHRONOUS | MS_DIRSYNC | MS_MANDLOCK | MS_I_VERSION | MS_LAZYTIME;
	flags |= attributes_to_mount_flags(attributes->set);

	if (mount(source, fd_path(target_fd).text, type, flags, data ? data : "") < 0)
		return failed(reterr, mount_error(source, flags & MS_RDONLY, -errno),
			      "cannot mount '%s' as %s", source, type);
	return 0;
}

/* Return: a detached mount. */
static int make_tree(int context_fd, const char *source, bool read_only, const char *data,
		     uint64_t attributes, struct failure *reterr)
{
	int tree_fd, result = configure(context_fd, source, read_only, data, reterr);

	if (result < 0)
		return result;
	tree_fd = fsmount(context_fd, FSMOUNT_CLOEXEC, (unsigned int) attributes);
	return tree_fd < 0 ? context_failed(context_fd, -errno, "cannot make a mount of it", reterr)
			   : tree_fd;
}

static int mount_by_context(int context_fd, const char *source, const char *data,
			    const struct mount_attributes *attributes, int target_fd,
			    struct failure *reterr)
{
	cleanup_close int tree_fd =
		make_tree(context_fd, source, attributes->set & MOUNT_ATTR_RDONLY, data,
			  attributes->set, reterr);
	int result;

	if (tree_fd < 0)
		return tree_fd;
	result = attach_tree(tree_fd, target_fd);
	if (result < 0)
		return failed(reterr, result, "cannot attach it to the target");
	return 0;
}

int open_filesystem(const char *type, const char *source, const char *options, uint64_t attributes,
		    struct failure *reterr)
{
	cleanup_close int context_fd = fsopen(type, FSOPEN_CLOEXEC);
	int result;

	assert(source && options);
	if (context_fd < 0 && call_is_missing(-errno, CALL_FSOPEN))
		return failed_plain(reterr, -EOPNOTSUPP,
				    "this kernel cannot mount '%s' without a place for it (fsopen)",
				    source);
	if (context_fd < 0)
		return failed(reterr, -errno, "cannot mount a file system of type '%s'", type);
	result = make_tree(context_fd, source, false, options, attributes, reterr);
	if (result < 0)
		(void) failure_prefix(reterr, "cannot mount '%s' as %s", source, type);
	return result;
}

int mount_filesystem(const char *type, const char *source, const char *options, int target_fd,
		     struct failure *reterr)
{
	struct mount_attributes attributes;
	cleanup_close int context_fd = -EBADF;
	cleanup_free char *data = NULL;
	int result;

	assert(type && source && target_fd >= 0);
	result = mount_options_split(options ? options : "", &attributes, &data, reterr);
	if (result < 0)
		return result;

	context_fd = fsopen(type, FSOPEN_CLOEXEC);
	if (context_fd < 0 && call_is_missing(-errno, CALL_FSOPEN))
		return mount_by_flags(type, source, options ? options : "", &attributes, target_fd,
				      reterr);
	if (context_fd < 0 && errno == ENODEV)
		return failed_plain(reterr, -ENODEV, "file system type '%s' is unknown here", type);
	if (context_fd < 0)
		return failed(reterr, -errno, "cannot mount a file system of type '%s'", type);

	result = mount_by_context(context_fd, source, data, &attributes, target_fd, reterr);
	if (call_is_missing(result, CALL_MOVE_MOUNT))
		return mount_by_flags(type, source, options ? options : "", &attributes, target_fd,
				      reterr);
	if (result < 0)
		(void) failure_prefix(reterr, "cannot mount '%s' as %s", source, type);
	return result;
}

static bool has_disk(int btrfs_fd, const char *id, const char *disk)
{
	char path[2 * NAME_MAX + 16];

	(void) snprintf(path, sizeof(path), "%s/devices/%s", id, disk);
	return faccessat(btrfs_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool btrfs_has_devices(dev_t one, dev_t other)
{
	cleanup_closedir DIR *file_systems = opendir("/sys/fs/btrfs");
	char one_name[NAME_MAX + 1], other_name[NAME_MAX + 1];
	const struct dirent *entry;

	if (!file_systems || block_device_name(one, one_name) < 0 ||
	    block_device_name(other, other_name) < 0)
		return false;
	while (directory_next(file_systems, &entry) > 0)
		if (has_disk(dirfd(file_systems), entry->d_name, one_name))
			return has_disk(dirfd(file_systems), entry->d_name, other_name);
	return false;
}
