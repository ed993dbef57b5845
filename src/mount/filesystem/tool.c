/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool - run fsck or mkfs; see tool.h
 */
#include "mount/filesystem/tool.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/spawn.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

enum {
	GRACE_USEC = 10 * 1000000, /* from SIGTERM to SIGKILL, at most */
	POLL_USEC = 200 * 1000,    /* how often a cancellation is polled */
};

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

/* The end of what was said so far; what is no longer kept was logged. */
struct said {
	const char *program;
	char *text;
	size_t kept, logged;
};

static void log_part(struct said *said, size_t length)
{
	if (said->logged < TOOL_LOG_BYTES_MAX)
		log_message(LOG_NOTICE, "output of '%s', from byte %zu: %.*s", said->program,
			    said->logged, (int) length, said->text);
	said->logged += length;
}

/* What is there now, the last bytes of it. False: there will be no more. */
static void drop_first_half(struct said *said)
{
	size_t half = said->kept / 2;

	log_part(said, half);
	memmove(said->text, said->text + half, said->kept - half);
	said->kept -= half;
}

static bool keep_end(int fd, struct said *said)
{
	char buffer[4096];
	ssize_t got;

	while ((got = read(fd, buffer, sizeof(buffer))) > 0 || (got < 0 && errno == EINTR))
		for (ssize_t i = 0; i < got; i++) {
			if (said->kept == TOOL_OUTPUT_BYTES - 1)
				drop_first_half(said);
			said->text[said->kept++] =
				(unsigned char) buffer[i] < ' ' ? ' ' : buffer[i];
		}
	return got < 0 && errno == EAGAIN;
}

/* As one line. */
static void said_done(struct said *said)
{
	while (said->kept > 0 && said->text[said->kept - 1] == ' ')
		said->kept--;
	said->text[said->kept] = '\0';
	if (said->logged > 0)
		log_part(said, said->kept);
}

/* A program that runs. */
struct running {
	pid_t pid;
	int pid_fd, output_fd;
	uint64_t end_usec; /* monotonic: when its next signal is due; UINT64_MAX never */
	int signal;        /* that one */
	int ended_by_us;   /* 0, -ETIMEDOUT, -ECANCELED */
};

static void signal_group(const struct running *running, int number)
{
	/* Not reaped, so the group is still the program's. */
	(void) kill(-running->pid, number);
}

static uint64_t grace_usec(const struct tool_terms *terms)
{
	return terms->limit_usec < GRACE_USEC ? terms->limit_usec : GRACE_USEC;
}

static void check_deadline(struct running *running, const struct tool_terms *terms, uint64_t now)
{
	bool cancelled = terms->cancelled && atomic_load(terms->cancelled);

	if (cancelled && running->ended_by_us == 0) {
		signal_group(running, SIGTERM);
		running->ended_by_us = -ECANCELED;
	}
	if (now < running->end_usec)
		return;
	signal_group(running, running->signal);
	running->ended_by_us = running->ended_by_us ?: -ETIMEDOUT;
	running->end_usec = running->signal == SIGTERM ? now + grace_usec(terms) : UINT64_MAX;
	running->signal = SIGKILL;
}

static int milliseconds_to_wait(const struct running *running, const struct tool_terms *terms,
				uint64_t now)
{
	uint64_t wait_usec =
		running->end_usec == UINT64_MAX ? UINT64_MAX : running->end_usec - now + 999;

	if (terms->cancelled && running->ended_by_us == 0 && wait_usec > POLL_USEC)
		wait_usec = POLL_USEC;
	if (wait_usec == UINT64_MAX)
		return -1;
	return wait_usec / 1000 > INT_MAX ? INT_MAX : (int) (wait_usec / 1000);
}

/* Until the program has ended, also while others keep its output open. */
static void watch(struct running *running, const struct tool_terms *terms, struct said *said)
{
	struct pollfd ends[2] = { { .fd = running->pid_fd, .events = POLLIN },
				  { .fd = running->output_fd, .events = POLLIN } };

	while (!(ends[0].revents & POLLIN)) {
		uint64_t now = monotonic_usec();

		check_deadline(running, terms, now);
		if (poll(ends, 2, milliseconds_to_wait(running, terms, now)) <= 0)
			continue;
		if (ends[1].revents && !keep_end(running->output_fd, said))
			ends[1].fd = -1;
	}
	(void) keep_end(running->output_fd, said);
}

static int status_of(const struct running *running)
{
	int status;

	while (waitpid(running->pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (running->ended_by_us < 0)
		return running->ended_by_us;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void show_pid(const struct tool_terms *terms, pid_t pid)
{
	if (terms->pid)
		atomic_store(terms->pid, (int) pid);
}

/* One that cannot be watched is ended: it would have no bound. */
static int wait_for(struct running *running, const struct tool_terms *terms, struct said *said)
{
	cleanup_close int pid_fd = pidfd_open(running->pid, 0);
	int error = pid_fd < 0 ? -errno : 0, result;

	running->pid_fd = pid_fd;
	if (error < 0)
		signal_group(running, SIGKILL);
	else
		watch(running, terms, said);
	result = status_of(running);
	return error < 0 ? error : result;
}

int tool_run(const char *const *argv, const struct tool_terms *terms,
	     char ret_output[TOOL_OUTPUT_BYTES])
{
	static char *const environment[] = { "PATH=/usr/sbin:/sbin:/usr/bin:/bin", "LC_ALL=C",
					     NULL };
	struct said said = { .program = argv[0], .text = ret_output };
	struct running running = { .end_usec = UINT64_MAX, .signal = SIGTERM };
	cleanup_close int read_fd = -EBADF;
	char path[PATH_MAX];
	int pipe_fds[2];
	int result;

	assert(argv && argv[0] && terms && ret_output);
	ret_output[0] = '\0';
	result = find_tool(argv[0], path);
	if (result < 0)
		return result;
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -errno;
	running.output_fd = read_fd = pipe_fds[0];
	(void) fcntl(read_fd, F_SETFL, O_NONBLOCK);

	result = spawn_program(path, (char *const *) argv, environment, pipe_fds[1], pipe_fds[1],
			       &running.pid);
	(void) close(pipe_fds[1]);
	if (result < 0)
		return result;
	if (terms->limit_usec > 0)
		running.end_usec = monotonic_usec() + terms->limit_usec;
	show_pid(terms, running.pid);
	result = wait_for(&running, terms, &said);
	show_pid(terms, 0);
	said_done(&said);
	return result;
}
