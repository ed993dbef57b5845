/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds - what can be named after get, describe, delete and the like
 *
 * The kinds of objects are the daemon's, asked from its discovery when one is named; only the views
 * of podvol itself, which no Kubernetes knows, have rows here.
 */
#pragma once

#include "cli/cli.h"

struct kind {
	const char *name;               /* "Pod"; "" for a view */
	const char *plural;             /* "pods", as in paths */
	const char *singular;           /* "pod" */
	const char *prefix;             /* of its paths: "/api/v1" */
	const char *const *short_names; /* ended by NULL */
	bool namespaced;
	bool rows_are_of_pods; /* of a view: --namespace says whose */
	bool is_watched;       /* of a view: --watch is served */
	bool has_names;        /* of a view: one row may be asked for */
};

/* All that is known, asked from the daemon once. Return: EXIT_DONE, or an exit status after a
 * complaint. */
int kinds_load(struct cli *cli);
/* The one at @index, views after objects; NULL past the end. Load first. */
const struct kind *kinds_at(const struct cli *cli, size_t index);
void kinds_free(struct kinds *kinds);

/* By singular, plural or short name, in any case; asks the daemon for what is no view. Return:
 * EXIT_DONE, or an exit status after a complaint. */
int kinds_find(struct cli *cli, const char *word, const struct kind **ret);

/* By "PersistentVolumeClaim", as a document names it. */
int kinds_find_name(struct cli *cli, const char *name, const struct kind **ret);

bool kind_is_view(const struct kind *kind);

/* "/api/v1/namespaces/default/pods[/NAME][?QUERY]". @name_space NULL: all; ignored where kinds have
 * none. @query: escaped, may be NULL. NULL: no memory. */
char *kinds_path(const struct kind *kind, const char *name_space, const char *name,
		 const char *query);

/* "KIND/NAME" of any kind there is, and not "NAMESPACE/NAME"; without a daemon. A namespace that is
 * called like a kind is given by -n. @ret: the kind without its prefix. Return: the name, in @word;
 * NULL, and @ret as it was: no kind stands before it. */
const char *kind_of_word(const char *word, struct kind *ret);

/* "pv/NAME" and "volume/NAME", or "pvc/NAME": the name; NULL when it is not of the kind. */
const char *named_volume(const char *word);
const char *named_claim(const char *word);
