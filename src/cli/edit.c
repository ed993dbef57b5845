/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit - one object as YAML in the user's editor, and back
 *
 * The text lies in a file of mode 0600 that goes away with success. What was not changed is not
 * sent. A text that the daemon refuses comes back to the editor with the reason on top; one that
 * lost to another's change, and one that is given up, stays in its file, which is named.
 */
#include "cli/cli.h"
#include "cli/get.h"

#include "cli/kinds.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

enum { PATH_BYTES = 512, REASON_BYTES = 1024 };

struct edit {
	struct cli *cli;
	char *path;            /* of the object */
	char file[PATH_BYTES]; /* "": none made */
	char *given, *edited;  /* what the editor got, and what it left */
	bool was_sent;
};

static void edit_done(struct edit *edit)
{
	free(edit->path);
	free(edit->given);
	free(edit->edited);
}

static int get_yaml(struct edit *edit)
{
	const struct podvol_request request = { .method = "GET",
						.path = edit->path,
						.accept = "application/yaml" };
	struct podvol_reply reply = { 0 };
	int r = podvol_request(edit->cli->podvol, &request, &reply);

	if (r == 0)
		edit->edited = strdup(reply.body);
	podvol_reply_done(&reply);
	if (r == 0 && !edit->edited)
		r = -ENOMEM;
	return r < 0 ? cli_failed(edit->cli, r) : EXIT_DONE;
}

/* ---- the file ---- */

/* Comments on top of the object; a reason's line breaks would end its comment. */
static char *with_head(const char *reason, const char *yaml)
{
	return new_text("# Save to send the change; leave it as it is, or empty, to give up.\n"
			"%s%s%s%s",
			*reason ? "# Refused: " : "", reason, *reason ? "\n" : "", yaml);
}

static const char *without_head(const char *text)
{
	while (*text == '#') {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return text;
}

static int write_file(struct edit *edit, const char *text)
{
	const char *directory = getenv("TMPDIR");
	cleanup_close int fd = -EBADF;
	size_t length = strlen(text), done = 0;

	if (edit->file[0] == '\0') {
		(void) snprintf(edit->file, sizeof(edit->file), "%s/podvolctl-XXXXXX.yaml",
				directory && *directory ? directory : "/tmp");
		fd = mkostemps(edit->file, 5, O_CLOEXEC); /* 0600 */
	} else {
		fd = open(edit->file, O_WRONLY | O_TRUNC | O_CLOEXEC);
	}
	if (fd < 0)
		return cli_end(edit->cli, EXIT_FAILED, "cannot write '%s': %s", edit->file,
			       strerror(errno));
	while (done < length) {
		ssize_t n = write(fd, text + done, length - done);

		if (n < 0 && errno != EINTR)
			return cli_end(edit->cli, EXIT_FAILED, "cannot write '%s': %s", edit->file,
				       strerror(errno));
		done += n > 0 ? (size_t) n : 0;
	}
	return EXIT_DONE;
}

static void remove_file(struct edit *edit)
{
	if (edit->file[0])
		(void) unlinkat(AT_FDCWD, edit->file, 0);
}

/* ---- the editor ---- */

/* By the shell, for $EDITOR may hold options; the file's name stays one word. */
static int run_editor(struct edit *edit)
{
	const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");
	cleanup_free char *command = NULL;
	char *words[] = { "sh", "-c", NULL, "sh", edit->file, NULL };
	int state, r;
	pid_t child;

	if (visual && *visual)
		editor = visual;
	command = new_text("%s \"$1\"", editor && *editor ? editor : "vi");
	if (!command)
		return EXIT_FAILED;
	words[2] = command;
	r = posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ);
	if (r != 0)
		return cli_end(edit->cli, EXIT_FAILED, "cannot start the editor: %s", strerror(r));
	while (waitpid(child, &state, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
		return EXIT_DONE;
	return cli_end(edit->cli, EXIT_FAILED, "the editor '%s' failed: nothing was sent", command);
}

/* One time through the editor. Return: EXIT_DONE, and whether there is something to send. */
static int edit_once(struct edit *edit, const char *reason, bool *ret_changed)
{
	cleanup_free char *text = with_head(reason, edit->edited);
	size_t length;
	int status;

	free(edit->given);
	edit->given = TAKE_PTR(edit->edited);
	if (!text)
		return cli_end(edit->cli, EXIT_FAILED, "out of memory");
	status = write_file(edit, text);
	if (status == EXIT_DONE)
		status = run_editor(edit);
	if (status != EXIT_DONE)
		return status;
	free(text);
	text = NULL;
	if (file_read(edit->cli, edit->file, &text, &length) < 0)
		return EXIT_FAILED;
	edit->edited = strdup(without_head(text));
	if (!edit->edited)
		return EXIT_FAILED;
	*ret_changed = edit->edited[strspn(edit->edited, " \t\n")] &&
		       strcmp(edit->edited, edit->given) != 0;
	return EXIT_DONE;
}

/* ---- sending ---- */

static int put(struct edit *edit)
{
	const struct podvol_request request = { .method = "PUT",
						.path = edit->path,
						.content_type = "application/yaml",
						.body = edit->edited,
						.body_length = strlen(edit->edited) };

	return podvol_request(edit->cli->podvol, &request, NULL);
}

static int give_up(struct edit *edit, bool was_refused)
{
	if (was_refused)
		return cli_end(edit->cli, EXIT_FAILED, "cancelled: the text is kept in '%s'",
			       edit->file);
	remove_file(edit);
	(void) fprintf(edit->cli->out, "unchanged: nothing was sent\n");
	return EXIT_DONE;
}

static int edit_until_accepted(struct edit *edit)
{
	char reason[REASON_BYTES] = "";
	bool changed = false;
	int status, r;

	for (;;) {
		status = edit_once(edit, reason, &changed);
		if (status != EXIT_DONE)
			return status;
		if (!changed)
			return give_up(edit, *reason);
		r = put(edit);
		if (r == 0) {
			edit->was_sent = true;
			remove_file(edit);
			return EXIT_DONE;
		}
		if (r != -EBADMSG) {
			status = cli_failed(edit->cli, r);
			cli_complain(edit->cli, "the text is kept in '%s'%s", edit->file,
				     r == -EBUSY ? ": edit the object again, as it is now" : "");
			return status;
		}
		(void) snprintf(reason, sizeof(reason), "%s", podvol_error(edit->cli->podvol));
		for (char *at = reason; *at; at++)
			if ((unsigned char) *at < ' ')
				*at = ' ';
	}
}

int verb_edit(struct cli *cli)
{
	cleanup(get_request_done) struct get_request request = { 0 };
	cleanup(edit_done) struct edit edit = { .cli = cli };
	int status = get_named_read(cli, cli->arguments, &request);

	if (status == EXIT_DONE && !isatty(STDIN_FILENO))
		return cli_end(cli, EXIT_USAGE, "edit needs a terminal: use patch or apply");
	if (status == EXIT_DONE && request.count != 1)
		return cli_end(cli, EXIT_USAGE, "edit takes one object");
	if (status != EXIT_DONE)
		return status;
	get_about(cli, &request, &request.wanted[0]);
	edit.path = get_path(&request, &request.wanted[0]);
	status = edit.path ? get_yaml(&edit) : EXIT_FAILED;
	if (status == EXIT_DONE)
		status = edit_until_accepted(&edit);
	if (edit.was_sent) {
		(void) fprintf(cli->out, "%s/", request.wanted[0].kind->singular);
		cli_print_text(cli->out, request.wanted[0].name);
		(void) fputs(" edited\n", cli->out);
	}
	return status;
}
