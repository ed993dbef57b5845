/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look_up_errors - reports pods whose volumes cannot be looked up, once that has stood for a moment
 *
 * What heals before is not reported. The loop thread only.
 */
#pragma once

#include "status/reporter.h"

struct look_up_errors;

/* With a timer; @reporter is borrowed. Return: 0 or negative errno. */
int look_up_errors_new(const struct reporter *reporter, struct look_up_errors **ret);
/* Forgets what was not reported yet. Accepts NULL. Return: NULL. */
struct look_up_errors *look_up_errors_free(struct look_up_errors *errors);
/* The pod was looked up; if that failed it is reported in a moment, unless it heals before. */
void look_up_errors_note(struct look_up_errors *errors, const struct object *pod);
