/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token - named tokens of TLS clients: create, list, revoke
 *
 * A token is printed once, when it is made: the daemon keeps its SHA-256.
 */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "object/json/json.h"

#include <errno.h>
#include <string.h>

#define TOKENS       "/podvol/v1/tokens"
#define CERTIFICATES "/podvol/v1/certificates"

/* False after a complaint. */
static bool read_seconds(struct cli *cli, int64_t *ret)
{
	const char *text = cli_value(cli, "expires");
	uint64_t usec;

	if (!text)
		return true;
	if (duration_parse(text, &usec) < 0 || usec < 1000000) {
		cli_complain(cli, "--expires '%s' is not a duration of 1s to 720h", text);
		return false;
	}
	*ret = (int64_t) (usec / 1000000);
	return true;
}

static char *make_body(const struct cli *cli, const char *name, int64_t seconds)
{
	cleanup_json struct cJSON *tree = json_new_object();
	const char *role = cli_value(cli, "role");

	(void) json_set_string(tree, "name", name);
	(void) json_set_string(tree, "role", role ? role : "view");
	if (seconds > 0)
		(void) json_set_int(tree, "seconds", seconds);
	return json_print(tree);
}

int token_create(struct cli *cli, const char *name, struct cJSON **ret)
{
	struct podvol_request request = { .method = "POST", .path = TOKENS };
	cleanup_free char *body = NULL;
	int64_t seconds = 0;
	int r;

	if (!read_seconds(cli, &seconds))
		return EXIT_USAGE;
	body = make_body(cli, name, seconds);
	if (!body)
		return cli_failed(cli, -ENOMEM);
	request.body = body;
	request.body_length = strlen(body);
	r = cli_request_tree(cli, &request, ret);
	return r < 0 ? cli_failed(cli, r) : EXIT_DONE;
}

static int create_token(struct cli *cli)
{
	cleanup_json_secret struct cJSON *tree = NULL;
	int status = token_create(cli, cli->arguments[1], &tree);

	if (status == EXIT_DONE)
		(void) fprintf(cli->out, "%s\n", json_text(tree, "token"));
	return status;
}

static int revoke_token(struct cli *cli)
{
	static const char prefix[] = "certificate/";
	const char *given = cli->arguments[1];
	bool is_certificate = strncmp(given, prefix, strlen(prefix)) == 0;
	cleanup_free char *path = is_certificate
					  ? cli_path(CERTIFICATES "/%s", given + strlen(prefix))
					  : cli_path(TOKENS "/%s", given);
	const struct podvol_request request = { .method = "DELETE", .path = path };
	int r = path ? podvol_request(cli->podvol, &request, NULL) : -ENOMEM;

	return r < 0 ? cli_failed(cli, r) : EXIT_DONE;
}

int verb_token(struct cli *cli)
{
	const char *what = cli->arguments[0];
	bool named = cli->arguments[1] != NULL;

	if (strcmp(what, "list") == 0 && !named)
		return cli_show_path(cli, TOKENS, "token", false);
	if (strcmp(what, "create") == 0 && named)
		return create_token(cli);
	if (strcmp(what, "revoke") == 0 && named)
		return revoke_token(cli);
	return cli_end(cli, EXIT_USAGE,
		       "token: write create NAME, list, or revoke NAME or certificate/NAME");
}
