/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token - named tokens of TLS clients, made by verb token and for a kubeconfig
 */
#ifndef PODVOL_CLI_TOKEN_H
#define PODVOL_CLI_TOKEN_H

struct cJSON;
struct cli;

/* By --role and --expires. @ret: {"name", "role", "token"}, for json_free_secret(). Return: an exit
 * status; EXIT_DONE it was made; else it was complained of. */
int token_create(struct cli *cli, const char *name, struct cJSON **ret);

#endif
