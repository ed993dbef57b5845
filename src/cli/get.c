/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get - lists and objects, of one kind or several, in every format
 *
 * Tables are the daemon's own columns. Every other format, and sorting, works on the objects: one
 * is printed as it came, several as a List.
 */
#include "cli/get.h"

#include "cli/cli.h"
#include "cli/kinds.h"
#include "cli/output/screen.h"

#include "base/cleanup.h"

#include <assert.h>
#include <string.h>

/* ---- what is asked for ---- */

void get_request_done(struct get_request *request)
{
	free(request->wanted);
	free(request->query);
	free(request->view_query);
	free(request->words);
	*request = (struct get_request){ 0 };
}

static int want(struct cli *cli, struct get_request *request, const char *word, const char *name)
{
	struct get_target *grown =
		reallocarray(request->wanted, request->count + 1, sizeof(*grown));

	if (!grown)
		return cli_end(cli, EXIT_FAILED, "out of memory");
	request->wanted = grown;
	grown[request->count] = (struct get_target){ .name = name };
	if (name) /* before its kind is known: asking for the kinds may be forbidden */
		cli_about(cli, word, cli->name_space ?: "", name);
	return kinds_find(cli, word, &grown[request->count++].kind);
}

/* "pod/web pvc/data" */
static int want_pairs(struct cli *cli, struct get_request *request, char **words)
{
	int status = EXIT_DONE;

	for (; status == EXIT_DONE && *words; words++) {
		char *slash = strchr(*words, '/');

		if (!slash || slash == *words || !slash[1])
			return cli_end(cli, EXIT_USAGE, "cannot mix '%s' with KIND/NAME arguments",
				       *words);
		*slash = '\0';
		status = want(cli, request, *words, slash + 1);
	}
	return status;
}

/* "pods,pvc" and names. */
static int want_kinds(struct cli *cli, struct get_request *request, char *kinds, char **names)
{
	int status = EXIT_DONE;
	char *word;

	while (status == EXIT_DONE && (word = strsep(&kinds, ","))) {
		if (!*names)
			status = want(cli, request, word, NULL);
		for (char **name = names; status == EXIT_DONE && *name; name++)
			status = want(cli, request, word, *name);
	}
	return status;
}

/* "NAME=VALUE" behind what is there; nothing for a NULL. */
static int add_parameter(char **query, const char *name, const char *value)
{
	cleanup_free char *escaped = podvol_escape(value ? value : ""), *before = *query;

	if (!value) {
		before = NULL;
		return 0;
	}
	if (!escaped || asprintf(query, "%s%s%s=%s", before ? before : "", before ? "&" : "", name,
				 escaped) < 0) {
		*query = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* ".state" and "{.state}" as the daemon names a member. */
static char *member_of(const char *path)
{
	char *member;

	if (!path)
		return NULL;
	path += strspn(path, "{.");
	member = strdup(path);
	if (member)
		member[strcspn(member, "}")] = '\0';
	return member;
}

/* What the daemon's views do themselves: rows of a namespace, and their order. */
static int make_view_query(struct cli *cli, struct get_request *request)
{
	cleanup_free char *member = member_of(cli_value(cli, "sort-by"));
	const char *name_space = request->everywhere ? NULL : cli->name_space;
	int r = add_parameter(&request->view_query, "fieldSelector",
			      cli_value(cli, "field-selector"));

	if (r == 0)
		r = add_parameter(&request->view_query, "namespace", name_space);
	return r < 0 ? r : add_parameter(&request->view_query, "sortBy", member);
}

static int make_queries(struct cli *cli, struct get_request *request)
{
	int r = add_parameter(&request->query, "labelSelector", cli_value(cli, "selector"));

	if (r == 0)
		r = add_parameter(&request->query, "fieldSelector",
				  cli_value(cli, "field-selector"));
	if (r == 0)
		r = make_view_query(cli, request);
	if (r == 0)
		return EXIT_DONE;
	return cli_end(cli, EXIT_FAILED, "out of memory");
}

/* What would have to be ignored is refused before anything is asked. */
static int check_filters(struct cli *cli, const struct get_request *request)
{
	for (size_t i = 0; i < request->count; i++) {
		const struct kind *kind = request->wanted[i].kind;
		const char *refused = NULL;

		if (request->query && request->wanted[i].name)
			return cli_end(cli, EXIT_USAGE,
				       "a name cannot be combined with a selector");
		if (!kind_is_view(kind))
			continue;
		if (cli_value(cli, "selector"))
			refused = "have no labels: leave out --selector";
		else if (cli->show_labels)
			refused = "have no labels: leave out --show-labels";
		else if (cli->name_space && !kind->rows_are_of_pods)
			refused = "are in no namespace: leave out --namespace";
		else if (request->wanted[i].name && !kind->has_names)
			refused = "have no names: use --field-selector";
		if (refused)
			return cli_end(cli, EXIT_USAGE, "%s %s", kind->plural, refused);
	}
	return EXIT_DONE;
}

int get_targets_read(struct cli *cli, char **words, struct get_request *ret)
{
	assert(cli && words && *words && ret);
	ret->name_space = cli->name_space ? cli->name_space : "default";
	if (strchr(*words, '/'))
		return want_pairs(cli, ret, words);
	/* Taken apart in a copy. */
	ret->words = strdup(*words);
	if (!ret->words)
		return cli_end(cli, EXIT_FAILED, "out of memory");
	return want_kinds(cli, ret, ret->words, words + 1);
}

int get_selector_read(struct cli *cli, struct get_request *request)
{
	if (add_parameter(&request->query, "labelSelector", cli_value(cli, "selector")) == 0)
		return EXIT_DONE;
	return cli_end(cli, EXIT_FAILED, "out of memory");
}

static int get_request_read(struct cli *cli, struct get_request *ret)
{
	int status = get_targets_read(cli, cli->arguments, ret);

	ret->everywhere = cli_flag(cli, "all-namespaces");
	if (status == EXIT_DONE)
		status = make_queries(cli, ret);
	if (status == EXIT_DONE)
		status = check_filters(cli, ret);
	if (status == EXIT_DONE && ret->everywhere && ret->wanted[0].name &&
	    ret->wanted[0].kind->namespaced) {
		cli_complain(cli, "a name cannot be combined with --all-namespaces");
		status = EXIT_USAGE;
	}
	return status;
}

int get_named_read(struct cli *cli, char **words, struct get_request *ret)
{
	int status = get_targets_read(cli, words, ret);

	for (size_t i = 0; status == EXIT_DONE && i < ret->count; i++) {
		const struct get_target *target = &ret->wanted[i];

		if (!target->name) {
			cli_complain(cli, "must specify a name of '%s'", target->kind->singular);
			status = EXIT_USAGE;
		} else if (kind_is_view(target->kind)) {
			cli_complain(cli, "'%s' is not a kind of stored object",
				     target->kind->singular);
			status = EXIT_USAGE;
		}
	}
	return status;
}

char *get_path(const struct get_request *request, const struct get_target *target)
{
	bool everywhere = request->everywhere && !target->name;

	return kinds_path(target->kind, everywhere ? NULL : request->name_space, target->name,
			  kind_is_view(target->kind) ? request->view_query : request->query);
}

void get_about(struct cli *cli, const struct get_request *request, const struct get_target *target)
{
	cli->about[0] = '\0';
	if (target->name)
		cli_about(cli, target->kind->singular,
			  target->kind->namespaced ? request->name_space : "", target->name);
}

/* ---- tables ---- */

static bool has_several_kinds(const struct get_request *request)
{
	for (size_t i = 1; i < request->count; i++)
		if (request->wanted[i].kind != request->wanted[0].kind)
			return true;
	return false;
}

struct table_output {
	struct sheet *sheet;
	const struct kind *kind; /* of the sheet */
	size_t rows;             /* printed so far */
	bool several;
};

static void print_sheet(struct cli *cli, struct table_output *output)
{
	if (sheet_rows(output->sheet) > 0) {
		if (output->rows > 0)
			(void) fputc('\n', cli->out);
		output->rows += sheet_rows(output->sheet);
		sheet_print(cli, output->sheet);
	}
	sheet_free(output->sheet);
	output->sheet = NULL;
}

static void add_table(struct cli *cli, const struct get_request *request, const struct kind *kind,
		      const struct podvol_table *table, struct table_output *output)
{
	char prefix[128];
	const struct table_view view = {
		.columns = table,
		.priority = cli->format == OUTPUT_WIDE ? 1 : 0,
		.with_namespace = request->everywhere && kind->namespaced,
		.prefix = output->several ? prefix : "",
		.with_labels = cli->show_labels,
	};

	(void) snprintf(prefix, sizeof(prefix), "%s/", kind->singular);
	if (cli->format == OUTPUT_NAME) {
		cli_print_names(cli, table, kind->singular);
		output->rows += podvol_table_rows(table);
		return;
	}
	if (output->kind != kind)
		print_sheet(cli, output);
	output->kind = kind;
	if (!output->sheet)
		output->sheet = cli_table_sheet(&view);
	cli_table_rows(output->sheet, &view, table);
}

static bool is_in_namespace(const struct cli *cli, const struct kind *kind)
{
	return kind->namespaced || (kind->rows_are_of_pods && cli->name_space);
}

/* Where it was looked for: a namespace may be the wrong one. */
void get_say_none(const struct cli *cli, const struct get_request *request)
{
	bool by_namespace = false;

	(void) fputs("No ", cli->err);
	for (size_t i = 0; i < request->count; i++) {
		const struct kind *kind = request->wanted[i].kind;

		(void) fprintf(cli->err, "%s%s", i == 0 ? "" : ", ", kind->plural);
		by_namespace = by_namespace || is_in_namespace(cli, kind);
	}
	if (request->everywhere || !by_namespace)
		(void) fputs(" found.\n", cli->err);
	else {
		(void) fputs(" found in namespace '", cli->err);
		cli_print_text(cli->err, request->name_space);
		(void) fputs("'.\n", cli->err);
	}
}

/* What is missing is said, and the rest shown all the same. */
static int show_tables(struct cli *cli, const struct get_request *request)
{
	struct table_output output = { .several = has_several_kinds(request) };
	int status = EXIT_DONE;

	for (size_t i = 0; i < request->count; i++) {
		cleanup_free char *path = get_path(request, &request->wanted[i]);
		struct podvol_table *table = NULL;
		int r;

		get_about(cli, request, &request->wanted[i]);
		r = path ? podvol_table_get(cli->podvol, path, &table) : -ENOMEM;
		if (r < 0 && status == EXIT_DONE)
			status = cli_get_failed(cli, r);
		else if (r < 0)
			(void) cli_get_failed(cli, r);
		else
			add_table(cli, request, request->wanted[i].kind, table, &output);
		podvol_table_free(table);
		if (status == EXIT_UNREACHABLE)
			break;
	}
	print_sheet(cli, &output);
	if (status == EXIT_DONE && output.rows == 0 && cli->format != OUTPUT_NAME)
		get_say_none(cli, request);
	return status;
}

/* ---- objects ---- */

static int get_tree_or(struct cli *cli, const char *path, bool may_lack, struct cJSON **ret)
{
	const struct podvol_request request = { .method = "GET", .path = path };
	int r = cli_request_tree(cli, &request, ret);

	if (r == -ENOENT && may_lack)
		return EXIT_DONE;
	return r < 0 ? cli_get_failed(cli, r) : EXIT_DONE;
}

int get_tree(struct cli *cli, const char *path, struct cJSON **ret)
{
	return get_tree_or(cli, path, false, ret);
}

int get_tree_if_there(struct cli *cli, const char *path, struct cJSON **ret)
{
	return get_tree_or(cli, path, true, ret);
}

/* Lists give their items to @items; single objects themselves. Takes @tree. */
static void add_items(struct cJSON *items, struct cJSON *tree, bool is_list)
{
	if (!is_list) {
		(void) json_set(items, NULL, tree);
		return;
	}
	JSON_FOREACH (item, json_get(tree, "items"))
		(void) json_set(items, NULL, json_copy(item));
	json_free(tree);
}

/* Everything that is asked for as one List. */
static int get_list(struct cli *cli, const struct get_request *request, struct cJSON **ret)
{
	struct cJSON *list = json_new_object(), *items;
	int status = EXIT_DONE;

	(void) json_set_string(list, "apiVersion", "v1");
	(void) json_set_string(list, "kind", "List");
	items = json_add_array(list, "items");
	for (size_t i = 0; status == EXIT_DONE && i < request->count; i++) {
		cleanup_free char *path = get_path(request, &request->wanted[i]);
		struct cJSON *tree = NULL;

		get_about(cli, request, &request->wanted[i]);
		status = path ? get_tree(cli, path, &tree) : EXIT_FAILED;
		if (status == EXIT_DONE)
			add_items(items, tree, !request->wanted[i].name);
	}
	if (status == EXIT_DONE)
		*ret = list;
	else
		json_free(list);
	return status;
}

/* A single answer stays what it is: one object, or a list with its version. */
static int get_answer(struct cli *cli, const struct get_request *request, struct cJSON **ret)
{
	cleanup_free char *path = NULL;

	if (request->count > 1)
		return get_list(cli, request, ret);
	get_about(cli, request, &request->wanted[0]);
	path = get_path(request, &request->wanted[0]);
	return path ? get_tree(cli, path, ret) : EXIT_FAILED;
}

int show_tree(struct cli *cli, const struct cJSON *tree)
{
	cleanup_free char *text = NULL;

	switch (cli->format) {
	case OUTPUT_JSON:
		text = json_print(tree);
		break;
	case OUTPUT_YAML:
		text = json_print_yaml(tree);
		break;
	case OUTPUT_JSONPATH:
		return template_show(cli, tree);
	case OUTPUT_COLUMNS:
		return columns_show(cli, tree);
	case OUTPUT_TABLE:
	case OUTPUT_WIDE:
	case OUTPUT_NAME:
		assert(!"tables are not made from trees");
	}
	if (!text)
		return cli_end(cli, EXIT_FAILED, "out of memory");
	if (cli->format == OUTPUT_JSON)
		json_show(cli->out, text, strlen(text));
	else
		text_print_lines(cli->out, text, strlen(text));
	if (cli->format == OUTPUT_JSON || (*text && text[strlen(text) - 1] != '\n'))
		(void) fputc('\n', cli->out);
	return EXIT_DONE;
}

static bool is_table(enum cli_format format)
{
	return format == OUTPUT_TABLE || format == OUTPUT_WIDE || format == OUTPUT_NAME;
}

static int show_objects(struct cli *cli, const struct get_request *request, const char *sort_by)
{
	cleanup_json struct cJSON *tree = NULL;
	int status = get_answer(cli, request, &tree);

	if (status == EXIT_DONE && sort_by)
		status = sort_items(cli, sort_by, &tree);
	return status == EXIT_DONE ? show_tree(cli, tree) : status;
}

/* Objects are sorted here, rows of views by the daemon. */
static int check_order(struct cli *cli, const struct get_request *request, bool watches)
{
	if (!cli_value(cli, "sort-by"))
		return EXIT_DONE;
	if (watches)
		return cli_end(cli, EXIT_USAGE, "--sort-by cannot be combined with --watch");
	if (request->count > 1 || request->wanted[0].name || cli->format == OUTPUT_NAME)
		return cli_end(cli, EXIT_USAGE,
			       "--sort-by orders one list, as a table, json or yaml");
	return EXIT_DONE;
}

int verb_get(struct cli *cli)
{
	cleanup(get_request_done) struct get_request request = { 0 };
	bool watches = cli_flag(cli, "watch") || cli_flag(cli, "watch-only");
	const char *sort_by = cli_value(cli, "sort-by");
	int status;

	status = get_request_read(cli, &request);
	if (status == EXIT_DONE)
		status = check_order(cli, &request, watches);
	if (status != EXIT_DONE)
		return status;
	if (watches)
		return follow(cli, &request);
	if (kind_is_view(request.wanted[0].kind))
		sort_by = NULL;
	if (sort_by && is_table(cli->format))
		return show_sorted_table(cli, &request, sort_by);
	/* As the daemon wrote it. */
	if (!sort_by && request.count == 1 &&
	    (cli->format == OUTPUT_JSON || cli->format == OUTPUT_YAML)) {
		cleanup_free char *path = get_path(&request, &request.wanted[0]);

		get_about(cli, &request, &request.wanted[0]);
		return path ? cli_show_path(cli, path, request.wanted[0].kind->singular, false)
			    : EXIT_FAILED;
	}
	return is_table(cli->format) ? show_tables(cli, &request)
				     : show_objects(cli, &request, sort_by);
}
