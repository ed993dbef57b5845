/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_expand - writes the outcome of a volume's expansion to its claim (KEP-1790)
 *
 * Hooks of an observer of steps. It grows nothing: plugins do. The loop thread only.
 */
#pragma once

#include "status/reporter.h"

struct renewals;

/* All is borrowed. */
struct node_expand_options {
	const struct reporter *reporter;
	struct renewals *const *renewals; /* set-ups to be repeated; made later */
};

/* A step was begun; nothing is done where nothing is to grow, or the outcome is known already.
 * @with: a struct node_expand_options, as below. */
void node_expand_step_started(void *with, const struct step *step);
/* A step ended, however; nothing is done where nothing grew, and nothing should have. */
void node_expand_step_ended(void *with, const struct operation_ended *ended);
