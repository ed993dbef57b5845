/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analyze - what the files behind the verb analyze know of each other
 *
 * The daemon's log of steps, asked once: what time they took is the daemon's word, what belongs
 * together is found here.
 */
#pragma once

#include "cli/cli.h"

struct analysis {
	struct cli *cli;
	struct cJSON *view;         /* of the steps */
	char *pod;                  /* "default/web" or a uid; NULL: all */
	const struct cJSON **steps; /* of that pod, in the order in which they ended */
	size_t count;
};

/* A member of a step or stage; 0 when there is none. */
int64_t step_number(const struct cJSON *item, const char *key);
/* Microseconds since 1970. */
int64_t step_began(const struct cJSON *step);
int64_t step_ended(const struct cJSON *step);
/* The volume as the pod calls it; of a device its unique name. */
const char *step_volume(const struct cJSON *step);

enum { TOOK_BYTES = 32 };
/* "850us", "12.3ms", "4.56s"; of 0 "0us". */
void took_print(int64_t usec, char text[TOOK_BYTES]);

/**
 * analysis_set_up - keep the steps that led to the pod's volumes being mounted
 * @ret_last: borrowed; the step with which the last volume was mounted, NULL while one is not
 *
 * Of the newest pod of that name; without what came after: renewals, remounts, teardowns.
 */
void analysis_set_up(struct analysis *analysis, const struct cJSON **ret_last);

/* Each prints; they want a pod. Return: an exit status. */
int analyze_critical_chain(struct analysis *analysis);
int analyze_plot(struct analysis *analysis);
