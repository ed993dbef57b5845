/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check - could a pod run on a node, as far as its volumes go: asked before anything is stored
 */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "object/json/json.h"
#include "object/object.h"

#include <errno.h>

/* The pod's text, and the node's behind it as one more document. */
static int read_body(struct cli *cli, char **ret, size_t *ret_length)
{
	cleanup_free char *pod = NULL, *node = NULL;
	size_t pod_length = 0, node_length = 0;
	const char *node_file = cli_value(cli, "node");
	int length;

	if (file_read(cli, cli_value(cli, "filename"), &pod, &pod_length) < 0 ||
	    (node_file && file_read(cli, node_file, &node, &node_length) < 0))
		return EXIT_FAILED;
	length = asprintf(ret, "%s%s%s", pod, node ? "\n---\n" : "", node ? node : "");
	if (length < 0) {
		*ret = NULL;
		return cli_failed(cli, -ENOMEM);
	}
	*ret_length = (size_t) length;
	return EXIT_DONE;
}

/* The pod starts, and fails then. */
static void print_warnings(struct cli *cli, const struct cJSON *tree)
{
	JSON_FOREACH (i, json_get(tree, "warnings"))
		(void) fprintf(cli->out, "  warning: container '%s', volume '%s': %s\n",
			       json_text(i, "container"), json_text(i, "volume"),
			       json_text(i, "text"));
}

static int print(struct cli *cli, const struct podvol_reply *reply)
{
	const struct json_limits limits = { .bytes = OBJECT_BYTES_MAX, .depth = OBJECT_DEPTH_MAX };
	cleanup_json struct cJSON *tree = NULL;
	const char *pod, *node;

	if (json_parse(reply->body, reply->length, &limits, &tree, NULL) < 0)
		return cli_end(cli, EXIT_FAILED, "the daemon's answer is not JSON");
	pod = json_text(tree, "pod");
	node = json_text(tree, "node");
	if (json_bool(json_get(tree, "fits"), false)) {
		(void) fprintf(cli->out, "pod '%s' can have its volumes on node '%s'\n", pod, node);
		print_warnings(cli, tree);
		return EXIT_DONE;
	}
	(void) fprintf(cli->out, "pod '%s' cannot have its volumes on node '%s':\n", pod, node);
	JSON_FOREACH (i, json_get(tree, "reasons"))
		(void) fprintf(cli->out, "  %s: %s\n", json_text(i, "plugin"),
			       json_text(i, "reason"));
	print_warnings(cli, tree);
	return EXIT_FAILED;
}

int verb_check(struct cli *cli)
{
	struct podvol_request request = { .method = "POST",
					  .path = "/podvol/v1/check",
					  .content_type = "application/yaml",
					  .accept = "application/json" };
	struct podvol_reply reply = { 0 };
	cleanup_free char *body = NULL;
	int r;

	if (!cli_value(cli, "filename"))
		return cli_end(cli, EXIT_USAGE, "must specify the pod's manifest with -f FILE");
	r = read_body(cli, &body, &request.body_length);
	if (r != EXIT_DONE)
		return r;
	request.body = body;
	cli->where = file_where(cli_value(cli, "filename"));
	r = podvol_request(cli->podvol, &request, &reply);
	r = r < 0 ? cli_failed(cli, r) : print(cli, &reply);
	podvol_reply_done(&reply);
	return r;
}
