/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch - a change of an object, described by a document: JSON patch, merge patch, strategic merge
 * patch, and kubectl's three-way apply
 *
 * Pure: works on trees. What comes out is any tree; whether it is a valid object is for
 * object_from_json() to say. A patch is an untrusted program, so everything it can make grow is
 * bounded: operations, steps of searching, copied bytes, nesting. Server-side apply (field owners)
 * is none of this.
 */
#pragma once

#include "object/json/json.h"
#include "object/kind.h"

enum patch_type {
	PATCH_JSON,      /* RFC 6902: an array of operations */
	PATCH_MERGE,     /* RFC 7386: an object; null removes, lists are replaced */
	PATCH_STRATEGIC, /* the same, but lists are merged by the merge keys of the kind's schema */
};

/**
 * patch_apply - change a tree
 * @row:   whose schema says how lists merge; only PATCH_STRATEGIC looks at it
 * @tree:  the object; replaced or changed in place; after a failure half changed and of no use
 * @patch: read only
 *
 * The directives of a strategic merge patch are $patch (replace, delete; merge is what happens
 * anyhow), $retainKeys, $deleteFromPrimitiveList/FIELD and $setElementOrder/FIELD.
 *
 * Return: 0; -EBADMSG @patch is no patch of this type; -EINVAL it cannot be applied here (a path is
 * absent, a test does not hold, an element has no merge key); -E2BIG a limit; -ENOMEM.
 */
int patch_apply(enum patch_type type, const struct kind_row *row, struct cJSON **tree,
		const struct cJSON *patch, struct failure *reterr);

/**
 * patch_three_way - what `kubectl apply` does to an object
 * @tree:     the present object; changed in place
 * @modified: what the document says now
 * @original: what it said the last time; NULL: not known, so nothing is taken away
 *
 * Members that @original had and @modified has no more go; what @modified names is set; all else
 * stays as other people made it. Lists with a merge key are merged element by element.
 *
 * Return: as patch_apply().
 */
int patch_three_way(const struct kind_row *row, struct cJSON *tree, const struct cJSON *modified,
		    const struct cJSON *original, struct failure *reterr);

/* Limits of one patch. */
enum {
	PATCH_OPERATIONS_MAX = 5000,    /* of a JSON patch; Kubernetes takes 10000 */
	PATCH_NODES_MAX = 25000,        /* values in a patch */
	PATCH_STEPS_MAX = 600000,       /* members and elements looked at: about 10 ms */
	PATCH_COPY_BYTES_MAX = 3 << 20, /* that "copy" operations may add; as in Kubernetes */
};
