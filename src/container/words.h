/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words - the words of a command line, one on each line, for "mapfile -t" and its like
 *
 * No shell quoting: a line is a word as it is. A word with a newline in it cannot be written so and
 * is refused.
 */
#ifndef PODVOL_CONTAINER_WORDS_H
#define PODVOL_CONTAINER_WORDS_H

#include "base/failure.h"

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

/* Frees what is there. */
void words_done(struct words *words);

/* ---- how texts get into a word: each gives a text to be freed with free(), NULL: no memory ----
 */

/* "source=..." as one field of a CSV record, as --mount is read: quoted where it has to be. */
char *word_field(const char *key, const char *value);
/* With a backslash before each byte of @special and each backslash. */
char *word_escaped(const char *text, const char *special);

#endif
