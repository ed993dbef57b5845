/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli - podvolctl: a verb is one function and one row of the table in verbs.c
 *
 * Verbs talk to the daemon through libpodvol only; files go over as they are, the server reads
 * YAML. Results go to @out, sentences about failures to @err, and the exit status says which kind
 * of failure it was.
 */
#pragma once

#include "client/podvol.h"
#include "object/json/json.h"
#include "base/failure.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_NOT_FOUND = 3,
	EXIT_TIMED_OUT = 4,
	EXIT_UNREACHABLE = 5,
};

enum cli_format {
	OUTPUT_TABLE,
	OUTPUT_WIDE,
	OUTPUT_JSON,
	OUTPUT_YAML,
	OUTPUT_NAME,
	OUTPUT_JSONPATH,
	OUTPUT_COLUMNS,
};

struct kinds;
struct pager;
struct sheet;
struct verb;

/* One option as it was written. */
struct given_option {
	const char *name, *value; /* "" for a flag */
};

struct cli {
	FILE *out, *err;
	struct pager *pager;     /* pager.c: keeps what goes to @out; NULL mostly */
	struct podvol *podvol;   /* for verbs that need the daemon */
	const struct verb *verb; /* whose row says what may be asked below */
	int argument_count;      /* after the verb */
	char **arguments;
	struct given_option *given; /* in the order of the command line */
	size_t given_count;
	/* ---- values that an option's row has read ---- */
	const char *name_space;  /* NULL: not given */
	const char *socket_path; /* NULL: not given */
	enum cli_format format;
	bool no_headers, show_labels; /* of tables */
	const char *template;         /* of -o jsonpath= and custom-columns= */
	enum podvol_wait_for wait_for;
	unsigned int timeout_msec; /* has its default when not given */
	/* ---- what files keep for themselves ---- */
	unsigned int hurry_msec;      /* complete.c: for an answer about kinds; 0: no limit */
	struct kinds *kinds;          /* kinds.c: asked once */
	uint64_t progress_since_usec; /* progress.c: 0, nothing is waited for */
	bool progress_is_shown;
	char about[640];     /* output.c: the object that the next request is about */
	const char *where;   /* "FILE" or "FILE:LINE" before each complaint; NULL: nothing */
	size_t said_columns; /* sentence.c: of the line that is being written */
	bool said_paragraph; /* and one was ended before */
};

typedef int verb_fn(struct cli *cli);

verb_fn verb_analyze, verb_annotate, verb_apply, verb_backup, verb_check, verb_completion, verb_csi,
	verb_delete, verb_describe, verb_doctor, verb_drivers, verb_edit, verb_events,
	verb_explain_state, verb_get, verb_force_unstage, verb_help, verb_history, verb_hold,
	verb_kinds, verb_kubeconfig, verb_label, verb_mount, verb_mounts, verb_move, verb_patch,
	verb_plugin, verb_release, verb_report, verb_renew_token_key, verb_restore, verb_token,
	verb_top, verb_tree, verb_unit_name, verb_unmount, verb_version, verb_wait;

/* ---- command_line.c ---- */

/* The value of an option that the verb's row names, the last one given; NULL: not given. To ask for
 * an option that the row does not name is our mistake. */
const char *cli_value(const struct cli *cli, const char *option);

/* The value at @index of an option that may be given several times; NULL: no more. */
const char *cli_value_at(const struct cli *cli, const char *option, size_t index);

/* Was the flag given? */
bool cli_flag(const struct cli *cli, const char *option);

/* ---- output.c ---- */

/* "podvolctl: ..." on @err. */
void cli_complain(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, as the end of a verb. Return: @status, an exit status. */
int cli_end(struct cli *cli, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The next requests are about this object: a failure names it, with its namespace. @name_space "":
 * it has none. */
void cli_about(struct cli *cli, const char *singular, const char *name_space, const char *name);

/* Says why the last call failed and which exit status that is. @error: what it returned. */
int cli_failed(struct cli *cli, int error);

/* The same of what was only read: a request that is refused as such was a wrong filter. */
int cli_get_failed(struct cli *cli, int error);

/* The exit statuses alone. @status: HTTP's; 0 when there was no answer. */
int cli_exit_status(int error, int status), cli_get_status(int error, int status);

/* What of a table is shown. */
struct table_view {
	const struct podvol_table *columns; /* names and priorities: of the first of several */
	int priority;                       /* columns up to this one */
	bool with_namespace;                /* NAMESPACE before them */
	const char *prefix;                 /* before each name, such as "pod/"; "" mostly */
	bool with_labels;                   /* LABELS behind them */
};

/* Aligned columns up to @priority; @with_namespace puts NAMESPACE before them. */
void cli_print_table(struct cli *cli, const struct podvol_table *table, int priority,
		     bool with_namespace);

/* The same in steps, for rows of several answers: the columns, then one row or all. */
struct sheet *cli_table_sheet(const struct table_view *view);
void cli_table_row(struct sheet *sheet, const struct table_view *view,
		   const struct podvol_table *table, size_t row);
void cli_table_rows(struct sheet *sheet, const struct table_view *view,
		    const struct podvol_table *table);

/* One cell without its control characters: what a pod is called must not steer a terminal. */
void cli_print_text(FILE *out, const char *text);

/* ---- request.c ---- */

/* A path of the API: "%s" is an escaped text, which may have any bytes, "%u" a number. NULL: no
 * memory, or one of the texts is NULL. */
char *cli_path(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "/podvol/v1/pods/[NAMESPACE/]NAME" of a pod as cli_pod() names it, and @tail as it is. */
char *cli_pod_path(const char *pod, const char *tail);
/* The claims of a namespace. */
#define CLAIMS_PATH "/api/v1/namespaces/%s/persistentvolumeclaims"

/* What is answered, for json_free(). Return: 0; -EILSEQ it is no JSON; -ENOMEM, also where the
 * request has no path; else as podvol_request(). */
int cli_request_tree(struct cli *cli, const struct podvol_request *request, struct cJSON **ret);

#define TYPE_MERGE_PATCH "application/merge-patch+json"
/* @path, @patch: NULL: no memory. Return: an exit status. */
int cli_send_patch(struct cli *cli, const char *path, const char *type, const char *patch);

/* ---- show.c ---- */

/* "singular/NAME" on a line for each row. Rows that show no object, such as volumes, are named by
 * their unique name, or first column. */
void cli_print_names(struct cli *cli, const struct podvol_table *table, const char *singular);
/* Prints what a path answers, in the format asked for. @singular: for -o name. */
int cli_show_path(struct cli *cli, const char *path, const char *singular, bool with_namespace);

/* Warn of volumes of a pod, as cli_pod() names it, that no container uses: they are never mounted.
 * Return: whether there is one. */
bool cli_warn_of_unused(struct cli *cli, const char *pod);

/* ---- pod_list.c ---- */

/* "namespace/name" or uid as the library wants a pod, of "pod/name", too: -n counts for a plain
 * name. Return: EXIT_DONE, or an exit status after a complaint: of another kind, for one. */
int cli_pod(struct cli *cli, const char *word, char **ret);

/* "default/web" of "web"; uids stay. NULL: no memory. */
char *cli_full_pod(const char *pod);

/* cli_about() of such a name; cli_pod() does it, too. */
void cli_about_pod(struct cli *cli, const char *pod);

/* ---- first_consumer.c ---- */

/* Chooses this node for a claim that waits for its first consumer, and waits until it is bound.
 * @space: its namespace. @ret: its volume. Return: an exit status; what
 * is no such claim is complained of. */
int claim_volume_here(struct cli *cli, const char *space, const char *name, char **ret);
/* There is no volume of this name: how a claim is named. */
void claim_hint(struct cli *cli, const char *name);

/* ---- apply.c: one file's documents into the store, for the verbs apply and mount ---- */

/* Prints what became of each document. @name NULL: a complaint. Return: EXIT_DONE and @ret, or the
 * exit status after a complaint. */
int apply_file(struct cli *cli, const char *name, struct podvol_table **ret);

/* ---- token.c: named tokens of TLS clients, made by verb token and for a kubeconfig ---- */

/* By --role and --expires. @ret: {"name", "role", "token"}, for json_free_secret(). Return: an exit
 * status; EXIT_DONE it was made; else it was complained of. */
int token_create(struct cli *cli, const char *name, struct cJSON **ret);

/* ---- files.c: manifests as -f names them: a file, a directory of them, standard input ---- */

/* The files behind every -f, in order: of a directory those that end in .yaml, .yml or .json, by
 * name, and with --recursive those below it. */
struct file_list {
	char **names;
	size_t count, allocated;
};

/* Return: EXIT_DONE, or an exit status after a complaint; file_list_done() either way. */
int file_list_read(struct cli *cli, struct file_list *ret);
void file_list_done(struct file_list *list);

/* "-" is standard input. Return: 0, or a negative errno after a complaint. @ret is
 * NUL-terminated. */
/* As complaints name it: cli->where. */
const char *file_where(const char *name);
int file_read(struct cli *cli, const char *name, char **ret, size_t *ret_length);

/* ---- sentence.c ---- */

/* Sentences for people: paragraphs that break between words, and times as one says them. */

enum { SENTENCE_TIME_BYTES = 32 };

/* Adds a sentence to the paragraph; a full stop that would be doubled is not. */
void say(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Ends the paragraph. */
void say_end(struct cli *cli);

/* How long ago an RFC 3339 time was: "12 s", "3 min", "2 h 5 min", "4 days"; "" for none. */
void sentence_since(const char *time, char text[SENTENCE_TIME_BYTES]);
/* When it will be: "in 12 s", "now"; "" for none. */
void sentence_until(const char *time, char text[SENTENCE_TIME_BYTES]);
