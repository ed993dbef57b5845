/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding - decisions about claims and volumes; see binding.h
 */
#include "controller/binding/binding.h"

#include "controller/binding/volume_match.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- comparing the two ---- */

/* Does the volume's claimRef name this claim, with its uid or with none yet? */
static bool names_claim(const struct persistent_volume *volume,
			const struct persistent_volume_claim *claim)
{
	const struct object_meta *meta = &claim->object->meta;

	return volume->has_claim_ref && strcmp(volume->claim_namespace, meta->name_space) == 0 &&
	       strcmp(volume->claim_name, meta->name) == 0 &&
	       (volume->claim_uid[0] == '\0' || strcmp(volume->claim_uid, meta->uid) == 0);
}

/* Bound for good: the uid identifies the claim of that name. */
static bool is_claimed_by(const struct persistent_volume *volume,
			  const struct persistent_volume_claim *claim)
{
	return names_claim(volume, claim) && volume->claim_uid[0];
}

/* ---- results ---- */

static void answer(struct binding_step *step, enum binding_write write)
{
	step->write = write;
}

static void __attribute__((format(printf, 4, 5)))
report(struct binding_step *step, const char *type, const char *reason, const char *format, ...)
{
	va_list arguments;

	step->event_type = type;
	step->event_reason = reason;
	va_start(arguments, format);
	(void) vsnprintf(step->event_text, sizeof(step->event_text), format, arguments);
	va_end(arguments);
}

/* Written once; a claim that is pending already is left alone. */
static void pend(struct binding_step *step, const struct persistent_volume_claim *claim)
{
	answer(step, claim->phase == CLAIM_PENDING ? BINDING_NOTHING : BINDING_CLAIM_PENDING);
}

/* The phase is written once; the event comes with every sync, and the binder drops repeats. */
static void lose(struct binding_step *step, const struct persistent_volume_claim *claim,
		 const char *reason, const char *text)
{
	answer(step, claim->phase == CLAIM_LOST ? BINDING_NOTHING : BINDING_CLAIM_LOST);
	report(step, "Warning", reason, "%s", text);
}

/* The first missing write; the next sync makes the next one. */
static void bind(struct binding_step *step, const struct persistent_volume_claim *claim,
		 const struct persistent_volume *volume)
{
	bool is_named = strcmp(claim->volume_name, volume->object->meta.name) == 0;

	step->volume = volume;
	if (!is_claimed_by(volume, claim))
		answer(step, BINDING_VOLUME_SPEC);
	else if (volume->phase != VOLUME_BOUND)
		answer(step, BINDING_VOLUME_STATUS);
	else if (!is_named || !claim->bind_completed)
		answer(step, BINDING_CLAIM_SPEC);
	else if (claim->phase != CLAIM_BOUND)
		answer(step, BINDING_CLAIM_STATUS);
}

/* ---- the claim's side ---- */

static const struct persistent_volume *find_candidate(const struct claim_facts *facts)
{
	for (size_t i = 0; i < facts->candidate_count; i++) {
		const struct persistent_volume *volume = facts->candidates[i];

		if (names_claim(volume, facts->claim) && !volume->origin.is_unfinished &&
		    !volume_misfit(facts->claim, volume, RELATION_MADE))
			return volume;
	}
	return NULL;
}

/* Names of Kubernetes' own provisioners, of which none is built in here: also no-provisioner. */
static bool is_in_tree(const struct storage_class *class)
{
	return strncmp(class->provisioner, "kubernetes.io/", strlen("kubernetes.io/")) == 0;
}

/* Request a volume from the class's provisioner, once; it reports its own errors. */
static void decide_provision(const struct claim_facts *facts, const char *why,
			     struct binding_step *step)
{
	const struct persistent_volume_claim *claim = facts->claim;
	const struct storage_class *class = facts->storage_class;

	if (!class || is_in_tree(class)) {
		pend(step, claim);
		report(step, "Warning", "ProvisioningFailed",
		       "%s%s%s, and no existing volume fits (%s)",
		       class ? "no volume plugin matched name: " : "storageclass.storage.k8s.io \"",
		       class ? class->provisioner : claim->storage_class,
		       class ? "" : "\" not found", why ? why : "none is free");
		return;
	}
	if (strcmp(claim->storage_provisioner, class->provisioner) != 0) {
		step->storage_class = class;
		answer(step, BINDING_CLAIM_PROVISIONER);
	} else {
		pend(step, claim);
	}
	report(step, "Normal", "ExternalProvisioning",
	       "Waiting for a volume to be created either by the external provisioner '%s' or "
	       "manually by the system administrator. If volume creation is delayed, please verify "
	       "that the provisioner is running and correctly registered.",
	       class->provisioner);
}

static void decide_unmatched(const struct claim_facts *facts, const char *why,
			     struct binding_step *step)
{
	const struct persistent_volume_claim *claim = facts->claim;

	if (facts->default_class) {
		step->storage_class = facts->default_class;
		answer(step, BINDING_CLAIM_CLASS);
		return;
	}
	if (claim->storage_class[0]) {
		decide_provision(facts, why, step);
		return;
	}
	pend(step, claim);
	report(step, "Normal", "FailedBinding",
	       "no persistent volumes available for this claim and no storage class is set (%s)",
	       why);
}

/* A pod that cannot be scheduled here has an event of its own; this is about the claim. */
static void report_waiting(const struct claim_facts *facts, char nearest[VOLUME_WHY_BYTES],
			   struct binding_step *step)
{
	const char *why = facts->no_provision;
	bool is_miss = false;

	if (facts->this_node)
		is_miss = !volume_match_on_node(facts->claim, facts->free, facts->free_count,
						&facts->this_node->meta.labels, nearest);
	if (!is_miss && !facts->node)
		nearest[0] = '\0';
	report(step, "Normal", "WaitForPodScheduled",
	       "waiting for pod %s to be scheduled%s%s%s%s%s", facts->waiting_pods,
	       why || nearest[0] ? " (" : "", why ? why : "", why && nearest[0] ? ": " : "",
	       nearest, why || nearest[0] ? ")" : "");
}

/* What a scheduler does in a cluster: the first pod that wants the claim decides, and it is on this
 * node. A claim with another selected node belongs to that node. */
static void decide_delayed(const struct claim_facts *facts, struct binding_step *step)
{
	const struct persistent_volume_claim *claim = facts->claim;
	const struct persistent_volume *volume = NULL;
	const struct object *node = facts->node;
	char nearest[VOLUME_WHY_BYTES] = "";

	if (node &&
	    (!claim->selected_node[0] || strcmp(claim->selected_node, node->meta.name) == 0))
		volume = volume_match_on_node(claim, facts->free, facts->free_count,
					      &node->meta.labels, nearest);
	if (volume) {
		bind(step, claim, volume);
	} else if (claim->selected_node[0]) {
		decide_unmatched(facts, nearest[0] ? nearest : NULL, step);
	} else if (node && !is_in_tree(facts->storage_class) && !facts->no_provision) {
		step->node_name = node->meta.name;
		step->storage_class = facts->storage_class;
		answer(step, BINDING_CLAIM_SELECT);
	} else {
		pend(step, claim);
		if (facts->waiting_pods[0])
			report_waiting(facts, nearest, step);
		else
			report(step, "Normal", "WaitForFirstConsumer",
			       "waiting for first consumer to be created before binding");
	}
}

/* A class that waits for its first consumer gets at once only what was made for the claim. */
static void decide_unnamed(const struct claim_facts *facts, struct binding_step *step)
{
	const struct persistent_volume *volume = find_candidate(facts);
	char why[VOLUME_WHY_BYTES];

	if (!volume && facts->storage_class && facts->storage_class->waits_for_first_consumer) {
		decide_delayed(facts, step);
		return;
	}
	if (!volume)
		volume = volume_match(facts->claim, facts->free, facts->free_count, why);
	if (volume)
		bind(step, facts->claim, volume);
	else
		decide_unmatched(facts, why, step);
}

static void decide_named(const struct claim_facts *facts, struct binding_step *step)
{
	const struct persistent_volume_claim *claim = facts->claim;
	const struct persistent_volume *volume = facts->named;
	const char *why;

	if (!volume) {
		pend(step, claim);
		return;
	}
	if (names_claim(volume, claim)) {
		bind(step, claim, volume);
		return;
	}
	if (volume->has_claim_ref) {
		pend(step, claim);
		report(step, "Warning", "FailedBinding",
		       "volume \"%s\" already bound to a different claim: %s/%s",
		       claim->volume_name, volume->claim_namespace, volume->claim_name);
		return;
	}
	why = volume_misfit(claim, volume, RELATION_NAMED);
	if (!why) {
		bind(step, claim, volume);
		return;
	}
	pend(step, claim);
	report(step, "Warning", "VolumeMismatch", "Cannot bind to requested volume \"%s\": %s",
	       claim->volume_name, why);
}

static void decide_completed(const struct claim_facts *facts, struct binding_step *step)
{
	const struct persistent_volume_claim *claim = facts->claim;
	const struct persistent_volume *volume = facts->named;

	if (!claim->volume_name[0])
		lose(step, claim, "ClaimLost",
		     "Bound claim has lost reference to PersistentVolume. Data on the volume is "
		     "lost!");
	else if (!volume)
		lose(step, claim, "ClaimLost",
		     "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
	else if (!volume->has_claim_ref || is_claimed_by(volume, claim))
		bind(step, claim, volume);
	else
		lose(step, claim, "ClaimMisbound",
		     "Two claims are bound to the same volume, this one is bound incorrectly");
}

/* The volume keeps that its claim was deleted, and by whom: a claim that is merely not there (a
 * store that was lost, objects from a backup) is no reason to delete data. */
static bool must_be_reported(const struct persistent_volume *volume,
			     const struct persistent_volume_claim *claim)
{
	return volume && is_claimed_by(volume, claim) && volume->origin.provisioned_by[0] &&
	       strcmp(volume->origin.claim_deleted, claim->object->meta.uid) != 0;
}

/* One that was made for the claim counts although the claim does not name it yet. */
static void decide_deleted(const struct claim_facts *facts, struct binding_step *step)
{
	const struct persistent_volume *volume = facts->named;

	for (size_t i = 0; i < facts->candidate_count && !must_be_reported(volume, facts->claim);
	     i++)
		volume = facts->candidates[i];
	if (must_be_reported(volume, facts->claim)) {
		step->volume = volume;
		answer(step, BINDING_CLAIM_DELETED);
	} else {
		answer(step, BINDING_CLAIM_UNPROTECT);
	}
}

void binding_decide_claim(const struct claim_facts *facts, struct binding_step *ret)
{
	assert(facts->claim && facts->claim->object);
	*ret = (struct binding_step){ .write = BINDING_NOTHING };
	if (facts->claim->object->meta.deletes && facts->claim->has_protection_finalizer &&
	    !facts->is_used)
		decide_deleted(facts, ret);
	else if (facts->claim->bind_completed)
		decide_completed(facts, ret);
	else if (facts->claim->volume_name[0])
		decide_named(facts, ret);
	else
		decide_unnamed(facts, ret);
}

static bool is_of_binding(enum binding_write write)
{
	return write >= BINDING_VOLUME_SPEC && write <= BINDING_CLAIM_STATUS;
}

bool binding_decide_next(struct claim_facts *facts, const struct object *made,
			 struct binding_step *step)
{
	enum binding_write last = step->write;

	if (!is_of_binding(last))
		return false;
	facts->named = step->volume;
	if (made->kind == KIND_PERSISTENT_VOLUME)
		facts->named = made->persistent_volume;
	else
		facts->claim = made->claim;
	facts->candidates = &facts->named;
	facts->candidate_count = 1;
	binding_decide_claim(facts, step);
	return is_of_binding(step->write) && step->write > last;
}

/* ---- the volume's side ---- */

static void set_phase(struct binding_step *step, const struct persistent_volume *volume,
		      enum volume_phase phase, enum binding_write write)
{
	answer(step, volume->phase == phase ? BINDING_NOTHING : write);
}

/* No data is deleted here, whatever the policy: a volume whose policy requires it reports that it
 * is not done. A provisioned one that is to be deleted waits for its provisioner; nothing recycles.
 * */
static void reclaim(const struct volume_facts *facts, struct binding_step *step)
{
	const struct persistent_volume *volume = facts->volume;

	if (volume->phase == VOLUME_FAILED)
		return;
	if (volume->phase != VOLUME_RELEASED) {
		answer(step, BINDING_VOLUME_RELEASED);
		return;
	}
	if (volume->reclaim_policy == RECLAIM_RETAIN ||
	    (volume->reclaim_policy == RECLAIM_DELETE && volume->origin.provisioned_by[0]))
		return;
	answer(step, BINDING_VOLUME_FAILED);
	if (volume->reclaim_policy == RECLAIM_DELETE)
		report(step, "Warning", "VolumeFailedDelete",
		       "no deleter exists for a volume of source '%s'; its data is kept",
		       volume->source_key);
	else
		report(step, "Warning", "VolumeFailedRecycle",
		       "no recycler exists for a volume of source '%s'; its data is kept",
		       volume->source_key);
}

static void decide_bound_elsewhere(const struct volume_facts *facts, struct binding_step *step)
{
	const struct persistent_volume *volume = facts->volume;

	/* What was moved away from keeps its data, and is free for no other claim. */
	if (volume->origin.moved_to[0] || volume->origin.moved_from[0] ||
	    (volume->origin.provisioned_by[0] && volume->reclaim_policy == RECLAIM_DELETE))
		reclaim(facts, step);
	else if (volume->bound_by_controller)
		answer(step, BINDING_VOLUME_UNBIND);
	else
		answer(step, BINDING_VOLUME_UNBIND_UID);
}

void binding_decide_volume(const struct volume_facts *facts, struct binding_step *ret)
{
	const struct persistent_volume *volume = facts->volume;
	const struct persistent_volume_claim *claim = facts->claim;

	assert(volume && volume->object);
	*ret = (struct binding_step){ .write = BINDING_NOTHING };
	if (volume->object->meta.deletes && volume->has_protection_finalizer &&
	    volume->phase != VOLUME_BOUND) {
		answer(ret, BINDING_VOLUME_UNPROTECT);
		return;
	}
	if (volume->origin.is_unfinished)
		return;
	if (!volume->has_claim_ref || !volume->claim_uid[0]) {
		set_phase(ret, volume, VOLUME_AVAILABLE, BINDING_VOLUME_AVAILABLE);
		return;
	}
	if (!claim || strcmp(claim->object->meta.uid, volume->claim_uid) != 0) {
		reclaim(facts, ret);
		return;
	}
	if (!claim->volume_name[0]) {
		/* The claim's own sync binds it, unless it cannot. */
		if (!volume_mode_matches(claim, volume)) {
			report(ret, "Warning", "VolumeMismatch",
			       "Cannot bind PersistentVolume \"%s\" to requested "
			       "PersistentVolumeClaim "
			       "\"%s\" due to incompatible volumeMode.",
			       volume->object->meta.name, claim->object->meta.name);
			ret->event_on_bound_pair = true;
		}
		return;
	}
	if (strcmp(claim->volume_name, volume->object->meta.name) == 0)
		set_phase(ret, volume, VOLUME_BOUND, BINDING_VOLUME_BOUND);
	else
		decide_bound_elsewhere(facts, ret);
}
