/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_statistics - how full the volumes of claims are, for Prometheus, by kubelet's names
 *
 * A reader of /metrics gets what was found out last: no scrape waits for a driver or a server,
 * and a driver that hangs is not asked once a scrape. The loop thread only.
 */
#pragma once

#include <stdio.h>

struct cJSON;
struct claim_statistics;
struct statistics;
struct volume_row;

/* @statistics is borrowed. Return: 0 or -ENOMEM. */
int claim_statistics_new(struct statistics *statistics, struct claim_statistics **ret);
/* No one may be waiting for statistics any more. Accepts NULL. Return: NULL. */
struct claim_statistics *claim_statistics_free(struct claim_statistics *claims);

/* Which claim an item of the statistics is about: "namespace" and "claim"; nothing where it is
 * none. */
void claim_statistics_name(struct cJSON *item, const struct volume_row *row);

/* What is known; asks again for the next one when that is a minute old. */
void claim_statistics_print(struct claim_statistics *claims, FILE *file);
