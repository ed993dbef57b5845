/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn - see spawn.h
 */
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

int spawn_program(const char *path, char *const *argv, char *const *envp, int output_fd,
		  int errors_fd, pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int result;

	(void) sigemptyset(&none);
	(void) sigfillset(&all);
	if (posix_spawnattr_init(&attributes) != 0)
		return -ENOMEM;
	if (posix_spawn_file_actions_init(&actions) != 0) {
		(void) posix_spawnattr_destroy(&attributes);
		return -ENOMEM;
	}
	(void) posix_spawnattr_setsigmask(&attributes, &none);
	(void) posix_spawnattr_setsigdefault(&attributes, &all);
	(void) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
							     POSIX_SPAWN_SETSIGDEF |
							     POSIX_SPAWN_SETPGROUP);
	result = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (result == 0)
		result = posix_spawn_file_actions_adddup2(&actions, output_fd, 1);
	if (result == 0)
		result = posix_spawn_file_actions_adddup2(&actions, errors_fd, 2);
	if (result == 0)
		result = posix_spawn(ret, path, &actions, &attributes, argv, envp);
	(void) posix_spawn_file_actions_destroy(&actions);
	(void) posix_spawnattr_destroy(&attributes);
	return -result;
}
