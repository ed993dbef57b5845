/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renew_token_key - has the daemon sign tokens of service accounts with a new key
 *
 * Tells until when the keys before it are still believed.
 */
#include "cli/cli.h"

#include "object/json/json.h"

static void print_keys(struct cli *cli, const struct cJSON *tree)
{
	const struct cJSON *item = json_first(json_get(tree, "items"));

	(void) fprintf(cli->out, "tokens are signed with the new key '%s'\n",
		       json_text(item, "id"));
	while ((item = json_next(item)))
		(void) fprintf(cli->out, "key '%s' is published until %s\n", json_text(item, "id"),
			       json_text(item, "publishedUntil"));
}

int verb_renew_token_key(struct cli *cli)
{
	const struct podvol_request request = { .method = "POST",
						.path = "/podvol/v1/keys",
						.accept = "application/json" };
	cleanup_json struct cJSON *tree = NULL;
	int r = cli_request_tree(cli, &request, &tree);

	if (r == 0)
		print_keys(cli, tree);
	return r < 0 ? cli_failed(cli, r) : EXIT_DONE;
}
