/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig - prints what kubectl needs to reach this daemon by TLS
 *
 * Asked of the daemon on its socket, which tells root alone: what is printed holds the token.
 */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <errno.h>
#include <string.h>

enum { CONFIG_DEPTH_MAX = 16 };

/* Return: an exit status, or a negative errno. */
static int print_with_token(struct cli *cli, const char *name, const struct podvol_reply *reply)
{
	const struct json_limits limits = { .bytes = reply->length + 1, .depth = CONFIG_DEPTH_MAX };
	cleanup_json_secret struct cJSON *config = NULL, *made = NULL;
	cleanup_free char *text = NULL;
	struct cJSON *user;
	int r = json_parse(reply->body, reply->length, &limits, &config, NULL), status;

	if (r < 0)
		return r;
	status = token_create(cli, name, &made);
	if (status != EXIT_DONE)
		return status;
	user = (struct cJSON *) json_get(json_first(json_get(config, "users")), "user");
	(void) json_set_string(user, "token", json_text(made, "token"));
	text = json_print_yaml(config);
	if (!text)
		return -ENOMEM;
	(void) fputs(text, cli->out);
	explicit_bzero(text, strlen(text));
	return EXIT_DONE;
}

int verb_kubeconfig(struct cli *cli)
{
	const char *server = cli_value(cli, "server");
	cleanup_free char *path = cli_path("/podvol/v1/kubeconfig?server=%s", server ? server : "");
	struct podvol_request request = { .method = "GET",
					  .path = path,
					  .accept = "application/yaml" };
	const char *name = cli_value(cli, "token-name");
	struct podvol_reply reply = { 0 };
	int r;

	if (!name && (cli_value(cli, "role") || cli_value(cli, "expires")))
		return cli_end(cli, EXIT_USAGE,
			       "--role and --expires are of a token that --token-name makes");
	if (name)
		request.accept = NULL;

	if (!path)
		return cli_failed(cli, -ENOMEM);
	r = podvol_request(cli->podvol, &request, &reply);
	if (r == 0 && !name)
		(void) fwrite(reply.body, 1, reply.length, cli->out);
	else if (r == 0)
		r = print_with_token(cli, name, &reply);
	podvol_reply_done(&reply);
	return r < 0 ? cli_failed(cli, r) : r;
}
