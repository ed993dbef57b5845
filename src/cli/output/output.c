/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output - what every verb prints alike: complaints and aligned tables
 */
#include "cli/output/screen.h"
#include "cli/verb.h"

#include "base/cleanup.h"

#include <stdarg.h>
#include <string.h>

enum { STATUS_BAD_REQUEST = 400 /* HTTP's */ };

static void complain(struct cli *cli, const char *format, va_list arguments)
{
	char text[8192]; /* as much as podvol_error() says */

	(void) vsnprintf(text, sizeof(text), format, arguments);
	(void) fputs("podvolctl: ", cli->err);
	if (cli->where) {
		cli_print_text(cli->err, cli->where);
		(void) fputs(": ", cli->err);
	}
	cli_print_text(cli->err, text);
	(void) fputc('\n', cli->err);
}

void cli_complain(struct cli *cli, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	complain(cli, format, arguments);
	va_end(arguments);
}

int cli_end(struct cli *cli, int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	complain(cli, format, arguments);
	va_end(arguments);
	return status;
}

void cli_about(struct cli *cli, const char *singular, const char *name_space, const char *name)
{
	(void) snprintf(cli->about, sizeof(cli->about), "%s '%s%s%s'", singular, name_space,
			*name_space ? "/" : "", name);
}

/* A sentence that says 'namespace/name' needs nothing before it. */
static bool names_object(const char *why, const char *about)
{
	const char *quoted = strchr(about, '\'');

	return strchr(quoted, '/') && strstr(why, quoted);
}

/* One exit status per thing that a script may want to tell apart; see podvolctl(1). */
int cli_failed(struct cli *cli, int error)
{
	static const char missing[] = "not found";
	const char *why = podvol_error(cli->podvol);
	const char *end = why + strlen(why) - strlen(missing);

	if (error == -EILSEQ)
		why = "the answer is not valid JSON";
	/* Without an answer it is the daemon that failed, of no file. */
	if (podvol_status(cli->podvol) == 0)
		cli->where = NULL;
	if (!*cli->about || !*why || podvol_status(cli->podvol) == 0 ||
	    names_object(why, cli->about))
		cli_complain(cli, "%s", *why ? why : strerror(-error));
	else if (error == -ENOENT && end > why && strcmp(end, missing) == 0)
		cli_complain(cli, "%s %s", cli->about, missing);
	else
		cli_complain(cli, "%s: %s", cli->about, why);
	return cli_exit_status(error, podvol_status(cli->podvol));
}

int cli_get_status(int error, int status)
{
	return status == STATUS_BAD_REQUEST ? EXIT_USAGE : cli_exit_status(error, status);
}

/* Of one filter it is known that it is the wrong one. */
static void about_filter(struct cli *cli)
{
	static const char *const filters[] = { "selector", "field-selector" };
	const char *option = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		if (!verb_option(cli->verb, filters[i]) || !cli_flag(cli, filters[i]))
			continue;
		if (option)
			return;
		option = filters[i];
	}
	if (option)
		(void) snprintf(cli->about, sizeof(cli->about), "--%s '%s'", option,
				cli_value(cli, option));
}

int cli_get_failed(struct cli *cli, int error)
{
	if (podvol_status(cli->podvol) == STATUS_BAD_REQUEST)
		about_filter(cli);
	(void) cli_failed(cli, error);
	return cli_get_status(error, podvol_status(cli->podvol));
}

int cli_exit_status(int error, int status)
{
	if (error == -EILSEQ) /* cli_request_tree(): what answers is not podvold */
		return EXIT_UNREACHABLE;
	/* A refusal that has a status came from the daemon, so it was reached. */
	if (status == 0 && error != -ENOMEM && error != -EINVAL && error != -EOPNOTSUPP)
		return error == -ETIMEDOUT ? EXIT_TIMED_OUT : EXIT_UNREACHABLE;
	if (error == -ENOENT)
		return EXIT_NOT_FOUND;
	return error == -ETIMEDOUT ? EXIT_TIMED_OUT : EXIT_FAILED;
}

/* ---- tables ---- */

struct sheet *cli_table_sheet(const struct table_view *view)
{
	size_t count = podvol_table_columns(view->columns), shown = 0;
	cleanup_free const char **names = calloc(count + 2, sizeof(*names));

	if (!names)
		return NULL;
	if (view->with_namespace)
		names[shown++] = "Namespace";
	for (size_t i = 0; i < count; i++)
		if (podvol_table_priority(view->columns, i) <= view->priority)
			names[shown++] = podvol_table_name(view->columns, i);
	if (view->with_labels)
		names[shown++] = "Labels";
	return sheet_new(names, shown);
}

void cli_table_row(struct sheet *sheet, const struct table_view *view,
		   const struct podvol_table *table, size_t row)
{
	size_t count = podvol_table_columns(view->columns), shown = 0;
	cleanup_free const char **cells = calloc(count + 2, sizeof(*cells));
	cleanup_free char *name = NULL, *labels = NULL;

	if (!cells)
		return;
	if (view->with_namespace)
		cells[shown++] = podvol_table_row_namespace(table, row);
	for (size_t i = 0; i < count; i++)
		if (podvol_table_priority(view->columns, i) <= view->priority)
			cells[shown++] = podvol_table_cell(table, row, i);
	if (view->with_labels)
		labels = podvol_table_row_labels(table, row);
	if (view->with_labels)
		cells[shown++] = labels && *labels ? labels : "<none>";
	/* Events and the like begin with something else. */
	if (*view->prefix && strcmp(podvol_table_name(view->columns, 0), "Name") == 0 &&
	    asprintf(&name, "%s%s", view->prefix, cells[view->with_namespace]) >= 0)
		cells[view->with_namespace] = name;
	sheet_add(sheet, cells);
}

void cli_table_rows(struct sheet *sheet, const struct table_view *view,
		    const struct podvol_table *table)
{
	for (size_t row = 0; row < podvol_table_rows(table); row++)
		cli_table_row(sheet, view, table, row);
}

void cli_print_table(struct cli *cli, const struct podvol_table *table, int priority,
		     bool with_namespace)
{
	const struct table_view view = { table, priority, with_namespace, "", false };
	struct sheet *sheet = cli_table_sheet(&view);

	cli_table_rows(sheet, &view, table);
	sheet_print(cli, sheet);
	sheet_free(sheet);
}
