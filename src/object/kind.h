/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kind - one row per kind of object; names, paths, defaults, validation and columns come from it
 *
 * A new kind is one row in kind.c and one file with its functions. Nothing else lists the kinds.
 */
#pragma once

#include "object/object.h"

struct arena;
struct field;
struct fixed_field;
struct schema;
struct violations;

/* What a row does with objects of its kind. */
typedef int kind_set_defaults(struct cJSON *tree);
typedef bool kind_validate(const struct field *object);
typedef bool kind_validate_update(const struct object *old, const struct object *new_object,
				  struct violations *found);
typedef int kind_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
			struct failure *reterr);
typedef int kind_decode_binding(const struct cJSON *tree, struct arena *arena,
				struct object *object);
typedef void kind_derive(const struct object *from, struct arena *arena, struct object *object);
typedef void kind_note_protection(struct object *object, bool is_protected);

/* What a write of this kind waits for, and what is left of it afterwards. */
enum kind_durability {
	KIND_SYNCED,   /* answered when it is on disk */
	KIND_UNSYNCED, /* written without a sync: a power loss may take the last ones: Event */
	KIND_VOLATILE, /* never written, gone with a restart: Lease */
};

struct kind_row {
	enum object_kind kind;
	const char *name;     /* "PersistentVolumeClaim" */
	const char *plural;   /* "persistentvolumeclaims" */
	const char *singular; /* "persistentvolumeclaim" */
	const char *group;    /* "" for v1, "storage.k8s.io" */
	const char *version;  /* "v1" */
	bool namespaced;
	const char *const *short_names; /* "pvc"; ended by NULL; NULL: none */
	const char *const *categories;  /* "all": shown by `kubectl get all`; as short_names */
	const char *schema_package;     /* "io.k8s.api.core.v1": of its name in OpenAPI */
	const char *description;
	bool has_status; /* the status subresource is served */
	enum kind_durability durability;
	bool has_signer_name; /* names may be of parts with ':' between them */
	bool secret;          /* contents are for root alone */
	bool returns_deleted; /* a delete is answered with the object that went, not with a Status
			       */
	/* status.phase of one that a client makes; what it sent as status counts for nothing. NULL:
	 * the status begins empty. */
	const char *initial_phase;

	const struct schema *schema; /* types of the fields we know */
	/* Fill in what the API machinery would; the tree is valid JSON of this kind. NULL: nothing.
	 */
	kind_set_defaults *set_defaults;
	/* All rules on one object alone; see field.h for how it goes on after the first broken one.
	 * NULL: its schema says all. */
	kind_validate *validate;
	/* What an update may not change, beside metadata and status: not asked when nothing else
	 * differs. First the fields that are immutable, ended by a NULL path, then what more it
	 * takes to tell. NULL: everything may. */
	const struct fixed_field *fixed;
	kind_validate_update *validate_update;
	/* Typed struct in @arena, into the union member of @object. NULL: nothing here acts upon
	 * the kind, so it has none. */
	kind_decode *decode;
	/* What edit_new.h may have changed, decoded again. NULL: nothing. */
	kind_decode_binding *decode_binding;
	/* The typed struct of @from again in @arena, for another @object of the same spec, status
	 * and decoded annotations; what it points to is shared. NULL: each is decoded. */
	kind_derive *derive;
	size_t derived_bytes;
	/* A finalizer that each has from its creation, and what notes whether it is still there,
	 * when the store has set them. NULL: none. */
	const char *protection_finalizer;
	kind_note_protection *note_protection;
	const struct table_column *columns; /* kubectl's; ended by a NULL name; see table.h */
};

/* The row of a kind; static, never NULL. */
const struct kind_row *kind_row(enum object_kind kind);

/* "v1", "storage.k8s.io/v1": its apiVersion, in a buffer of the caller. */
enum { API_VERSION_BYTES = 128 };
const char *kind_api_version(const struct kind_row *row, char buffer[API_VERSION_BYTES]);

/* By "PersistentVolumeClaim" and "v1" / "storage.k8s.io/v1" as a document names them; NULL when not
 * served. */
const struct kind_row *kind_by_name(const char *api_version, const char *name);

/* Is it a kind of Kubernetes that a cluster's manifests hold beside pods and claims, and that has
 * no meaning on a node: Service, Deployment? By the name alone, whatever the version. */
bool kind_is_foreign(const char *name);
