/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb - one row per verb: what it takes, what it may be asked, who does it
 *
 * Dispatch, the check of the command line, --help, --list-verbs and completion all come from the
 * rows of verbs.c; nothing else lists verbs or options. A new verb is one file, one prototype in
 * cli.h and one row. An option that several verbs take is one row that they share; an option of one
 * verb may reuse a name with other words of help, as long as letter and value stay alike.
 */
#pragma once

#include "cli/cli.h"

enum { VERB_WORDS_MAX = 3 };

/* What completion offers where a word is to be written. */
enum word {
	WORD_NONE,
	WORD_KIND,   /* of objects and views */
	WORD_NAME,   /* of an object of the kind that was written before it */
	WORD_POD,    /* of the namespace asked for */
	WORD_DRIVER, /* of CSI, that is known on this node */
	WORD_VERB,
	WORD_NAMESPACE, /* that some object is in */
	WORD_FILE,
	WORD_DIRECTORY,
	WORD_CHOICE, /* one of the row's choices */
	WORD_FREE,   /* nothing is known of it */
	WORD_COUNT
};

struct option_row {
	const char *name;
	char letter;       /* 0: none */
	const char *value; /* how help calls it; NULL: a flag */
	const char *help;  /* NULL: hidden */
	enum word word;
	const char *choices; /* for WORD_CHOICE, separated by blanks */
	/* Reads the value into @cli; false after a complaint. NULL: the verb reads it, by
	 * cli_value() or cli_flag(). */
	bool (*take)(struct cli *cli, const char *value);
};

struct verb {
	const char *name, *arguments;            /* the second as help writes it */
	int min, max;                            /* arguments; @max negative: any number */
	const struct option_row *const *options; /* ended by NULL; those of every verb left out */
	enum word words[VERB_WORDS_MAX];         /* of its arguments; the last one goes on */
	const char *choices;                     /* of its first, when that is WORD_CHOICE */
	verb_fn *run;
	const char *help;
	bool is_paged;              /* prints as much as there is, and ends, unless it watches */
	const char *without_daemon; /* the flag that makes it do without; "": it always does; NULL:
				       it never does */
};

/* The table; ended by a row without a name. */
extern const struct verb verbs[];

/* Options of every verb; ended by NULL. */
extern const struct option_row *const options_anywhere[];

/* By its name; NULL: none. */
const struct verb *verb_find(const char *name);

/* The option of this name that @verb takes, or every verb does; NULL: none. @verb may be NULL. */
const struct option_row *verb_option(const struct verb *verb, const char *name);

/* Every option of any verb once, in the order of the table; the number of them. @ret may be NULL;
 * else it has room for that many. */
size_t options_of_all(const struct option_row **ret);

/* ---- option_values.c: false after a complaint ---- */

bool option_take_format(struct cli *cli, const char *text);
bool option_take_any_format(struct cli *cli, const char *text);
bool option_take_wide(struct cli *cli, const char *text);
bool option_take_socket(struct cli *cli, const char *text);
bool option_take_namespace(struct cli *cli, const char *text);
bool option_take_show_labels(struct cli *cli, const char *text);
bool option_take_no_headers(struct cli *cli, const char *text);
bool option_take_timeout(struct cli *cli, const char *text);
bool option_take_wait_for(struct cli *cli, const char *text);
bool option_take_tree_format(struct cli *cli, const char *text);

/* ---- help.c ---- */
void help_print(FILE *out);
void help_print_verb(FILE *out, const struct verb *verb);
/* For scripts: verb, its options joined by commas, its arguments; tabs between. */
void help_list_verbs(FILE *out);

/* ---- complete.c ---- */

/* What the last of the words may become, for completion by a shell. Return: an exit status. */
int complete(struct cli *cli, int count, char **words);

/* ---- command_line.c ---- */

/* Reads all words into @cli. Return: EXIT_DONE and the verb, NULL when none is named; else an exit
 * status after a complaint. */
int command_line_read(struct cli *cli, int argc, char **argv, const struct verb **ret);

/* Are number of arguments and options right for the verb? False after a complaint. */
bool command_line_check(struct cli *cli, const struct verb *verb);

/* Gives the values to those options that read them. False after a complaint. */
bool command_line_take(struct cli *cli, const struct verb *verb);
