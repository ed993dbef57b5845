/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig - prints what kubectl needs to reach this daemon by TLS
 *
 * Asked of the daemon on its socket, which tells root alone: what is printed holds the token.
 */
#include "cli/cli.h"

#include "base/cleanup.h"

#include <errno.h>

int verb_kubeconfig(struct cli *cli)
{
	const char *server = cli_value(cli, "server");
	cleanup_free char *escaped = podvol_escape(server ? server : "");
	cleanup_free char *path = NULL;
	struct podvol_request request = { .method = "GET", .accept = "application/yaml" };
	struct podvol_reply reply = { 0 };
	int r;

	if (!escaped || asprintf(&path, "/podvol/v1/kubeconfig?server=%s", escaped) < 0) {
		path = NULL;
		return cli_failed(cli, -ENOMEM);
	}
	request.path = path;
	r = podvol_request(cli->podvol, &request, &reply);
	if (r == 0)
		(void) fwrite(reply.body, 1, reply.length, cli->out);
	podvol_reply_done(&reply);
	return r < 0 ? cli_failed(cli, r) : EXIT_DONE;
}
