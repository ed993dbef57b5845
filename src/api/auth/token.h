/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token - the bearer token that stands for every right on the TLS listener
 *
 * One line of 16 to 512 printable characters in a file for root alone. Blocks: start-up only, but
 * for the comparison.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>

enum { TOKEN_LENGTH_LEAST = 16, TOKEN_LENGTH_MOST = 512 };

/**
 * token_load - read the token, or make one of 256 random bits
 * @directory_fd: of secret_directory_open(); there it is called "token"
 * @file:         absolute path of a file that has to be there, instead; "": none
 * @ret:          given to secret_text_free()
 *
 * Return: 0; -EINVAL no token in the file; else as secret_file_read() and secret_file_write().
 */
int token_load(int directory_fd, const char *file, char **ret, struct failure *reterr);

/* Does an Authorization header carry the token? How long that takes does not depend on the
 * characters. @authorization may be NULL. */
bool token_is_given(const char *token, const char *authorization);
