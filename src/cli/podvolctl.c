/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podvolctl - asks podvold and tells people: one table of options, one table of verbs
 *
 * A row of the verbs feeds dispatch, the check of arguments and options, --help and --list-verbs. A
 * new verb is a function and a row. Usage is printed only when asked for; a wrong call gets one
 * sentence.
 */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/duration.h"

#include <assert.h>
#include <getopt.h>
#include <limits.h>
#include <string.h>

enum { WAIT_DEFAULT_MSEC = 30000 };

/* ---- options ---- */

enum option_id {
	OPTION_HELP,
	OPTION_SOCKET,
	OPTION_OUTPUT,
	OPTION_NAMESPACE,
	OPTION_ALL,
	OPTION_FILE,
	OPTION_WAIT,
	OPTION_FOR,
	OPTION_TIMEOUT,
	OPTION_DIRECT,
	OPTION_ROOT_DIR,
	OPTION_LIST_VERBS,
	OPTION_COUNT
};

#define SET(option) (1U << (option))

/* Options of every verb. */
#define ANYWHERE (SET(OPTION_HELP) | SET(OPTION_SOCKET) | SET(OPTION_LIST_VERBS))

static const struct option_row {
	char letter;                        /* 0: none */
	const char *name, *argument, *help; /* @argument NULL: a flag; @help NULL: hidden */
} option_rows[OPTION_COUNT] = {
	[OPTION_HELP] = { 'h', "help", NULL, "print what there is and exit" },
	[OPTION_SOCKET] = { 0, "socket", "PATH",
			    "where the daemon listens; else $PODVOL_SOCKET, else "
			    "" PODVOL_SOCKET_DEFAULT },
	[OPTION_OUTPUT] = { 'o', "output", "FORMAT", "table, wide, json, yaml or name" },
	[OPTION_NAMESPACE] = { 'n', "namespace", "NS", "of objects and pods; else 'default'" },
	[OPTION_ALL] = { 'A', "all-namespaces", NULL, "objects of every namespace" },
	[OPTION_FILE] = { 'f', "filename", "FILE", "manifests, YAML or JSON; - is standard input" },
	[OPTION_WAIT] = { 0, "wait", NULL, "return when it is done, or say why it is not" },
	[OPTION_FOR] = { 0, "for", "WHAT", "mounted (default) or unmounted" },
	[OPTION_TIMEOUT] = { 0, "timeout", "D", "how long to wait: 30s (default), 2m, 1h" },
	[OPTION_DIRECT] = { 0, "direct", NULL, "one volume, by its plugin, without a daemon" },
	[OPTION_ROOT_DIR] = { 0, "root-dir", "DIR",
			      "whose lock --direct takes; else /var/lib/kubelet" },
	[OPTION_LIST_VERBS] = { 0, "list-verbs", NULL, NULL },
};

/* ---- verbs ---- */

#define SHOWS    SET(OPTION_OUTPUT)
#define IN_SPACE SET(OPTION_NAMESPACE)
#define WAITS    (SET(OPTION_WAIT) | SET(OPTION_TIMEOUT))
#define DIRECTLY (SET(OPTION_DIRECT) | SET(OPTION_ROOT_DIR))

static const struct verb {
	const char *name, *arguments;
	int min, max;
	unsigned int options;
	verb_fn *function;
	const char *help;
} verbs[] = {
	{ "get", "KIND [NAME]", 1, 2, SHOWS | IN_SPACE | SET(OPTION_ALL), verb_get,
	  "list pods, volumes, pv, pvc, sc, events, manifests or operations" },
	{ "describe", "KIND NAME", 2, 2, IN_SPACE, verb_describe,
	  "all that is known about a pod or a volume" },
	{ "mounts", "POD", 1, 1, SHOWS | IN_SPACE, verb_mounts,
	  "the volumes of a pod: which path, how, since when" },
	{ "mount", "-f FILE | --direct -f FILE TARGET", 0, 1, SET(OPTION_FILE) | WAITS | DIRECTLY,
	  verb_mount, "store claims and volumes of a file, then its pods, which mounts them" },
	{ "unmount", "POD | --direct TARGET", 1, 1, IN_SPACE | WAITS | DIRECTLY, verb_unmount,
	  "delete a pod, so that its volumes are unmounted" },
	{ "wait", "POD", 1, 1, IN_SPACE | SET(OPTION_FOR) | SET(OPTION_TIMEOUT), verb_wait,
	  "return when a pod's volumes are mounted, or gone" },
	{ "apply", "-f FILE", 0, 0, SET(OPTION_FILE), verb_apply,
	  "create or update the objects of a file" },
	{ "delete", "KIND NAME", 2, 2, IN_SPACE, verb_delete, "delete a stored object" },
	{ "events", "", 0, 0, SHOWS | IN_SPACE, verb_events,
	  "what happened to pods and volumes, newest last" },
	{ "version", "", 0, 0, SHOWS, verb_version, "versions of command and daemon" },
};

/* ---- help ---- */

static void print_option(FILE *out, const struct option_row *row)
{
	char left[64];

	(void) snprintf(left, sizeof(left), "%c%c%s --%s%s%s", row->letter ? '-' : ' ',
			row->letter ? row->letter : ' ', row->letter ? "," : " ", row->name,
			row->argument ? "=" : "", row->argument ? row->argument : "");
	(void) fprintf(out, "  %-24s %s\n", left, row->help);
}

static void print_options(FILE *out, unsigned int set)
{
	(void) fputs("\nOptions:\n", out);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if ((set & SET(i)) && option_rows[i].help)
			print_option(out, &option_rows[i]);
}

static void print_help(FILE *out)
{
	(void) fputs("podvolctl [OPTION...] VERB [ARGUMENT...]\n\n"
		     "Looks at the volumes of this node's pods, mounts and unmounts them.\n\n"
		     "Verbs:\n",
		     out);
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		(void) fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].help);
	print_options(out, ~0U);
	(void) fputs("\nA POD is a name, namespace/name or a uid. "
		     "'podvolctl VERB --help' says more about a verb.\n"
		     "Exit status: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 timed out, "
		     "5 no daemon.\n",
		     out);
}

static void print_verb_help(FILE *out, const struct verb *verb)
{
	(void) fprintf(out, "podvolctl %s [OPTION...]%s%s\n\n%s\n", verb->name,
		       *verb->arguments ? " " : "", verb->arguments, verb->help);
	print_options(out, verb->options | (ANYWHERE & ~SET(OPTION_LIST_VERBS)));
}

/* For scripts: verb, its options joined by commas, its arguments; tabs between. */
static void list_verbs(FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		const char *comma = "";

		(void) fprintf(out, "%s\t", verbs[i].name);
		for (size_t k = 0; k < OPTION_COUNT; k++) {
			if (!(verbs[i].options & SET(k)))
				continue;
			(void) fprintf(out, "%s%s", comma, option_rows[k].name);
			comma = ",";
		}
		(void) fprintf(out, "\t%s\n", verbs[i].arguments);
	}
}

/* ---- reading the command line ---- */

static bool parse_format(struct cli *cli, const char *text)
{
	static const char *const names[] = {
		[OUTPUT_TABLE] = "table", [OUTPUT_WIDE] = "wide", [OUTPUT_JSON] = "json",
		[OUTPUT_YAML] = "yaml",   [OUTPUT_NAME] = "name",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], text) == 0) {
			cli->format = (enum cli_format) i;
			return true;
		}
	}
	cli_complain(cli, "--output '%s' is none of table, wide, json, yaml, name", text);
	return false;
}

static bool parse_timeout(struct cli *cli, const char *text)
{
	uint64_t usec;

	if (duration_parse(text, &usec) < 0 || usec / 1000 > INT_MAX) {
		cli_complain(cli, "--timeout '%s' is no duration: write 30s, 2m or 1h", text);
		return false;
	}
	cli->timeout_msec = (unsigned int) (usec / 1000);
	cli->wait = true; /* a time-out is for waiting */
	return true;
}

static bool parse_for(struct cli *cli, const char *text)
{
	if (strcmp(text, "mounted") != 0 && strcmp(text, "unmounted") != 0) {
		cli_complain(cli, "--for '%s' is neither 'mounted' nor 'unmounted'", text);
		return false;
	}
	cli->wait_for = *text == 'm' ? PODVOL_MOUNTED : PODVOL_UNMOUNTED;
	return true;
}

static bool take_option(struct cli *cli, enum option_id id, const char *value)
{
	switch (id) {
	case OPTION_SOCKET:
		cli->socket_path = value;
		return true;
	case OPTION_OUTPUT:
		return parse_format(cli, value);
	case OPTION_NAMESPACE:
		if (*value == '\0')
			cli_complain(cli, "--namespace is empty: name one, or leave it out");
		cli->name_space = value;
		return *value != '\0';
	case OPTION_ALL:
		cli->all_namespaces = true;
		return true;
	case OPTION_FILE:
		cli->file = value;
		return true;
	case OPTION_WAIT:
		cli->wait = true;
		return true;
	case OPTION_FOR:
		return parse_for(cli, value);
	case OPTION_TIMEOUT:
		return parse_timeout(cli, value);
	case OPTION_DIRECT:
		cli->direct = true;
		return true;
	case OPTION_ROOT_DIR:
		cli->root_dir = value;
		return true;
	case OPTION_HELP:
	case OPTION_LIST_VERBS:
	case OPTION_COUNT:
		break;
	}
	return true;
}

/* getopt's two lists, made from ours: every short option is its row's letter. */
static void make_getopt_tables(struct option *long_options, char *short_options)
{
	*short_options++ = ':'; /* tell a missing argument from an unknown option */
	for (int i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &option_rows[i];

		long_options[i] = (struct option){
			.name = row->name,
			.has_arg = row->argument ? required_argument : no_argument,
			.val = UCHAR_MAX + 1 + i,
		};
		if (row->letter)
			*short_options++ = row->letter;
		if (row->letter && row->argument)
			*short_options++ = ':';
	}
	long_options[OPTION_COUNT] = (struct option){ 0 };
	*short_options = '\0';
}

static enum option_id option_of(int value)
{
	if (value > UCHAR_MAX)
		return (enum option_id)(value - UCHAR_MAX - 1);
	for (int i = 0; i < OPTION_COUNT; i++)
		if (option_rows[i].letter == value)
			return (enum option_id) i;
	return OPTION_COUNT;
}

/* Return: EXIT_DONE, and the set of options that were given. */
static int read_options(struct cli *cli, int argc, char **argv, unsigned int *ret_given)
{
	struct option long_options[OPTION_COUNT + 1];
	char short_options[2 * OPTION_COUNT + 2];
	int value;

	make_getopt_tables(long_options, short_options);
	*ret_given = 0;
	opterr = 0;
	optind = 0; /* start over, also when called twice */
	while ((value = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
		enum option_id id;

		if (value == '?' || value == ':') {
			cli_complain(cli,
				     value == ':' ? "option '%s' needs a value"
						  : "there is no option '%s': 'podvolctl "
						    "--help' lists them",
				     argv[optind - 1]);
			return EXIT_USAGE;
		}
		id = option_of(value);
		assert(id < OPTION_COUNT);
		*ret_given |= SET(id);
		if (!take_option(cli, id, optarg))
			return EXIT_USAGE;
	}
	return EXIT_DONE;
}

static const struct verb *find_verb(struct cli *cli, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	cli_complain(cli, "there is no verb '%s': 'podvolctl --help' lists them", name);
	return NULL;
}

static bool check_call(struct cli *cli, const struct verb *verb, unsigned int given)
{
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		if ((given & SET(i)) && !((verb->options | ANYWHERE) & SET(i))) {
			cli_complain(cli, "'%s' knows no option '--%s'", verb->name,
				     option_rows[i].name);
			return false;
		}
	}
	if (cli->argument_count >= verb->min && cli->argument_count <= verb->max)
		return true;
	cli_complain(cli, "'%s' takes %s%s", verb->name,
		     *verb->arguments ? verb->arguments : "no argument",
		     cli->argument_count > verb->max ? "" : ", and something is missing");
	return false;
}

static int run_verb(struct cli *cli, const struct verb *verb)
{
	int status, r;

	if (!cli->direct) {
		r = podvol_connect(cli->socket_path, &cli->podvol);
		if (r < 0) {
			cli_complain(cli, "cannot use the socket '%s': %s",
				     cli->socket_path ? cli->socket_path : "$PODVOL_SOCKET",
				     r == -EINVAL ? "an absolute path is needed" : strerror(-r));
			return EXIT_USAGE;
		}
	}
	status = verb->function(cli);
	podvol_free(cli->podvol);
	/* A full disk or closed pipe must not look like success. */
	if (fflush(cli->out) != 0 || ferror(cli->out))
		return status == EXIT_DONE ? EXIT_FAILED : status;
	return status;
}

int main(int argc, char **argv)
{
	struct cli cli = { .out = stdout,
			   .err = stderr,
			   .root_dir = "/var/lib/kubelet",
			   .timeout_msec = WAIT_DEFAULT_MSEC };
	const struct verb *verb = NULL;
	unsigned int given;
	int status;

	status = read_options(&cli, argc, argv, &given);
	if (status != EXIT_DONE)
		return status;
	if (given & SET(OPTION_LIST_VERBS)) {
		list_verbs(cli.out);
		return EXIT_DONE;
	}
	if (optind < argc) {
		verb = find_verb(&cli, argv[optind]);
		if (!verb)
			return EXIT_USAGE;
		cli.arguments = argv + optind + 1;
		cli.argument_count = argc - optind - 1;
	}
	if (given & SET(OPTION_HELP)) {
		if (verb)
			print_verb_help(cli.out, verb);
		else
			print_help(cli.out);
		return EXIT_DONE;
	}
	if (!verb) {
		cli_complain(&cli, "which verb? 'podvolctl --help' lists them");
		return EXIT_USAGE;
	}
	return check_call(&cli, verb, given) ? run_verb(&cli, verb) : EXIT_USAGE;
}
