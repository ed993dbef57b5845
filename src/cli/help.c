/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help - the table of verbs as text: for people, and as lines for scripts
 */
#include "cli/verb.h"

#include "cli/output/screen.h"

#include <string.h>

enum { VERB_COLUMN = 17, OPTION_COLUMN = 27 };

/* A line that begins at @column. */
static void print_text(FILE *out, const char *text, size_t indent, size_t column)
{
	text_print_wrapped(out, text, (struct text_wrap){ column, indent, screen_width(out) });
	(void) fputc('\n', out);
}

static void print_option(FILE *out, const struct option_row *row)
{
	char left[64];

	(void) snprintf(left, sizeof(left), "%c%c%s --%s%s%s", row->letter ? '-' : ' ',
			row->letter ? row->letter : ' ', row->letter ? "," : " ", row->name,
			row->value ? "=" : "", row->value ? row->value : "");
	(void) fprintf(out, "  %-24s ", left);
	print_text(out, row->help, OPTION_COLUMN,
		   strlen(left) + 3 > OPTION_COLUMN ? strlen(left) + 3 : OPTION_COLUMN);
}

static void print_options(FILE *out, const struct option_row *const *rows)
{
	for (; *rows; rows++)
		if ((*rows)->help)
			print_option(out, *rows);
}

void help_print(FILE *out)
{
	(void) fputs("podvolctl [OPTION...] VERB [ARGUMENT...]\n\n"
		     "Show, mount and unmount the volumes of this node's pods.\n\n"
		     "Verbs:\n",
		     out);
	for (const struct verb *verb = verbs; verb->name; verb++) {
		(void) fprintf(out, "  %-14s ", verb->name);
		print_text(out, verb->help, VERB_COLUMN, VERB_COLUMN);
	}
	(void) fputs("\nOptions of every verb:\n", out);
	print_options(out, options_anywhere);
	(void) fputc('\n', out);
	print_text(out,
		   "A POD is a name, namespace/name or a uid. 'podvolctl VERB --help' lists the "
		   "options of a verb.",
		   0, 0);
	print_text(out,
		   "Exit status: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 timed out, "
		   "5 no daemon.",
		   0, 0);
}

void help_print_verb(FILE *out, const struct verb *verb)
{
	size_t column = strlen("podvolctl  [OPTION...] ") + strlen(verb->name);

	(void) fprintf(out, "podvolctl %s [OPTION...]%s", verb->name, *verb->arguments ? " " : "");
	print_text(out, verb->arguments, 10, column);
	(void) fputc('\n', out);
	print_text(out, verb->help, 0, 0);
	(void) fputs("\nOptions:\n", out);
	print_options(out, verb->options);
	print_options(out, options_anywhere);
}

int verb_help(struct cli *cli)
{
	const struct verb *verb;

	if (cli->argument_count == 0) {
		help_print(cli->out);
		return EXIT_DONE;
	}
	verb = verb_find(cli->arguments[0]);
	if (!verb)
		return cli_end(cli, EXIT_USAGE, "unknown verb '%s': see 'podvolctl help'",
			       cli->arguments[0]);
	help_print_verb(cli->out, verb);
	return EXIT_DONE;
}

void help_list_verbs(FILE *out)
{
	for (const struct verb *verb = verbs; verb->name; verb++) {
		(void) fprintf(out, "%s\t", verb->name);
		for (const struct option_row *const *row = verb->options; *row; row++)
			(void) fprintf(out, "%s%s", row == verb->options ? "" : ",", (*row)->name);
		(void) fprintf(out, "\t%s\n", verb->arguments);
	}
}
