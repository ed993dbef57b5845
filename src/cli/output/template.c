/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template - output by the user's own words: -o jsonpath= and -o custom-columns=
 */
#include "cli/get.h"

#include "cli/cli.h"
#include "cli/output/screen.h"

#include "base/cleanup.h"

#include <assert.h>
#include <string.h>

enum { COLUMNS_MAX = 64 };

/* A template's output, freed by the caller; NULL: no memory, or a complaint was made. */
static char *fill_in(struct cli *cli, const char *template, const struct cJSON *tree)
{
	struct failure why = { 0 };
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	int r;

	if (!out) {
		cli_complain(cli, "out of memory");
		return NULL;
	}
	r = json_path_print(out, template, tree, &why);
	if (fclose(out) != 0 && r == 0)
		r = failed_plain(&why, -ENOMEM, "out of memory");
	if (r == 0)
		return text;
	cli_complain(cli, "%s", why.text);
	free(text);
	return NULL;
}

int template_show(struct cli *cli, const struct cJSON *tree)
{
	cleanup_free char *text = fill_in(cli, cli->template, tree);

	if (!text)
		return EXIT_FAILED;
	text_print_lines(cli->out, text, strlen(text));
	return EXIT_DONE;
}

/* ---- custom columns ---- */

struct columns {
	char *text; /* what the others point into */
	const char *names[COLUMNS_MAX], *paths[COLUMNS_MAX];
	size_t count;
};

/* "NAME:.metadata.name,NODE:.spec.nodeName" */
static bool read_columns(struct cli *cli, const char *template, struct columns *ret)
{
	char *rest, *word;

	*ret = (struct columns){ .text = strdup(template) };
	rest = ret->text;
	while (rest && (word = strsep(&rest, ","))) {
		char *colon = strchr(word, ':');

		if (!colon || colon == word || !colon[1] || ret->count == COLUMNS_MAX) {
			cli_complain(cli,
				     "-o custom-columns= takes NAME:.path,... with at most %d "
				     "columns, not '%s'",
				     COLUMNS_MAX, word);
			return false;
		}
		*colon = '\0';
		ret->names[ret->count] = word;
		ret->paths[ret->count++] = colon + 1;
	}
	return ret->count > 0;
}

static bool add_row(struct cli *cli, struct sheet *sheet, const struct columns *columns,
		    const struct cJSON *item)
{
	char *cells[COLUMNS_MAX] = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && i < columns->count; i++) {
		cells[i] = fill_in(cli, columns->paths[i], item);
		if (cells[i] && *cells[i] == '\0') {
			free(cells[i]);
			cells[i] = strdup("<none>");
		}
		ok = cells[i] != NULL;
	}
	if (ok)
		sheet_add(sheet, (const char *const *) cells);
	for (size_t i = 0; i < columns->count; i++)
		free(cells[i]);
	return ok;
}

int columns_show(struct cli *cli, const struct cJSON *tree)
{
	const struct cJSON *items = json_get(tree, "items");
	const struct cJSON *item = json_is_array(items) ? json_first(items) : tree;
	struct sheet *sheet = NULL;
	struct columns columns;
	bool ok = read_columns(cli, cli->template, &columns);

	if (ok)
		sheet = sheet_new(columns.names, columns.count);
	for (; ok && item; item = item == tree ? NULL : json_next(item))
		ok = add_row(cli, sheet, &columns, item);
	if (ok)
		sheet_print(cli, sheet);
	sheet_free(sheet);
	free(columns.text);
	return ok ? EXIT_DONE : EXIT_FAILED;
}

bool template_check(struct cli *cli, enum cli_format format, const char *template)
{
	struct failure why = { 0 };
	struct columns columns;
	bool ok;

	assert(cli && template);
	if (format == OUTPUT_JSONPATH) {
		if (json_path_print(NULL, template, NULL, &why) == 0)
			return true;
		cli_complain(cli, "%s", why.text);
		return false;
	}
	ok = read_columns(cli, template, &columns);
	for (size_t i = 0; ok && i < columns.count; i++) {
		ok = json_path_print(NULL, columns.paths[i], NULL, &why) == 0;
		if (!ok)
			cli_complain(cli, "%s", why.text);
	}
	free(columns.text);
	return ok;
}
