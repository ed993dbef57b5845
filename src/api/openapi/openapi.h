/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi - the parts of the OpenAPI documents; only the files openapi*.c use it
 *
 * A document is made once from the tables of kinds and schemas and never changes. openapi_schema.c
 * makes the definitions, openapi_paths.c the paths with their operations, openapi_pack.c the form
 * in protocol buffers, and openapi.c puts them together, keeps them and answers. Nothing here
 * names a kind.
 */
#pragma once

#include "object/json/json.h"
#include "object/kind.h"
#include "object/schema/schema.h"

#include <stddef.h>

enum openapi_version {
	OPENAPI_V2, /* one document of all groups; definitions at #/definitions */
	OPENAPI_V3, /* one of each group; definitions at #/components/schemas */
};

enum { OPENAPI_NAME_BYTES = 256 }; /* of a definition: "io.k8s.api.core.v1.PodSpec" */

/* Adding to trees fails as json.h says: it is seen when the tree is printed. */

/* A kind, its list, and every definition that they use and that is not there yet. */
void openapi_add_kind(struct cJSON *definitions, const struct kind_row *row,
		      enum openapi_version version);
/* What operations name beside kinds: Status, DeleteOptions, Patch, WatchEvent. */
void openapi_add_meta(struct cJSON *definitions, enum openapi_version version);

/* A member of a schema, and every definition that it uses; version 3. */
void openapi_add_member(struct cJSON *entry, const struct schema_field *field,
			struct cJSON *definitions);
/* "paths" and the definitions that they use, of podvol's own API; version 3. */
void openapi_add_podvol(struct cJSON *paths, struct cJSON *definitions);
/* How clients of podvol's own API say who they are; version 3. */
void openapi_add_security(struct cJSON *document);

/* @ret: "io.k8s.api.core.v1.Pod" or, with a suffix, "io.k8s.api.core.v1.PodList". */
void openapi_kind_name(const struct kind_row *row, const char *suffix,
		       char ret[OPENAPI_NAME_BYTES]);
/* Makes @schema a reference to a definition. */
void openapi_refer(struct cJSON *schema, const char *definition, enum openapi_version version);
/* "x-kubernetes-group-version-kind": one object. */
void openapi_set_kind(struct cJSON *tree, const char *key, const struct kind_row *row);

/* Definitions that every document has, for those who refer to them. */
#define OPENAPI_META "io.k8s.apimachinery.pkg.apis.meta.v1."

extern const struct schema openapi_list_meta_schema;
extern const struct schema *const openapi_meta_schemas[]; /* ended by NULL */

/* The paths of a kind: collection, object, status. */
void openapi_add_paths(struct cJSON *paths, const struct kind_row *row,
		       enum openapi_version version);

/**
 * openapi_pack - a version 2 document as gnostic's openapi.v2.Document
 * @document:   what of it the message has no field for is left out
 * @ret:        freed with free()
 *
 * Return: 0 or -ENOMEM.
 */
int openapi_pack(const struct cJSON *document, char **ret, size_t *ret_length);
