/* SPDX-License-Identifier: Apache-2.0 */
/*
 * force_unstage - podvolctl force-unstage: past holders outside of containers
 *
 * Decides nothing: the daemon says whom it went past, or who is never passed.
 */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <errno.h>

int verb_force_unstage(struct cli *cli)
{
	cleanup_free char *path = cli_path("/podvol/v1/volumes/%s/force", cli->arguments[0]);
	const struct podvol_request request = { .method = "POST", .path = path };
	cleanup_json struct cJSON *tree = NULL;
	int r = cli_request_tree(cli, &request, &tree);

	if (r == 0)
		(void) fprintf(cli->out, "%s\n", json_text(tree, "message"));
	return r < 0 ? cli_failed(cli, r) : EXIT_DONE;
}
