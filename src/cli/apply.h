/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply - one file's documents into the store, for the verbs apply and mount
 */
#ifndef PODVOL_CLI_APPLY_H
#define PODVOL_CLI_APPLY_H

#include "cli/cli.h"

/* Prints what became of each document. @name NULL: a complaint. Return: EXIT_DONE and @ret, or the
 * exit status after a complaint. */
int apply_file(struct cli *cli, const char *name, struct podvol_table **ret);

#endif
