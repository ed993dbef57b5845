/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch_case - patches by the files in tests/patch: what is there, the patch, what comes out
 *
 * A file is a list of cases. "object" is what is there; "patch" changes it, or "modified" is
 * applied over it, with "original" as what was applied last. "result" is compared member by member,
 * their order included; "error" is there instead when the patch is refused.
 */
#pragma once

#include "object/patch/patch.h"

/* A kind with one list of each sort: "items" merged by "name", "ports" by "port", "tags" plain
 * values, "words" replaced; each item has such an "items" of its own. */
extern const struct kind_row patch_case_row;

/* Runs all cases of the file @path as patches of @type; fails at the first that comes out
 * otherwise. */
void assert_patches(const char *path, enum patch_type type);
/* One; the reason goes to @why, which may be NULL. Return: what patch_apply() returned. */
int apply_patch(enum patch_type type, const char *object, const char *patch, char **ret,
		struct failure *why);
