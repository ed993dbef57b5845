/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_modify - claims that want other attributes for their volumes; see claim_modify.h
 */
#include "controller/csi/claim_modify.h"

#include "controller/binding/binding.h"
#include "object/json/json.h"

#include <assert.h>
#include <string.h>

#define PENDING     "Pending"
#define IN_PROGRESS "InProgress"
#define INFEASIBLE  "Infeasible"

/* ---- deciding ---- */

/* Of claims bound before their status said it the volume knows. */
static const char *current(const struct persistent_volume_claim *claim,
			   const struct persistent_volume *volume)
{
	return claim->attributes_current[0] ? claim->attributes_current : volume->attributes_class;
}

static bool may_change_aim(const struct claim_modify_facts *facts)
{
	const struct persistent_volume_claim *claim = facts->claim;

	return claim->attributes_class[0] &&
	       strcmp(claim->attributes_class, claim->modify_target) != 0 &&
	       (facts->is_clear || !facts->has_target);
}

enum claim_modify_next claim_modify_decide(const struct claim_modify_facts *facts)
{
	const struct persistent_volume_claim *claim = facts->claim;
	const struct persistent_volume *volume = facts->volume;
	const char *wanted = claim->attributes_class, *status = claim->modify_status;
	bool is_aim = strcmp(wanted, claim->modify_target) == 0;

	if (claim->phase != CLAIM_BOUND || claim->object->meta.deletes || !volume ||
	    volume->object->meta.deletes || strcmp(volume->claim_uid, claim->object->meta.uid) != 0)
		return CLAIM_MODIFY_NOTHING;
	if (strcmp(status, IN_PROGRESS) == 0 && claim->modify_target[0] && !may_change_aim(facts))
		return facts->has_target ? CLAIM_MODIFY_CALL : CLAIM_MODIFY_NOTHING;
	if (!wanted[0] || strcmp(wanted, current(claim, volume)) == 0)
		return status[0] ? CLAIM_MODIFY_FORGET : CLAIM_MODIFY_NOTHING;
	if (!facts->has_wanted)
		return strcmp(status, PENDING) == 0 && is_aim ? CLAIM_MODIFY_NOTHING
							      : CLAIM_MODIFY_PEND;
	/* After a while it may be feasible. */
	if (strcmp(status, INFEASIBLE) == 0 && is_aim)
		return CLAIM_MODIFY_CALL;
	return CLAIM_MODIFY_BEGIN;
}

bool claim_modify_concerns(const struct persistent_volume_claim *claim)
{
	return claim->phase == CLAIM_BOUND &&
	       (claim->modify_status[0] ||
		strcmp(claim->attributes_class, claim->attributes_current) != 0);
}

/* ---- the status ---- */

static const char *const condition_types[] = { "ModifyingVolume", "ModifyVolumeError", NULL };

static const struct {
	const char *status;    /* of modifyVolumeStatus; NULL: it goes */
	const char *condition; /* NULL: none of podvol's is left */
	const char *text;
	bool aims; /* at the class that the claim names */
} states[] = {
	[CLAIM_MODIFY_PENDING] = { PENDING, NULL, NULL, true },
	[CLAIM_MODIFY_BEGUN] = { IN_PROGRESS, "ModifyingVolume",
				 "ModifyVolume operation in progress.", true },
	[CLAIM_MODIFY_FAILED] = { IN_PROGRESS, "ModifyVolumeError", NULL, false },
	[CLAIM_MODIFY_INFEASIBLE] = { INFEASIBLE, "ModifyVolumeError", NULL, false },
	[CLAIM_MODIFY_DONE] = { NULL, NULL, NULL, false },
	[CLAIM_MODIFY_FORGOTTEN] = { NULL, NULL, NULL, false },
};

struct edit {
	const struct persistent_volume_claim *claim;
	enum claim_modify_state state;
	const char *text;
};

static int edit_status(struct cJSON *tree, void *userdata)
{
	const struct edit *edit = userdata;
	const struct persistent_volume_claim *claim = edit->claim;
	struct cJSON *status = json_ensure_object(tree, "status"), *modify;

	claim_conditions_replace(status, condition_types, states[edit->state].condition,
				 states[edit->state].text ?: edit->text);
	if (edit->state == CLAIM_MODIFY_DONE)
		(void) json_set_string(status, "currentVolumeAttributesClassName",
				       claim->modify_target);
	json_remove(status, "modifyVolumeStatus");
	if (!states[edit->state].status)
		return 0;
	modify = json_add_object(status, "modifyVolumeStatus");
	(void) json_set_string(modify, "targetVolumeAttributesClassName",
			       states[edit->state].aims ? claim->attributes_class
							: claim->modify_target);
	return json_set_string(modify, "status", states[edit->state].status);
}

int claim_modify_edit(const struct object *claim, enum claim_modify_state state, const char *text,
		      const struct object **ret, struct failure *reterr)
{
	struct edit edit = { claim->claim, state, text ?: "" };

	assert(claim->kind == KIND_PERSISTENT_VOLUME_CLAIM);
	return object_edit(claim, edit_status, &edit, ret, reterr);
}

static int set_class(struct cJSON *tree, void *userdata)
{
	return json_set_string(json_ensure_object(tree, "spec"), "volumeAttributesClassName",
			       userdata);
}

int claim_modify_edit_volume(const struct object *volume, const char *class_name,
			     const struct object **ret, struct failure *reterr)
{
	assert(volume->kind == KIND_PERSISTENT_VOLUME && class_name[0]);
	return object_edit(volume, set_class, (void *) class_name, ret, reterr);
}
