/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pager - see screen.h: what is longer than the terminal goes through a pager
 *
 * The output of a verb is kept until it has ended, so that the pager starts only when it is needed,
 * whichever program that is. Nothing is kept of what is no terminal's, and of what never ends.
 */
#include "cli/output/screen.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

extern char **environ;

struct pager {
	FILE *terminal;
	char *text;
	size_t length;
};

/* What the shell says of a program that it cannot run. */
enum { EXIT_NOT_RUN = 126, EXIT_NO_PROGRAM = 127 };

void pager_begin(struct cli *cli)
{
	struct pager *pager;
	FILE *kept;

	if (cli->pager || !isatty(fileno(cli->out)))
		return;
	pager = calloc(1, sizeof(*pager));
	kept = pager ? open_memstream(&pager->text, &pager->length) : NULL;
	if (!kept) {
		free(pager); /* then it goes to the terminal as it comes */
		return;
	}
	pager->terminal = cli->out;
	screen_stands_for(kept, cli->out);
	cli->out = kept;
	cli->pager = pager;
}

/* As systemd's programs choose it; NULL: none is wanted. */
static const char *pager_command(void)
{
	static const char *const variables[] = { "PODVOL_PAGER", "SYSTEMD_PAGER", "PAGER" };
	const char *terminal = getenv("TERM");

	if (!terminal || strcmp(terminal, "dumb") == 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *value = getenv(variables[i]);

		if (value)
			return *value && strcmp(value, "cat") != 0 ? value : NULL;
	}
	return "command -v less >/dev/null || exit 127; exec less";
}

/* Lines of the terminal that a text takes, long ones in several; sequences of colours take none. */
static size_t lines_of(const struct pager *pager, size_t columns)
{
	cleanup_free char *copy = strndup(pager->text, pager->length);
	char *rest = copy, *line;
	size_t count = 0;

	while ((line = strsep(&rest, "\n")) && (rest || *line)) {
		size_t width = text_width(line);

		for (const char *at = line; (at = strstr(at, "\033[")); at++)
			width -= strcspn(at, "m") + 1;
		count += width > columns && columns > 0 ? (width + columns - 1) / columns : 1;
	}
	return count;
}

static void write_to(int fd, const struct pager *pager)
{
	for (size_t done = 0; done < pager->length;) {
		ssize_t n = write(fd, pager->text + done, pager->length - done);

		if (n < 0 && errno != EINTR)
			return; /* who has seen enough leaves */
		done += n > 0 ? (size_t) n : 0;
	}
}

static pid_t start(const char *command, int read_fd)
{
	char *words[] = { "sh", "-c", (char *) command, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t signals;
	pid_t child = 0;

	(void) sigemptyset(&signals);
	(void) sigaddset(&signals, SIGINT);
	(void) sigaddset(&signals, SIGPIPE);
	if (posix_spawn_file_actions_init(&files) != 0)
		return 0;
	if (posix_spawnattr_init(&attributes) != 0) {
		(void) posix_spawn_file_actions_destroy(&files);
		return 0;
	}
	(void) posix_spawnattr_setsigdefault(&attributes, &signals);
	(void) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	if (posix_spawn_file_actions_adddup2(&files, read_fd, STDIN_FILENO) != 0 ||
	    posix_spawn(&child, "/bin/sh", &files, &attributes, words, environ) != 0)
		child = 0;
	(void) posix_spawnattr_destroy(&attributes);
	(void) posix_spawn_file_actions_destroy(&files);
	return child;
}

/* The user leaves by the pager's keys: an interrupt is the pager's, too. */
static bool show_by(const char *command, const struct pager *pager)
{
	int ends[2], state = 0;
	pid_t child;

	/* As systemd sets them; of a less that root runs, no shell. */
	if (setenv("LESS", "FRSXMK", 0) < 0 || setenv("LESSCHARSET", "utf-8", 0) < 0 ||
	    setenv("LESSSECURE", "1", 0) < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return false;
	child = start(command, ends[0]);
	(void) close(ends[0]);
	if (child > 0) {
		(void) signal(SIGINT, SIG_IGN);
		(void) signal(SIGPIPE, SIG_IGN);
		write_to(ends[1], pager);
	}
	(void) close(ends[1]);
	if (child <= 0)
		return false;
	while (waitpid(child, &state, 0) < 0 && errno == EINTR)
		;
	return !WIFEXITED(state) ||
	       (WEXITSTATUS(state) != EXIT_NOT_RUN && WEXITSTATUS(state) != EXIT_NO_PROGRAM);
}

bool pager_end(struct cli *cli)
{
	struct pager *pager = cli->pager;
	struct winsize size = { 0 };
	const char *command;
	bool done;

	if (!pager)
		return fflush(cli->out) == 0 && !ferror(cli->out);
	done = fflush(cli->out) == 0 && !ferror(cli->out);
	screen_stands_for(NULL, NULL);
	(void) fclose(cli->out);
	cli->out = pager->terminal;
	cli->pager = NULL;
	command = pager_command();
	(void) ioctl(fileno(cli->out), TIOCGWINSZ, &size);
	/* One line is for the prompt. */
	if (!command || size.ws_row == 0 || lines_of(pager, size.ws_col) < size.ws_row ||
	    !show_by(command, pager))
		done &= fwrite(pager->text, 1, pager->length, cli->out) == pager->length;
	free(pager->text);
	free(pager);
	return fflush(cli->out) == 0 && !ferror(cli->out) && done;
}
