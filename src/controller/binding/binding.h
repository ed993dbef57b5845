/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding - what the next write for a claim or a volume is; pure
 *
 * Each look at an object yields at most one write and at most one event. A binding is the write of
 * the volume, then that of the claim, spec and status in one; where a status alone is missing that
 * is written. Each is decided from objects alone, stored ones or those that the write before makes,
 * so a crash between two of them needs no memory. Of provisioning this asks for a volume (the
 * claim's annotations) and leaves making and deleting one to its provisioner. No data is deleted
 * here, whatever the policy.
 */
#pragma once

#include "object/kinds/persistent_volume.h"

#include <stdbool.h>

enum binding_write {
	BINDING_NOTHING,
	/* Those of a binding, of @claim and @volume. */
	BINDING_VOLUME_SPEC, /* and its status */
	BINDING_VOLUME_STATUS,
	BINDING_CLAIM_SPEC, /* and its status */
	BINDING_CLAIM_STATUS,
	/* The object is being deleted and unreferenced: our finalizer comes off. */
	BINDING_CLAIM_DELETED, /* before that, of @volume: who deleted its claim, and which */
	BINDING_CLAIM_UNPROTECT,
	BINDING_VOLUME_UNPROTECT,
	/* Of the claim alone. */
	BINDING_CLAIM_PENDING,
	BINDING_CLAIM_LOST,
	BINDING_CLAIM_CLASS,       /* it named none and gets the default one: @storage_class */
	BINDING_CLAIM_SELECT,      /* its first consumer is on @node_name; with the next one */
	BINDING_CLAIM_PROVISIONER, /* whose @storage_class is to make a volume */
	/* Of the volume alone. */
	BINDING_VOLUME_AVAILABLE,
	BINDING_VOLUME_BOUND,
	BINDING_VOLUME_RELEASED,
	BINDING_VOLUME_FAILED,
	BINDING_VOLUME_UNBIND,     /* claimRef and bound-by-controller off */
	BINDING_VOLUME_UNBIND_UID, /* claimRef.uid off: a user had written the rest */
	BINDING_WRITE_COUNT
};

/* What to write, and what to tell; all text lives as long as this. */
struct binding_step {
	enum binding_write write;
	const struct persistent_volume *volume; /* of a binding */
	const struct storage_class *storage_class;
	const char *node_name;
	const char *event_type, *event_reason; /* "Warning", "FailedBinding"; NULL: no event */
	char event_text[2048];
	bool event_on_bound_pair; /* the same event also concerns the claim or volume on the other
				   * side
				   */
};

struct claim_facts {
	const struct persistent_volume_claim *claim;
	const struct persistent_volume *named; /* spec.volumeName; NULL: none such */
	/* Volumes whose claimRef names this claim, in the order of their names. */
	const struct persistent_volume *const *candidates;
	size_t candidate_count;
	/* Unclaimed volumes, in the order of free_volumes. */
	const struct persistent_volume *const *free;
	size_t free_count;
	const struct storage_class *storage_class; /* the claim's; NULL: none such */
	const struct storage_class *default_class; /* NULL: none, or the claim has its own */
	bool is_used; /* by a pod that has a node; asked of claims that are being deleted */
	/* Of the node that pods which wait for an unbound claim are on, this one; NULL: none does,
	 * or it cannot be said which node this is. */
	const struct object *node;
	const struct object *this_node; /* with any name; NULL: as above, or not asked */
	const char *waiting_pods;       /* their names, for people; "" none */
	const char *no_provision;       /* why no volume can be made there; NULL: one can */
};

/* What the next write for a claim is; one that needs none is BINDING_NOTHING. Cannot fail. */
void binding_decide_claim(const struct claim_facts *facts, struct binding_step *ret);

/**
 * binding_decide_next - the write of a binding after the one that was just decided
 * @facts: as they were for @step; become those that hold once @made is stored
 * @made:  what @step writes; to be kept as long as @facts are used
 * @step:  the last one; becomes the next one
 *
 * Return: false: no further write of this binding; @step is of no use then.
 */
bool binding_decide_next(struct claim_facts *facts, const struct object *made,
			 struct binding_step *step);

struct volume_facts {
	const struct persistent_volume *volume;
	const struct persistent_volume_claim *claim; /* as claimRef names it; NULL: none such */
};

/* The same for a volume. */
void binding_decide_volume(const struct volume_facts *facts, struct binding_step *ret);

/**
 * binding_make - the object that a step writes
 * @about: the claim or volume that was looked at
 * @ret:   a new reference to the next version of the claim or the volume
 *
 * Return: 0; -ENOMEM; -EINVAL the result is no valid object.
 */
int binding_make(const struct binding_step *step, const struct object *about,
		 const struct object **ret, struct failure *reterr);

/**
 * binding_bind_new - the same for a claim and a volume that one commit creates: in place
 *
 * As store_bind_fn() in store/pairs.h: on another thread. Nothing happens where the next write for
 * the claim is not its binding to this volume, and where memory is missing: then the binder binds
 * them when they are stored.
 */
void binding_bind_new(const struct object *claim, const struct object *volume, char **claim_before,
		      char **volume_before);

/* ---- claim_conditions.c: status.conditions of a claim; pure ---- */

struct cJSON;

/**
 * claim_conditions_replace - one condition, or none, in the place of others
 * @types: that go, NULL at the end
 * @type:  that comes and is true; NULL: none
 * @text:  its message; "" without one
 *
 * One that is there with the same text keeps its time; all others stay as they are.
 */
void claim_conditions_replace(struct cJSON *status, const char *const *types, const char *type,
			      const char *text);

/* ---- reclaim.c ---- */

/* May what is behind a volume be deleted, with all that is in it: the one rule; pure.
 *
 * Yes only when everything says so: the volume is Released under policy Delete, the very claim
 * it was made for was deleted by a client (not merely missing), no pod uses the volume, and
 * every source of objects has been read. The maker of the volume adds what else it has to know
 * (local_reclaim.h: where its directory is) and may only make the answer stricter. */

struct reclaim_facts {
	const struct persistent_volume *volume; /* made by the caller */
	bool claim_exists;                      /* the one of claimRef, with its uid */
	bool is_in_use;                         /* something may still be mounted from it */
	bool sources_complete;                  /* every source of objects delivered all it has */
	/* Of local volumes. */
	const struct object *neighbour; /* another volume whose path touches this one's; NULL */
	const struct labels *node;      /* of this node; NULL: unknown */
	bool outlives_data;             /* by volume_finalizer.c */
};

enum reclaim_verdict {
	RECLAIM_NOT_OURS, /* or not now: nothing to do until something changes */
	RECLAIM_WAIT,     /* soon: @why says for what */
	RECLAIM_REFUSED,  /* @why is for the operator; the data is kept */
	RECLAIM_REMOVE,
};

enum reclaim_verdict reclaim_decide(const struct reclaim_facts *facts, struct failure *why);

/* ---- path_index.c: which paths lie in which, as a table that follows changes ---- */

/* So that whether a volume's directory is no other volume's costs the depth of its path and not
 * the number of volumes. Paths are compared part by part as local_paths_touch() does. */

struct path_entry;

struct path_index {
	struct path_entry *table;
	bool is_incomplete; /* there was no memory: it can tell nothing */
};

void path_index_done(struct path_index *index);

/* Of each path as often as a volume has it. */
void path_index_add(struct path_index *index, const char *path);
void path_index_remove(struct path_index *index, const char *path);

/* Of a path that was added once: does no other lie there, above or below? False when that is not
 * known. */
bool path_index_is_alone(const struct path_index *index, const char *path);
