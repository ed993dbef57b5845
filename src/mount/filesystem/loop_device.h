/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_device - a loop device over an image that holds a file system
 *
 * It goes by itself when its last user does, so that a kill leaves none behind: it is kept by the
 * descriptor that is returned, then by what is mounted from it. One image never has two of them.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>
#include <sys/types.h>

/* The one that is there from before, or a new one; simultaneous callers get the same.
 * @file_fd: O_RDWR, opened by no other. @ret_path "/dev/loop7", free with free().
 * Return: a descriptor the caller owns; -EBUSY another process attached the file. [worker] */
int loop_device_open_image(int file_fd, const char *file_path, char **ret_path,
			   struct failure *reterr);

/* As large as the file is by now. @loop_fd: of loop_device_open_image(). Return: 0; else as the
 * call. [worker] */
int loop_device_grow(int loop_fd);

/* Which device has the file: its number; 0: none has it, or it is unknown. [worker] */
dev_t loop_device_number(int file_fd);

/* Is the device of this path and number one that loop_device_open_image() attached to the image of
 * that path? By its label: the image may have been renamed since. [worker] */
bool loop_device_has_image(const char *device_path, dev_t number, const char *image_path);

/* Does this device go by itself when its last user does? [worker] */
bool loop_device_goes_by_itself(const char *device_path);

/* Is any loop device, also a foreign one, over this file? Return: 1, 0; else as the calls. [worker]
 */
int loop_device_is_attached(int file_fd);
