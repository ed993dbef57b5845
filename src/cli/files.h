/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files - manifests as -f names them: a file, a directory of them, standard input
 */
#ifndef PODVOL_CLI_FILES_H
#define PODVOL_CLI_FILES_H

#include "cli/cli.h"

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
int file_read(struct cli *cli, const char *name, char **ret, size_t *ret_length);

#endif
