/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expansion - "$(NAME)" in a text, as Kubernetes expands it in env, command and subPathExpr; pure
 *
 * "$$" is a dollar sign, so "$$(NAME)" stays "$(NAME)"; a "$" that begins nothing, and "$(" that is
 * never closed, stay as they are. Not a shell: no other form, no nesting.
 */
#ifndef PODVOL_OBJECT_EXPANSION_H
#define PODVOL_OBJECT_EXPANSION_H

#include <stddef.h>

/* What to put for a name; @length bytes, not NUL-terminated. It may be anything but NULL. */
typedef const char *expansion_fn(void *userdata, const char *name, size_t length);

/* Return: the text, to be freed; NULL: no memory. @map is called once for each reference. */
char *expansion_expand(const char *text, expansion_fn *map, void *userdata);

#endif
