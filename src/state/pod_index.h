/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_index - which pods a change of another object concerns
 *
 * A pod leads to its claims, through its volumes to what their plugins name by references():
 * ConfigMaps, Secrets, the pod itself, and to what variables in a subPathExpr come from. So a
 * change costs what depends on it, never what there is. The loop thread only.
 */
#pragma once

#include "plugins/plugin.h"
#include "state/name_sets.h"

/* What one pod leads to; each object once. Zeroed: nothing. */
struct pod_references {
	char **keys; /* "kind:namespace/name" */
	size_t count, capacity;
};

/* The texts are copied. Return: 0 or -ENOMEM. */
int pod_references_add(struct pod_references *references, const struct object_reference *reference);
/* ConfigMaps and Secrets that a subPathExpr of the pod needs. Return: the same. */
int pod_references_add_environment(struct pod_references *references, const struct object *pod);
void pod_references_done(struct pod_references *references);

struct pod_index {
	struct name_sets pods; /* by key: uids */
	/* The first pod leads to the object, or the last one does no more. NULL: not asked for. */
	void (*changed)(void *userdata, const struct object_reference *reference, bool is_used);
	void *userdata;
};

/**
 * pod_index_replace - a pod leads to these objects from now on
 * @pod_uid: borrowed until the pod leads to nothing again
 * @old:     what it led to so far; freed and replaced by @next
 * @next:    taken; empty afterwards
 *
 * Return: 0; -ENOMEM: nothing changed, and @next is freed.
 */
int pod_index_replace(struct pod_index *index, const char *pod_uid, struct pod_references *old,
		      struct pod_references *next);

/* The @position-th uid of the pods that lead to an object, in no order; NULL past the last. Valid
 * until the index changes. */
const char *pod_index_at(const struct pod_index *index, const struct object_reference *reference,
			 size_t position);
