/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_faults - volumes of claims whose file system met errors: reported, never repaired
 *
 * A file system is looked at when its volume was first set up for a pod, unless another volume on
 * it was found healthy and the kernel reports errors of this type of file system; when it reports
 * one (mount/fault_watch.h), and when a view asks how full volumes are. One that recorded
 * errors, shut down or turned read-only makes the volume faulty: a line in the journal, an event
 * about each of its pods, a condition of its claim, a state in views, a metric. Once, until what is
 * wrong changes. Volumes without a claim are files of podvold or of the node's own disks.
 *
 * All but volume_faults_new() accept NULL: an agent without them. The loop thread only.
 */
#pragma once

#include "status/status.h"

#include <stdio.h>

struct volume_faults;

struct volume_faults_options {
	const struct reporter *reporter; /* borrowed */
	struct worker_pool *const *pool; /* what looks may hang; NULL once it is stopped */
	int64_t priority;                /* of the kernel's reports */
	uint64_t check_usec; /* between looks at what the kernel reports nothing of; 0: none */
};

/* @options is copied. A kernel that reports no errors is logged and no failure. Return: 0 or
 * -ENOMEM. */
int volume_faults_new(const struct volume_faults_options *options, struct volume_faults **ret);
/* After the pools and their way back. Return: NULL. */
struct volume_faults *volume_faults_free(struct volume_faults *faults);

/* A hook of an observer of steps: @faults is a struct volume_faults. A step ended; after the actual
 * table followed it. */
void volume_faults_step_ended(void *faults, const struct operation_ended *ended);
/* A mount went, which others may have unmounted with its file system: with the volume's last one
 * the file system's identity and the mark on it are forgotten, and it is looked at again when the
 * volume is mounted again. What was wrong stays until then. */
void volume_faults_lost(struct volume_faults *faults, const char *unique_name);
/* All objects are there: what is mounted since before the start is looked at, too. */
void volume_faults_check_all(struct volume_faults *faults);
/* A view asks: looks again, in the background. */
void volume_faults_check(struct volume_faults *faults, const char *unique_name);

/* What is wrong with a volume; NULL: nothing that is known. Borrowed until the loop turns. */
const char *volume_faults_find(const struct volume_faults *faults, const char *unique_name);
/* In Prometheus' form. */
void volume_faults_print_metrics(const struct volume_faults *faults, FILE *file);
