/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool - run fsck or mkfs and keep the end of what it says
 *
 * Arguments only, no shell; the program is looked for in fixed directories and gets a fixed
 * environment, /dev/null as its input and none of our descriptors.
 */
#ifndef PODVOL_MOUNT_TOOL_H
#define PODVOL_MOUNT_TOOL_H

#include <stddef.h>

enum { TOOL_OUTPUT_BYTES = 160 }; /* what is kept of its output: the end, where errors are */

/**
 * tool_run - run a program and wait for it [worker; may take hours]
 * @argv:       argv[0] is a bare name, looked for in /usr/sbin, /sbin, /usr/bin and /bin
 * @ret_output: its output and errors as one line
 *
 * Return: the exit status, 128 + the signal that ended it; -ENOENT no such program; else as
 * posix_spawn.
 */
int tool_run(const char *const *argv, char ret_output[TOOL_OUTPUT_BYTES]);

#endif
