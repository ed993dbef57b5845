/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_conditions - status.conditions of a claim; pure
 */
#ifndef PODVOL_CONTROLLER_CLAIM_CONDITIONS_H
#define PODVOL_CONTROLLER_CLAIM_CONDITIONS_H

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

#endif
