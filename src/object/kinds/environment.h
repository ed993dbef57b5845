/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment - the variables of a container, as far as a subPathExpr needs them; pure
 *
 * kubelet's order: envFrom, then env, whose values may name variables before them; a later one of
 * the same name wins. Values come from the pod itself, its fields and resources, ConfigMaps and
 * Secrets that the caller hands in. There are no services here, so none of their variables.
 *
 * Unlike kubelet a variable that cannot be found out is an error only where it is used: what
 * starts the container complains of the others.
 */
#pragma once

#include "object/object.h"

#include <stddef.h>

struct environment_sources {
	/* A KIND_CONFIG_MAP or KIND_SECRET; borrowed for the call; NULL: there is none. */
	const struct object *(*find)(void *userdata, enum object_kind kind, const char *name_space,
				     const char *name);
	void *userdata;
	/* How many bytes of JSON may be read still, by this call and others that share it; counted
	 * down. NULL: any number. */
	size_t *budget;
};

/**
 * environment_expand - put the values of a container's variables into a text
 * @text:      "$(NAME)/x"; see below
 * @container: of any type; must be in @pod
 * @ret:       to be freed
 *
 * A variable that does not exist or is empty is an error, as in kubelet.
 *
 * Return: 0; -EINVAL "missing value for A, B", or why a variable has none; -E2BIG the variables
 * take more than an execve(2) would, or more than the budget is to be read; -ENOMEM.
 */
int environment_expand(const char *text, const struct object *pod, const char *container,
		       const struct environment_sources *sources, char **ret,
		       struct failure *reterr);

/* ---- environment_objects.c ---- */

/* A KIND_CONFIG_MAP or KIND_SECRET of the pod's namespace; borrowed for the call. Return: 0 or
 * negative errno. */
typedef int environment_object_fn(void *userdata, enum object_kind kind, const char *name);

enum { ENVIRONMENT_OBJECTS_MAX = 1000 }; /* of a pod; what comes after them is left out */

/* What the variables of the pod's containers that have a subPathExpr come from, there or not; one
 * that two variables name, twice. Return: 0; -ENOMEM; what @add gave. */
int environment_objects(const struct object *pod, environment_object_fn *add, void *userdata);

/* ---- expansion.c ---- */

/* "$(NAME)" in a text, as Kubernetes expands it in env, command and subPathExpr; pure.
 *
 * "$$" is a dollar sign, so "$$(NAME)" stays "$(NAME)"; a "$" that begins nothing, and "$("
 * that is never closed, stay as they are. Not a shell: no other form, no nesting. */

/* What to put for a name; @length bytes, not NUL-terminated. It may be anything but NULL. */
typedef const char *expansion_fn(void *userdata, const char *name, size_t length);

/* Return: the text, to be freed; NULL: no memory. @map is called once for each reference. */
char *expansion_expand(const char *text, expansion_fn *map, void *userdata);
