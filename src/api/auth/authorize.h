/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authorize - what a role may do: one table, asked for every request and by every review
 *
 * Pure. A role is a set of rights; a rule says which rights an access needs. What an object holds
 * counts as well: a volume source that reaches beyond its pod needs RIGHT_HOST, a path made from a
 * Secret RIGHT_SECRETS, which only authorize_object() can see.
 */
#pragma once

#include "base/failure.h"
#include "object/object.h"
#include "object/json/json.h"

#include <stdbool.h>
#include <stddef.h>

/* What the client may do; the transport finds out by peer credentials, token or certificate. */
enum api_right {
	RIGHT_READ = 1,
	RIGHT_WRITE = 2,
	RIGHT_SECRETS = 4, /* read and write kinds whose row says secret, and what is worth one */
	RIGHT_HOST = 8,    /* write what reaches the node beyond volumes: hostPath, local, nfs */
};

/* Of no role: given beside RIGHT_WRITE where option volume-paths bounds the sources of local
 * volumes for everyone, so that a local one may be written without RIGHT_HOST. */
enum { RIGHT_BOUNDED_LOCAL = 32 };

enum { RIGHTS_ALL = RIGHT_READ | RIGHT_WRITE | RIGHT_SECRETS | RIGHT_HOST };

/* The rights of a role by its name; 0: there is no such role. */
unsigned int role_rights(const char *name);
/* The role that has exactly these rights, or "none"; static. */
const char *role_name(unsigned int rights);
/* "view, edit, operator or admin": for messages. */
extern const char role_names[];

/* One access, as Kubernetes' SubjectAccessReview describes it. NULL counts as "". */
struct access {
	const char *verb; /* "get", "create", ...; of a path the method in lower case; "*" all */
	const char *group, *resource, *subresource; /* @resource "*": all */
	const char *name_space, *name;              /* of one object; NULL: not known, or several */
	const char *path;                           /* "podvol/v1/keys"; in place of a resource */
};

/**
 * authorize - may a client with these rights do this
 * @ret_why: static; the reason when it may not, "" when the rule names none
 */
bool authorize(unsigned int rights, const struct access *access, const char **ret_why);

/* Is @verb allowed on this very object? For creates and collections, whose access names nothing.
 * Return: 0; -EACCES with the reason. */
int authorize_name(unsigned int rights, const char *verb, const struct object *object,
		   struct failure *reterr);

/* May the object be written as it is? Return: 0; -EACCES, with field and reason; -ENOMEM. */
int authorize_object(unsigned int rights, const struct object *object, struct failure *reterr);

/* ---- secret_paths.c: does a pod make names of directories from a Secret? ---- */

/* A subPathExpr may name variables, and a variable may come from a Secret: the name of the
 * directory is its content then, for all who see the volume. Pure; cost follows the length of
 * the pod. */

/**
 * secret_paths_check - for a writer who may not read Secrets
 * @spec: of a pod
 *
 * A variable counts as a Secret's when its last definition is a secretKeyRef, when its value names
 * one that does, or when it is in no env and envFrom has a secretRef. Return: 0; -EACCES, with
 * field and variable; -ENOMEM.
 */
int secret_paths_check(const struct cJSON *spec, struct failure *reterr);
