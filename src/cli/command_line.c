/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_line - options and arguments, read by the table of verbs
 *
 * Options may stand before and after the verb, so they are read before it is known, by the options
 * of all verbs together; then the verb's row says whether they fit.
 */
#include "cli/verb.h"

#include "base/cleanup.h"

#include <assert.h>
#include <getopt.h>
#include <limits.h>
#include <string.h>

/* ---- what was given ---- */

const char *cli_value_at(const struct cli *cli, const char *option, size_t index)
{
	assert(cli && verb_option(cli->verb, option));
	for (size_t i = 0; i < cli->given_count; i++)
		if (strcmp(cli->given[i].name, option) == 0 && index-- == 0)
			return cli->given[i].value;
	return NULL;
}

const char *cli_value(const struct cli *cli, const char *option)
{
	const char *value = NULL, *next;

	for (size_t i = 0; (next = cli_value_at(cli, option, i)); i++)
		value = next;
	return value;
}

bool cli_flag(const struct cli *cli, const char *option)
{
	return cli_value_at(cli, option, 0) != NULL;
}

/* ---- reading ---- */

/* getopt's two lists, made from the rows: every short option is its row's letter. */
static void make_getopt_tables(const struct option_row *const *rows, size_t count,
			       struct option *long_options, char *short_options)
{
	*short_options++ = ':'; /* tell a missing value from an unknown option */
	for (size_t i = 0; i < count; i++) {
		long_options[i] = (struct option){
			.name = rows[i]->name,
			.has_arg = rows[i]->value ? required_argument : no_argument,
			.val = UCHAR_MAX + 1 + (int) i,
		};
		if (rows[i]->letter)
			*short_options++ = rows[i]->letter;
		if (rows[i]->letter && rows[i]->value)
			*short_options++ = ':';
	}
	long_options[count] = (struct option){ 0 };
	*short_options = '\0';
}

static const struct option_row *row_of(const struct option_row *const *rows, size_t count,
				       int value)
{
	if (value > UCHAR_MAX)
		return rows[value - UCHAR_MAX - 1];
	for (size_t i = 0; i < count; i++)
		if (rows[i]->letter == value)
			return rows[i];
	assert(!"getopt answers with our letters only");
	return NULL;
}

/* Of the verb, wherever it stands; mostly it is the first word. */
static int refuse_unknown(struct cli *cli, int argc, char **argv)
{
	const char *option = argv[optind - 1];
	const struct verb *verb = NULL;

	for (int i = 1; i < argc && !verb; i++)
		verb = verb_find(argv[i]);
	return cli_end(cli, EXIT_USAGE, "unknown option '%s': see 'podvolctl %s%s--help'", option,
		       verb ? verb->name : "", verb ? " " : "");
}

static int read_options(struct cli *cli, int argc, char **argv)
{
	size_t count = options_of_all(NULL);
	cleanup_free const struct option_row **rows = calloc(count, sizeof(*rows));
	cleanup_free struct option *long_options = calloc(count + 1, sizeof(*long_options));
	cleanup_free char *short_options = calloc(count + 1, 2);
	int value;

	cli->given = calloc((size_t) argc + 1, sizeof(*cli->given));
	if (!rows || !long_options || !short_options || !cli->given)
		return cli_end(cli, EXIT_FAILED, "out of memory");
	(void) options_of_all(rows);
	make_getopt_tables(rows, count, long_options, short_options);
	opterr = 0;
	optind = 0; /* start over, also when called twice */
	while ((value = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
		struct given_option *given;

		if (value == '?')
			return refuse_unknown(cli, argc, argv);
		if (value == ':')
			return cli_end(cli, EXIT_USAGE, "option '%s' needs a value",
				       argv[optind - 1]);
		/* "-ab" is two options in one word. */
		given = reallocarray(cli->given, cli->given_count + 1, sizeof(*given));
		if (!given)
			return cli_end(cli, EXIT_FAILED, "out of memory");
		cli->given = given;
		given[cli->given_count++] = (struct given_option){
			.name = row_of(rows, count, value)->name,
			.value = optarg ? optarg : "",
		};
	}
	return EXIT_DONE;
}

int command_line_read(struct cli *cli, int argc, char **argv, const struct verb **ret)
{
	int status;

	assert(cli && argv && ret);
	status = read_options(cli, argc, argv);
	if (status != EXIT_DONE)
		return status;
	if (optind < argc) {
		*ret = verb_find(argv[optind]);
		if (!*ret)
			return cli_end(cli, EXIT_USAGE, "unknown verb '%s': see 'podvolctl --help'",
				       argv[optind]);
		cli->arguments = argv + optind + 1;
		cli->argument_count = argc - optind - 1;
	}
	return EXIT_DONE;
}

/* ---- checking ---- */

bool command_line_check(struct cli *cli, const struct verb *verb)
{
	bool too_many;

	assert(cli && verb);
	for (size_t i = 0; i < cli->given_count; i++) {
		if (!verb_option(verb, cli->given[i].name)) {
			cli_complain(cli, "'%s' has no option '--%s'", verb->name,
				     cli->given[i].name);
			return false;
		}
	}
	too_many = verb->max >= 0 && cli->argument_count > verb->max;
	if (cli->argument_count >= verb->min && !too_many)
		return true;
	if (too_many)
		cli_complain(cli, "'%s' takes %s", verb->name,
			     *verb->arguments ? verb->arguments : "no argument");
	else
		cli_complain(cli, "'%s' needs %s: see 'podvolctl %s --help'", verb->name,
			     verb->arguments, verb->name);
	return false;
}

bool command_line_take(struct cli *cli, const struct verb *verb)
{
	assert(cli && verb);
	for (size_t i = 0; i < cli->given_count; i++) {
		const struct option_row *row = verb_option(verb, cli->given[i].name);

		if (row && row->take && !row->take(cli, cli->given[i].value))
			return false;
	}
	return true;
}
