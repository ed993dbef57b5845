/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding - decisions about claims and volumes; see binding.h
 */
#include "controller/binding.h"

#include "controller/volume_match.h"

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

/* Bound for good: the uid says which claim of that name is meant. */
static bool is_claimed_by(const struct persistent_volume *volume,
			  const struct persistent_volume_claim *claim)
{
	return names_claim(volume, claim) && volume->claim_uid[0];
}

/* ---- answers ---- */

static void answer(struct binding_step *step, enum binding_write write)
{
	step->write = write;
}

static void __attribute__((format(printf, 4, 5)))
tell(struct binding_step *step, const char *type, const char *reason, const char *format, ...)
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

/* The phase is written once; the event comes with every look, and the binder leaves out what it has
 * said. */
static void lose(struct binding_step *step, const struct persistent_volume_claim *claim,
		 const char *reason, const char *text)
{
	answer(step, claim->phase == CLAIM_LOST ? BINDING_NOTHING : BINDING_CLAIM_LOST);
	tell(step, "Warning", reason, "%s", text);
}

/* The first of the four writes that is missing; the next look makes the next one. */
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

		if (names_claim(volume, facts->claim) &&
		    !volume_misfit(facts->claim, volume, RELATION_MADE))
			return volume;
	}
	return NULL;
}

/* May a provisioner make a volume of this class? It would say itself why it does not. */
static bool is_provisioned(const struct storage_class *class)
{
	return class && strcmp(class->provisioner, "kubernetes.io/no-provisioner") != 0;
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
	pend(step, claim);
	if (!claim->storage_class[0])
		tell(step, "Normal", "FailedBinding",
		     "no persistent volumes available for this claim and no storage class is set "
		     "(%s)",
		     why);
	else if (!is_provisioned(facts->storage_class))
		tell(step, "Normal", "FailedBinding",
		     "no persistent volumes available for this claim (%s)", why);
}

/* A class that waits for its first consumer gets the volumes that were made for the claim only. */
static void decide_unnamed(const struct claim_facts *facts, struct binding_step *step)
{
	const struct persistent_volume *volume = find_candidate(facts);
	const char *why = NULL;
	bool waits = facts->storage_class && facts->storage_class->waits_for_first_consumer;

	if (!volume && !waits)
		volume = volume_match(facts->claim, facts->free, facts->free_count, &why);
	if (volume) {
		bind(step, facts->claim, volume);
		return;
	}
	if (!waits) {
		decide_unmatched(facts, why, step);
		return;
	}
	pend(step, facts->claim);
	tell(step, "Normal", "WaitForFirstConsumer",
	     "waiting for first consumer to be created before binding");
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
		tell(step, "Warning", "FailedBinding",
		     "volume \"%s\" already bound to a different claim.", claim->volume_name);
		return;
	}
	why = volume_misfit(claim, volume, RELATION_NAMED);
	if (!why) {
		bind(step, claim, volume);
		return;
	}
	pend(step, claim);
	tell(step, "Warning", "VolumeMismatch", "Cannot bind to requested volume \"%s\": %s",
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

void binding_decide_claim(const struct claim_facts *facts, struct binding_step *ret)
{
	assert(facts->claim && facts->claim->object);
	*ret = (struct binding_step){ .write = BINDING_NOTHING };
	if (facts->claim->object->meta.deletes && facts->claim->has_protection_finalizer &&
	    !facts->is_used)
		answer(ret, BINDING_CLAIM_UNPROTECT);
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

/* No data is deleted here, whatever the policy: a volume whose policy wants it says that nobody
 * does. A provisioned one waits for its provisioner. */
static void reclaim(const struct volume_facts *facts, struct binding_step *step)
{
	const struct persistent_volume *volume = facts->volume;

	if (volume->phase == VOLUME_FAILED)
		return;
	if (volume->phase != VOLUME_RELEASED) {
		answer(step, BINDING_VOLUME_RELEASED);
		return;
	}
	if (volume->reclaim_policy == RECLAIM_RETAIN || facts->is_provisioned)
		return;
	answer(step, BINDING_VOLUME_FAILED);
	if (volume->reclaim_policy == RECLAIM_DELETE)
		tell(step, "Warning", "VolumeFailedDelete",
		     "no deleter exists for a volume of source '%s'; its data is kept",
		     volume->source_key);
	else
		tell(step, "Warning", "VolumeFailedRecycle",
		     "no recycler exists for a volume of source '%s'; its data is kept",
		     volume->source_key);
}

static void decide_bound_elsewhere(const struct volume_facts *facts, struct binding_step *step)
{
	const struct persistent_volume *volume = facts->volume;

	if (facts->is_provisioned && volume->reclaim_policy == RECLAIM_DELETE)
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
	if (volume->object->meta.deletes && facts->is_protected && volume->phase != VOLUME_BOUND) {
		answer(ret, BINDING_VOLUME_UNPROTECT);
		return;
	}
	if (!volume->has_claim_ref || !volume->claim_uid[0]) {
		set_phase(ret, volume, VOLUME_AVAILABLE, BINDING_VOLUME_AVAILABLE);
		return;
	}
	if (!claim || strcmp(claim->object->meta.uid, volume->claim_uid) != 0) {
		reclaim(facts, ret);
		return;
	}
	if (!claim->volume_name[0]) {
		/* The claim's own look binds it, unless it cannot. */
		if (!volume_mode_matches(claim, volume)) {
			tell(ret, "Warning", "VolumeMismatch",
			     "Cannot bind PersistentVolume \"%s\" to requested "
			     "PersistentVolumeClaim "
			     "\"%s\" due to incompatible volumeMode.",
			     volume->object->meta.name, claim->object->meta.name);
			ret->event_on_partner = true;
		}
		return;
	}
	if (strcmp(claim->volume_name, volume->object->meta.name) == 0)
		set_phase(ret, volume, VOLUME_BOUND, BINDING_VOLUME_BOUND);
	else
		decide_bound_elsewhere(facts, ret);
}
