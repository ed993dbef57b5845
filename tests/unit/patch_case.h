/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch_case - tables of patches: what is there, the patch, what comes out
 */
#pragma once

#include "object/patch/patch.h"

#include <stddef.h>

struct patch_case {
	const char *what;
	const char *object, *patch; /* JSON */
	const char *result;         /* JSON; NULL: refused */
	int error;                  /* then */
};

/* A kind with one list of each sort: "items" merged by "name", "ports" by "port", "tags" plain
 * values, "words" replaced; each item has such an "items" of its own. */
extern const struct kind_row patch_case_row;

/* Applies all and fails at the first that comes out otherwise. */
void assert_patches(enum patch_type type, const struct patch_case *cases, size_t count);
/* One; the reason goes to @why, which may be NULL. Return: what patch_apply() returned. */
int apply_patch(enum patch_type type, const char *object, const char *patch, char **ret,
		struct failure *why);
