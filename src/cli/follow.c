/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow - a list and then every change of it, as rows or objects: get --watch, events --watch
 *
 * Several kinds are several watches in one poll. What a new list after an interruption brings is
 * printed again: nothing that happened meanwhile is passed over.
 */
#include "cli/get.h"

#include "cli/kinds.h"
#include "cli/output/screen.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <poll.h>
#include <string.h>

#define TYPE_TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"

struct followed {
	struct cli *cli;
	const struct get_request *request;
	const struct get_target *target;
	struct podvol_watch *watch;
	struct sheet *sheet;
	struct podvol_table *first; /* whose columns have names */
	char *unique_name;          /* of the volume that is named; NULL: none is */
	bool was_listed, several;
};

static bool is_table(enum cli_format format)
{
	return format == OUTPUT_TABLE || format == OUTPUT_WIDE || format == OUTPUT_NAME;
}

static void add_rows(struct followed *followed, const struct podvol_table *table)
{
	const struct kind *kind = followed->target->kind;
	char prefix[128];
	const struct table_view view = {
		.columns = followed->first,
		.priority = followed->cli->format == OUTPUT_WIDE ? 1 : 0,
		.with_namespace = followed->request->everywhere && kind->namespaced,
		.prefix = followed->several ? prefix : "",
		.with_labels = followed->cli->show_labels,
	};

	(void) snprintf(prefix, sizeof(prefix), "%s/", kind->singular);
	if (!followed->sheet)
		followed->sheet = cli_table_sheet(&view);
	cli_table_rows(followed->sheet, &view, table);
	if (sheet_rows(followed->sheet) > 0)
		sheet_print(followed->cli, followed->sheet);
}

/* The list comes first, also when it is not to be shown, and says what the columns are. */
static void show_table(struct followed *followed, const struct podvol_event *event, bool show)
{
	struct podvol_table *table = NULL;

	if (podvol_table_parse(event->object, event->length, &table) < 0)
		return; /* an event of a kind without columns */
	if (show && followed->cli->format == OUTPUT_NAME) {
		cli_print_names(followed->cli, table, followed->target->kind->singular);
	} else if (!followed->first) {
		followed->first = table;
		if (show)
			add_rows(followed, table);
		return; /* kept */
	} else if (show) {
		add_rows(followed, table);
	}
	podvol_table_free(table);
}

static void show_event(struct followed *followed, const struct podvol_event *event)
{
	const struct json_limits limits = { .bytes = event->length + 1, .depth = 80 };
	cleanup_json struct cJSON *tree = NULL;
	cleanup_free char *text = NULL;
	struct cli *cli = followed->cli;

	if (json_parse(event->object, event->length, &limits, &tree, NULL) < 0)
		return;
	if (cli->format == OUTPUT_JSONPATH) {
		(void) template_show(cli, tree);
		return;
	}
	if (cli->format == OUTPUT_COLUMNS) {
		(void) columns_show(cli, tree);
		return;
	}
	text = cli->format == OUTPUT_YAML ? json_print_yaml(tree) : json_print(tree);
	if (!text)
		return;
	if (cli->format == OUTPUT_YAML)
		(void) fputs("---\n", cli->out);
	text_print_lines(cli->out, text, strlen(text));
	if (*text && text[strlen(text) - 1] != '\n')
		(void) fputc('\n', cli->out);
}

static void changed(void *userdata, const struct podvol_event *event)
{
	struct followed *followed = userdata;
	struct cli *cli = followed->cli;
	bool show;

	if (event->type == PODVOL_INTERRUPTED) {
		cli_complain(cli, "%s; retrying", event->error);
		return;
	}
	/* The list of a beginning is what exists already; a later one is what happened. */
	show = event->type != PODVOL_LISTED || followed->was_listed || !cli_flag(cli, "watch-only");
	followed->was_listed = true;
	if (is_table(cli->format))
		show_table(followed, event, show);
	else if (show)
		show_event(followed, event);
}

/* Until one is over, or the reader is gone. */
static int run(struct cli *cli, struct followed *all, size_t count)
{
	cleanup_free struct pollfd *polled = calloc(count, sizeof(*polled));

	for (size_t i = 0; polled && i < count; i++)
		polled[i] =
			(struct pollfd){ .fd = podvol_watch_fd(all[i].watch), .events = POLLIN };
	while (polled) {
		if (poll(polled, count, -1) < 0 && errno != EINTR)
			break;
		for (size_t i = 0; i < count; i++) {
			int r = podvol_watch_process(all[i].watch);

			if (r < 0) {
				cli_complain(cli, "%s", podvol_watch_error(all[i].watch));
				return cli_get_status(r, podvol_watch_status(all[i].watch));
			}
		}
		if (fflush(cli->out) != 0)
			return EXIT_FAILED;
	}
	return cli_end(cli, EXIT_FAILED, "out of memory");
}

/* One object is the list of those that have its name, one volume the rows of its unique name. */
static char *watch_path(const struct followed *followed)
{
	cleanup_free char *selector = NULL, *query = NULL;
	const struct get_request *request = followed->request;
	const struct get_target *target = followed->target;

	if (!target->name)
		return get_path(request, target);
	selector = followed->unique_name ? new_text("uniqueName=%s", followed->unique_name)
					 : new_text("metadata.name=%s", target->name);
	query = cli_path("fieldSelector=%s", selector);
	return query ? kinds_path(target->kind, request->everywhere ? NULL : request->name_space,
				  NULL, query)
		     : NULL;
}

static int begin(struct followed *followed)
{
	cleanup_free char *path = watch_path(followed);
	const struct podvol_watch_request request = {
		.path = path,
		.accept = is_table(followed->cli->format) ? TYPE_TABLE : NULL,
		.changed = changed,
		.userdata = followed,
	};

	return path ? podvol_watch_open(followed->cli->podvol, &request, &followed->watch)
		    : -ENOMEM;
}

/* A volume is named by whatever a person has at hand; what is watched is a member of its rows. */
static int find_volume(struct followed *followed)
{
	cleanup_free char *path = get_path(followed->request, followed->target);
	struct cli *cli = followed->cli;
	struct podvol_table *rows = NULL;
	int r;

	if (!kind_is_view(followed->target->kind) || !followed->target->name)
		return EXIT_DONE;
	get_about(cli, followed->request, followed->target);
	r = path ? podvol_table_get(cli->podvol, path, &rows) : -ENOMEM;
	if (r < 0)
		return cli_get_failed(cli, r);
	followed->unique_name =
		strdup(podvol_table_cell(rows, 0, podvol_table_find(rows, "Unique Name")));
	podvol_table_free(rows);
	return followed->unique_name ? EXIT_DONE : cli_end(cli, EXIT_FAILED, "out of memory");
}

int follow(struct cli *cli, const struct get_request *request)
{
	cleanup_free struct followed *all = calloc(request->count, sizeof(*all));
	int status = EXIT_DONE, r = all ? 0 : -ENOMEM;

	for (size_t i = 0; i < request->count; i++)
		if (kind_is_view(request->wanted[i].kind) && !request->wanted[i].kind->is_watched)
			return cli_end(cli, EXIT_USAGE,
				       "%s cannot be watched: podvold keeps no versions of them; "
				       "volumes and all stored objects can be",
				       request->wanted[i].kind->plural);

	for (size_t i = 0; r == 0 && status == EXIT_DONE && i < request->count; i++) {
		all[i] = (struct followed){ .cli = cli,
					    .request = request,
					    .target = &request->wanted[i],
					    .several = request->count > 1 };
		status = find_volume(&all[i]);
		if (status == EXIT_DONE)
			r = begin(&all[i]);
	}
	if (r < 0) {
		cli_complain(cli, "cannot watch: %s", strerror(-r));
		status = EXIT_FAILED;
	}
	if (status == EXIT_DONE)
		status = run(cli, all, request->count);
	for (size_t i = 0; all && i < request->count; i++) {
		podvol_watch_free(all[i].watch);
		sheet_free(all[i].sheet);
		podvol_table_free(all[i].first);
		free(all[i].unique_name);
	}
	return status;
}
