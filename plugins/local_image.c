/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_image - the image of a local volume as the device that local_device.c stages
 *
 * The loop device belongs to the mount alone: it goes when that does, or with the process that
 * made it, so there is nothing that a kill could leave, and nothing to be taken down.
 */
#include "plugins/local.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "mount/capacity/capacity.h"
#include "mount/filesystem/format.h"
#include "mount/filesystem/loop_device.h"

#include <assert.h>
#include <string.h>

int local_image_attach(const struct local_source *source, int image_fd, int *ret_fd,
		       char ret_device[LOCAL_DEVICE_BYTES], struct failure *reterr)
{
	cleanup_free char *path = NULL;
	int fd = loop_device_open_image(image_fd, source->path, &path, reterr);

	assert(source->is_image);
	if (fd < 0)
		return fd;
	(void) snprintf(ret_device, LOCAL_DEVICE_BYTES, "%s", path);
	*ret_fd = fd;
	return 0;
}

int local_image_settle(const struct local_source *source, int image_fd, int mount_fd,
		       struct failure *reterr)
{
	cleanup_close int device_fd = -EBADF;
	char device[LOCAL_DEVICE_BYTES];
	int r = capacity_image_reserve(image_fd);

	/* It works as long as nothing else fills the file system beneath. */
	if (r < 0)
		log_message(LOG_WARNING, "cannot allocate the blocks of image '%s': %s",
			    source->path, strerror(-r));
	r = local_image_attach(source, image_fd, &device_fd, device, reterr);
	if (r == 0 && (r = loop_device_grow(device_fd)) < 0)
		(void) failed(reterr, r, "cannot make '%s' as large as '%s'", device, source->path);
	return r < 0 ? r : filesystem_grow(mount_fd, device_fd, reterr);
}
