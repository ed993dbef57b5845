/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trusted_path - may a file be used by its path? Only when no other user can put another in its
 * place
 *
 * Looks at every directory and symbolic link on the way, also on those that links lead through.
 * Refuses what is neither root's nor this process's user's, and what group or others may write to;
 * a sticky directory, as /tmp, is one in which they cannot replace what is root's.
 */
#pragma once

#include "base/failure.h"

enum trust {
	TRUST_USER, /* root and this process's user */
	TRUST_ROOT, /* root alone; no symbolic links, and a sticky directory does not help */
};

/**
 * trusted_path_check - look at each step of a path
 * @path: absolute, of a file that exists
 *
 * Blocks on the disk. Return: 0: what was found stays there until root or this user changes it;
 * -EPERM others may change the step that @reterr names; -ELOOP, -ENAMETOOLONG; else what lstat(2)
 * or readlink(2) gave.
 */
int trusted_path_check(const char *path, enum trust trust, struct failure *reterr);
