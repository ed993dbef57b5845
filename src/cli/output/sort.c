/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort - lists and tables in the order of one field: --sort-by; events in the order of time
 *
 * A table shows what the daemon made of objects; its order comes from the objects themselves, asked
 * for beside it and matched by namespace and name.
 */
#include "cli/get.h"

#include "cli/cli.h"
#include "cli/kinds.h"
#include "cli/output/screen.h"

#include "base/cleanup.h"

#include <string.h>

struct sortable {
	char *key;
	const struct cJSON *item;
	size_t place; /* before: equal ones stay in order */
};

/* "9" before "10", and text as text: quantities and times of one form sort well enough. */
static int compare(const void *left, const void *right)
{
	const struct sortable *a = left, *b = right;
	int order = strverscmp(a->key, b->key);

	if (order != 0)
		return order;
	return a->place < b->place ? -1 : 1;
}

/* What a list is sorted by. @path: of --sort-by. NULL: why not is in @reterr. */
typedef char *key_fn(const char *path, const struct cJSON *item, struct failure *reterr);

static char *key_of_path(const char *path, const struct cJSON *item, struct failure *reterr)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	int r = out ? json_path_print(out, path, item, reterr)
		    : failed_plain(reterr, -ENOMEM, "out of memory");

	if (out && fclose(out) != 0 && r == 0)
		r = failed_plain(reterr, -ENOMEM, "out of memory");
	if (r == 0)
		return text;
	free(text);
	return NULL;
}

/* When an event was seen last; times of both resolutions compare without their "Z". */
static char *key_of_event(const char *path, const struct cJSON *item, struct failure *reterr)
{
	static const char *const paths[] = { "series.lastObservedTime", "lastTimestamp",
					     "eventTime", "firstTimestamp",
					     "metadata.creationTimestamp" };
	const char *time = "";
	char *key;

	for (size_t i = 0; i < ARRAY_SIZE(paths) && !*time; i++)
		time = json_text_at(item, paths[i]);
	key = strndup(time, strcspn(time, "Z"));
	if (!key)
		(void) failed_plain(reterr, -ENOMEM, "out of memory");
	return key;
}

static void free_keys(struct sortable *all, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(all[i].key);
	free(all);
}

/* A field that no object has is misspelt, or optional. */
static bool has_no_key(const struct sortable *all, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (*all[i].key)
			return false;
	return count > 0;
}

/* The items of a list in order. Return: EXIT_DONE and @ret, freed with free_keys(). */
static int sort(struct cli *cli, key_fn *key, const char *path, const struct cJSON *items,
		struct sortable **ret)
{
	size_t count = json_count(items), done = 0;
	struct sortable *all = calloc(count + 1, sizeof(*all));
	struct failure why = { .text = "out of memory" };
	const struct cJSON *item;

	for (item = json_first(items); all && item; item = json_next(item)) {
		all[done] = (struct sortable){ key(path, item, &why), item, done };
		if (!all[done++].key)
			break;
	}
	if (!all || (done > 0 && !all[done - 1].key)) {
		cli_complain(cli, "%s", why.text);
		if (all)
			free_keys(all, done);
		return EXIT_FAILED;
	}
	if (has_no_key(all, count))
		cli_complain(cli, "warning: --sort-by '%s': no object of the list has this field",
			     path);
	qsort(all, count, sizeof(*all), compare);
	*ret = all;
	return EXIT_DONE;
}

static int sort_by(struct cli *cli, key_fn *key, const char *path, struct cJSON **list)
{
	const struct cJSON *items = json_get(*list, "items");
	struct sortable *all = NULL;
	struct cJSON *sorted;
	int status;

	if (!json_is_array(items))
		return EXIT_DONE; /* one object */
	status = sort(cli, key, path, items, &all);
	if (status != EXIT_DONE)
		return status;
	sorted = json_new_array();
	for (size_t i = 0; i < json_count(items); i++)
		(void) json_set(sorted, NULL, json_copy(all[i].item));
	free_keys(all, json_count(items));
	(void) json_set(*list, "items", sorted);
	return EXIT_DONE;
}

int sort_items(struct cli *cli, const char *path, struct cJSON **list)
{
	return sort_by(cli, key_of_path, path, list);
}

int sort_events(struct cli *cli, struct cJSON **list)
{
	return sort_by(cli, key_of_event, NULL, list);
}

/* ---- tables ---- */

static bool is_row_of(const struct podvol_table *table, size_t row, const struct cJSON *item)
{
	const struct cJSON *metadata = json_get(item, "metadata");

	return json_text_is(metadata, "name", podvol_table_row_name(table, row)) &&
	       json_text_is(metadata, "namespace", podvol_table_row_namespace(table, row));
}

/* Both come in the store's order, so that the row is mostly where the item was. */
static size_t find_row(const struct podvol_table *table, const struct sortable *wanted)
{
	size_t count = podvol_table_rows(table);

	if (is_row_of(table, wanted->place, wanted->item))
		return wanted->place;
	for (size_t row = 0; row < count; row++)
		if (is_row_of(table, row, wanted->item))
			return row;
	return count;
}

static void show_in_order(struct cli *cli, const struct podvol_table *table, bool with_namespace,
			  const struct sortable *all, size_t count)
{
	const struct table_view view = {
		.columns = table,
		.priority = cli->format == OUTPUT_WIDE ? 1 : 0,
		.with_namespace = with_namespace,
		.prefix = "",
		.with_labels = cli->show_labels,
	};
	struct sheet *sheet = cli_table_sheet(&view);

	for (size_t i = 0; i < count; i++) {
		size_t row = find_row(table, &all[i]);

		if (row < podvol_table_rows(table))
			cli_table_row(sheet, &view, table, row);
	}
	sheet_print(cli, sheet);
	sheet_free(sheet);
}

int events_print_list(struct cli *cli, const struct cJSON *list, const struct podvol_table *events,
		      bool with_namespace)
{
	struct sortable *all = NULL;
	int status = sort(cli, key_of_event, NULL, json_get(list, "items"), &all);

	if (status != EXIT_DONE)
		return status;
	if (json_count(json_get(list, "items")) == 0) /* all went in between */
		cli_print_table(cli, events, cli->format == OUTPUT_WIDE ? 1 : 0, with_namespace);
	else
		show_in_order(cli, events, with_namespace, all,
			      json_count(json_get(list, "items")));
	free_keys(all, json_count(json_get(list, "items")));
	return EXIT_DONE;
}

int events_print(struct cli *cli, const char *asked, const struct podvol_table *events,
		 bool with_namespace)
{
	cleanup_json struct cJSON *list = NULL;
	int status = get_tree(cli, asked, &list);

	return status == EXIT_DONE ? events_print_list(cli, list, events, with_namespace) : status;
}

int show_sorted_table(struct cli *cli, const struct get_request *request, const char *path)
{
	bool with_namespace = request->everywhere && request->wanted[0].kind->namespaced;
	cleanup_free char *asked = get_path(request, &request->wanted[0]);
	cleanup_json struct cJSON *list = NULL;
	struct podvol_table *table = NULL;
	struct sortable *all = NULL;
	int status, r;

	status = asked ? get_tree(cli, asked, &list) : EXIT_FAILED;
	if (status == EXIT_DONE)
		status = sort(cli, key_of_path, path, json_get(list, "items"), &all);
	if (status != EXIT_DONE)
		return status;
	r = podvol_table_get(cli->podvol, asked, &table);
	if (r < 0) {
		free_keys(all, json_count(json_get(list, "items")));
		return cli_failed(cli, r);
	}
	if (podvol_table_rows(table) == 0)
		get_say_none(cli, request);
	else
		show_in_order(cli, table, with_namespace, all, json_count(json_get(list, "items")));
	free_keys(all, json_count(json_get(list, "items")));
	podvol_table_free(table);
	return EXIT_DONE;
}
