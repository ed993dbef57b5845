/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_trees - trees of users in the sandbox, written down byte for byte to be compared
 */
#pragma once

#include "sandbox.h"

/* Files, directories and a symbolic link below a directory, which is made; again: as they were. */
void user_trees_make(const char *relative);

/* Everything below a path but on other mounts: names, types, modes, owners, links, content. The
 * caller's, freed with free(). */
char *user_trees_print(const char *path);

/* Does a path still hold what was written down? Prints the first difference. */
bool user_trees_same(const char *before, const char *path);
