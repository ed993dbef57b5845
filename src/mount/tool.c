/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool - run fsck or mkfs; see tool.h
 */
#include "mount/tool.h"

#include "base/cleanup.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

static int find_tool(const char *name, char path[PATH_MAX])
{
	static const char *const directories[] = { "/usr/sbin", "/sbin", "/usr/bin", "/bin" };

	assert(!strchr(name, '/'));
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		(void) snprintf(path, PATH_MAX, "%s/%s", directories[i], name);
		if (access(path, X_OK) == 0)
			return 0;
	}
	return -ENOENT;
}

/* Our threads block signals for the loop; the tool starts as from a shell. */
static int spawn(const char *path, const char *const *argv, int output_fd, pid_t *ret)
{
	static char *const environment[] = { "PATH=/usr/sbin:/sbin:/usr/bin:/bin", "LC_ALL=C",
					     NULL };
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
	(void) posix_spawnattr_setflags(&attributes,
					POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

	result = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (result == 0)
		result = posix_spawn_file_actions_adddup2(&actions, output_fd, 1);
	if (result == 0)
		result = posix_spawn_file_actions_adddup2(&actions, output_fd, 2);
	if (result == 0)
		result = posix_spawn(ret, path, &actions, &attributes, (char *const *) argv,
				     environment);
	(void) posix_spawn_file_actions_destroy(&actions);
	(void) posix_spawnattr_destroy(&attributes);
	return -result;
}

/* Read to the end; keep the last bytes, as one line. */
static void keep_end(int fd, char output[TOOL_OUTPUT_BYTES])
{
	char buffer[4096];
	size_t kept = 0;
	ssize_t got;

	while ((got = read(fd, buffer, sizeof(buffer))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		for (ssize_t i = 0; i < got; i++) {
			if (kept == TOOL_OUTPUT_BYTES - 1)
				memmove(output, output + 1, --kept);
			output[kept++] = (unsigned char) buffer[i] < ' ' ? ' ' : buffer[i];
		}
	}
	while (kept > 0 && output[kept - 1] == ' ')
		kept--;
	output[kept] = '\0';
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int tool_run(const char *const *argv, char ret_output[TOOL_OUTPUT_BYTES])
{
	cleanup_close int read_fd = -EBADF;
	char path[PATH_MAX];
	int pipe_fds[2];
	pid_t pid;
	int result;

	assert(argv && argv[0] && ret_output);
	ret_output[0] = '\0';
	result = find_tool(argv[0], path);
	if (result < 0)
		return result;
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -errno;
	read_fd = pipe_fds[0];

	result = spawn(path, argv, pipe_fds[1], &pid);
	(void) close(pipe_fds[1]);
	if (result < 0)
		return result;
	keep_end(read_fd, ret_output);
	return wait_for(pid);
}
