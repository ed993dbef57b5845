/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_modify - what is next for a claim whose VolumeAttributesClass is another one than its
 * volume's, and what its status says then; pure
 *
 * As external-resizer: what is being aimed at stands in status.modifyVolumeStatus, so that a kill
 * goes on with it. Another class that the claim names meanwhile counts only when it is known for
 * sure that nothing came of the first one, or when that one is gone: parameters of both could be
 * left behind otherwise. Which class a volume has is said by the volume first, then by the claim.
 */
#pragma once

#include "object/kinds/persistent_volume.h"

struct claim_modify_facts {
	const struct persistent_volume_claim *claim;
	const struct persistent_volume *volume; /* that it is bound to; NULL: none */
	bool has_wanted;                        /* the class that the claim names is there */
	bool has_target;                        /* that of the status is */
	bool is_clear; /* the driver said for sure that the last call changed nothing */
};

enum claim_modify_next {
	CLAIM_MODIFY_NOTHING,
	CLAIM_MODIFY_PEND,   /* the class is not there: write CLAIM_MODIFY_PENDING */
	CLAIM_MODIFY_BEGIN,  /* write CLAIM_MODIFY_BEGUN */
	CLAIM_MODIFY_CALL,   /* ask the driver for the status's class */
	CLAIM_MODIFY_FORGET, /* no longer wanted: write CLAIM_MODIFY_FORGOTTEN */
};

enum claim_modify_next claim_modify_decide(const struct claim_modify_facts *facts);

/* Is there something to decide at all? For who looks at all claims. */
bool claim_modify_concerns(const struct persistent_volume_claim *claim);

/* What the status says. */
enum claim_modify_state {
	CLAIM_MODIFY_PENDING,
	CLAIM_MODIFY_BEGUN,
	CLAIM_MODIFY_FAILED,     /* and is tried again */
	CLAIM_MODIFY_INFEASIBLE, /* so it cannot be */
	CLAIM_MODIFY_DONE,
	CLAIM_MODIFY_FORGOTTEN,
};

/**
 * claim_modify_edit - the claim with the status of a state
 * @text: of the failed ones; else NULL
 *
 * The class is the one that the claim names where something begins, else the one that the status
 * has. Return: 0; -EINVAL; -ENOMEM.
 */
int claim_modify_edit(const struct object *claim, enum claim_modify_state state, const char *text,
		      const struct object **ret, struct failure *reterr);

/* The volume with this class. Return: as above. */
int claim_modify_edit_volume(const struct object *volume, const char *class_name,
			     const struct object **ret, struct failure *reterr);
