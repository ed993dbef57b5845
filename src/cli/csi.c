/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi - any RPC to a CSI driver, for people who debug it
 *
 * By the daemon, to a driver by its name; or without one, to a socket. What is sent may hold
 * secrets: it is taken from a file or standard input as well as from the command line, which other
 * users can read, and is shown by nothing here.
 */
#include "cli/cli.h"
#include "cli/direct/direct.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <errno.h>
#include <string.h>

/* "-" and "@FILE" are read; anything else is JSON itself. False after a complaint. */
static bool read_message(struct cli *cli, const char *word, char **ret)
{
	const char *name = word && *word == '@' ? word + 1 : word;
	size_t length;

	if (word && (*word == '@' || strcmp(word, "-") == 0))
		return file_read(cli, name, ret, &length) >= 0;
	*ret = strdup(word ? word : "");
	if (!*ret)
		(void) cli_failed(cli, -ENOMEM);
	return *ret;
}

static int print_tree(struct cli *cli, const struct cJSON *tree)
{
	bool yaml = cli->format == OUTPUT_YAML;
	cleanup_free char *text = yaml ? json_print_yaml(tree) : json_print(tree);

	if (!text)
		return cli_failed(cli, -ENOMEM);
	(void) fprintf(cli->out, "%s%s", text, yaml ? "" : "\n");
	return EXIT_DONE;
}

/* The reply, or which error the driver answered and whether it was the driver that did. */
static int show(struct cli *cli, const char *driver, const struct cJSON *answer)
{
	int64_t code = -1;

	if (!json_int64(json_get(answer, "code"), &code))
		return cli_end(cli, EXIT_FAILED, "the daemon's answer is not understood");
	if (code == 0)
		return print_tree(cli, json_get(answer, "reply"));
	return cli_end(cli, EXIT_FAILED, "%s %s %s (%d): %s", driver,
		       json_bool(json_get(answer, "fromDriver"), false) ? "answered"
									: "gave no answer:",
		       json_text(answer, "codeName"), (int) code, json_text(answer, "message"));
}

static int call_directly(struct cli *cli, const char *method, const char *text)
{
	const struct csi_direct direct = {
		.endpoint = cli_value(cli, "endpoint"),
		.method = method,
		.text = text,
		.timeout_usec = (uint64_t) (cli->timeout_msec ? cli->timeout_msec : 1) * 1000,
	};
	cleanup_json struct cJSON *answer = NULL;
	struct failure why = { .error = 0 };

	if (csi_direct_call(&direct, &answer, &why) < 0)
		return cli_end(cli, EXIT_FAILED, "%s", why.text);
	return show(cli, direct.endpoint, answer);
}

static int call_by_daemon(struct cli *cli, const char *driver, const char *method, const char *text)
{
	cleanup_free char *path =
		cli_path("/podvol/v1/drivers/%s/call?method=%s&timeout=%ums", driver, method,
			 cli->timeout_msec ? cli->timeout_msec : 1);
	cleanup_json struct cJSON *answer = NULL;
	const struct podvol_request request = {
		.method = "POST", .path = path, .body = text, .body_length = strlen(text)
	};
	int r = cli_request_tree(cli, &request, &answer);

	return r < 0 ? cli_failed(cli, r) : show(cli, driver, answer);
}

int verb_csi(struct cli *cli)
{
	bool direct = cli_flag(cli, "endpoint");
	char **words = cli->arguments + (direct ? 1 : 2);
	int count = cli->argument_count - (direct ? 1 : 2);
	cleanup_free char *text = NULL;
	int status;

	if (strcmp(cli->arguments[0], "call") != 0)
		return cli_end(cli, EXIT_USAGE, "csi '%s': must be 'call'", cli->arguments[0]);
	if (count < 1 || count > 2)
		return cli_end(cli, EXIT_USAGE,
			       direct ? "csi call --endpoint PATH takes METHOD and JSON"
				      : "csi call takes DRIVER, METHOD and JSON");
	if (direct && *cli_value(cli, "endpoint") != '/')
		return cli_end(cli, EXIT_USAGE, "--endpoint '%s' is not an absolute path",
			       cli_value(cli, "endpoint"));
	if (!read_message(cli, count == 2 ? words[1] : NULL, &text))
		return EXIT_FAILED;
	status = direct ? call_directly(cli, words[0], text)
			: call_by_daemon(cli, cli->arguments[1], words[0], text);
	explicit_bzero(text, strlen(text));
	return status;
}
