/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit - the one gate for writes to the embedded store: pure
 *
 * A cluster does its own admission; the embedded back end calls this for manifests, controllers and
 * API alike. Who may write is decided in api/.
 */
#pragma once

#include "object/object.h"

struct field;

enum admit_verb { ADMIT_CREATE, ADMIT_UPDATE, ADMIT_DELETE };

struct admission {
	enum admit_verb verb;
	const struct object *old;      /* what the store holds; NULL for ADMIT_CREATE */
	const struct object *proposed; /* what the writer sent; NULL for ADMIT_DELETE */
	uint64_t resource_version;     /* that this write will have */
	uint64_t now_usec;             /* real time: creationTimestamp, deletionTimestamp */
	/* Of a claim that is updated: the class that it named; NULL: none, or there is none such.
	 */
	const struct object *storage_class;
	bool ends_move; /* may the claim get the volume of a move: no client's write does that */
};

/**
 * object_admit - may this write happen, and what exactly is written
 * @ret:    a new reference to what is to be stored; NULL when a delete removes the object at once.
 * A delete that finalizers hold back gives the object with its deletionTimestamp.
 * @reterr: names the field
 *
 * Create: uid made when absent, creationTimestamp, resourceVersion, generation 1,
 * kubernetes.io/pv-protection and pvc-protection finalizers. Update: uid and creationTimestamp are
 * kept, immutable fields compared, generation raised when spec changed; an object being deleted
 * whose last finalizer goes is removed (@ret NULL). What the store adds to metadata stands behind
 * the writer's members in a fixed order, so that a write that changes nothing gives the same bytes
 * but for the resourceVersion. Pure but for the random uid; any thread.
 *
 * Return: 0; -EINVAL invalid or immutable field changed; -EEXIST; -ENOMEM.
 */
int object_admit(const struct admission *admission, const struct object **ret,
		 struct failure *reterr);

/* The rules for what is written now, not for what was stored before. Return: as in field.h. */
bool admit_check_created(enum object_kind kind, const struct field *object);

/* ---- admit_field_refs.c ---- */

/* Which fields of a pod its downwardAPI volumes and its variables may name.
 *
 * Judged when a pod is written, as Kubernetes does, and not when a stored one is read: what an
 * earlier version stored goes on being served, and an update that leaves it alone is admitted. */

/* @old_spec: of the pod before; NULL: it is created. Types have been checked. Return: as in
 * field.h. */
bool admit_field_refs_check(const struct cJSON *old_spec, const struct field *spec);

/* ---- admit_names.c ---- */

/* The names in an object that its writer chose: label and annotation keys, label values,
 * finalizers, CSI drivers, nodes.
 *
 * Judged when they are written, as Kubernetes does, and not when a stored object is read: what
 * an earlier version stored goes on being served, and an update that leaves it alone is
 * admitted. */

/* @old: metadata of the object before; NULL: it is created. Types have been checked. Return: as in
 * field.h. */
bool admit_names_check(const struct cJSON *old, const struct field *metadata);
/* Of one that is created: sources of volumes and a pod's node do not change once they are there. */
bool admit_spec_names_check(const struct field *spec);

/* "example.com/name" or "name". Return: as in field.h. */
bool admit_qualified_name(const struct field *field, const char *name);
