/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_content - a loop device and a mount of its own for an image; see image_content.h
 */
#include "mount/archive/image_content.h"

#include "base/cleanup.h"
#include "mount/capacity/capacity.h"
#include "mount/filesystem/format.h"
#include "mount/filesystem/loop_device.h"
#include "mount/mount.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/mount.h>

#define ATTRIBUTES (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOATIME)

void image_content_done(struct image_content *content)
{
	content->fd = close_keep_errno(content->fd);
	content->tree_fd = close_keep_errno(content->tree_fd);
	content->loop_fd = close_keep_errno(content->loop_fd);
}

/* What is on the device, and something has to be. */
static int find_type(int loop_fd, const char *path, char type[PROBE_CONTENT_BYTES],
		     struct failure *reterr)
{
	int r = device_probe(loop_fd, type);

	if (r < 0)
		return failed(reterr, r, "cannot determine what is in the image '%s'", path);
	if (r == 0)
		return failed_plain(reterr, -ENODATA, "the image '%s' is empty", path);
	return 0;
}

/* A file system is read-only in all its mounts or in none: a read-only pod decides for us, too.
 */
static int mount_for_reading(const char *type, const char *device, struct failure *reterr)
{
	int fd = open_filesystem(type, device, "", ATTRIBUTES | MOUNT_ATTR_RDONLY, reterr);

	return fd == -EBUSY
		       ? open_filesystem(type, device, "ro", ATTRIBUTES | MOUNT_ATTR_RDONLY, reterr)
		       : fd;
}

static int open_mounted(int image_fd, const char *path, const char *device,
			enum image_content_use use, struct image_content *content,
			struct failure *reterr)
{
	char type[PROBE_CONTENT_BYTES];
	int r = find_type(content->loop_fd, path, type, reterr);

	if (r < 0)
		return r;
	/* mkfs and fstrim gave some back, and no write may fail for want of room beneath. */
	r = capacity_image_reserve(image_fd);
	if (r < 0)
		return failed(reterr, r, "cannot allocate the blocks of the image '%s'", path);
	content->tree_fd = use == IMAGE_CONTENT_READ
				   ? mount_for_reading(type, device, reterr)
				   : open_filesystem(type, device, "", ATTRIBUTES, reterr);
	if (content->tree_fd < 0) {
		(void) failure_prefix(reterr, "the image '%s'", path);
		return content->tree_fd;
	}
	content->fd = openat(content->tree_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return content->fd < 0 ? failed(reterr, -errno, "cannot read the image '%s'", path) : 0;
}

int image_content_open(int image_fd, const char *path, enum image_content_use use, const char *type,
		       struct image_content *ret, struct failure *reterr)
{
	cleanup(image_content_done) struct image_content content = IMAGE_CONTENT_NONE;
	cleanup_free char *device = NULL;
	int r = 0;

	assert(image_fd >= 0 && path && type && ret);
	content.loop_fd = loop_device_open_image(image_fd, path, &device, reterr);
	if (content.loop_fd < 0)
		return content.loop_fd;
	if (use == IMAGE_CONTENT_FILL)
		r = format_blank(device, type, reterr);
	if (r == 0)
		r = open_mounted(image_fd, path, device, use, &content, reterr);
	if (r < 0)
		return r;
	*ret = content;
	content = (struct image_content) IMAGE_CONTENT_NONE;
	return 0;
}
