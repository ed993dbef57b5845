/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentence - sentences for people: paragraphs that break between words, and times as one says them
 */
#ifndef PODVOL_CLI_SENTENCE_H
#define PODVOL_CLI_SENTENCE_H

#include "cli/cli.h"

enum { SENTENCE_TIME_BYTES = 32 };

/* Adds a sentence to the paragraph; a full stop that would be doubled is not. */
void say(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Ends the paragraph. */
void say_end(struct cli *cli);

/* How long ago an RFC 3339 time was: "12 s", "3 min", "2 h 5 min", "4 days"; "" for none. */
void sentence_since(const char *time, char text[SENTENCE_TIME_BYTES]);
/* When it will be: "in 12 s", "now"; "" for none. */
void sentence_until(const char *time, char text[SENTENCE_TIME_BYTES]);

#endif
