/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events - what happened to pods and volumes, of all or one pod, once or on and on
 */
#include "cli/get.h"

#include "cli/kinds.h"

#include "base/cleanup.h"

#include <string.h>

/* "fieldSelector=involvedObject.kind%3DPod%2C..." */
static char *query_for_pod(const char *name)
{
	cleanup_free char *selector = NULL, *escaped = NULL;
	char *query;

	if (asprintf(&selector, "involvedObject.kind=Pod,involvedObject.name=%s", name) < 0) {
		selector = NULL;
		return NULL;
	}
	escaped = podvol_escape(selector);
	if (!escaped || asprintf(&query, "fieldSelector=%s", escaped) < 0)
		return NULL;
	return query;
}

/* "NAME", "NAMESPACE/NAME", and "pod/NAME" as kubectl writes it. */
static int read_pod(struct cli *cli, struct get_request *request, const char *word)
{
	const char *slash = strchr(word, '/');
	bool is_kind = slash && (strncmp(word, "pod/", 4) == 0 || strncmp(word, "pods/", 5) == 0);

	request->everywhere = false;
	request->name_space = cli->name_space ? cli->name_space : "default";
	if (slash && !is_kind) {
		request->words = strndup(word, (size_t) (slash - word));
		request->name_space = request->words;
	}
	request->query = query_for_pod(slash ? slash + 1 : word);
	return request->query && request->name_space ? EXIT_DONE : EXIT_FAILED;
}

/* What happened anywhere, unless a namespace is named. */
int verb_events(struct cli *cli)
{
	cleanup(get_request_done) struct get_request request = {
		.everywhere = !cli->name_space,
		.name_space = cli->name_space,
	};
	const char *pod = cli_value(cli, "for");
	cleanup_free char *path = NULL;
	int status;

	request.wanted = calloc(1, sizeof(*request.wanted));
	request.query = strdup("");
	if (!request.wanted || !request.query) {
		cli_complain(cli, "out of memory");
		return EXIT_FAILED;
	}
	request.count = 1;
	status = kinds_find(cli, "events", &request.wanted[0].kind);
	if (status == EXIT_DONE && pod) {
		free(request.query);
		status = read_pod(cli, &request, pod);
	}
	if (status != EXIT_DONE)
		return status;
	if (cli_flag(cli, "watch") || cli_flag(cli, "watch-only"))
		return follow(cli, &request);
	path = get_path(&request, &request.wanted[0]);
	return path ? cli_show_path(cli, path, "event", request.everywhere) : EXIT_FAILED;
}
