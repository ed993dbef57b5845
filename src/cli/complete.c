/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete - candidates for the next word of a command line, for the shells' completion
 *
 * Verbs and options come from the table, kinds and names from the daemon, with a time limit of half
 * a second and without messages, so that a key press never waits for a stuck daemon. Prints one
 * candidate a line: word, tab, description; ":file" and ":directory" delegate to the shell.
 */
#include "cli/kinds.h"
#include "cli/verb.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <string.h>

#define TYPE_TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"

enum { HURRY_MSEC = 500 };

struct completion {
	struct cli *cli;
	const char *word;               /* that is being written */
	const char *prefix;             /* "--output=": before each candidate */
	const struct verb *verb;        /* NULL: not written yet */
	const struct option_row *value; /* whose value the word is; NULL: none */
	const char *kind;               /* the verb's first argument */
	int arguments;                  /* of the verb, before the word */
};

static void offer(const struct completion *completion, const char *candidate, const char *what)
{
	FILE *out = completion->cli->out;

	if (strncmp(candidate, completion->word, strlen(completion->word)) != 0)
		return;
	(void) fputs(completion->prefix, out);
	cli_print_text(out, candidate);
	(void) fputc('\t', out);
	cli_print_text(out, what);
	(void) fputc('\n', out);
}

/* ---- from the table ---- */

static void offer_verbs(const struct completion *completion)
{
	for (const struct verb *verb = verbs; verb->name; verb++)
		offer(completion, verb->name, verb->help);
}

static void offer_rows(const struct completion *completion, const struct option_row *const *rows)
{
	for (; rows && *rows; rows++) {
		char text[64];

		if (!(*rows)->help)
			continue;
		(void) snprintf(text, sizeof(text), "--%s%s", (*rows)->name,
				(*rows)->value ? "=" : "");
		offer(completion, text, (*rows)->help);
	}
}

static void offer_choices(const struct completion *completion, const char *choices)
{
	cleanup_free char *words = strdup(choices);
	char *rest = words, *word;

	while (rest && (word = strsep(&rest, " ")))
		offer(completion, word, "");
}

/* ---- from the daemon ---- */

static void offer_kinds(const struct completion *completion)
{
	if (kinds_load(completion->cli) != EXIT_DONE)
		(void) 0; /* its own views are known without the daemon */
	for (size_t i = 0; kinds_at(completion->cli, i); i++) {
		const struct kind *kind = kinds_at(completion->cli, i);

		offer(completion, kind->plural, kind->short_names[0] ? kind->short_names[0] : "");
	}
}

static struct podvol_table *get_table(struct cli *cli, const char *path)
{
	const struct podvol_request request = {
		.method = "GET", .path = path, .accept = TYPE_TABLE, .timeout_msec = HURRY_MSEC
	};
	struct podvol_table *table = NULL;
	struct podvol_reply reply = { 0 };

	if (podvol_request(cli->podvol, &request, &reply) == 0)
		(void) podvol_table_parse(reply.body, reply.length, &table);
	podvol_reply_done(&reply);
	return table;
}

/* @before: put before each name, "pod/"; @everywhere: of all namespaces, as NAMESPACE/NAME. */
static void offer_names(const struct completion *completion, const char *kind_word,
			const char *before, bool everywhere)
{
	struct cli *cli = completion->cli;
	const char *name_space = cli->name_space ? cli->name_space : "default";
	cleanup_free char *path = NULL;
	struct podvol_table *table;
	const struct kind *kind;

	if (kinds_find(cli, kind_word, &kind) != EXIT_DONE)
		return;
	path = kinds_path(kind, everywhere ? NULL : name_space, NULL, NULL);
	table = path ? get_table(cli, path) : NULL;
	for (size_t row = 0; row < podvol_table_rows(table); row++) {
		cleanup_free char *text = NULL;

		text = new_text("%s%s%s%s", before,
				everywhere ? podvol_table_row_namespace(table, row) : "",
				everywhere ? "/" : "", podvol_table_row_name(table, row));
		if (text && *podvol_table_row_name(table, row))
			offer(completion, text, kind->singular);
	}
	podvol_table_free(table);
}

/* One that has two sockets is listed twice, one behind the other; one that is not known yet has no
 * name. Built-in plugins are no drivers: there is a slash in their names. */
static void offer_drivers(const struct completion *completion)
{
	struct podvol_table *table = get_table(completion->cli, "/podvol/v1/drivers");
	size_t column = table ? podvol_table_find(table, "Name") : 0;
	const char *before = "";

	for (size_t row = 0; row < podvol_table_rows(table); row++) {
		const char *name = podvol_table_cell(table, row, column);

		if (*name && !strchr(name, '/') && strcmp(name, before) != 0)
			offer(completion, name, "driver");
		before = name;
	}
	podvol_table_free(table);
}

/* "pod/we": KIND/NAME. */
static void offer_pairs(const struct completion *completion)
{
	const char *slash = strchr(completion->word, '/');
	cleanup_free char *kind = strndup(completion->word, (size_t) (slash - completion->word));
	cleanup_free char *before = NULL;

	if (!kind || !(before = new_text("%s/", kind)))
		return;
	offer_names(completion, kind, before, false);
}

/* ---- one word ---- */

static void offer_words(const struct completion *completion, enum word word, const char *choices)
{
	bool has_slash = strchr(completion->word, '/');

	switch (word) {
	case WORD_KIND:
		if (has_slash)
			offer_pairs(completion);
		else
			offer_kinds(completion);
		break;
	case WORD_NAME:
		if (has_slash)
			offer_pairs(completion);
		else
			offer_names(completion, completion->kind, "", false);
		break;
	case WORD_POD:
		offer_names(completion, "pods", "", has_slash);
		break;
	case WORD_VERB:
		offer_verbs(completion);
		break;
	case WORD_NAMESPACE:
		offer_names(completion, "namespaces", "", false);
		break;
	case WORD_FILE:
		(void) fputs(":file\n", completion->cli->out);
		break;
	case WORD_DIRECTORY:
		(void) fputs(":directory\n", completion->cli->out);
		break;
	case WORD_CHOICE:
		offer_choices(completion, choices);
		break;
	case WORD_DRIVER:
		offer_drivers(completion);
		break;
	case WORD_FREE:
	case WORD_NONE:
	case WORD_COUNT:
		break;
	}
}

/* The last kind repeats for as many arguments as the verb takes. */
static void offer_argument(const struct completion *completion)
{
	const struct verb *verb = completion->verb;
	int last = 0;

	if (verb->max >= 0 && completion->arguments >= verb->max)
		return;
	while (last + 1 < VERB_WORDS_MAX && verb->words[last + 1] != WORD_NONE)
		last++;
	if (completion->arguments < last)
		last = completion->arguments;
	offer_words(completion, verb->words[last], verb->choices);
}

/* ---- the words before ---- */

/* A letter or name of any verb's; "--name=value" without its value. */
static const struct option_row *find_row(const char *word)
{
	size_t count = options_of_all(NULL), length;
	cleanup_free const struct option_row **rows = calloc(count, sizeof(*rows));

	if (!rows)
		return NULL;
	(void) options_of_all(rows);
	length = strcspn(word, "=");
	for (size_t i = 0; i < count; i++) {
		bool is_long = strncmp(word, "--", 2) == 0;

		if (is_long && strlen(rows[i]->name) == length - 2 &&
		    strncmp(word + 2, rows[i]->name, length - 2) == 0)
			return rows[i];
		if (!is_long && rows[i]->letter && word[1] == rows[i]->letter && !word[2])
			return rows[i];
	}
	return NULL;
}

static void take_value(struct completion *completion, const struct option_row *row,
		       const char *value)
{
	if (strcmp(row->name, "namespace") == 0)
		completion->cli->name_space = value;
	if (strcmp(row->name, "socket") == 0)
		completion->cli->socket_path = value;
}

/* Everything before the word: verb, arguments, and whether the last one waits for its value. */
static void read_words(struct completion *completion, int count, char **words)
{
	const struct option_row *open = NULL;

	for (int i = 0; i < count; i++) {
		const char *equals = strchr(words[i], '=');

		if (open) {
			take_value(completion, open, words[i]);
			open = NULL;
		} else if (words[i][0] == '-' && words[i][1]) {
			open = find_row(words[i]);
			if (open && equals)
				take_value(completion, open, equals + 1);
			if (equals || (open && !open->value))
				open = NULL;
		} else if (!completion->verb) {
			completion->verb = verb_find(words[i]);
		} else {
			if (completion->arguments++ == 0)
				completion->kind = words[i];
		}
	}
	completion->value = open;
}

/* "--output=ta": the value of an option in the same word. */
static void split_word(struct completion *completion, char *prefix, size_t size)
{
	const char *equals = strchr(completion->word, '=');

	if (completion->value || !equals || strncmp(completion->word, "--", 2) != 0)
		return;
	completion->value = find_row(completion->word);
	(void) snprintf(prefix, size, "%.*s", (int) (equals + 1 - completion->word),
			completion->word);
	completion->prefix = prefix;
	completion->word = equals + 1;
}

int complete(struct cli *cli, int count, char **words)
{
	struct completion completion = { .cli = cli, .word = "", .prefix = "", .kind = "" };
	char prefix[64];

	if (count > 0)
		completion.word = words[count - 1];
	read_words(&completion, count - 1, words);
	split_word(&completion, prefix, sizeof(prefix));
	cli->hurry_msec = HURRY_MSEC;
	if (podvol_connect(cli->socket_path, &cli->podvol) < 0)
		return EXIT_USAGE;
	if (completion.value) {
		/* The verb's own row knows what its value may be. */
		const struct option_row *row = verb_option(completion.verb, completion.value->name);

		row = row ? row : completion.value;
		offer_words(&completion, row->word, row->choices);
	} else if (completion.word[0] == '-') {
		offer_rows(&completion, completion.verb ? completion.verb->options : NULL);
		offer_rows(&completion, options_anywhere);
	} else if (!completion.verb) {
		offer_verbs(&completion);
	} else {
		offer_argument(&completion);
	}
	podvol_free(cli->podvol);
	return EXIT_DONE;
}
