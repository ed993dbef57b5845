/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_image - block devices for tests: loop devices over sparse files in the sandbox
 *
 * A device detaches itself when its last descriptor is closed and nothing is mounted from it, so
 * that a test that fails, or is killed, leaves none attached.
 */
#pragma once

#include "sandbox.h"

struct loop_image {
	int fd;        /* keeps the device attached */
	char path[32]; /* "/dev/loop7" */
};

/* A device over a new file of so many MiB, or over a file that is there. Skips the test where there
 * are no loop devices. */
struct loop_image loop_image_new(const char *relative, unsigned int mebibytes);
struct loop_image loop_image_over(const char *relative, bool read_only);
void loop_image_done(struct loop_image *image);

/* How many devices are attached to files of the sandbox, or lock such a device. */
unsigned int loop_image_count(void);

/* Instead of sandbox_teardown: what is still attached to files of the sandbox, or locks such a
 * device, is detached. */
int loop_image_teardown(void **state);

/* Run a program; its output is dropped. Asserts that it ended with 0. */
void loop_image_run(const char *const *argv);

/* mkfs of a file in the sandbox, before it is attached. */
void loop_image_format(const char *relative, const char *program);
