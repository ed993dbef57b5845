/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_mark - what an object says about the manifest it came from, and objects made to be
 * stored from a document; pure
 *
 * A document says what its author wants; the stored object also holds what others wrote: status,
 * the binding of a claim or a volume, finalizers, annotations of kubernetes.io and podvol.io. An
 * update keeps those and takes everything else from the document.
 */
#pragma once

#include "object/object.h"

#include <stdbool.h>

/* Hash of the document that was applied last: an unchanged file costs no write. */
#define ANNOTATION_MANIFEST_HASH "podvol.io/manifest-hash"

struct manifest_mark {
	bool is_marked; /* came from a manifest */
	bool is_gone;   /* which was lost; the object stays until it is deleted by name */
	uint64_t hash;
	char file[256]; /* NAME_MAX and its end */
};

/* Return: 0, -ENOMEM. */
int manifest_mark_read(const struct object *object, struct manifest_mark *ret);

/* Where a document came from, and who reads it. */
struct manifest_origin {
	const char *file;
	uint64_t hash;
	const char *node_name; /* for pods that name none */
};

/* The valid tree of a document becomes what is to be created. */
void manifest_mark_document(struct cJSON *tree, const struct manifest_origin *origin);

/**
 * manifest_object_new - a document as it is to be created once more
 * @used_uid: of the pod it replaces; the document's own uid is not used again if it is this one.
 *            NULL: replaces nothing
 */
int manifest_object_new(const struct object *document, const struct manifest_origin *origin,
			const char *used_uid, const struct object **ret, struct failure *reterr);

/* The stored object with the document's wishes. */
int manifest_object_update(const struct object *document, const struct object *stored,
			   const struct manifest_origin *origin, const struct object **ret,
			   struct failure *reterr);

/* The stored object marked as in no manifest any more. */
int manifest_object_gone(const struct object *stored, const struct object **ret,
			 struct failure *reterr);

/* Are spec.volumes the same? Both are pods. Return: 1, 0, -ENOMEM. */
int manifest_has_same_volumes(const struct object *a, const struct object *b);
