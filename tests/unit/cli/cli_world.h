/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli_world - podvolctl with a library of canned answers: what it asks, prints and returns
 *
 * The library's calls about pods and tables are the real ones; the transport below them is the
 * test's, and so is the mode without a daemon. Discovery answers by itself and is not among what
 * was sent.
 */
#pragma once

#undef main /* podvolctl's is podvolctl_main here */

#include "cli/direct/archive_direct.h"
#include "cli/cli.h"

enum { LOG_BYTES = 8192 };

int podvolctl_main(int argc, char **argv);

struct answer {
	const char *request; /* "GET /path", as far as it must agree */
	int error;
	int status;
	const char *body; /* or the sentence of an error */
};

extern char sent[LOG_BYTES]; /* "METHOD path\n" of every request */
extern char sent_body[LOG_BYTES], sent_accept[128], connected_to[128];
extern char *out_text, *err_text;
extern bool no_discovery; /* the daemon does not tell what it serves by itself */
extern char direct_call[256];
extern int direct_result;
extern struct archive_summary direct_summary; /* of a backup or restore */
extern const char *direct_answer;             /* of a call to a driver */

/* podvolctl with these words, separated by blanks. Return: its exit status. */
int run_with(const struct answer *list, size_t count, const char *words);

#define RUN(list, words) run_with(list, ARRAY_SIZE(list), "podvolctl " words)
#define RUN_ALONE(words) run_with(NULL, 0, "podvolctl " words)
