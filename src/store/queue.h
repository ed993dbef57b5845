/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue - the inside of the embedded store, for the files of this folder alone
 *
 * embedded.c owns the queue of writes; mirror.c adds writes to it that no admission judges.
 */
#pragma once

#include "store/group.h"

/* Return: 0; -ECANCELED the store is closing; -ENOBUFS STORE_QUEUE_MAX writes are queued. */
int store_check_open(const struct store *store);
/* Takes @write, to be admitted in its turn. */
void store_queue_write(struct store *store, struct write *write);
/* The group under way and what all groups share. Borrowed. */
struct group *store_group(struct store *store);
