/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get - what the files behind the verb get know of each other
 */
#pragma once

#include "cli/cli.h"
#include "object/json/json.h"

struct kind;

struct get_target {
	const struct kind *kind;
	const char *name; /* NULL: all of them */
};

struct get_request {
	struct get_target *wanted;
	size_t count;
	const char *name_space;
	bool everywhere;
	char *query;      /* selectors of objects, escaped; NULL mostly */
	char *view_query; /* the same of views */
	char *words;      /* what kinds were read from */
};

/* ---- get.c ---- */

/* From words, ended by NULL, "KIND[,KIND...] [NAME...]" or "KIND/NAME...": no option but the
 * namespace counts. Words of pairs are taken apart in place. Return: EXIT_DONE, or an exit status
 * after a complaint; get_request_done() either way. */
int get_targets_read(struct cli *cli, char **words, struct get_request *ret);
/* The same, and each has a name and is a stored object. */
int get_named_read(struct cli *cli, char **words, struct get_request *ret);
/* --selector of the verb, for stored objects without names. Return: as above. */
int get_selector_read(struct cli *cli, struct get_request *request);
void get_request_done(struct get_request *request);
/* NULL: no memory. */
char *get_path(const struct get_request *request, const struct get_target *target);
/* cli_about() of a target; nothing of a list. */
void get_about(struct cli *cli, const struct get_request *request, const struct get_target *target);
/* "No pods found in namespace 'far'." */
void get_say_none(const struct cli *cli, const struct get_request *request);
/* What a path answers. Return: EXIT_DONE, or an exit status after a complaint. */
int get_tree(struct cli *cli, const char *path, struct cJSON **ret);

/* In the format of -o, which is not a table. */
int show_tree(struct cli *cli, const struct cJSON *tree);

/* The same, and EXIT_DONE with @ret as it was when nothing is there. */
int get_tree_if_there(struct cli *cli, const char *path, struct cJSON **ret);

/* ---- template.c ---- */

/* Can -o jsonpath= or custom-columns= with this text be served? False after a complaint. */
bool template_check(struct cli *cli, enum cli_format format, const char *template);
int template_show(struct cli *cli, const struct cJSON *tree);
int columns_show(struct cli *cli, const struct cJSON *tree);

/* ---- json_path.c: kubectl's templates over JSON, as far as scripts use them ---- */

/* Served: {.a.b}, {$.a}, {@.a}, {.a['x/y']}, [0], [-1], [*], {range PATH}...{end}, {"text\n"}
 * and text around them. Refused by name: filters [?()], recursive descent (..), slices and
 * unions, which kubectl has over the daemon's TLS address. */

/**
 * json_path_print - a template, filled in
 * @out:      NULL: only see whether the template can be served
 * @template: "{.metadata.name}", or a bare ".metadata.name"
 * @root:     may be NULL, when nothing is found
 *
 * What is not there prints as nothing. Several matches have a blank between them; maps and lists
 * are printed as JSON.
 *
 * Return: 0; -EINVAL with the place; -EOPNOTSUPP with what is not served.
 */
int json_path_print(FILE *out, const char *template, const struct cJSON *root,
		    struct failure *reterr);

/* ---- sort.c ---- */

/* Replaces a list by one in the order of a field; numbers before text, what lacks it first. */
int sort_items(struct cli *cli, const char *path, struct cJSON **list);
/* The same for events, newest last. */
int sort_events(struct cli *cli, struct cJSON **list);
/* Events that a path answered, newest last. Return: an exit status. */
int events_print(struct cli *cli, const char *asked, const struct podvol_table *events,
		 bool with_namespace);
/* Those of the table that are in this list. */
int events_print_list(struct cli *cli, const struct cJSON *list, const struct podvol_table *events,
		      bool with_namespace);
/* A table in the order of a field of its objects. */
int show_sorted_table(struct cli *cli, const struct get_request *request, const char *path);

/* ---- follow.c ---- */

/* Lists and goes on with every change, until interrupted. */
int follow(struct cli *cli, const struct get_request *request);
