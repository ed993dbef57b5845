/* SPDX-License-Identifier: Apache-2.0 */
/*
 * force_unstage - podvolctl force-unstage: past holders outside of containers
 *
 * Decides nothing: the daemon says whom it went past, or who is never passed.
 */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "object/json/json.h"

#include <errno.h>

enum { REPLY_DEPTH_MAX = 8 };

int verb_force_unstage(struct cli *cli)
{
	cleanup_free char *path = cli_path("/podvol/v1/volumes/%s/force", cli->arguments[0]);
	const struct podvol_request request = { .method = "POST", .path = path };
	cleanup_json struct cJSON *tree = NULL;
	struct podvol_reply reply = { 0 };
	int r;

	if (!path)
		return cli_failed(cli, -ENOMEM);
	r = podvol_request(cli->podvol, &request, &reply);
	if (r == 0) {
		const struct json_limits limits = { .bytes = reply.length + 1,
						    .depth = REPLY_DEPTH_MAX };

		r = json_parse(reply.body, reply.length, &limits, &tree, NULL);
	}
	if (r == 0)
		(void) fprintf(cli->out, "%s\n", json_text(tree, "message"));
	podvol_reply_done(&reply);
	return r < 0 ? cli_failed(cli, r) : EXIT_DONE;
}
