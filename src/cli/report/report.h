/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report - what the files behind the verb report know of each other
 */
#pragma once

#include "cli/cli.h"

/* ---- redact.c ---- */

enum { REDACT_BYTES_MIN = 6 /* of a value that is looked for: shorter ones are in every text */ };

struct redactor;

/* Knows the values of all stored Secrets. @ret_why: "" or why it knows none. Return: 0, -ENOMEM. */
int redactor_new(struct cli *cli, struct redactor **ret, char *ret_why, size_t size);
void redactor_free(struct redactor *redactor);

/**
 * redact - a text without what is secret in it
 *
 * Values of Secrets, as they are, in base64 and as markup; what stands behind "password=" and the
 * like and in the user part of a URL; JSON Web Tokens. Each is "[left out]" then.
 *
 * Return: the caller's; NULL: no memory.
 */
char *redact(const struct redactor *redactor, const char *text);
