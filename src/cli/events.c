/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events - what happened to pods and volumes, of all or one object, once or on and on
 */
#include "cli/get.h"

#include "cli/kinds.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <string.h>

/* "fieldSelector=involvedObject.kind%3DPod%2C..." */
static char *query_for(const char *kind, const char *name)
{
	cleanup_free char *selector =
		new_text("involvedObject.kind=%s,involvedObject.name=%s", kind, name);

	return cli_path("fieldSelector=%s", selector);
}

/* "[NAMESPACE/]NAME" of a pod, or "KIND/[NAMESPACE/]NAME". Events about what has no namespace are
 * in the default one. */
static int read_object(struct cli *cli, struct get_request *request, const char *word)
{
	struct kind kind = { .name = "Pod", .singular = "pod", .namespaced = true };
	const char *name = kind_of_word(word, &kind) ?: word;
	const char *slash = kind.namespaced ? strchr(name, '/') : NULL;

	request->everywhere = false;
	request->name_space = cli->name_space && kind.namespaced ? cli->name_space : "default";
	if (kind_is_view(&kind))
		return cli_end(cli, EXIT_USAGE, "'%s' is not a kind of stored object",
			       kind.singular);
	if (slash) {
		request->words = strndup(name, (size_t) (slash - name));
		request->name_space = request->words;
		name = slash + 1;
	}
	cli_about(cli, kind.singular, request->name_space ?: "", name);
	request->query = query_for(kind.name, name);
	return request->query && request->name_space ? EXIT_DONE : EXIT_FAILED;
}

static int show_list(struct cli *cli, const char *path)
{
	cleanup_json struct cJSON *list = NULL;
	int status = get_tree(cli, path, &list);

	if (status == EXIT_DONE)
		status = sort_events(cli, &list);
	return status == EXIT_DONE ? show_tree(cli, list) : status;
}

static int show_table(struct cli *cli, const struct get_request *request, const char *path)
{
	const char *pod = cli_value(cli, "for");
	struct podvol_table *events = NULL;
	int status = EXIT_DONE, r = podvol_table_get(cli->podvol, path, &events);

	if (r < 0)
		return cli_failed(cli, r);
	if (cli->format == OUTPUT_NAME)
		cli_print_names(cli, events, "event");
	else if (podvol_table_rows(events) == 0) {
		(void) fprintf(cli->err, "No events found%s", pod ? " for " : "");
		cli_print_text(cli->err, pod ? cli->about : "");
		(void) fputs(".\n", cli->err);
	} else
		status = events_print(cli, path, events, request->everywhere);
	podvol_table_free(events);
	return status;
}

/* What happened anywhere, unless a namespace is named. */
int verb_events(struct cli *cli)
{
	cleanup(get_request_done) struct get_request request = {
		.everywhere = !cli->name_space || cli_flag(cli, "all-namespaces"),
		.name_space = cli->name_space,
	};
	const char *object = cli_value(cli, "for");
	cleanup_free char *path = NULL;
	int status;

	request.wanted = calloc(1, sizeof(*request.wanted));
	if (!request.wanted)
		return cli_end(cli, EXIT_FAILED, "out of memory");
	request.count = 1;
	status = kinds_find(cli, "events", &request.wanted[0].kind);
	if (status == EXIT_DONE && object)
		status = read_object(cli, &request, object);
	if (status != EXIT_DONE)
		return status;
	if (cli_flag(cli, "watch") || cli_flag(cli, "watch-only"))
		return follow(cli, &request);
	path = get_path(&request, &request.wanted[0]);
	if (!path)
		return EXIT_FAILED;
	return cli->format == OUTPUT_JSON || cli->format == OUTPUT_YAML
		       ? show_list(cli, path)
		       : show_table(cli, &request, path);
}
