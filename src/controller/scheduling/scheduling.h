/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling - could this pod run on this node, as far as its volumes go; pure but for look-ups
 *
 * What four plug-ins of Kubernetes' scheduler ask (VolumeBinding, VolumeZone, VolumeRestrictions,
 * NodeVolumeLimits), with their reason texts. Nothing is written and nothing reserved: what is free
 * now may not be a moment later.
 *
 * Of other pods those count that have a node: all their claims are bound, or were given one. A pod
 * that waits takes nothing from others, so that no two can keep each other out.
 */
#pragma once

#include "object/kinds/pod.h"
#include "object/kinds/persistent_volume.h"
#include "store/store.h"
#include "controller/binding/bound_pairs.h"

struct cJSON;

enum { SCHEDULING_REASONS_MAX = 8, SCHEDULING_REASON_BYTES = 320 };

struct scheduling_reason {
	const char *plugin; /* "VolumeBinding" */
	bool is_resolvable; /* other pods that go may change it */
	char text[SCHEDULING_REASON_BYTES];
};

struct scheduling_verdict {
	struct scheduling_reason reasons[SCHEDULING_REASONS_MAX]; /* none: it fits */
	size_t count;
};

/* What the store does not show yet. */
struct scheduling_assumed {
	/* Is a node or a volume of this claim being written? */
	bool (*has)(void *userdata, const struct object *claim);
	void *userdata;
};

struct scheduling_query {
	struct store *store;                      /* claims, volumes, classes, other pods */
	const struct pod *pod;                    /* need not be stored */
	const struct object *node;                /* a Node; need not be stored */
	const struct scheduling_assumed *assumed; /* NULL: nothing is */
};

/* All four. Cannot fail: what cannot be looked up is a reason. */
void scheduling_check(const struct scheduling_query *question, struct scheduling_verdict *ret);

/* The verdict as docs/api.md tells it, on @node, NULL: on the one called @node_name. Owned by the
 * caller. */
struct cJSON *scheduling_view(struct store *store, const char *node_name, const struct object *pod,
			      const struct object *node);

/* Each by itself; appended to @ret. A reason that is there already is not repeated. */
void scheduling_volume_binding(const struct scheduling_query *question,
			       struct scheduling_verdict *ret);
void scheduling_volume_zone(const struct scheduling_query *question,
			    struct scheduling_verdict *ret);
void scheduling_volume_restrictions(const struct scheduling_query *question,
				    struct scheduling_verdict *ret);
void scheduling_volume_limits(const struct scheduling_query *question,
			      struct scheduling_verdict *ret);

/* Is something of it said because of other pods? When one of them goes it may be otherwise. */
bool scheduling_is_crowded(const struct scheduling_verdict *verdict);

/* Could a volume of this class be made for the claim on a node? Return: NULL; else Kubernetes'
 * reason. */
const char *scheduling_provisionable(struct store *store,
				     const struct persistent_volume_claim *claim,
				     const struct storage_class *storage_class,
				     const struct labels *node);

/* ---- for the files of scheduling alone ---- */

void scheduling_add(struct scheduling_verdict *verdict, const char *plugin, bool is_resolvable,
		    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The claim of a pod's volume; NULL: it has none, or there is no such claim. */
const struct object *scheduling_claim(const struct scheduling_query *question,
				      const struct pod_volume *volume);
bool scheduling_has_claim(const struct pod_volume *volume);
/* Has another pod been given a node, with all its claims? */
bool scheduling_has_node(const struct scheduling_query *question, const struct pod *pod);
const struct persistent_volume *scheduling_volume(const struct scheduling_query *question,
						  const struct object *claim);
const struct storage_class *scheduling_class(const struct scheduling_query *question,
					     const struct object *claim);

/* ---- scheduling_queue.c ---- */

/* Which claims are looked at first: the order of a scheduler's queue.
 *
 * Who is served before others takes what is scarce: the last volume that fits, the last one
 * that the node can have. So the pod with the higher priority comes first, then the older one. */

/* Of the claims that are due those of pods come first, in the pods' order. A walk over all pods,
 * where more than one claim is without a volume and waits for its consumer, or may get one of the
 * free volumes (@has_free_volumes). Without memory they stay as they are. */
void scheduling_queue_order(struct store *store, struct bound_pairs *bound_pairs,
			    bool has_free_volumes);

/* All claims of a pod become due. */
void scheduling_queue_pod_due(struct bound_pairs *bound_pairs, const struct object *pod);
/* Those of all pods that use a claim; a walk over the pods of its namespace. */
void scheduling_queue_users_due(struct store *store, struct bound_pairs *bound_pairs,
				const struct object *claim);
