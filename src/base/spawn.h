/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn - start a program of the node as from a shell: fsck, mkfs, a credential plugin
 *
 * podvold's threads block signals for the loop, and its descriptors close at exec: the program
 * starts with default signals, none blocked, in a process group of its own, and with three
 * descriptors. Blocks as long as vfork(2) does.
 */
#pragma once

#include <sys/types.h>

/**
 * spawn_program - start it
 * @path:        of the program; nothing is searched
 * @argv, @envp: ended by NULL
 * @output_fd:   its output; @errors_fd: its errors; its input is /dev/null
 * @ret:         its pid, to be waited for; written on success only
 *
 * Return: 0; as posix_spawn(3), negative.
 */
int spawn_program(const char *path, char *const *argv, char *const *envp, int output_fd,
		  int errors_fd, pid_t *ret);
