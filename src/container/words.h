/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words - the words of a command line, one on each line, for "mapfile -t" and its like
 *
 * No shell quoting: a line is a word as it is. A word with a newline in it cannot be written so and
 * is refused.
 */
#pragma once

#include "base/failure.h"
#include "container/container_plan.h"

#include <stddef.h>

struct words {
	char *text; /* NULL: none yet */
	size_t length;
};

/**
 * words_add - one more word
 * @format: of the whole word
 *
 * Return: 0; -EOPNOTSUPP it has a newline; -ENOMEM.
 */
int words_add(struct words *words, struct failure *reterr, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

typedef int words_mount_fn(const struct planned_mount *mount, struct words *words,
			   struct failure *reterr);
/* Each mount by @add_mount, "--device=HOST:CONTAINER:rwm" of each device, and "--group-add=GID" of
 * each group, as docker and podman have them. @runtime: its name, for the message. Return: 0;
 * -EOPNOTSUPP a device's path has a colon; as @add_mount and words_add(). */
int words_add_plan(struct words *words, const char *runtime, const struct container_plan *plan,
		   const struct planned_container *container, words_mount_fn *add_mount,
		   struct failure *reterr);
/* The one of two paths that has a colon, which separates in such words; NULL: none has. */
const char *path_with_colon(const char *host_path, const char *container_path);

/* Frees what is there. */
void words_done(struct words *words);

/* ---- how texts get into a word: each gives a text to be freed with free(), NULL: no memory ----
 */

/* "source=..." as one field of a CSV record, as --mount is read: quoted where it has to be. */
char *word_field(const char *key, const char *value);
/* With a backslash before each byte of @special and each backslash. */
char *word_escaped(const char *text, const char *special);

/* ---- path_text.c: a path inside a container as text: it exists nowhere yet ---- */

/* Never for paths of the host, which are opened and not cleaned. */

/**
 * path_text_clean - one spelling per place: absolute, no empty or "." parts, ".." taken back
 * @path: a path without a leading '/' is below it, as in kubelet
 *
 * Return: the caller's, freed with free(); "/" for the root; NULL: no memory.
 */
char *path_text_clean(const char *path);

/* How many names a cleaned path has: 0 for "/". */
size_t path_text_depth(const char *path);
