/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format - probe a block device, check or make its file system, mount it
 *
 * Privileged: writes to whole devices. The argument: the device is opened once and known by its
 * number; tools and the kernel get the node in /dev that has this number. It is formatted only when
 * libblkid finds nothing at all on it, twice, the second time with the device held exclusively, so
 * that nothing that is mounted or otherwise claimed is written to. Whatever stays unknown is
 * refused.
 */
#include "mount/bind/options.h"
#include "mount/filesystem/format.h"
#include "mount/filesystem/tool.h"
#include "mount/mount.h"

#include "base/cleanup.h"
#include "base/log.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/sysmacros.h>

#define FORMAT_DEFAULT_TYPE "ext4"

/* Exit status of fsck(8): a sum of these. */
enum { FSCK_CORRECTED = 1, FSCK_ERRORS_LEFT = 4 };

struct device {
	int fd;                            /* O_RDONLY: pins the device, not exclusive */
	char path[PATH_MAX];               /* its node: "/dev/sdb1" */
	char content[PROBE_CONTENT_BYTES]; /* what is on it, as device_probe() says */
	struct tool_terms tools;           /* for checks and mkfs */
};

/* /sys/dev/block/8:17/uevent says DEVNAME=sdb1; the node must have the number. */
static int find_node(dev_t number, char path[PATH_MAX])
{
	char name[64], line[PATH_MAX];
	cleanup_fclose FILE *uevent = NULL;
	struct stat status;

	(void) snprintf(name, sizeof(name), "/sys/dev/block/%u:%u/uevent", major(number),
			minor(number));
	uevent = fopen(name, "re");
	if (!uevent)
		return -errno;
	while (fgets(line, sizeof(line), uevent)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "DEVNAME=", 8) != 0)
			continue;
		if ((size_t) snprintf(path, PATH_MAX, "/dev/%s", line + 8) >= PATH_MAX)
			return -ENAMETOOLONG;
		if (stat(path, &status) < 0)
			return -errno;
		return S_ISBLK(status.st_mode) && status.st_rdev == number ? 0 : -ENODEV;
	}
	return -ENODEV;
}

/* Read-only: a look cannot harm a device that is in use. */
static int device_open(const char *path, struct device *ret, struct failure *reterr)
{
	struct stat status;
	int result;

	ret->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (ret->fd < 0 || fstat(ret->fd, &status) < 0)
		return failed(reterr, -errno, "cannot open device '%s'", path);
	if (!S_ISBLK(status.st_mode))
		return failed_plain(reterr, -ENOTBLK, "'%s' is not a block device", path);
	result = find_node(status.st_rdev, ret->path);
	if (result < 0)
		return failed(reterr, result, "cannot find the node of device '%s'", path);
	return 0;
}

static void device_done(struct device *device)
{
	(void) close_keep_errno(device->fd);
}

/* Becomes part of a program's name and of nothing else. */
static bool is_plain_type(const char *type)
{
	size_t length = strspn(type, "abcdefghijklmnopqrstuvwxyz0123456789_-");

	return length > 0 && length < 32 && type[length] == '\0';
}

/* Through which descriptor is the caller's business: the pinned one, or one that excludes others.
 */
static int probe(struct device *device, int fd, struct failure *reterr)
{
	int result = device_probe(fd, device->content);

	if (result == -ENOTUNIQ)
		return failed_plain(reterr, result,
				    "'%s' shows several contradicting signatures: it is left alone",
				    device->path);
	if (result < 0)
		return failed(reterr, result, "cannot determine what is on '%s'", device->path);
	return result;
}

/* Nothing else may have it open exclusively (a mount, a RAID, a swap), and it must still be empty.
 */
static int make_sure_unused(struct device *device, struct failure *reterr)
{
	cleanup_close int fd = open(device->path, O_RDWR | O_EXCL | O_CLOEXEC);
	struct stat pinned, claimed;
	int result;

	if (fd < 0 && errno == EBUSY)
		return failed_plain(reterr, -EBUSY, "'%s' is in use: it is not formatted",
				    device->path);
	if (fd < 0 || fstat(fd, &claimed) < 0 || fstat(device->fd, &pinned) < 0)
		return failed(reterr, -errno, "cannot claim '%s'", device->path);
	if (claimed.st_rdev != pinned.st_rdev)
		return failed_plain(reterr, -ENODEV, "'%s' became another device", device->path);
	result = probe(device, fd, reterr);
	if (result > 0)
		return failed_plain(reterr, -EEXIST, "'%s' holds %s: it is not formatted",
				    device->path, device->content);
	return result;
}

/* Its time is over. */
static int tool_ended(const struct device *device, const char *program, const char *hint,
		      struct failure *reterr)
{
	return failed_plain(reterr, -ETIMEDOUT, "%s %s was ended after %.0f s (tool-seconds)%s",
			    program, device->path, (double) device->tools.limit_usec / 1e6, hint);
}

static int make_filesystem(struct device *device, const char *type, struct failure *reterr)
{
	char program[64], output[TOOL_OUTPUT_BYTES];
	const char *argv[5] = { program };
	struct tool_terms terms = device->tools;
	size_t count = 1;
	int result = make_sure_unused(device, reterr);

	if (result < 0)
		return result;
	(void) snprintf(program, sizeof(program), "mkfs.%s", type);
	if (strcmp(type, "ext3") == 0 || strcmp(type, "ext4") == 0) {
		argv[count++] = "-F"; /* whole devices, too, without a question */
		argv[count++] = "-m0";
	} else if (strcmp(type, "xfs") == 0) {
		argv[count++] = "-f";
	}
	argv[count] = device->path;

	log_message(LOG_NOTICE, "'%s' is empty: making a file system of type %s", device->path,
		    type);
	terms.cancelled = NULL; /* half a file system is worse than an unwanted one */
	result = tool_run(argv, &terms, output);
	if (result == -ETIMEDOUT)
		return tool_ended(device, program,
				  ": the device may hold half a file system, clear it with wipefs",
				  reterr);
	if (result == -ENOENT)
		return failed_plain(reterr, result, "cannot format '%s': no %s here", device->path,
				    program);
	if (result < 0)
		return failed(reterr, result, "cannot run %s", program);
	if (result > 0)
		return failed_plain(reterr, -EIO, "%s %s ended with status %d: %s", program,
				    device->path, result, output);
	return 0;
}

/* A missing fsck is no reason not to mount; errors that it leaves are, as in kubelet. */
static int check_filesystem(const struct device *device, struct failure *reterr)
{
	const char *const argv[] = { "fsck", "-a", device->path, NULL };
	struct tool_terms terms = device->tools;
	char output[TOOL_OUTPUT_BYTES];
	int status;

	if (strncmp(device->content, "ext", 3) != 0)
		terms.cancelled = NULL; /* who knows where others stop */
	status = tool_run(argv, &terms, output);
	if (status == -ETIMEDOUT)
		return tool_ended(device, "fsck", ": the volume is not mounted unchecked", reterr);
	if (status == -ECANCELED)
		return failed_plain(reterr, status, "fsck %s cancelled: no longer wanted",
				    device->path);
	if (status < 0) {
		log_message(LOG_WARNING, "cannot check '%s', mounting it unchecked: %s",
			    device->path, strerror(-status));
		return 0;
	}
	if (status & FSCK_ERRORS_LEFT)
		return failed_plain(reterr, -EUCLEAN,
				    "'%s' has errors that fsck cannot correct automatically: %s",
				    device->path, output);
	if (status == FSCK_CORRECTED)
		log_message(LOG_NOTICE, "fsck corrected '%s': %s", device->path, output);
	else if (status != 0)
		log_message(LOG_WARNING, "fsck of '%s' ended with status %d, ignoring: %s",
			    device->path, status, output);
	return 0;
}

/* The kind tells the caller which event to record; the errno is for everybody. */
static int format_failed(enum format_error kind, int error, enum format_error *ret_error)
{
	*ret_error = kind;
	return error;
}

/* What is there wins over what was asked for: the type is a wish, the content a fact. */
static int mount_device(const struct device *device, int target_fd, const char *type,
			const char *options, enum format_error *ret_error, struct failure *reterr)
{
	bool differs = strcmp(device->content, type) != 0;
	int result = mount_filesystem(type, device->path, options, target_fd, reterr);

	if (result < 0 && differs) {
		(void) failure_prefix(reterr, "'%s' holds %s, not %s", device->path,
				      device->content, type);
		return format_failed(FORMAT_FILESYSTEM_MISMATCH, result, ret_error);
	}
	if (result < 0)
		return format_failed(FORMAT_MOUNT_FAILED, result, ret_error);
	if (differs)
		log_message(LOG_WARNING, "'%s' holds %s, but was asked for and mounted as %s",
			    device->path, device->content, type);
	*ret_error = FORMAT_OK;
	return 0;
}

/* Make or check what is on the device. */
static int prepare(struct device *device, const char *type, bool read_only,
		   enum format_error *ret_error, struct failure *reterr)
{
	int result = probe(device, device->fd, reterr);

	if (result < 0)
		return format_failed(FORMAT_GET_DISK_FORMAT_FAILED, result, ret_error);
	if (result == 0 && read_only) {
		result = failed_plain(reterr, -EROFS,
				      "'%s' is empty and cannot be formatted for a read-only "
				      "volume",
				      device->path);
		return format_failed(FORMAT_UNFORMATTED_READ_ONLY, result, ret_error);
	}
	if (result == 0) {
		result = make_filesystem(device, type, reterr);
		(void) snprintf(device->content, sizeof(device->content), "%s", type);
		return result < 0 ? format_failed(FORMAT_FAILED, result, ret_error) : 0;
	}
	/* fsck would take a partition table for a damaged file system. */
	if (read_only || strcmp(device->content, PROBE_PARTITIONS) == 0)
		return 0;
	result = check_filesystem(device, reterr);
	return result < 0 ? format_failed(FORMAT_HAS_FILESYSTEM_ERRORS, result, ret_error) : 0;
}

int format_is_due(const char *device_path, struct failure *reterr)
{
	cleanup(device_done) struct device device = { .fd = -EBADF };
	int result;

	assert(device_path);
	result = device_open(device_path, &device, reterr);
	if (result == 0)
		result = probe(&device, device.fd, reterr);
	return result < 0 ? result : result == 0;
}

int format_blank(const char *device_path, const char *type, struct failure *reterr)
{
	cleanup(device_done) struct device device = { .fd = -EBADF };
	int result;

	assert(device_path && type);
	if (*type == '\0')
		type = FORMAT_DEFAULT_TYPE;
	if (!is_plain_type(type))
		return failed_plain(reterr, -EINVAL, "'%s' is not a file system type", type);
	result = device_open(device_path, &device, reterr);
	if (result == 0)
		result = probe(&device, device.fd, reterr);
	if (result == 0)
		return make_filesystem(&device, type, reterr);
	return result < 0 ? result : 0;
}

int format_and_mount(const struct format_request *request, enum format_error *ret_error,
		     struct failure *reterr)
{
	cleanup(device_done) struct device device = { .fd = -EBADF };
	const char *options = request->options ?: "";
	const char *type = *request->type ? request->type : FORMAT_DEFAULT_TYPE;
	enum format_error ignored;
	int result;

	assert(request->device_path && request->target_fd >= 0);
	if (!ret_error)
		ret_error = &ignored;
	if (!is_plain_type(type)) {
		result = failed_plain(reterr, -EINVAL, "'%s' is not a file system type", type);
		return format_failed(FORMAT_FAILED, result, ret_error);
	}

	device.tools = request->tools;
	result = device_open(request->device_path, &device, reterr);
	if (result < 0)
		return format_failed(FORMAT_GET_DISK_FORMAT_FAILED, result, ret_error);
	result = prepare(&device, type, mount_options_have(options, "ro"), ret_error, reterr);
	if (result < 0)
		return result;
	return mount_device(&device, request->target_fd, type, options, ret_error, reterr);
}
