/* SPDX-License-Identifier: Apache-2.0 */
/*
 * users_below - who has anything below a directory mounted or open: one search for many removals
 *
 * directory_users_check() looks through all processes for one directory. This looks once for all
 * below a base path, however many these are, and says of each whether it is proven that
 * no process had it when the search began; one that had it before that and has it still is found.
 * What is not proven is left to directory_users_check(), which names the user. Keeps sums of paths,
 * no paths: two with one sum are both unproven.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>

/* As of one search; any thread may read it. */
struct users_below;

/**
 * users_below_search - look through all processes and mount namespaces [worker]
 * @base_path: opened as it is
 *
 * Cost: as mount_holders_search(). Return: 0; else what could not be seen: nothing is known.
 */
int users_below_search(const char *base_path, struct users_below **ret, struct failure *reterr);
/* Accepts NULL. Return: NULL. */
struct users_below *users_below_free(struct users_below *users);

/* How long a search is believed: it does not have who comes later in another namespace. A few times
 * what a search takes, since one of the directory's own is as old when it ends. */
enum { USERS_BELOW_USEC = 100000 };
bool users_below_is_current(const struct users_below *users);

/**
 * users_below_proves_none - is it proven that a directory has no users
 * @fd: of the directory; O_PATH will do
 *
 * Neither it nor anything in it was mounted in any mount namespace, nothing is mounted on or below
 * it in podvold's own, nor it there, as of this call, and no process had anything below the base
 * path open by a detached mount.
 *
 * Return: false: it is unknown, also for one that is not below the base path, and when the search
 * is not current any more.
 */
bool users_below_proves_none(struct users_below *users, int fd);
