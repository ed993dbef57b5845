/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_content - what is in the image of a volume, for this process alone
 *
 * The image gets its loop device, as where a pod has it, and a mount that is attached nowhere. Both
 * go with the descriptors, however the process ends: after a kill nothing is left mounted, attached
 * or frozen. Where a pod has the image it is the same device and the same file system, so that
 * nothing is written behind anybody's back; and a pod that comes meanwhile gets its mount as ever.
 */
#pragma once

#include "base/failure.h"

struct image_content {
	int loop_fd, tree_fd;
	int fd; /* the top directory, readable */
};

#define IMAGE_CONTENT_NONE                                                                         \
	{                                                                                          \
		-EBADF, -EBADF, -EBADF                                                             \
	}

enum image_content_use {
	IMAGE_CONTENT_READ,
	IMAGE_CONTENT_FILL, /* it gets a file system, where nothing at all is in it */
};

/**
 * image_content_open - what is in an image [worker; may take minutes]
 * @image_fd: O_RDWR
 * @path:     of the image, as it stands in its volume: by that its device is known
 * @type:     of the file system that it gets; "" ext4
 * @ret:      for image_content_done()
 *
 * Return: 0; -ENODATA never mounted, so nothing is in it; -EBUSY another process
 * attached it; -ENOSPC its blocks cannot be taken; -EOPNOTSUPP this kernel cannot; else as the
 * calls.
 */
int image_content_open(int image_fd, const char *path, enum image_content_use use, const char *type,
		       struct image_content *ret, struct failure *reterr);

void image_content_done(struct image_content *content);
