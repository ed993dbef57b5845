/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics - how long operations take and how many volumes there are, in Prometheus' form
 *
 * The loop thread only.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct metrics;
struct operation_ended;
struct volume_tables;

/* @tables is borrowed. Return: 0 or -ENOMEM. */
int metrics_new(const struct volume_tables *tables, struct metrics **ret);
/* Accepts NULL. Return: NULL. */
struct metrics *metrics_free(struct metrics *metrics);

/* A hook of an observer of steps, before the tables follow: @metrics is a struct metrics. */
void metrics_note(void *metrics, const struct operation_ended *ended);
/* So many mounts were taken away although they were in use. */
void metrics_note_enforced(struct metrics *metrics, bool lazy, unsigned int count);

void metrics_print_volumes(const struct metrics *metrics, FILE *file);
void metrics_print_walks(const struct metrics *metrics, FILE *file);
void metrics_print_enforced(const struct metrics *metrics, FILE *file);
